"""The smallest set of words that changes a prediction, and the smallest that keeps it, as a result each."""

from dataclasses import dataclass

from core.explanation.smallest import KINDS, SmallestSets
from core.mathematics.search.fewest import CHANGES, SmallestSet
from core.network.features import Encoded, placed_texts
from core.results.caveats import Caveat, holding
from core.results.inputs import gate_caveats
from core.results.result import Fact, Kind, Outcome, Result
from core.terms import MASF_P
from core.validity.marks import Gate
from core.validity.references import Reference


class SmallestSetsOutcome(Outcome):
    """What a search for one of the sets comes to."""

    CHANGES = "changes the prediction"
    KEEPS = "keeps the prediction"
    UNCHANGED = "nothing changes it"
    KEPT_ALONE = "kept without any"


@dataclass(frozen=True, eq=False)
class SetsReport:
    """Sets of an example that are described: what was found, under which reference, by which rule and form."""

    found: SmallestSets
    encoded: Encoded
    label: str
    reference: Reference | None
    rule: str
    form: str

    @property
    def gate(self) -> Gate:
        return self.found.gate(self.reference, self.rule, self.form)

    def words(self, one: SmallestSet) -> list[str]:
        """Its words in the order of the text."""
        places = [] if one.members is None else one.members.nonzero()[0].tolist()
        texts = placed_texts(self.encoded.features)
        return [texts[i] for i in places]

    def p(self, i: int) -> float | None:
        """The p-value of the input that the i-th set leaves; None where there is none."""
        of = self.found.p.get(self.form)
        return None if of is None or self.found.sets[i].erased is None else float(of[i])


def sets_results(report: SetsReport) -> dict[str, Result]:
    """{kind: result}, first of the set that changes the prediction."""
    return {kind: _result(report, i) for i, kind in enumerate(KINDS)}


def _result(report: SetsReport, i: int) -> Result:
    one, gate = report.found.sets[i], report.gate
    rejected, there = report.found.rejected(gate, i), one.erased is not None
    caveats = {Caveat.SET_SEARCHED: not one.exact}
    caveats[Caveat.OUT_OF_DISTRIBUTION] = rejected
    untested = [each for each in gate_caveats([gate] * there) if each != Caveat.OUT_OF_DISTRIBUTION]
    about = "Smallest sets"
    facts = [
        Fact("p", MASF_P, report.p(i), Kind.NUMBER, "↑", marked=rejected, about="MaSF p"),
        Fact("probability", f"probability of {report.label}", one.probability, marked=rejected, about=about),
        Fact("size", "size", one.size, Kind.COUNT, about=about),
    ]
    facts += [Fact("count", "equally small", one.count, Kind.COUNT, about=about)] if one.count else []
    slots = {"words": report.words(one), "unit": report.encoded.unit}
    return Result.of(_outcome(one), facts if there else [], [*holding(caveats), *untested], **slots)


def _outcome(one: SmallestSet) -> SmallestSetsOutcome:
    if one.members is None:
        return SmallestSetsOutcome.UNCHANGED
    if one.kind == CHANGES:
        return SmallestSetsOutcome.CHANGES
    return SmallestSetsOutcome.KEEPS if one.size else SmallestSetsOutcome.KEPT_ALONE
