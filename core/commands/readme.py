"""What the README says of importance measures and of faithfulness metrics, written from their registers."""

from core.measures.catalogue import measures
from core.metrics.catalogue import metrics

_HEAD = ("name", "variants", "definition", "forward passes", "needs", "source")
_METRICS_HEAD = ("name", "better", "range", "definition", "forward passes", "source")


def measure_table() -> str:
    """The registered measures as a Markdown table, in the order of menus; no newline at its end."""
    rows = [(m.name, ", ".join(m.variants), m.definition, m.cost, m.needs, m.source) for m in measures().values()]
    return _markdown(_HEAD, rows)


def metric_table() -> str:
    """The registered metrics as a Markdown table, in the order of menus; no newline at its end."""
    rows = [
        (m.name, m.arrow or "neither", f"{m.low} to {m.high}, {m.unit}", m.definition, m.cost, m.source)
        for m in metrics().values()
    ]
    return _markdown(_METRICS_HEAD, rows)


def _markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (head, ("---",) * len(head), *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
