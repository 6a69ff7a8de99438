"""What metrics say of two measures: which they order oppositely, and which only seem so in printed numbers."""

import numpy as np

from core.judging.metric_table import MetricTable
from core.mathematics.ranking import LEVEL
from core.wording import amount, joined, number

# Pairs of measures that are named, of more it is said how many.
_MOST_PAIRS = 3


def pairs_sentences(board: MetricTable) -> list[str]:
    """Which measures the metrics order oppositely, and which metrics tell none apart, a sentence of text each."""
    pairs, silent = board.contrary_pairs(), board.silent()
    said = [
        f"{one} or {other}? {joined(for_one)} say{'s' * (len(for_one) == 1)} {one}, {joined(for_other)} {other}."
        for one, other, for_one, for_other in pairs[:_MOST_PAIRS]
    ]
    more = len(pairs) - _MOST_PAIRS
    said += [f"{more:,} more pair{'s are' if more > 1 else ' is'} ordered oppositely by some two metrics."] * (more > 0)
    if not pairs and board.pairs.metrics > 1:
        said += [_no_opposites(board), *_nearly(board)]
    apart = f"{joined(silent)} tell{'s' if len(silent) == 1 else ''} none of these measures apart: all are level."
    return said + [apart] * bool(silent)


def _no_opposites(board: MetricTable) -> str:
    """That no two metrics order two measures oppositely, with what they take for an order."""
    drawn = ", for soft metrics also beyond two standard errors of the difference"
    drawn *= bool((~np.isnan(board.errors) & ~np.isnan(board.oriented)).any())
    return f"No two metrics put two of these measures in opposite orders by {LEVEL:g} or more{drawn}."


def _nearly(board: MetricTable) -> list[str]:
    """Of measures whose printed numbers two metrics order oppositely, though that counts as level, by how much."""
    good, said = board.oriented, []
    for i, j in zip(*np.triu_indices(len(board.measures), 1)):
        seen = [k for k in range(len(board.metrics)) if _seen(board, i, j, k)]
        ways = {sign: [k for k in seen if (good[i, k] - good[j, k]) * sign > 0] for sign in (1, -1)}
        if ways[1] and ways[-1]:
            first, other = (
                f"{board.measures[at]} by {joined([_by(board, i, j, k) for k in ways[sign]])}"
                for at, sign in ((i, 1), (j, -1))
            )
            said.append(f"{first}, {other}")
    more = f"; and {amount(len(said) - _MOST_PAIRS, 'other pair')}" * (len(said) > _MOST_PAIRS)
    level = "Opposite in the numbers, but too close on one side or both to count: ahead is"
    return [f"{level} {'; '.join(said[:_MOST_PAIRS])}{more}."] if said else []


def _seen(board: MetricTable, i: int, j: int, k: int) -> bool:
    """Whether a metric's numbers of two measures differ as they are printed."""
    both = board.oriented[[i, j], k]
    return not np.isnan(both).any() and number(both[0]) != number(both[1])


def _by(board: MetricTable, i: int, j: int, k: int) -> str:
    """By how much one of two measures is ahead under a metric: "NS (by 0.00978)"."""
    error = float(np.hypot(*board.errors[[i, j], k]))
    drawn = f" ± {number(error)}" if error == error else ""
    return f"{board.metrics[k]} ({number(abs(float(board.values[i, k] - board.values[j, k])))}{drawn})"


def flip_sentence(board: MetricTable, i: int, k: int) -> str:
    """Which metrics order a measure and another the other way, for a cell with a rank flip."""
    told = "; ".join(f"{other} by {joined(named)}" for other, named in board.flipped_with(i, k))
    return f"{board.metrics[k]} and others order {board.measures[i]} and another measure oppositely: {told}."
