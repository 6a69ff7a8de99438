"""Tables of a sweep as figures of paper: PDF and SVG, by matplotlib."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.figures.palette import RANDOM, hue
from core.measures.catalogue import is_measure
from core.sweeps.registry import CURVES, Line, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".pdf", ".svg")
_WIDTH, _HEIGHT = 3.6, 2.7
_ACROSS = 4
# Measures differ without colour, too.
_MARKS = "osD^vP*X<>"


def picture_files(table: SweepTable, lines: Sequence[Line], origin: str) -> dict[str, bytes]:
    """The figure in each of PICTURES, with where it comes from inside; {} where it has none, or nothing to draw."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    value = next(iter(table.values))
    known = [one for one in lines if one[value] is not None]
    panels = list(dict.fromkeys(map(_panel, known)))
    if not table.drawn or not panels:
        return {}
    measures = list(dict.fromkeys(one["measure"] for one in known))
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(_WIDTH * across, _HEIGHT * down), layout="constrained")
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, place)
        here = [one for one in known if _panel(one) == panel]
        (_draw_curves if table.drawn == CURVES else _draw_dots)(axes, here, value, measures)
        if table.reference is not None:
            (axes.axhline if table.drawn == CURVES else axes.axvline)(table.reference, color="0.5", lw=0.8, ls="--")
        axes.set_title("\n".join(panel), fontsize="small")
    named: dict[str, Any] = {".pdf": {"Title": table.name, "Subject": origin}}
    named[".svg"] = {"Title": table.name, "Description": origin}
    found = {}
    # Letters stay letters, and a drawing that is made twice is the same.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sweep", "pdf.fonttype": 42}):
        for ending in PICTURES:
            out = io.BytesIO()
            figure.savefig(out, format=ending[1:], metadata=named[ending])
            found[ending] = out.getvalue()
    return found


def _panel(line: Line) -> tuple[str, ...]:
    """What a panel is of: model, data, and figure or metric where dots are of several."""
    several = () if "ratio" in line else ("figure", "metric")
    return tuple(line[name] for name in ("model", "data", *several) if name in line)


def _colour(name: str) -> str:
    """A measure's own; of random orders and of all measures together, that of baselines."""
    return hue(name) if is_measure(name) else RANDOM


def _look(measures: Sequence[str], name: str) -> dict[str, Any]:
    return {"color": _colour(name), "marker": _MARKS[measures.index(name) % len(_MARKS)], "ms": 3}


def _draw_curves(axes: "Axes", lines: Sequence[Line], value: str, measures: Sequence[str]) -> None:
    """A value by masking ratio, a line for each measure and seed."""
    for name, seed in dict.fromkeys((one["measure"], one["seed"]) for one in lines):
        here = [one for one in lines if (one["measure"], one["seed"]) == (name, seed)]
        label = name if seed is None else f"{name}, seed {seed}"
        ratios, values = [one["ratio"] for one in here], [one[value] for one in here]
        axes.plot(ratios, values, lw=1, label=label, **_look(measures, name))
    axes.set_xlabel("masking ratio")
    axes.set_ylabel(value)
    axes.legend(fontsize="x-small")


def _draw_dots(axes: "Axes", lines: Sequence[Line], value: str, measures: Sequence[str]) -> None:
    """A value of each measure with its interval, seeds one below another."""
    names = [one["measure"] if one.get("seed") is None else f"{one['measure']}, seed {one['seed']}" for one in lines]
    for place, one in enumerate(lines):
        low, high = one.get(f"{value}_low"), one.get(f"{value}_high")
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], lw=1, color=_colour(one["measure"]))
        axes.plot([one[value]], [place], **_look(measures, one["measure"]))
    axes.set_yticks(range(len(names)), names, fontsize="x-small")
    axes.invert_yaxis()
    axes.set_xlabel(value)
