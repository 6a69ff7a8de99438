"""How much of a prediction hangs on one word? What the report comes to."""

from typing import Any

from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.result import Fact, Kind, Outcome, Result


class OneWordOutcome(Outcome):
    """Whether predictions hang on one piece of their text."""

    SOME = "some predictions hang on one word"
    NONE = "no prediction hangs on one word"


@register_result("one word")
def one_word(report: Any) -> Result:
    """What the falls over a sample come to; report: of `OneWord`."""
    n, drop = len(report.drops), report.drop
    facts = [
        Fact("hang", "hang on one word", report.hang, Kind.SHARE),
        Fact("drop", "mean fall", drop.mean, Kind.NUMBER, "", drop.low, drop.high),
    ]
    caveats = sample_caveats(report.tally, n, 0, "")
    outcome = OneWordOutcome.SOME if report.hang else OneWordOutcome.NONE
    return unanswered(report.tally, n, facts, caveats) or Result.of(outcome, facts, caveats, share=report.hang, count=n)
