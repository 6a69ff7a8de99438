"""What the page Data set adds to scores over many texts: where it is tested what is not tested here."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.masking_caution import metrics_caution
from core.evaluation.studies.scoring import ScoresReport, Scoring
from core.wording import linked_name
from pages.parts.frame.links import link_to
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.judged import rejected_on_sample
from pages.parts.sections.questions import draw_question
from pages.parts.sections.studying import Asking


def where_tested(frame: DataView, asked: Asking, known: str) -> str:
    """Which pages compare measures by tests, and on how many texts what metrics score rests on rejected inputs, where
    that is known; else which page tests that, and what is known of means over this data; HTML.
    """
    pairs, rejected = _scoreboard(), rejected_here(frame, asked)
    compares = f"{pairs} can compare measures by paired tests"
    if rejected:
        return f"{rejected} On Scoreboard measures can be compared by paired tests."
    inputs = linked_name("Hard and soft erasure", link_to("hard_and_soft_erasure"))
    of_texts = f"{compares}, and say of which texts inputs are rejected"
    return f"{of_texts}; {inputs} tests those of one text. {known}".rstrip()


def draw_scored(frame: DataView, asked: Asking, asks: Callable[[], None]) -> None:
    """Draw scores, with the sign at metrics that *Scoreboard* knows to rest on rejected inputs."""
    draw_question(asked, asks, signed_scores(frame, asked))


def signed_scores(frame: DataView, asked: Asking) -> ScoresReport | None:
    """The report that is known, with those metrics; None where none is."""
    if asked.report is None:
        return None
    rejected = frozenset(name for name, one in _rejected(frame, asked).items() if one.marked)
    return replace(asked.report, rejected=rejected)


def rejected_here(frame: DataView, asked: Asking) -> str:
    """On how many texts of the data what these metrics score rests on rejected inputs, as *Scoreboard* knows of its
    own sample, a sentence of HTML; nothing is computed for it, and "" where it is not known, or metrics erase in
    another way here.
    """
    return metrics_caution(_rejected(frame, asked), _scoreboard())


def _rejected(frame: DataView, asked: Asking) -> dict[str, RejectedTexts]:
    scored, data = cast(Scoring, asked.question), frame.browsed.index.data
    return rejected_on_sample(asked.explainer, data, scored.metrics, scored.how, scored.sign, scored.unit)


def _scoreboard() -> str:
    return linked_name("Scoreboard", link_to("scoreboard", on="a sample of the data"))
