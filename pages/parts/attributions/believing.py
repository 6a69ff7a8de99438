"""Which measures to believe on a text, as the page's answer, where somebody asks for that."""

from core.verdicts.telling import believe_sentence, why_sentence
from core.wording import estimate
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import prediction_line

WORDS, BELIEVED = "which words count", "which measures to believe"


def choose_believed() -> bool:
    """Draw the choice of what the answer says; whether it is which measures to believe."""
    return choose_one("The answer says", (WORDS, BELIEVED), WORDS, "says", label_visibility="collapsed") == BELIEVED


def say_believed(view: View, scoring: ScoredRows, words: str, evidence: str) -> None:
    """The page's answer: which measures to believe, or what that waits for, and meanwhile which words count.

    words, evidence: HTML in which all text is escaped; the latter: which measure finds the evidence best, or "".
    """
    report = scoring.report
    if report is not None:
        found = f"{evidence} {believe_sentence(report, view.encoded, why=False)}".lstrip()
        why = f"{scoring.reach} {why_sentence(report, view.encoded)}".strip()
        prediction_line(view, found, after=f"<p>{why}</p>" if why else "")
        return
    prediction_line(view, f"{evidence} {_waits(scoring)}".lstrip(), words)


def _waits(scoring: ScoredRows) -> str:
    """Why it is not said yet, HTML."""
    known = scoring.limits
    if known is None:
        return "There is no order here to believe or not."
    if any(work.runs or (work.job is None and work.at_once) for work in [*scoring.works, *known.works]):
        return "Which measures to believe is being computed …"
    verdicts = known.verdicts
    if verdicts is None:
        return "No order is scored yet, so none can be believed or not: ask for one below."
    return f"Which measures to believe takes about {estimate(verdicts.seconds)}; it can be asked for on AOPC and NAOPC."
