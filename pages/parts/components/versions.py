"""Two versions of a text, word above word, a row a measure; texts travel as data and become `textContent`."""

from collections.abc import Sequence

from core.explanation.edits import largest_of
from core.explanation.rows import WordRow, value_text
from core.figures.palette import STRONGEST, hue
from pages.parts.components.component import component

_draw = component("versions")


def word_above_word(
    names: Sequence[str],
    words: tuple[Sequence[str], Sequence[str]],
    places: Sequence[tuple[int | None, int | None]],
    rows: Sequence[tuple[WordRow, WordRow]],
    class_name: str,
    key: str,
) -> None:
    """Draw the words of two versions of a text in columns, those that changed marked; without rows the words alone.

    Args:
        words: of each version its features; places: as `core.explanation.edits.aligned`.
        rows: of each measure that of the one version and that of the other; both are coloured on one scale.
    """
    signed = any(one.kind == "signed" for one, _ in rows)
    changed = [i is None or j is None or words[0][i] != words[1][j] for i, j in places]
    _draw(
        {
            "names": list(names),
            "changed": changed,
            "words": [
                [None if i is None else words[0][i] for i, _ in places],
                [None if j is None else words[1][j] for _, j in places],
            ],
            "strongest": STRONGEST,
            "signed": signed,
            "for": f"supports “{class_name}”" if signed else "matters most",
            "against": f"opposes “{class_name}”",
            "legend": "In each row one scale colours both; changed words are framed.",
            "rows": [_drawn(one, other, places) for one, other in rows],
        },
        key,
    )


def _drawn(first: WordRow, second: WordRow, places) -> dict:
    largest = largest_of(first, second)
    sides = [
        [None if i is None else _cell(first, i, largest) for i, _ in places],
        [None if j is None else _cell(second, j, largest) for _, j in places],
    ]
    detail = "1 = masked first" if first.kind == "rank" else f"{first.variant} · largest of both {largest:.3g}"
    unit = "" if first.kind == "rank" or first.unit == "none" else f" {first.unit}"
    return {"name": first.measure, "detail": detail + unit, "kind": first.kind, "hue": hue(first.measure)} | {
        "sides": sides
    }


def _cell(row: WordRow, i: int, largest: float) -> dict:
    """A word's shade in [−1, 1], what is said of its value, and its place where that is all there is."""
    shade = 0.0 if not largest or row.kind == "rank" else float(row.scores[i]) / largest
    return {
        "shade": shade,
        "value": value_text(row, i),
        "place": int(row.places[i]) or "—",
        "masked": bool(row.masked[i]),
    }
