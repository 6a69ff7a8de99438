"""Which words matter over the data? What is said of words on the texts on which measures are faithful."""

from dataclasses import replace

from core.evaluation.findings import FEW
from core.evaluation.studies.words_question import Words, WordsReport
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import caveat_measures, measure_caveats


class WordsOutcome(Outcome):
    """What the words of a sample come to."""

    LEADING = "one word leads"
    NO_WORD = "no word often enough"
    NOT_FAITHFUL = "no measure faithful"


@register_result(Words.name)
def words_over_data(report: WordsReport) -> Result:
    """What the words come to."""
    leading, most = report.leading, max(report.faithful)
    facts = [
        Fact("faithful", "faithful texts", most, Kind.COUNT, "↑", of=report.n, about="verdict"),
        Fact("words", "words listed", len({one.word for one in report.lines}), Kind.COUNT),
        Fact("texts", "texts", report.n, Kind.COUNT, of=report.tally.total),
        Fact("cut", "texts cut", report.cut, Kind.COUNT, of=report.n),
    ]
    caveats = [*sample_caveats(report.tally, report.n, report.cut, report.picked)]
    caveats += measure_caveats(report.measures, report.sign)
    outcome = WordsOutcome.NO_WORD
    slots: dict[str, str | int] = {"count": report.n}
    if leading is not None:
        mean, label = leading.mean, f"“{leading.word}” by {leading.measure}"
        facts.insert(0, Fact("mean", label, mean.mean, better="↑", low=mean.low, high=mean.high))
        outcome = WordsOutcome.LEADING
        slots |= {"word": leading.word, "label": leading.label, "measure": leading.measure, "fewest": FEW}
    elif not most:
        outcome = WordsOutcome.NOT_FAITHFUL
    result = unanswered(report.tally, report.n, facts, caveats) or Result.of(outcome, facts, caveats, **slots)
    return replace(result, whose=caveat_measures(report.measures, report.sign))
