"""What interactions say: the cells of a table, and lines of files."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from core.interactions.finding import Interactions
from core.interactions.pairs import Paired, PairTest, every_pair
from core.interactions.splitting import INDEX, ORDER
from core.network.features import Encoded, placed_texts
from core.terms import MASF_P
from core.validity.marks import Gate, with_sign
from core.validity.references import FORMS, Reference
from core.wording import as_json, number

COLUMNS = ["pair", "together, logits", "first by itself", "second by itself", "says"]
# What "together" and "by itself" are, for who does not know the index.
MEANS = (
    "Together: what two {unit}s add to the class’s score beyond the sum of what each adds, on average over all ways to "
    "mask the others. By itself: what is then left to a {unit} alone. All of it adds up to what masking every {unit} "
    "takes away. In logits, the score before it is made a probability."
)
MASKED = ["first masked", "second masked", "both masked"]
RECORDED = "first_position first second_position second interaction first_own second_own says how sets".split()


@dataclass(frozen=True, eq=False)
class PairReport:
    """Interactions that are told of an example: what was found, under which reference and by which rule and form; unit:
    of what they are pairs.
    """

    paired: Paired
    encoded: Encoded
    reference: Reference | None
    rule: str
    form: str

    @property
    def found(self) -> Interactions:
        return self.paired.found

    @property
    def gates(self) -> list[Gate]:
        """One of each listed pair."""
        return [self.gate(one) for one in self.paired.tests]

    def gate(self, one: PairTest) -> Gate:
        """What the three inputs of a pair come to."""
        return one.gate(self.reference, self.rule, self.form)

    @property
    def how(self) -> str:
        """From how many sets of all, text."""
        found, how = self.found, "Exact" if self.found.exact else "Sampled"
        return f"{how}, from {found.sets:,} of the 2^{found.F} ways to mask some of {found.F} {self.encoded.unit}s"

    @property
    def smallest(self) -> float:
        """The smallest p of them; NaN without a reference."""
        every = [one.p[self.form] for one in self.paired.tests if self.form in one.p]
        return float(np.min(every)) if every else float("nan")

    def name(self, one: PairTest) -> tuple[str, str]:
        """The two words."""
        words = placed_texts(self.encoded.features)
        return words[one.pair.first], words[one.pair.second]

    def cells(self, one: PairTest) -> list[str]:
        """A pair's line under COLUMNS, text."""
        pair = one.pair
        return [
            " + ".join(self.name(one)),
            with_sign(signed(pair.value), self.gate(one).marked),
            signed(pair.first_own),
            signed(pair.second_own),
            pair.kind or "—",
        ]

    def inputs(self, one: PairTest) -> list[str]:
        """Of each of a pair's three inputs what masking it costs and its p-value, text."""
        falls = [signed(-float(fall)) for fall in one.falls]
        if self.form not in one.p:
            return falls
        told = zip(falls, one.p[self.form].tolist(), self.gate(one).rejected.tolist())
        return [with_sign(f"{fall}, {MASF_P} = {number(p)}", rejected) for fall, p, rejected in told]

    def lines(self) -> Iterable[list]:
        """Every pair under RECORDED and, of those that were tested, what masking them does: see `header`."""
        tests = {(one.pair.first, one.pair.second): one for one in self.paired.tests}
        words, how = placed_texts(self.encoded.features), "exact" if self.found.exact else "sampled"
        for pair in every_pair(self.found):
            one = tests.get((pair.first, pair.second))
            own = pair.value, pair.first_own, pair.second_own, pair.kind, how, self.found.sets
            p = [[None] * 3 if one is None or form not in one.p else one.p[form].tolist() for form in FORMS]
            yield [
                pair.first + 1,
                words[pair.first],
                pair.second + 1,
                words[pair.second],
                *own,
                *([None] * 3 if one is None else one.falls.tolist()),
                *(value for of in p for value in of),
                None if one is None or not self.gate(one).available else self.gate(one).marked,
            ]

    @property
    def header(self) -> list[str]:
        """What stands in `lines`: places count from 1, falls and interactions are in logits."""
        tested = ["fall", *(f"p_{form}" for form in FORMS)]
        masked = [f"{kind}_{name.replace(' ', '_')}" for kind in tested for name in MASKED]
        return [*RECORDED, *masked, "rejected"]

    def as_json(self) -> dict:
        """All of it as plain values."""
        own = self.found.split.own
        features = [
            {"position": i + 1, "text": one.text, "own": float(own[i])} for i, one in enumerate(self.encoded.features)
        ]
        pairs = [{name: as_json(value) for name, value in zip(self.header, line)} for line in self.lines()]
        about = {"index": f"{INDEX} of order {ORDER}", "library": f"shapiq {version('shapiq')}", "unit": "logits"}
        about |= {"how": self.how, "rule": self.rule, "form": self.form}
        return about | {"features": features, "interactions": pairs}


def signed(value: float) -> str:
    """A number with its sign, so that it is told by more than colour: "+2.1"."""
    # What rounds to nothing has none.
    return number(0.0) if abs(value) < 5e-4 else f"+{number(value)}" if value > 0 else number(value)
