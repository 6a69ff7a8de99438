"""What the README says of the importance measures, written from their register."""

from core.network.catalogue import measures

_HEAD = ("name", "variants", "definition", "forward passes", "needs", "source")


def measure_table() -> str:
    """The registered measures as a Markdown table, in the order of menus; no newline at its end."""
    rows = [(m.name, ", ".join(m.variants), m.definition, m.cost, m.needs, m.source) for m in measures().values()]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (_HEAD, ("---",) * len(_HEAD), *rows))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
