"""Rows of coloured words, drawn in the browser; clicks come back as the index of a word.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import numpy as np
import streamlit as st

from core.explanation.rows import WordRow, value_text
from core.figures.palette import STRONGEST, hue
from core.results.verdicts import Status
from core.wording import number
from pages.parts.components.component import component

_draw = component("words", "word")
_SCALED = "colours scaled by row"


def chip(status: Status, text: str, href: str, about: str) -> dict:
    """A verdict as one of the figures beside a measure's name: its badge stands out from the text beside it."""
    return {"name": "verdict:", "chip": str(status), "tone": status.name, "text": text, "href": href, "about": about}


def words(
    rows: list[WordRow],
    pieces: list[dict],
    class_name: str,
    definitions: dict[str, str],
    *,
    rest: str = "",
    key: str = "words",
    name: str = "words",
    about: str = "",
    unit: str = "word",
    scores: dict[str, list[dict]] | None = None,
    brief: bool = False,
) -> int | None:
    """Draw a row of coloured words per measure, with a legend; return the clicked word's index.

    Args:
        pieces: the text's features and the gaps before them; those with "evidence" are overlined.
        definitions: a line per measure, shown on hover over its name; rest: what stands after the last word.
        name: of the files that two buttons save; about: the line under a saved picture, without which there are none.
        scores: of each measure figures that stand beside its name, {"name", "text", "href", "about"} each, or `chip`.
        brief: to be looked at only: names, verdicts and words, and what the colours mean.
    """
    # A click belongs to a text: after the next one it marks nothing.
    text = f"{hash(tuple(piece['text'] for piece in pieces)):x}"
    chosen = _clicked((st.session_state.get(key) or {}).get("word"), text, len(pieces))
    data = {
        "pieces": pieces,
        "free": sum(not piece["masked"] for piece in pieces),
        "text": text,
        "rest": rest,
        "chosen": chosen,
        "strongest": STRONGEST,
        "signed": any(row.kind == "signed" for row in rows),
        "unsigned": any(row.kind == "positive" for row in rows),
        "for": f"supports “{class_name}”",
        "most": "matters most (no sign)",
        "against": f"opposes “{class_name}”",
        "brief": brief,
        "legend": "" if brief else _SCALED,
        "hint": "" if brief else f"click a {unit} to compare",
        "name": name,
        "about": about,
        "title": f"{unit.capitalize()}s coloured by {', '.join(row.measure for row in rows)}",
        "rows": [_drawn(row, definitions.get(row.measure, ""), unit, brief) for row in rows],
        "scores": [(scores or {}).get(row.measure, []) for row in rows],
    }
    return _clicked(_draw(data, key).word, text, len(pieces))


def _clicked(state, text: str, count: int) -> int | None:
    owner, _, place = str(state).partition(":")
    return int(place) if owner == text and place.isdigit() and int(place) < count else None


def _drawn(row: WordRow, definition: str, unit: str, brief: bool) -> dict:
    detail, count, waiting = "1 = masked first", len(row.scores), int(np.isnan(row.scores).sum())
    if row.kind != "rank":
        detail = f"{row.variant} · largest {number(row.largest)}" + ("" if row.unit == "none" else f" {row.unit}")
    return {
        "name": row.measure,
        "detail": "" if brief else detail,
        # How many have a score, where some have none yet.
        "note": f"{count - waiting:,} of {count:,} {unit}s" if waiting and not brief else "",
        "kind": row.kind,
        "hue": hue(row.measure),
        "definition": definition,
        "shades": row.shades.tolist(),
        "places": [int(place) or "—" for place in row.places],
        "values": [value_text(row, i) for i in range(len(row.scores))],
    }
