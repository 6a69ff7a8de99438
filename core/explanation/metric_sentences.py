"""What metrics say of the measures on one example: whether they agree, on what their numbers rest, and which are
undefined or no better than chance.
"""

from collections.abc import Sequence

import numpy as np

from core.explanation.metric_report import MetricReport
from core.explanation.metric_table import MetricTable, better_than, count_rejected, equal_lengths, mean_and_spread
from core.metrics.catalogue import metrics
from core.metrics.registry import NEITHER
from core.validity.marks import inputs_text, numbers_text, rule_text, why_unavailable
from core.wording import Tally, escaped, joined, strong

_NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six"}


def directed(names: Sequence[str]) -> list[int]:
    """Which of these metrics have a direction."""
    return [k for k, name in enumerate(names) if metrics()[name].direction != NEITHER]


def metrics_answer(board: MetricTable, unit: str, features: int, tally: Tally) -> str:
    """Whether the metrics agree on the measures that are judged, in a sentence or two; HTML in which all text is
    escaped.

    Args:
        unit, features: what can be erased, and how many; tally: of the measures that are asked for.
    """
    return tally.tell(_answer(board, unit, features))


def _answer(board: MetricTable, unit: str, features: int) -> str:
    if features == 1:
        return (
            f"There is a single {escaped(unit)}, so every measure ranks it first and the metrics have nothing to agree "
            "on."
        )
    if board.undefined == board.values.size:
        why = next(iter(board.told()))[0]
        return f"No metric is defined here: {why[:1].lower()}{why[1:]}"
    pairs = board.pairs
    if len(board.measures) < 2 or len(directed(board.metrics)) < 2:
        return (
            f"{_alone(board)}Choose at least two "
            f"{'measures' if len(board.measures) < 2 else 'metrics with a direction'} to see "
            f"whether they agree."
        )
    if pairs.metrics < 2:
        but = "".join(
            f" but {_told(named)}, which ranks {_named(first, board)} first,"
            for first, named in board.leaders().items()
        )
        return f"<b>The metrics cannot disagree here</b>: none{but} tells these measures apart."
    return f"<b>{_verdict(board)}</b>{_leaders(board)}."


def _alone(board: MetricTable) -> str:
    """What the only metric with a direction says; "" where there are more."""
    found = board.leaders()
    return "".join(f"{_told(named)} ranks {_named(first, board)} first. " for first, named in found.items())


def _verdict(board: MetricTable) -> str:
    """Whether metrics agree, and which kinds do not, where both are shown."""
    pairs, kinds = board.pairs, board.contrary_kinds()
    telling = {metrics()[board.metrics[k]].soft for k in directed(board.metrics) if (board.places[:, k] > 1).any()}
    both = "Hard and soft metrics" if len(telling) == 2 else "The metrics"
    if not pairs.contrary:
        return f"{both} {'agree' if pairs.same == pairs.all else 'do not contradict each other'}"
    if len(telling) == 1 or (False, True) in kinds:
        return f"{both} do not agree"
    among = " and ".join(name for name, soft in (("hard", False), ("soft", True)) if (soft, soft) in kinds)
    return f"Hard metrics do not contradict soft ones, but {among} ones do not agree among themselves"


def hard_soft_sentence(names: Sequence[str]) -> str:
    """What hard and soft metrics are, with those of these names that are; "" where there are none."""
    told = {
        soft: [name for name in names if metrics()[name].soft is soft and metrics()[name].direction != NEITHER]
        for soft in (False, True)
    }
    hard, soft = (f" ({joined(told[kind])})" if told[kind] else "" for kind in (False, True))
    parts = [f"Hard metrics{hard} erase words whole, the first ones of a measure’s order"] * bool(hard)
    parts += [f"{'soft ones' if hard else 'Soft metrics'}{soft} erase a share of every word, by its score"] * bool(soft)
    return f"{'; '.join(parts)}. They judge a measure by how the prediction changes." if parts else ""


def _leaders(board: MetricTable) -> str:
    found = board.leaders()
    if len(found) == 1 and board.pairs.metrics > 1:
        return (
            f": all rank {_named(next(iter(found)), board)} "
            f"first{', and differ on the rest' if board.pairs.contrary else ''}"
        )
    if len(found) > 3:
        return f": {_shares(found, board)}"
    said = [
        f"{_told(named)} rank{'s' if len(named) == 1 else ''} {_named(first, board)} first"
        for first, named in found.items()
    ]
    return f": {', '.join(said)}"


def _shares(found: dict[tuple[str, ...], tuple[str, ...]], board: MetricTable) -> str:
    """Under how many metrics each measure is first, the most often first."""
    counts = {
        measure: sum(len(named) for first, named in found.items() if measure in first) for measure in board.measures
    }
    ordered = sorted((measure for measure in counts if counts[measure]), key=lambda measure: -counts[measure])
    told = [f"{strong(measure)} under {counts[measure]}" for measure in ordered]
    return f"of {board.pairs.metrics} metrics, first is {', '.join(told)} (ties counted for each)"


def _named(first: tuple[str, ...], board: MetricTable) -> str:
    return strong(first[0]) if len(first) == 1 else f"{_told(first)} together"


def pairs_sentence(board: MetricTable) -> str:
    """How many pairs of measures the metrics order the same way, text; "" where fewer than two tell any apart."""
    pairs, silent = board.pairs, board.silent()
    if pairs.metrics < 2:
        return ""
    every = "both" if pairs.metrics == 2 else f"all {_NUMBERS.get(pairs.metrics, pairs.metrics)}"
    contrary = f", {pairs.contrary} oppositely by some" if pairs.contrary else ""
    tied = (
        f", {pairs.tied} {'is a tie or' if pairs.tied == 1 else 'are ties or'} not scored by some" if pairs.tied else ""
    )
    aside = f" {joined(silent)} tell{'s' if len(silent) == 1 else ''} none of them apart." if silent else ""
    if pairs.all == 1:
        how = "is ordered oppositely by some" if pairs.contrary else "is a tie or not scored by some"
        return f"The only pair of measures {f'is ordered the same way by {every}' if pairs.same else how}.{aside}"
    verb = "is" if pairs.same == 1 else "are"
    return (
        f"{pairs.same} of {pairs.all} pairs of measures {verb} ordered the same way by {every}{contrary}{tied}.{aside}"
    )


def validity_sentence(report: MetricReport) -> str:
    """Whether numbers rest on rejected inputs; "" where there are none."""
    gates = report.gates
    marked = {metric for (_, metric), gate in gates.items() if gate.marked}
    whose = joined([name for name in report.names if name in marked])
    return numbers_text(list(gates.values()), whose, report.smallest) if gates else ""


def notes(board: MetricTable) -> list[str]:
    """What to know of single values, a sentence each; first how many are undefined."""
    found = board.told()
    said = []
    if board.undefined:
        said.append(f"{board.undefined} of {board.values.size} values are undefined (—).")
    for (note, gone), cells in found.items():
        by_measure: dict[str, list[str]] = {}
        for measure, metric in cells:
            by_measure.setdefault(measure, []).append(metric)
        where = "; ".join(f"{measure} under {joined(named)}" for measure, named in by_measure.items())
        said.append(f"{'— ' if gone else ''}{where}: {note or 'it gave NaN.'}")
    return said


def no_better(board: MetricTable, chance: dict[str, np.ndarray]) -> str:
    """Which scores are no better than those of random attributions are on average, a sentence; "" where all are."""
    means = [mean_and_spread(chance.get(name, np.empty(0)))[0] for name in board.metrics]
    told = []
    for measure, values in zip(board.measures, board.values):
        worse = [
            name
            for name, value, mean in zip(board.metrics, values, means)
            if better_than(float(value), mean, metrics()[name].direction) is False
        ]
        if worse:
            told.append(f"{measure} under {joined(worse)}")
    return f"No better than random attributions are on average: {'; '.join(told)}." if told else ""


def metrics_in_words(board: MetricTable) -> str:
    """The figure of places for those who do not see it."""
    return ". ".join(
        f"{name}: "
        + ", ".join(f"{measure} {place or '—'}" for measure, place in zip(board.measures, board.places[:, k]))
        for k, name in enumerate(board.metrics)
    )


def flip_sentence(board: MetricTable, i: int, k: int) -> str:
    """Which metrics order a measure and another the other way, for a cell with a rank flip."""
    told = "; ".join(f"{other} by {joined(named)}" for other, named in board.flipped_with(i, k))
    return f"{board.metrics[k]} and others order {board.measures[i]} and another measure oppositely: {told}."


def leaving_sentence(report: MetricReport, measure: str) -> str:
    """Which erasure of a measure's rationales leaves the distribution; HTML in which all text is escaped."""
    gates = {erasure: gate for erasure, (_, gate) in report.leaves(measure).items()}
    first = next(iter(gates.values()))
    if not first.available:
        return why_unavailable(first)
    told = ", ".join(
        f"{strong(erasure)}: {inputs_text(*count_rejected(gate, report.sizes))}" for erasure, gate in gates.items()
    )
    rule = rule_text(first.rule, f"{first.steps} inputs", "input")
    return f"Rationales of {escaped(measure)}, kept and erased at each length: {told} ({rule}, {report.form} form)."


def lengths_sentence(report: MetricReport) -> str:
    """Which lengths of a short text are one input; "" where all differ."""
    same = [
        f"{' and '.join(f'{100 * length:g} %' for length in lengths)} are the same {size} {report.unit}"
        f"{'' if size == 1 else 's'}"
        for size, lengths in equal_lengths(report.sizes)
    ]
    once = "so these points are one input that counts more than once in the mean."
    return f" This text is short: {'; '.join(same)}, {once}" if same else ""


def _told(names: Sequence[str]) -> str:
    return escaped(joined(names), 300)
