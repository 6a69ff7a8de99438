"""Figures: plain Plotly objects with a fixed palette and a transparent ground, for both themes."""

import numpy as np

from core.composition.palette import RANDOM, SUPPORTS, blend

_GREY = "#7d8590"


def performance_by_masking(card: dict):
    """Performance against the share of tokens masked at random, with the class majority as a line.

    Args:
        card: a model's card; its figures come from `core.composition.cards.build_card`.
    Source: FMM Figs. 2 and 3.
    """
    import plotly.graph_objects as go

    shown = card["performance"]
    ratios = [100 * r for r in shown["ratios"]]
    figure = go.Figure()
    figure.add_scatter(x=ratios, y=shown["masked"], mode="lines+markers", name="this model", line={"color": SUPPORTS, "width": 3},
                       hovertemplate="%{x:.0f} % masked: %{y:.3f}<extra></extra>")
    figure.add_scatter(x=[0, 100], y=[shown["class_majority"]] * 2, mode="lines", name="class majority",
                       line={"color": RANDOM, "dash": "dash"}, hovertemplate="class majority: %{y:.3f}<extra></extra>")
    # Both lines are named where they are, so that colour is not the only sign.
    figure.add_annotation(x=0, y=shown["masked"][0], text=f"{shown['masked'][0]:.3f}", showarrow=False, yshift=14, xshift=14, font={"color": _GREY})
    figure.add_annotation(x=100, y=shown["masked"][-1], text=f"{shown['masked'][-1]:.3f}", showarrow=False, yshift=14, font={"color": _GREY})
    figure.add_annotation(x=12, y=shown["class_majority"], text="class majority", showarrow=False, yshift=12, font={"color": _GREY})
    figure.update_xaxes(title="tokens masked at random (%)", range=[-4, 106])
    figure.update_yaxes(title=f"{shown['metric']} ↑ better")
    return _dressed(figure, 300)


def agreement_map(values: np.ndarray, names: list[str], lowest: float):
    """A square of agreement between measures, each cell with its number.

    Args:
        values: float[M, M], in [lowest, 1]; NaN is shown as —.
        names: M names; lowest: −1 for correlations, 0 for overlaps.
    """
    import plotly.graph_objects as go

    text = [["—" if np.isnan(v) else f"{v:.2f}" for v in row] for row in values]
    figure = go.Figure(go.Heatmap(
        z=values, x=names, y=names, zmin=lowest, zmax=1, text=text, texttemplate="%{text}", xgap=3, ygap=3, showscale=False,
        colorscale=_scale(lowest), hovertemplate="%{y} and %{x}: %{text}<extra></extra>"))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(tickangle=0, tickvals=names, ticktext=[name.replace(" ", "<br>") for name in names])
    return _dressed(figure, 90 + 46 * len(names))


def _scale(lowest: float):
    from core.composition.palette import OPPOSES

    middle, strong, weak = "#e9edf1", blend(SUPPORTS, "#ffffff", 0.65), blend(OPPOSES, "#ffffff", 0.65)
    return [[0, weak], [0.5, middle], [1, strong]] if lowest < 0 else [[0, middle], [1, strong]]


def _dressed(figure, height: int):
    figure.update_layout(height=height, margin={"l": 10, "r": 10, "t": 20, "b": 10}, showlegend=False, paper_bgcolor="rgba(0,0,0,0)",
                         plot_bgcolor="rgba(0,0,0,0)", font={"color": _GREY, "size": 13, "family": "'Source Sans', 'Source Sans Pro', sans-serif"}, hoverlabel={"font_size": 13})
    figure.update_xaxes(automargin=True, gridcolor="rgba(125,133,144,0.25)", zeroline=False)
    figure.update_yaxes(automargin=True, gridcolor="rgba(125,133,144,0.25)", zeroline=False)
    return figure
