"""Which pairs of words of one text work only together, and which say the same twice."""

from core.interactions.pairs import TOGETHER, TWICE, PairTest
from core.interactions.telling import PairReport
from core.network.features import placed_word
from core.results.inputs import gate_caveats
from core.results.result import Fact, Kind, Outcome, Result


class WordPairsOutcome(Outcome):
    """What the interactions of one text come to."""

    BOTH = "only together and the same twice"
    ONLY_TOGETHER = "only together"
    SAME_TWICE = "the same twice"
    NONE_STANDS_OUT = "none stands out"
    NO_PAIR = "no pair"


def pairs_result(report: PairReport) -> Result:
    """What the listed pairs say: the strongest of each kind, by `core.interactions.pairs.RULE`."""
    together, twice = (report.paired.strongest(kind) for kind in (TOGETHER, TWICE))
    slots = {"unit": report.encoded.unit, "together": _words(report, together), "twice": _words(report, twice)}
    return Result.of(
        _outcome(report, together, twice), _facts(report, together, twice), gate_caveats(report.gates), **slots
    )


def _outcome(report: PairReport, together: PairTest | None, twice: PairTest | None) -> WordPairsOutcome:
    if together and twice:
        return WordPairsOutcome.BOTH
    if together:
        return WordPairsOutcome.ONLY_TOGETHER
    if twice:
        return WordPairsOutcome.SAME_TWICE
    return WordPairsOutcome.NONE_STANDS_OUT if report.paired.tests else WordPairsOutcome.NO_PAIR


def _words(report: PairReport, one: PairTest | None) -> list[str]:
    features = report.encoded.features
    return [] if one is None else [placed_word(features, i) for i in (one.pair.first, one.pair.second)]


def _facts(report: PairReport, together: PairTest | None, twice: PairTest | None) -> list[Fact]:
    tests, about = report.paired.tests, "interaction"
    kinds = {
        "together": (TOGETHER, together),
        "twice": (TWICE, twice),
        "largest": ("largest pair", next(iter(tests), None)),
    }
    values = [
        Fact(key, f"{label}, logits", one.pair.value, marked=report.gate(one).marked, about=about)
        for key, (label, one) in kinds.items()
        if one is not None
    ]
    rejected = sum(gate.marked for gate in report.gates)
    return [
        *values,
        Fact("rejected", "pairs on rejected inputs", rejected, Kind.COUNT, "↓", of=len(tests)),
        Fact("smallest_p", "smallest MaSF p", report.smallest, Kind.NUMBER, "↑", about="MaSF p"),
        Fact("sets", "masked inputs", report.found.sets, Kind.COUNT, about=about),
    ]
