"""Figures: Plotly's own JSON as plain dictionaries, with a fixed palette and a transparent ground for both themes.

Dictionaries, since building the same figure through `plotly.graph_objects` takes longer than the attribution it shows.
"""

from core.composition.palette import RANDOM, SUPPORTS

_GREY = "#7d8590"


def performance_by_masking(card: dict) -> dict:
    """Performance against the share of tokens masked at random, with the class majority as a line.

    Args:
        card: a model's card; its figures come from `core.composition.cards.build_card`.
    Source: FMM Figs. 2 and 3.
    """
    shown = card["performance"]
    values, majority = shown["masked"], shown["class_majority"]
    lines = [
        {"type": "scatter", "x": [100 * r for r in shown["ratios"]], "y": values, "mode": "lines+markers", "name": "this model",
         "line": {"color": SUPPORTS, "width": 3}, "hovertemplate": "%{x:.0f} % masked: %{y:.3f}<extra></extra>"},
        {"type": "scatter", "x": [0, 100], "y": [majority, majority], "mode": "lines", "name": "class majority",
         "line": {"color": RANDOM, "dash": "dash"}, "hovertemplate": "class majority: %{y:.3f}<extra></extra>"},
    ]
    # Both lines are named where they are, so that colour is not the only sign.
    notes = [_note(0, values[0], f"{values[0]:.3f}", 14, 14), _note(100, values[-1], f"{values[-1]:.3f}", 14), _note(12, majority, "class majority", 12)]
    return _figure(lines, 300, annotations=notes, xaxis={"title": {"text": "tokens masked at random (%)"}, "range": [-4, 106]},
                   yaxis={"title": {"text": f"{shown['metric']} ↑ better"}})


def _note(x: float, y: float, text: str, up: int, right: int = 0) -> dict:
    return {"x": x, "y": y, "text": text, "showarrow": False, "yshift": up, "xshift": right, "font": {"color": _GREY}}


def _figure(traces: list[dict], height: int, xaxis: dict, yaxis: dict, annotations: list[dict] | None = None) -> dict:
    axis = {"automargin": True, "gridcolor": "rgba(125,133,144,0.25)", "zeroline": False}
    layout = {"height": height, "margin": {"l": 10, "r": 10, "t": 20, "b": 10}, "showlegend": False, "hoverlabel": {"font": {"size": 13}},
              "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "annotations": annotations or [],
              "font": {"color": _GREY, "size": 13, "family": "'Source Sans', 'Source Sans Pro', sans-serif"},
              "xaxis": axis | xaxis, "yaxis": axis | yaxis}
    return {"data": traces, "layout": layout}
