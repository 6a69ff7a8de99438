"""The measures under the metrics as a table, with a row of random attributions."""

import numpy as np
import streamlit as st

from core.explanation.metric_report import DIRECTIONS, MetricReport
from core.explanation.metric_sentences import flip_sentence
from core.explanation.metric_table import mean_and_spread
from core.figures.palette import STRONGEST, SUPPORTS
from core.metrics.catalogue import metrics
from core.validity.marks import with_sign
from core.wording import escaped, number

FLIPPED = "⇅"
_CELL = (
    "padding:.35rem .7rem;border:1px solid "
    "rgba(125,133,144,.3);text-align:left;font-weight:400;vertical-align:top;background-clip:padding-box"
)
_ASIDE = "font-size:.8rem"


def draw_table(report: MetricReport) -> None:
    """Draw it; all text is escaped."""
    board = report.table
    body = [
        _row(escaped(measure), [_cell(report, i, k) for k in range(len(board.metrics))])
        for i, measure in enumerate(board.measures)
    ]
    if report.chance:
        many = max(map(len, report.chance.values()))
        name = f"random baseline<br/><span style='{_ASIDE}'>{many} attributions, mean ± sd</span>"
        body.append(_row(name, [_chance(report.chance.get(name)) for name in board.metrics]))
    st.html(
        "<div style='overflow-x:auto'><table style='border-collapse:collapse;font-size:.92rem'><thead><tr>"
        f"<th scope='col' style='{_CELL}'>measure</th>{''.join(map(_head, board.metrics))}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _row(name: str, cells: list[str]) -> str:
    return f"<tr><th scope='row' style='{_CELL};white-space:nowrap'>{name}</th>{''.join(cells)}</tr>"


def _head(name: str) -> str:
    metric = metrics()[name]
    told = f"{metric.title}, {DIRECTIONS[metric.direction]}. {metric.definition}"
    return (
        f"<th scope='col' style='{_CELL};font-weight:600'><span title='{escaped(told, 500)}' "
        f"style='text-decoration:underline dotted;cursor:help'>{escaped(name)}</span> {metric.arrow}</th>"
    )


def _cell(report: MetricReport, i: int, k: int) -> str:
    board = report.table
    value, error, place, shade = (
        float(part[i, k]) for part in (board.values, board.errors, board.places, board.shades)
    )
    if value != value:
        return f"<td style='{_CELL}' title='{escaped(board.notes[i][k], 300)}'>—</td>"
    measure, name = board.measures[i], board.metrics[k]
    gate, shuffled = report.gates.get((measure, name)), report.shuffles.get(measure, {}).get(name)
    share = 0.0 if shade != shade else 100 * STRONGEST * shade
    spread = f" <span style='{_ASIDE}'>± {number(error)}</span>" if error == error else ""
    before = f"<b>{place:.0f}.</b> " if place else ""
    flipped = (
        f" <span title='{escaped(flip_sentence(board, i, k), 400)}' style='cursor:help'>{FLIPPED}</span>"
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


def _chance(values: np.ndarray | None) -> str:
    return f"<td style='{_CELL};white-space:nowrap'>{'not yet' if values is None else _spread(values)}</td>"


def _spread(values: np.ndarray) -> str:
    mean, spread, known = mean_and_spread(values)
    undefined = f" ({len(values) - known} undefined)" if known < len(values) and known else ""
    return number(mean) + (f" ± {number(spread)}" if spread == spread else "") + undefined
