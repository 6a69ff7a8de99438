"""What stability says: one measure's report, cells of tables, lines of files."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.explanation.rows import choose_variant
from core.mathematics.ranking import kendall_tau
from core.measures.catalogue import measure
from core.network.features import Encoded, placed_texts, placed_word
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
from core.wording import amount, as_json, joined, number

# A column for each change follows, by its name.
COLUMNS = ["measure", "two runs agree on the top word ↑", "ranking settles at", *CHANGES]
# Under which `front_cells` stand.
FRONT = ["measure", "ranked first", "runs"]
RECORDED = ["measure", "variant", "what", "at", "position", "word", "value", "sd", "note"]
# What is said beside a row whose ranking is.
UNSTABLE = "unstable"
# What files say of others: no proof that it is stable.
NOT_SHOWN = "not shown"
EQUAL, STAYS, MOVES = "exactly equal", "top word stays", "top word moves"
MEANS = (
    f"Unstable: the top word changes in {least_dissenting(RUNS)} of {RUNS} runs (agreement below {AGREE:g}, level "
    f"{PERCENT}), or after a harmless change. {RUNS} equal runs show an agreement of {number(shown_agreement(RUNS))}, "
    f"not stability. Settled: τ-b with the most samples stays at {SETTLED:g} or more."
)
ABOUT_CHANGES = f"Harmless changes, at seed 0: {'; '.join(f'{one.name}: {one.about}' for one in CHANGES.values())}."
# Under which `path_cells` stand.
PATH = ["steps", "scores of all tokens add up to", "f(x) − f(baseline)", "relative error ↓"]
_NONE = "no order"
_NOT_SETTLED = "not settled"


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
        return choose_variant(measure(self.measure), self.sign)

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
    def movers(self) -> list[str]:
        """What puts another word first, text: other seeds where so many runs dissent that its ranking is unstable, and
        changes that should not matter; none where it is not.
        """
        seeds = ["other seeds"] if self.parts else []
        return seeds + [change for change, one in self.moves.items() if isinstance(one, Moved) and not one.top]

    @property
    def unstable(self) -> bool:
        return bool(self.movers)

    def cells(self) -> list[str]:
        """Its line under COLUMNS, text."""
        k = len(self.drawn)
        agrees = f"{number(self.agrees)} (all {amount(k * (k - 1) // 2, 'pair')} of {k} runs)" if self.draws else "—"
        waits = "" if self.runs.complete else "…"
        settles = waits if measure(self.measure).counted else "—"
        if self.taus:
            at = max(self.runs.counts)
            settles = f"{self.settled:,} samples" if self.settled else f"{_NOT_SETTLED} at {at:,}"
        told = [_move_text(self.moves[change]) if change in self.moves else waits for change in CHANGES]
        return [self.measure, agrees, settles, *told]

    def _free(self, scores: Mapping[str, np.ndarray]) -> np.ndarray:
        return scores[self.variant][:, ~self.encoded.premasked]


def _move_text(one: Moved | str) -> str:
    if isinstance(one, str):
        return f"— ({one.rstrip('.')})"
    if one.equal:
        return EQUAL
    return f"τ-b {_NONE if math.isnan(one.tau) else number(one.tau)}, {STAYS if one.top else MOVES}"


def unstable_text(one: Stability) -> str:
    """Why a ranking is unstable, a sentence as text for a row of words or a file; "" where it is not."""
    if not one.unstable:
        return ""
    return f"{one.measure}’s ranking is unstable: another {one.encoded.unit} comes first by {joined(one.movers)}."


def front_cells(one: Stability) -> list[list[str]]:
    """Which words its runs rank first, the most frequent first, under FRONT, text; none of a measure that does not
    draw.
    """
    if not one.draws:
        return []
    free, features = np.flatnonzero(~one.encoded.premasked).tolist(), one.encoded.features
    tops = [top_word(run) for run in one.drawn]
    often = sorted(set(tops), key=lambda i: (-tops.count(i), i))
    words = [placed_word(features, free[i]) if i >= 0 else _NONE for i in often]
    return [[one.measure, word, f"{tops.count(i)} of {len(tops)}"] for i, word in zip(often, words)]


def path_cells(one: Stability) -> list[list[str]]:
    """Of a path its error of completeness: [steps, sum, due, relative error] each, text."""
    lines = zip(one.runs.steps, one.runs.sums, one.errors)
    return [[f"{steps:,}", number(total), number(one.runs.due), number(error)] for steps, total, error in lines]


def stability_lines(one: Stability) -> list[list]:
    """All of it under RECORDED: plain values, one line each."""
    lines = []

    def add(what: str, at: Any, value: Any, note: str = "") -> None:
        lines.append([one.measure, one.variant, what, at, None, None, value, None, note])

    if one.draws:
        k, words = len(one.drawn), placed_texts(one.encoded.features)
        add("agreement on the top word", k, one.agrees)
        for i, mean, sd in zip(np.flatnonzero(~one.encoded.premasked).tolist(), *one.spread):
            mean_of = [i + 1, words[i], float(mean), float(sd), ""]
            lines.append([one.measure, one.variant, "mean over runs", k, *mean_of])
    for count, tau in zip(one.runs.counts, one.taus):
        add("tau-b with the most samples", count, tau)
    if one.taus:
        add("samples at which it settles", None, one.settled, "" if one.settled else _NOT_SETTLED)
    for steps, error in zip(one.runs.steps, one.errors):
        add("completeness error", steps, error)
    for change, move in one.moves.items():
        if isinstance(move, str):
            add("tau-b after a change", change, None, move)
        else:
            add("tau-b after a change", change, move.tau, EQUAL if move.equal else STAYS if move.top else MOVES)
    add(UNSTABLE, None, None, "; ".join(one.movers) or NOT_SHOWN)
    return lines


def as_records(found: Sequence[Stability]) -> dict:
    """All of it as plain values for JSON."""
    lines = [line for one in found for line in stability_lines(one)]
    return {
        "agreement_limit": AGREE,
        "settled_from": SETTLED,
        "stability": [{name: as_json(value) for name, value in zip(RECORDED, line)} for line in lines],
    }
