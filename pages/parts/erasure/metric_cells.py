"""Put attributions under metrics into words, cells and rows of a file; no model, and of Streamlit only the table."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.explanation.judging import Rated
from core.explanation.metric_table import (
    MetricTable,
    better_than,
    count_rejected,
    gate_of_inputs,
    gate_of_rationales,
    mean_and_spread,
)
from core.figures.palette import STRONGEST, SUPPORTS
from core.mathematics.erasure import LENGTHS
from core.metrics.catalogue import metrics
from core.metrics.registry import NEITHER
from core.validity.marks import Gate, inputs_text, numbers_text, rule_text, why_unavailable, with_sign, yes_or_no
from core.validity.references import FORMS, Reference
from core.wording import escaped, number
from pages.parts.erasure.judging import KnownRatings

FLIPPED = "⇅"
COLUMNS = [
    "measure",
    "metric",
    "direction",
    "value",
    "standard error of its draws",
    "note",
    "place (1 is best)",
    "rank flip",
    "inputs tested",
    "smallest p (calibrated)",
    "smallest p (literal)",
    "rests on rejected inputs",
    *(f"value at {100 * length:g} %" for length in LENGTHS),
    "random: mean",
    "random: standard deviation",
    "random: attributions",
    "shuffled: mean",
    "shuffled: standard deviation",
    "shuffles",
    "explained class",
    "values",
    "erasure",
    "scaling",
    "draws",
    "seed",
    "rule of the gate",
    "form of the gate",
]
_NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six"}
_CELL = (
    "padding:.35rem .7rem;border:1px solid "
    "rgba(125,133,144,.3);text-align:left;font-weight:400;vertical-align:top;background-clip:padding-box"
)
_ASIDE = "font-size:.8rem"
_DIRECTION = {1: "higher is better", -1: "lower is better", 0: "neither is better"}


class MetricGates:
    """How inputs of metrics are tested: reference, rule and form."""

    def __init__(self, reference: Reference | None, rule: str, form: str):
        self.floor, self.rule, self.form = None if reference is None else reference.floor(form), rule, form

    def gates(self, rated: dict[str, Rated]) -> dict[tuple[str, str], Gate]:
        """{(measure, metric): gate} of the numbers that are defined and asked for inputs."""
        return {
            (measure, name): gate_of_inputs(
                one.inputs[name].p if name in one.inputs else {}, self.floor, self.rule, self.form
            )
            for measure, one in rated.items()
            for name, score in one.found.items()
            if score.value == score.value and (self.floor is None or name in one.inputs)
        }

    def smallest(self, rated: dict[str, Rated]) -> float:
        """The smallest p of the inputs behind numbers that are defined; NaN where none is tested."""
        tested = [
            rated[measure].inputs[name].p.get(self.form, ())
            for measure, name in self.gates(rated)
            if name in rated[measure].inputs
        ]
        return min((float(p.min()) for p in tested if len(p)), default=float("nan"))


def erasure_answer(known: KnownRatings, board: MetricTable, complete: bool) -> str:
    """The page's result in a sentence or two, HTML in which all text is escaped."""
    if not known.names:
        return "Choose a metric in the settings to see what it says."
    if not known.judged:
        return "Choose measures in the settings to see whether the metrics agree on them."
    if not board.measures:
        return (
            "The measures are being judged."
            if any(work.runs for work in known.judged)
            else "Ask for a measure below to see how the metrics rate it."
        )
    free = int((~known.side.encoded.premasked).sum())
    if free == 1:
        return (
            f"There is a single {escaped(known.side.encoded.unit)}, so every measure ranks it first and the "
            f"metrics "
            f"have nothing to agree on."
        )
    if board.undefined == board.values.size:
        return f"No metric is defined here: {_lowered(next(iter(board.told()))[0])}"
    pairs, so_far = board.pairs, "" if complete else " so far"
    if len(board.measures) < 2 or len(directed(board.metrics)) < 2:
        return (
            f"{_alone(board)}Choose at least two "
            f"{'measures' if len(board.measures) < 2 else 'metrics with a direction'} in the settings to see "
            f"whether they agree."
        )
    if pairs.metrics < 2:
        but = "".join(
            f" but {_joined(named)}, which ranks {_named(first, board)} first,"
            for first, named in board.leaders().items()
        )
        return f"<b>The metrics cannot disagree here</b>{so_far}: none{but} tells these measures apart."
    return f"<b>{_verdict(board)}</b>{so_far}{_leaders(board)}; {_counted(board)}."


def _alone(board: MetricTable) -> str:
    """What the only metric with a direction says; "" where there are more."""
    found = board.leaders()
    return "".join(f"{_joined(named)} ranks {_named(first, board)} first. " for first, named in found.items())


def _verdict(board: MetricTable) -> str:
    pairs = board.pairs
    if pairs.contrary:
        return "The metrics do not agree"
    return "The metrics agree" if pairs.same == pairs.all else "The metrics do not contradict each other"


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
        f"{_joined(named)} rank{'s' if len(named) == 1 else ''} {_named(first, board)} first"
        for first, named in found.items()
    ]
    return f": {', '.join(said)}"


def _shares(found: dict[tuple[str, ...], tuple[str, ...]], board: MetricTable) -> str:
    """Under how many metrics each measure is first, the most often first."""
    counts = {
        measure: sum(len(named) for first, named in found.items() if measure in first) for measure in board.measures
    }
    ordered = sorted((measure for measure in counts if counts[measure]), key=lambda measure: -counts[measure])
    told = [f"<b>{escaped(measure)}</b> under {counts[measure]}" for measure in ordered]
    return f"of {board.pairs.metrics} metrics, first is {', '.join(told)} (ties counted for each)"


def _named(first: tuple[str, ...], board: MetricTable) -> str:
    return f"<b>{escaped(first[0])}</b>" if len(first) == 1 else f"{_joined(first)} together"


def _counted(board: MetricTable) -> str:
    pairs, silent = board.pairs, board.silent()
    every = "both" if pairs.metrics == 2 else f"all {_NUMBERS.get(pairs.metrics, pairs.metrics)}"
    contrary = f", {pairs.contrary} oppositely by some" if pairs.contrary else ""
    tied = (
        f", {pairs.tied} {'is a tie or' if pairs.tied == 1 else 'are ties or'} not scored by some" if pairs.tied else ""
    )
    aside = f". {_joined(silent)} tell{'s' if len(silent) == 1 else ''} none of them apart" if silent else ""
    verb = "is" if 1 in (pairs.same, pairs.all) else "are"
    return (
        f"{pairs.same} of {pairs.all} pair{'' if pairs.all == 1 else 's'} of measures {verb} ordered the same way "
        f"by {every}{contrary}{tied}{aside}"
    )


def validity(rated: dict[str, Rated], gating: MetricGates, names: Sequence[str]) -> str:
    """Whether numbers rest on rejected inputs, in a sentence; "" where there are none."""
    gates = gating.gates(rated)
    marked = {metric for (_, metric), gate in gates.items() if gate.marked}
    whose = _plain_joined([name for name in names if name in marked]) if marked else ""
    return numbers_text(list(gates.values()), whose, gating.smallest(rated)) if gates else ""


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
        where = "; ".join(f"{measure} under {_joined(named)}" for measure, named in by_measure.items())
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
            told.append(f"{measure} under {_plain_joined(worse)}")
    return f"No better than random attributions are on average: {'; '.join(told)}." if told else ""


def draw_table(known: KnownRatings, board: MetricTable, gating: MetricGates) -> None:
    """The measures under the metrics, with a row of random attributions."""
    gates, chance, shuffles = gating.gates(known.rated), known.chance, known.shuffles
    top = f"<th scope='col' style='{_CELL}'>measure</th>" + "".join(_head(name) for name in board.metrics)
    body = ""
    for i, measure in enumerate(board.measures):
        cells = "".join(
            _cell(board, i, k, gates.get((measure, name)), shuffles.get(measure, {}).get(name))
            for k, name in enumerate(board.metrics)
        )
        body += f"<tr><th scope='row' style='{_CELL};white-space:nowrap'>{escaped(measure)}</th>{cells}</tr>"
    if chance:
        many = max(len(values) for values in chance.values())
        cells = "".join(_chance(chance.get(name)) for name in board.metrics)
        name = f"random baseline<br/><span style='{_ASIDE}'>{many} attributions, mean ± sd</span>"
        body += f"<tr><th scope='row' style='{_CELL};white-space:nowrap'>{name}</th>{cells}</tr>"
    st.html(
        f"<div style='overflow-x:auto'><table "
        f"style='border-collapse:collapse;font-size:.92rem'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _head(name: str) -> str:
    metric = metrics()[name]
    told = f"{metric.title}, {_DIRECTION[metric.direction]}. {metric.definition}"
    return (
        f"<th scope='col' style='{_CELL};font-weight:600'><span title='{escaped(told, 500)}' "
        f"style='text-decoration:underline dotted;cursor:help'>"
        f"{escaped(name)}</span> {metric.arrow}</th>"
    )


def _cell(board: MetricTable, i: int, k: int, gate: Gate | None, shuffled: np.ndarray | None) -> str:
    value, error, place, shade = (
        float(part[i, k]) for part in (board.values, board.errors, board.places, board.shades)
    )
    if value != value:
        return f"<td style='{_CELL}' title='{escaped(board.notes[i][k], 300)}'>—</td>"
    share = 0.0 if shade != shade else 100 * STRONGEST * shade
    spread = f" <span style='{_ASIDE}'>± {number(error)}</span>" if error == error else ""
    before = f"<b>{place:.0f}.</b> " if place else ""
    flipped = (
        f" <span title='{escaped(_flip_told(board, i, k), 400)}' style='cursor:help'>{FLIPPED}</span>"
        if board.flips[i, k]
        else ""
    )
    aside = "" if shuffled is None else f"<br/><span style='{_ASIDE}'>shuffled {_spread(shuffled)}</span>"
    # Transparent colour lets the theme's own ground through.
    return (
        f"<td style='{_CELL};white-space:nowrap;background-color:color-mix(in srgb, {SUPPORTS} {share:.0f}%, "
        f"transparent)'>"
        f"{before}{with_sign(number(value) + spread, gate is not None and gate.marked)}{flipped}{aside}</td>"
    )


def _flip_told(board: MetricTable, i: int, k: int) -> str:
    told = "; ".join(f"{other} by {_plain_joined(named)}" for other, named in board.flipped_with(i, k))
    return f"{board.metrics[k]} and others order {board.measures[i]} and another measure oppositely: {told}."


def _chance(values: np.ndarray | None) -> str:
    return f"<td style='{_CELL};white-space:nowrap'>{'not yet' if values is None else _spread(values)}</td>"


def _spread(values: np.ndarray) -> str:
    mean, spread, known = mean_and_spread(values)
    undefined = f" ({len(values) - known} undefined)" if known < len(values) and known else ""
    return number(mean) + (f" ± {number(spread)}" if spread == spread else "") + undefined


def leaving_line(measure: str, gates: dict[str, Gate], sizes: np.ndarray, form: str) -> str:
    """Which erasure leaves the distribution, in a sentence; HTML in which all text is escaped."""
    first = next(iter(gates.values()))
    if not first.available:
        return why_unavailable(first)
    counted = [
        f"<b>{escaped(erasure)}</b>: {inputs_text(*count_rejected(gate, sizes))}" for erasure, gate in gates.items()
    ]
    rule = rule_text(first.rule, f"{first.steps} inputs", "input")
    return (
        f"Rationales of {escaped(measure)}, kept and erased at each length: {', '.join(counted)} ({rule}, {form} form)."
    )


def gates_of_leaves(leaves: dict[str, np.ndarray], sizes: np.ndarray, gating: MetricGates) -> dict[str, Gate]:
    """{erasure: gate} of p-values float64[2, R]."""
    return {erasure: gate_of_rationales(p, sizes, gating.floor, gating.rule) for erasure, p in leaves.items()}


def file_rows(known: KnownRatings, board: MetricTable, gating: MetricGates) -> list[list]:
    """The table for a CSV file, see COLUMNS; one line a measure and metric, then the random baseline alone in each."""
    gates, chance, shuffles, how = gating.gates(known.rated), known.chance, known.shuffles, known.how
    rows = []
    settings = [
        known.side.class_name,
        known.sign,
        how.erasure,
        how.scaling,
        how.draws,
        how.seed,
        gating.rule,
        gating.form,
    ]
    for i, (measure, one) in enumerate(known.rated.items()):
        for k, name in enumerate(board.metrics):
            score, inputs, metric = one.found[name], one.inputs.get(name), metrics()[name]
            p = {} if inputs is None else inputs.p
            lengths = [None] * len(LENGTHS) if score.by_length is None else score.by_length.tolist()
            rows.append(
                [
                    measure,
                    name,
                    _DIRECTION[metric.direction],
                    score.value,
                    score.error,
                    score.note,
                    int(board.places[i, k]) or None,
                    bool(board.flips[i, k]),
                    max((len(found) for found in p.values()), default=None),
                    *(float(p[form].min()) if len(p.get(form, ())) else None for form in FORMS),
                    yes_or_no(gates[measure, name]) if (measure, name) in gates else "not tested",
                    *lengths,
                    *_numbers(chance.get(name)),
                    *_numbers(shuffles.get(measure, {}).get(name)),
                    *settings,
                ]
            )
    return rows


def _numbers(values: np.ndarray | None) -> list:
    return [None, None, None] if values is None else list(mean_and_spread(values))


def metric_rows(names: Sequence[str]) -> list[list[str]]:
    """What each metric is, for a table."""
    shown = [metrics()[name] for name in names]
    return [
        [
            f"{one.name} {one.arrow}",
            one.definition,
            _DIRECTION[one.direction],
            f"{one.low:g} to {one.high:g}",
            one.source,
        ]
        for one in shown
    ]


def head(name: str) -> str:
    """A metric's name with its arrow."""
    return f"{name} {metrics()[name].arrow}".strip()


def directed(names: Sequence[str]) -> list[int]:
    """Which of these metrics have a direction."""
    return [k for k, name in enumerate(names) if metrics()[name].direction != NEITHER]


def in_words(board: MetricTable) -> str:
    """The figure of places for those who do not see it."""
    return ". ".join(
        f"{name}: "
        + ", ".join(f"{measure} {place or '—'}" for measure, place in zip(board.measures, board.places[:, k]))
        for k, name in enumerate(board.metrics)
    )


def _joined(names: Sequence[str]) -> str:
    return escaped(_plain_joined(names), 300)


def _plain_joined(names: Sequence[str]) -> str:
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
