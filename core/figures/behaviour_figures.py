"""Figures of behaviour under masking and attack: predictions unchanged, drift of the embeddings, and their map."""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.evaluation.studies.attacks import Attacking
from core.evaluation.studies.attacks_report import AttacksReport
from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.studies.behaviour_report import BehaviourReport, CourseLine, X
from core.evaluation.studies.embedding_map import SHOWN
from core.figures.catalogue import register_figure
from core.figures.check_figures import model_stroke
from core.figures.figures import INK, SHARE_AXIS, axis, figure, heading, legend, trace
from core.figures.palette import RANDOM, SUPPORTS, class_hue, share_hue
from core.mathematics.masking import RATIOS
from core.wording import as_json, share_text

MASKED, LABEL, PREDICTION = "share masked", "label", "prediction"
COLOURS = (MASKED, LABEL, PREDICTION)
_MARKS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down")
_POINT = "%{customdata[0]}<br>%{customdata[3]} % masked<br>predicted: %{customdata[2]}"
_LEFT, _RIGHT, _UPPER, _LOWER = [0, 0.45], [0.55, 1], [0.6, 1], [0, 0.39]


@register_figure(Behaviour.name)
def behaviour_panels(reports: Sequence[BehaviourReport]) -> dict:
    """Predictions not changed yet (the area above is fidelity), change of the centroid, and of the mean standard
    deviation, against the share masked; dash and mark by model, hue by order, random grey. Source: RobustInf Eq. 1, §5.
    """
    traces = [
        drawn
        for place, one in enumerate(reports)
        for line in one.lines
        for drawn in _line(one, line, place, len(reports) > 1)
    ]
    axes: dict[str, Any] = {
        "yaxis": axis(domain=_UPPER, range=[-3, 103]),
        "yaxis2": axis(domain=_LOWER, anchor="x2", rangemode="tozero"),
        "yaxis3": axis(domain=_LOWER, anchor="x3", zeroline=True, zerolinecolor=INK),
    }
    titles = (
        "predictions not changed yet (%; the faster it falls, the more faithful)",
        "centroid change<br>(1 − cosine)",
        "change of mean σ (%)",
    )
    notes = [heading(text, end) for text, end in zip(titles, ("", "2", "3"))]
    masked = f"masked (%{reports[0].sample.of_part})"
    for end, domain in (("", [0, 1]), ("2", _LEFT), ("3", _RIGHT)):
        # The upper one's title would stand over the lower ones' headings.
        axes[f"xaxis{end}"] = axis(masked if end else None, range=[-3, 103], domain=domain, anchor=f"y{end}")
    return figure(traces, 660, notes, **axes, legend=legend(1.06))


def _line(one: BehaviourReport, line: CourseLine, place: int, several: bool) -> list[dict]:
    name = html.escape(f"{line.course.measure}{f', {one.model}' if several else ''}")
    look = model_stroke(line.course.measure, line.course.random, place) | {"name": name, "legendgroup": name}
    panels = (
        (100 * line.unflipped, "", "%{y:.1f} % of predictions not changed yet"),
        (line.centroid, "2", "centroid change %{y:.3g}"),
        (100 * line.spread, "3", "mean σ %{y:+.3g} %"),
    )
    return [
        trace(
            "lines+markers",
            (100 * X).tolist(),
            as_json(values),
            f"%{{x:.0f}} % masked: {told}",
            name,
            xaxis=f"x{end}",
            yaxis=f"y{end}",
            showlegend=not end,
            **look,
        )
        for values, end, told in panels
    ]


def map_figure(
    places: np.ndarray,
    groups: list[tuple[str, str, int, np.ndarray]],
    told: list[tuple[str, int, str]],
    ratio: np.ndarray,
    path: np.ndarray | None = None,
) -> dict:
    """Embeddings in the plane, one kind of mark and one colour for each group of `groups_of`.

    places: float[P, 2]; told: each point's example, place in the sample and predicted class, for `customdata`; ratio:
    int[P], places in RATIOS; path: points of the chosen example in order. Source: RobustInf §5.
    """
    custom = [
        [html.escape(name), place, html.escape(predicted), round(100 * RATIOS[k])]
        for (name, place, predicted), k in zip(told, ratio)
    ]
    traces, chosen = [], set() if path is None else set(path.tolist())
    if chosen:
        look = {"line": {"color": INK, "width": 2}, "name": "the chosen example", "showlegend": True}
        traces.append(trace("lines", *places[path].T.tolist(), **look))
    for name, colour, mark, members in groups:
        at = np.flatnonzero(members)
        look = {"color": colour, "symbol": _MARKS[mark % len(_MARKS)], "opacity": 0.8, "line": {"width": 0}}
        look["size"] = 7 if path is None else [13 if i in chosen else 7 for i in at]
        more = {"name": html.escape(name), "customdata": [custom[i] for i in at], "marker": look}
        traces.append(trace("markers", *places[at].T.tolist(), _POINT, **more))
    bare = axis(
        showticklabels=False, showgrid=False, ticks="", showline=True, linecolor="rgba(125,133,144,0.4)", mirror=True
    )
    around = legend(-0.02, yanchor="top")
    return figure(traces, 460, xaxis=bare, yaxis=bare, legend=around, hovermode="closest", clickmode="event+select")


def groups_of(
    colour: str, ratio: np.ndarray, labels: np.ndarray, predicted: np.ndarray, names: tuple[str, ...]
) -> list[tuple[str, str, int, np.ndarray]]:
    """Points by share masked, label or prediction (colour: one of COLOURS): (name, colour, mark, bool[P]) of each
    group.

    ratio: int[P], places in RATIOS; labels, predicted: int[P]; names: of the classes. ValueError: another colour.
    """
    if colour not in COLOURS:
        raise ValueError(f"colour must be one of {COLOURS}, got {colour!r}")
    if colour == MASKED:
        found = [
            (f"{share_text(RATIOS[k])} masked", share_hue(RATIOS[k]), mark, ratio == k) for mark, k in enumerate(SHOWN)
        ]
    else:
        kind = labels if colour == LABEL else predicted
        found = [(f"{colour}: {name}", class_hue(c), c, kind == c) for c, name in enumerate(names)]
    return [group for group in found if group[3].any()]


_LOOKS = (("original", RANDOM, "circle", -0.1), ("attacked", SUPPORTS, "diamond", 0.1))


@register_figure(Attacking.name)
def attack_shares(reports: Sequence[AttacksReport]) -> dict | None:
    """A mark with its 95 % interval for each share and side; of the first report, None where no attack succeeded."""
    (first, *_) = reports
    if not first.pairs:
        return None
    shares = {"fidelity": first.fidelity, "never changes": first.never, "rejected by MaSF": first.rejected}
    traces = []
    for side, hue, symbol, aside in _LOOKS:
        found = [getattr(one, side) for one in shares.values()]
        values = as_json([one.mean for one in found])
        above, below = ([one.high - one.mean for one in found], [one.mean - one.low for one in found])
        error = {"type": "data", "symmetric": False, "array": as_json(above), "arrayminus": as_json(below)}
        more = {"marker": {"color": hue, "symbol": symbol, "size": 11}, "error_y": error | {"color": hue}, "name": side}
        traces.append(
            trace("markers", [k + aside for k in range(len(shares))], values, f"{side}: %{{y:.3g}}", side, **more)
        )
    x = axis(tickvals=list(range(len(shares))), ticktext=list(shares), range=[-0.5, len(shares) - 0.5])
    return figure(traces, 340, xaxis=x, yaxis=axis("share", range=[-0.03, 1.03], **SHARE_AXIS), legend=legend(1.02))
