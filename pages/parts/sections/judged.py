"""What is known of texts already, verdicts and rejected inputs, for pages that tell of it and compute none."""

from collections.abc import Sequence
from dataclasses import replace

from core.data.examples import DataSet, Example
from core.evaluation.sampling import Sample, scored_sample, without_labels
from core.evaluation.studies.board_report import RejectedTexts, rejected_texts
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import WORDS, Verdicts, VerdictsOfTexts
from core.evaluation.study import Rows
from core.explanation.explainer import Explainer
from core.judging.judging import How
from core.verdicts.deciding import Word
from pages.parts.sections.studying import Asking, StudyWork, masked_as_chosen


def known_family(explainer: Explainer, texts: Sample, families: Sequence[Verdicts]) -> tuple[Verdicts, Rows]:
    """The family that is known of more texts, of equals the first; and what is known of it."""
    found = {family: StudyWork(explainer, texts, family.study).found for family in families}
    family = max(found, key=lambda one: found[one].done)
    return family, found[family]


def words_on(explainer: Explainer, data: DataSet, example: Example, family: VerdictsOfTexts) -> dict[str, Word]:
    """What is known of each measure of a family on one example of the data; {} where that is not known."""
    sample = masked_as_chosen(without_labels(data.name, data.digest, (example,)))
    found = StudyWork(explainer, sample, family).found
    if not found.there.any():
        return {}
    words = [Word(WORDS.get(value, str(Word.UNTOLD))) for value in found.columns["word"][0]]
    return dict(zip(family.measures, words))


def rejected_on_sample(
    explainer: Explainer, data: DataSet, metrics: Sequence[str], how: How, sign: str, unit: str
) -> dict[str, RejectedTexts]:
    """{metric: on how many texts it rests on rejected inputs}, as *Scoreboard* knows of its sample."""
    if replace(how, draws=1) != How(draws=1):
        return {}
    board = Scoreboard(sign=sign, unit=unit)
    found = rejected_texts(board, Asking(explainer, masked_as_chosen(scored_sample(data)), board).answers)
    return {name: found[name] for name in metrics if name in found}
