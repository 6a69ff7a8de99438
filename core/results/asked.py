"""What any question over a sample comes to before it has an answer, and what limits every answer over texts."""

from collections.abc import Iterable

from core.evaluation.findings import FEW
from core.results.caveats import Caveat, holding
from core.results.result import Fact, Outcome, Result
from core.wording import Tally


class AskedOutcome(Outcome):
    """Why a question over a sample has no answer."""

    NOT_COMPUTED = "not computed"
    UNFINISHED = "unfinished"
    FEW_TEXTS = "few texts"
    NO_TEXT = "no text"


def without_report(texts: int, done: str, complete: bool, runs: bool) -> Result:
    """What a question comes to of which nothing is known; done: what is done to a text; complete: to none."""
    if complete:
        return Result.of(AskedOutcome.NO_TEXT, count=texts, done=done)
    if runs:
        return Result.of(AskedOutcome.UNFINISHED, caveats=[Caveat.PARTIAL], count=0, total=texts)
    return Result.of(AskedOutcome.NOT_COMPUTED, count=texts)


def unanswered(tally: Tally, n: int, facts: Iterable[Fact], caveats: Iterable[Caveat]) -> Result | None:
    """What a question comes to over n texts while more are to come, or of too few; None where it has an answer."""
    if not tally.settled:
        return Result.of(AskedOutcome.UNFINISHED, facts, caveats, count=tally.n, total=tally.total)
    if n < FEW:
        return Result.of(AskedOutcome.FEW_TEXTS, facts, caveats, count=n, fewest=FEW)
    return None


def sample_caveats(tally: Tally, n: int, cut: int, picked: str) -> list[Caveat]:
    """What limits an answer over n texts; cut: those that are longer than the model reads; picked: as of `Sample`."""
    return holding(
        {
            Caveat.PARTIAL: not tally.complete,
            Caveat.FEW_TEXTS: n < FEW,
            Caveat.TRUNCATED: cut > 0,
            Caveat.SELECTED: bool(picked),
        }
    )
