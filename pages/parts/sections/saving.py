"""Buttons that save what a page shows; a file is written when somebody asks for it, without a new run."""

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner_utils.script_run_context import SCRIPT_RUN_CONTEXT_ATTR_NAME

from core.evaluation.study import Table
from core.explanation.rows import WordRow
from core.interactions.telling import PairReport
from core.network.model import Model
from core.reports.answers import sets_sections, written_sections
from core.reports.attribution_page import attribution_page
from core.reports.exports import (
    Beside,
    Shown,
    attribution_table,
    csv_text,
    identity,
    model_identity,
    picture_line,
    provenance,
)
from core.results.result import Result, as_columns
from core.results.smallest_sets import SetsReport
from core.texts.rendering import latex_comment
from core.validity.marks import SIGN
from core.verdicts.deciding import VerdictReport
from core.verdicts.operators import UnderErasure
from core.wording import safe_name
from pages.parts.components.pictures import draw_figure
from pages.parts.frame.texts import view_caveats

if TYPE_CHECKING:
    from core.reports.limits_page import SideLimits
    from pages.parts.frame.sidebar import View

_CSV_TIP = "One line per value. A text like a formula begins with an apostrophe."
# Columns of a board that are text where they are empty, too.
_BOARD_TEXTS = ("problem", "note", "values", "class", "measure", "verdict", "outcome", "caveats")


def save_table(label: str, header: list[str], rows: Callable[[], Iterable[list]], name: str, key: str) -> None:
    """A button that saves a table as CSV.

    Args:
        rows: gives the lines, called at each click on a thread of its own: it may not ask Streamlit anything.
    """
    _save(label, lambda: csv_text(header, rows()), name, "text/csv", key, _CSV_TIP)


def save_report(
    header: Sequence[str], rows: Callable[[], Iterable[list]], plain: Callable[[], dict], name: Iterable[str], key: str
) -> None:
    """Two buttons that save a report: its rows as CSV, as in `save_table`, and as JSON what `plain` gives."""
    _save_both(lambda: csv_text(list(header), rows()), plain, name, key)


def save_board(
    records: Callable[[], list[dict]], about: Callable[[], dict], tables: list[Table], result: Result, name: list[str]
) -> None:
    """Three buttons: lines as CSV and Parquet, with the result and metadata `about`, and tables as LaTeX."""

    def lines() -> list[dict]:
        return [line | as_columns(result) for line in records()]

    def kept() -> dict:
        return {one: value for one, value in about().items() if one != "examples"}

    def latex() -> str:
        from core.reports.tables import latex_table

        return "\n".join([latex_comment(result), *(latex_table(*one, caption="scoreboard") for one in tables)])

    with st.container(horizontal=True, vertical_alignment="center"):
        save_lines("Lines", lines, kept, name, "board", "One line for each text and measure, typed")
        tip = f"Tables for the LaTeX package booktabs; {SIGN} is a raised exclamation mark there."
        _save("Tables (LaTeX)", latex, safe_name(name, "tex"), "application/x-tex", "board-tex", tip)


def save_records(records: Callable[[], list[dict]], plain: Callable[[], dict], name: Iterable[str], key: str) -> None:
    """As `save_report`, of records whose names are the columns."""
    _save_both(partial(_records_text, records), plain, name, key)


def save_lines(
    label: str,
    lines: Callable[[], list[dict]],
    about: Callable[[], dict],
    name: Sequence[str],
    key: str,
    tip: str | None = None,
) -> None:
    """Two buttons: lines as CSV, and as Parquet with metadata `about`; tip: of the latter."""

    def parquet() -> bytes:
        from core.reports.tables import parquet_bytes

        return parquet_bytes(lines(), about(), _BOARD_TEXTS)

    file = safe_name(name, "csv")
    _save(f"{label} (CSV)", partial(_records_text, lines), file, "text/csv", f"{key}-csv", _CSV_TIP)
    file, mime = safe_name(name, "parquet"), "application/vnd.apache.parquet"
    _save(f"{label} (Parquet)", parquet, file, mime, f"{key}-parquet", tip)


def _records_text(records: Callable[[], list[dict]]) -> str:
    lines = records()
    header = list(dict.fromkeys(column for line in lines for column in line))
    return csv_text(header, ([line.get(column) for column in header] for line in lines))


def _save_both(table: Callable[[], str], plain: Callable[[], dict], name: Iterable[str], key: str) -> None:
    name = list(name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _save("Table (CSV)", table, safe_name(name, "csv"), "text/csv", f"{key}-csv", _CSV_TIP)
        save_plain("All figures (JSON)", plain, name, f"{key}-json")


def save_plain(label: str, plain: Callable[[], dict], name: Iterable[str], key: str) -> None:
    """A button that saves as JSON what `plain` gives."""
    _save(label, lambda: json.dumps(plain(), indent=1), safe_name(name, "json"), "application/json", key)


def save_page(label: str, page: Callable[[], str], name: str, key: str) -> None:
    """A button that saves a page of HTML; `page` writes it, called as the rows of `save_table` are."""
    _save(label, page, name, "text/html", key, "One file that opens offline")


def save_attributions(
    view: "View",
    rows: list[WordRow],
    result: Result | None = None,
    beside: Callable[[], Beside | None] = lambda: None,
    pairs: PairReport | None = None,
    verdicts: VerdictReport | None = None,
    unstable: Mapping[str, str] | None = None,
    erased: Mapping[str, UnderErasure] | None = None,
    sets: SetsReport | None = None,
) -> None:
    """Two buttons: the attributions on this page as a table, and as a page of their own.

    Args:
        rows: one a measure; without any there is nothing to save. result: what the page's headline says.
        beside: gives another version of the text, which both hold, too, or None.
        pairs: what is known of pairs of words, which the page holds; verdicts: of its measures, which both hold;
            unstable: {measure: why its ranking is, "" where it is not} as far as that is known, which both hold;
            erased: the verdicts by each way of erasing, as far as these are known, which the table holds;
            sets: its smallest sets, which the page holds.
    """
    if not rows:
        return
    notes = (*view.model.notes, *_notes(view))

    def shown() -> Shown:
        more = {"unstable": unstable or {}, "erased": erased or {}}
        return shown_of(view, view, rows, notes, result=result, pairs=pairs, verdicts=verdicts, **more)

    def table() -> str:
        return csv_text(*attribution_table(shown(), beside()))

    def page() -> str:
        more = [] if sets is None else written_sections(sets_sections(sets))
        return attribution_page(shown(), beside=beside(), more=more)

    name = attributions_name(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        _save("Table (CSV)", table, f"{name}.csv", "text/csv", "save-csv", _CSV_TIP)
        save_page("Page (HTML)", page, f"{name}.html", "save-html")


def shown_of(view: "View", side: "View", rows: Sequence[WordRow], notes: tuple[str, ...] = (), **known: Any) -> Shown:
    """The text of a view under one model, with what else is known of it, by the names of `Shown`."""
    labels = side.model.labels
    label = None if view.label_class is None else view.model.labels[view.label_class]
    return Shown(
        side.encoded,
        view.example,
        labels,
        side.probabilities,
        side.explained,
        tuple(rows),
        labels.index(label) if label in labels else None,
        notes=notes,
        provenance=provenance(side.model, side.encoded, view.example, *_source(view), side.explained),
        **known,
    )


def save_with_origin(
    view: "View", header: Sequence[str], lines: Callable[[], Iterable[list]], plain: Callable[[], dict], kind: str
) -> None:
    """As `save_report`, of what was found on a view, whose origin stands in every line."""
    source = _source(view)
    facts = provenance(view.model, view.encoded, view.example, *source, view.explained)
    save_report(
        [*header, *facts],
        lambda: ([*line, *facts.values()] for line in lines()),
        lambda: facts | plain(),
        [kind, source[0], view.example.id, view.class_name, view.model.name],
        f"save-{kind}",
    )


def save_limits(
    view: "View",
    sides: Sequence[tuple["View", "SideLimits"]],
    table: tuple[list[str], list[list]],
    direction: str,
    settings: dict[str, str],
) -> None:
    """A button that saves the limits on this page, and what stands between them, as a page of its own.

    Args:
        sides: what is known of each model; nothing can be saved before the page's own is among them.
        table: the header and rows of its scores; direction: of the answer; settings: what else the numbers depend on.
    """
    if not sides or sides[0][0].explainer is not view.explainer:
        return

    def page() -> str:
        # Imported at the click: every page imports this file as it starts.
        from core.reports.limits_page import LimitsShown, limits_page

        both = []
        for side, found in sides:
            # The notes on the text stand with the page's own model.
            notes = *side.model.notes, *(_notes(view) if side.explainer is view.explainer else ())
            both.append((shown_of(view, side, (), notes), found))
        return limits_page(LimitsShown(tuple(both), direction, *table, settings))

    save_page(
        "Page (HTML)",
        page,
        safe_name(["naopc", _source(view)[0], view.example.id, *(side.model.name for side, _ in sides)], "html"),
        "save-html",
    )


def attributions_name(view: "View") -> str:
    """The name of files about this view, without an ending."""
    return safe_name(["attributions", _source(view)[0], view.example.id, view.class_name, view.model.name])


def about_shown(view: "View", *sides: "View") -> str:
    """The line under a picture of what these models do with the text of this view."""
    source = _source(view)
    return picture_line(*(identity(one.model, one.encoded, view.example, *source, one.explained) for one in sides))


def draw_on_text(
    view: "View", side: "View", figure: dict, key: str, alt: str, name: str, title: str = "the figure"
) -> None:
    """Draw a figure of what one model does with the text of this view; name: of its files, with text and model."""
    draw_figure(figure, key, alt, [name, view.example.id, side.model.name], about_shown(view, side), title)


def about_models(models: Sequence[Model], data: str = "") -> str:
    """The line under a picture of what models do on no example in particular; data: the name of its data."""
    return picture_line(*(model_identity(model) | {"data": data} for model in models))


def _source(view: "View") -> tuple[str, str]:
    """Name and digest of the view's data set; no digest for a text of one's own."""
    return (view.data, "") if view.browsed is None else (view.browsed.index.data.name, view.browsed.index.data.digest)


def _save(
    label: str, content: Callable[[], str | bytes], name: str, mime: str, key: str, tip: str | None = None
) -> None:
    # Given as a function, the content is asked for at the click; a click that only saves needs no new run.
    st.download_button(
        label,
        lambda: _held(content(), name, mime),
        name,
        mime,
        key=key,
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        help=tip,
    )


# So many files that were asked for last stay, whatever runs meanwhile.
_FILES = 8
_slots = itertools.cycle(range(_FILES))


def _held(content: str | bytes, name: str, mime: str) -> bytes:
    """What a file holds, which stays until it is fetched: Streamlit counts a file written at a click as nobody's, and
    throws it away once two runs end, of any visitor's page, before the browser asks for it.
    """
    written = content if isinstance(content, bytes) else content.encode("utf-8")
    if Runtime.exists():
        # The manager of files asks the thread whose a file is; those of a session are forgotten when it runs anew.
        here = threading.current_thread()
        before = getattr(here, SCRIPT_RUN_CONTEXT_ATTR_NAME, None)
        setattr(here, SCRIPT_RUN_CONTEXT_ATTR_NAME, SimpleNamespace(session_id="saved files"))
        try:
            Runtime.instance().media_file_mgr.add(written, mime, f"slot {next(_slots)}", name, True)
        finally:
            setattr(here, SCRIPT_RUN_CONTEXT_ATTR_NAME, before)
    return written


def _notes(view: "View") -> list[str]:
    example = view.example
    cut = view.encoded.truncation
    notes = [one.line for one in view_caveats(view)]
    notes += [f"Read: {cut.words_read:,} of {cut.words:,} words."] if cut.cut else []
    notes += [example.note] if example.note else []
    return notes + ([f"Tags: {', '.join(example.tags)}."] if example.tags else [])
