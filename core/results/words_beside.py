"""Which words does one model use and the other not? What is said of two models on the same texts."""

from core.evaluation.studies.words_beside import WordsBeside
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.result import Fact, Kind, Outcome, Result


class WordsBesideOutcome(Outcome):
    """What the words of two models come to."""

    APART = "words differ"
    ALIKE = "no word differs"
    NOT_TESTED = "no word often enough"


@register_result(WordsBeside)
def words_of_two(report: WordsBeside) -> Result:
    """What they come to."""
    apart = report.apart
    facts = [
        Fact("apart", "words that differ", len({one.word for one in apart}), Kind.COUNT),
        Fact("tested", "words tested", len({one.word for one in report.gaps}), Kind.COUNT),
        Fact("texts", "texts", report.n, Kind.COUNT, of=report.tally.total),
    ]
    caveats = sample_caveats(report.tally, report.n, 0, "")
    outcome = WordsBesideOutcome.NOT_TESTED if not report.gaps else WordsBesideOutcome.ALIKE
    slots: dict[str, str | int] = {"count": report.n}
    if apart:
        one = apart[0]
        more, less = report.models if one.first > one.second else report.models[::-1]
        outcome = WordsBesideOutcome.APART
        slots |= {"word": one.word, "measure": one.measure, "model": more, "other": less}
    return unanswered(report.tally, report.n, facts, caveats) or Result.of(outcome, facts, caveats, **slots)
