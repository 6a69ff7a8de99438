"""What stability says: one measure's report, sentences (HTML in which all text is escaped), cells of tables, lines of
files.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.explanation.rows import choose_variant
from core.mathematics.ranking import kendall_tau
from core.measures.catalogue import measures
from core.network.features import Encoded, placed_word
from core.stability.changes import CHANGES
from core.stability.finding import RUNS, Runs
from core.stability.moving import (
    AGREE,
    SETTLED,
    Moved,
    completeness_error,
    dissenting,
    least_dissenting,
    moved,
    settled_at,
    shown_agreement,
    spread_of_runs,
    top_agreement,
    top_word,
)
from core.validity.marks import PERCENT
from core.wording import amount, as_json, escaped, joined, number

# A column for each change follows, by its name.
COLUMNS = ["measure", "two runs agree on the top word ↑", "ranking settles at", *CHANGES]
RECORDED = ["measure", "variant", "what", "at", "position", "word", "value", "sd", "note"]
# What is said beside a row whose ranking is.
UNSTABLE = "unstable"
# What files say of others: no proof that it is stable.
NOT_SHOWN = "not shown"
EQUAL, STAYS, MOVES = "exactly equal", "top word stays", "top word moves"
MEANS = (
    f"A ranking is unstable where a change that should not matter moves its top word, or where so many runs dissent "
    f"({least_dissenting(RUNS)} of {RUNS}) that, were the chance of two runs to agree {AGREE:g} or more, this would be "
    f"said on at most {PERCENT} of texts. Elsewhere it is not shown to be: {RUNS} runs that all agree show a chance of "
    f"{number(shown_agreement(RUNS))} or more and nothing else. It settles at the smallest number of samples from "
    f"which on τ-b with the order of the most samples, drawn by another seed, stays at {SETTLED:g} or more."
)
# Under which `path_cells` stand.
PATH = ["steps", "scores of all tokens add up to", "f(x) − f(baseline)", "relative error ↓"]
_NONE = "no order"


@dataclass(frozen=True, eq=False)
class Stability:
    """What the runs of a measure say of the values that are shown, "signed" or "absolute", or what it has instead."""

    runs: Runs
    encoded: Encoded
    sign: str

    @property
    def measure(self) -> str:
        return self.runs.measure

    @property
    def variant(self) -> str:
        return choose_variant(measures()[self.measure], self.sign)

    @property
    def drawn(self) -> np.ndarray:
        """Scores of the features that can be masked, float64[k, F']."""
        return self._free(self.runs.drawn)

    @property
    def draws(self) -> bool:
        """Whether the measure draws at all, and more than one run is there."""
        return self.runs.asked > 1 and len(self.drawn) > 1

    @property
    def agrees(self) -> float:
        """The chance that two runs name the same word first, estimated; NaN for a measure that does not draw."""
        return top_agreement(self.drawn) if self.draws else float("nan")

    @property
    def dissent(self) -> int:
        """How many runs name another word first than most do; 0 for a measure that does not draw."""
        return dissenting(self.drawn) if self.draws else 0

    @property
    def parts(self) -> bool:
        """Whether so many of its runs dissent that its ranking is unstable: see `least_dissenting`. Runs that are still
        to come cannot take that back.
        """
        return self.dissent >= least_dissenting(self.runs.asked)

    @property
    def spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation over the runs, float64[F'] each."""
        return spread_of_runs(self.drawn)

    @cached_property
    def taus(self) -> tuple[float, ...]:
        """τ-b of each number of samples with the order of the most samples by another seed."""
        if self.runs.rungs is None:
            return ()
        *orders, last = self._free(self.runs.rungs)
        return tuple(kendall_tau(one, last) for one in orders)

    @property
    def settled(self) -> int | None:
        """The number of samples at which the ranking settles."""
        return settled_at(self.runs.counts, self.taus)

    @property
    def errors(self) -> tuple[float, ...]:
        """The error of completeness at each number of steps."""
        return tuple(completeness_error(one, self.runs.due) for one in self.runs.sums)

    @cached_property
    def moves(self) -> dict[str, Moved | str]:
        """What each change did, or why it could not be made."""
        changed, free = self.runs.changed or {}, ~self.encoded.premasked
        return {
            change: scores if isinstance(scores, str) else moved(self.drawn[0], scores[self.variant][free])
            for change, scores in changed.items()
        }

    @property
    def reasons(self) -> list[str]:
        """Why its ranking is unstable, clauses that follow its name, text; none where it is not."""
        found = []
        if self.parts:
            found.append(
                f"{self.dissent} of {len(self.drawn)} runs name another {self.encoded.unit} first than most do"
            )
        told = [change for change, one in self.moves.items() if isinstance(one, Moved) and not one.top]
        return found + ([f"another {self.encoded.unit} comes first by {joined(told)}"] if told else [])

    @property
    def unstable(self) -> bool:
        return bool(self.reasons)

    @property
    def _chance(self) -> str:
        k = len(self.drawn)
        return f"{number(self.agrees)} (all {amount(k * (k - 1) // 2, 'pair')} of {k} runs)"

    def cells(self) -> list[str]:
        """Its line under COLUMNS, text."""
        agrees = self._chance if self.draws else "—"
        waits = "" if self.runs.complete else "…"
        settles = (
            f"{self.settled:,} samples" if self.settled else f"not settled at {max(self.runs.counts, default=0):,}"
        )
        told = [_move_text(self.moves[change]) if change in self.moves else waits for change in CHANGES]
        return [self.measure, agrees, settles if self.taus else waits if self._samples else "—", *told]

    @property
    def _samples(self) -> bool:
        return bool(measures()[self.measure].counted)

    def _free(self, scores: Mapping[str, np.ndarray]) -> np.ndarray:
        return scores[self.variant][:, ~self.encoded.premasked]


def _move_text(one: Moved | str) -> str:
    if isinstance(one, str):
        return f"— ({one.rstrip('.')})"
    if one.equal:
        return EQUAL
    return f"τ-b {_NONE if math.isnan(one.tau) else number(one.tau)}, {STAYS if one.top else MOVES}"


def stability_sentence(found: Sequence[Stability]) -> str:
    """Which rankings are unstable and why, of which that cannot be told, and which nothing moved, HTML; "" for none."""
    unit = escaped(found[0].encoded.unit) if found else ""
    shaky = [f"<b>{escaped(one.measure)}</b> ({escaped('; '.join(one.reasons), 400)})" for one in found if one.unstable]
    firm = [one for one in found if one.runs.complete and not one.unstable]
    told = [_bold(one) for one in firm if not one.dissent]
    untold = [f"{_bold(one)} ({one.dissent} of {len(one.drawn)} runs)" for one in firm if one.dissent]
    said = [f"Unstable here: {joined(shaky)}."] if shaky else []
    if untold:
        said.append(f"Of {joined(untold)} too few runs name another {unit} first to tell; more runs may.")
    if told:
        said.append(f"Of {joined(told)} no {unit} took the first place from another.")
    return " ".join(said)


def _bold(one: Stability) -> str:
    return f"<b>{escaped(one.measure)}</b>"


def unstable_text(one: Stability) -> str:
    """Why a ranking is unstable, a sentence as text for a row of words or a file; "" where it is not."""
    return f"{one.measure}’s ranking is unstable: {'; '.join(one.reasons)}." if one.unstable else ""


def changes_sentence() -> str:
    """What the changes that should not matter are, text."""
    told = "; ".join(f"{change.name}: {change.about}" for change in CHANGES.values())
    return (
        f"Changes that should not matter: {told}. They are compared by τ-b, 1 the same order, with the draws of seed 0."
    )


def words_in_front(one: Stability) -> str:
    """Which word each run ranks first, HTML: how often each of them."""
    free, features = np.flatnonzero(~one.encoded.premasked).tolist(), one.encoded.features
    tops = [top_word(run) for run in one.drawn]
    often = sorted(set(tops), key=lambda i: (-tops.count(i), i))
    told = [f"{placed_word(features, free[i]) if i >= 0 else _NONE} ({tops.count(i)})" for i in often]
    return f"<b>{escaped(one.measure)}</b>, first in {amount(len(tops), 'run')}: {joined(told)}."


def path_cells(one: Stability) -> list[list[str]]:
    """Of a path its error of completeness: [steps, sum, due, relative error] each, text."""
    due = number(one.runs.due)
    lines = zip(one.runs.steps, one.runs.sums, one.errors)
    return [[f"{steps:,}", number(total), due, number(error)] for steps, total, error in lines]


def stability_lines(one: Stability) -> list[list]:
    """All of it under RECORDED: plain values, one line each."""
    head = [one.measure, one.variant]
    lines: list[list] = []
    if one.draws:
        lines.append([*head, "agreement on the top word", len(one.drawn), None, None, one.agrees, None, ""])
        places = [i for i, masked in enumerate(one.encoded.premasked) if not masked]
        for i, mean, sd in zip(places, *one.spread):
            word = one.encoded.features[i].text
            lines.append([*head, "mean over runs", len(one.drawn), i + 1, word, float(mean), float(sd), ""])
    for count, tau in zip(one.runs.counts, one.taus):
        lines.append([*head, "tau-b with the most samples", count, None, None, tau, None, ""])
    if one.taus:
        note = "" if one.settled else "not settled"
        lines.append([*head, "samples at which it settles", None, None, None, one.settled, None, note])
    for steps, error in zip(one.runs.steps, one.errors):
        lines.append([*head, "completeness error", steps, None, None, error, None, ""])
    for change, move in one.moves.items():
        tau = None if isinstance(move, str) else move.tau
        note = move if isinstance(move, str) else EQUAL if move.equal else STAYS if move.top else MOVES
        lines.append([*head, "tau-b after a change", change, None, None, tau, None, note])
    return [*lines, [*head, "unstable", None, None, None, None, None, "; ".join(one.reasons) or NOT_SHOWN]]


def as_records(found: Sequence[Stability]) -> dict:
    """All of it as plain values for JSON."""
    lines = [line for one in found for line in stability_lines(one)]
    return {
        "agreement_limit": AGREE,
        "settled_from": SETTLED,
        "stability": [{name: as_json(value) for name, value in zip(RECORDED, line)} for line in lines],
    }
