"""What the page Data set draws of a sweep: curves, tables of papers, and two models on the same texts."""

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from core.evaluation.studies.board_report import NAOPC_C, NAOPC_S, arrow
from core.figures.sweep_figures import draw_curves_of_sweep, draw_dots_of_sweep
from core.mathematics.statistics import Interval
from core.metrics.registry import ARROWS, HIGHER, NEITHER
from core.results.two_models import two_models_result
from core.sweeps.comparing import (
    LENGTH,
    TAG,
    accuracy_by,
    confusion,
    mean_difference,
    paired_means,
    paired_values,
    rejected_models,
    texts_of_set,
)
from core.sweeps.reading import SHIPPED, ReadSweep, read_tables
from core.sweeps.registry import CURVES, Line, SweepTable, sweep_tables
from core.sweeps.writing import Grid, grid_of, swept_cell
from core.texts.rendering import headline
from core.wording import amount, as_cell, plain, with_ends
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import RankedCell, data_table, ranked_table
from pages.parts.data_set.sweep_links import examples_of_line, keys_of
from pages.parts.face.body import draw_body
from pages.parts.face.headline import Badge, draw_headline
from pages.parts.frame.links import linked, visit
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.filtered import choose_which, kept_examples

NAME = "sweep"
_TITLES = {"aopc": "AOPC", "naopc": "NAOPC", "areas": "RACU"}
_TERMS = ("NAOPC", "RACU", "masking ratio", "interval (95 %)")
_TEXTS, _FIRST = "texts", (NAOPC_C, "performance")


def choose_sweep() -> tuple[str, bool]:
    """Draw the choices of a sweep: its folder, "" for the one that ships, and whether the filter holds."""
    filtered = choose_which()
    folder = st.text_input("Sweep", key="sweep-folder", placeholder=NAME, help="Folder of python -m core sweep").strip()
    return folder, filtered


def sweep_section(frame: DataView, folder: str, filtered: bool) -> None:
    """Draw a sweep of a folder, or say why it cannot be read."""
    try:
        found = read_tables(Path(folder).expanduser() if folder else SHIPPED)
    except ValueError as error:
        st.info(plain(f"{str(error)[:1].upper()}{str(error)[1:]}."))
        return
    sets = list(dict.fromkeys(one["data"] for lines in found.lines.values() for one in lines))
    index = frame.browsed.index.data
    first = index.name if index.name in sets else sets[0]
    data = first if len(sets) < 2 else linked(st.selectbox, "Data of the sweep", sets, first, "sweep-data")
    kept = None
    if filtered and f"{index.name} {index.digest}" in found.facts["data"] and data == index.name:
        kept = {one.id for one in kept_examples(frame, True)}
    _Shown(found, data, kept).draw()


class _Shown:
    """A data set of a sweep; kept: ids of the examples that a filter leaves, None without one."""

    def __init__(self, found: ReadSweep, data: str, kept: Collection[str] | None):
        self.lines = {name: [one for one in of if one["data"] == data] for name, of in found.lines.items()}
        self.data, self.facts, self.tables = data, found.facts, sweep_tables()
        self.texts = texts_of_set(self.lines.get(_TEXTS, []), data, kept)
        every = dict.fromkeys(one["model"] for of in self.lines.values() for one in of if "model" in one)
        # Of texts there are no means over seeds.
        self.models = tuple(dict.fromkeys(one["model"] for one in self.lines.get(_TEXTS, ()))) or tuple(every)
        self.keys = keys_of(list(every), data)
        self.picked = kept is not None

    def draw(self) -> None:
        """Headline, picture and tabs."""
        pair = self._pair()
        difference, n = Interval(float("nan"), float("nan"), float("nan")), 0
        if len(pair) > 1:
            difference = mean_difference(self.texts, NAOPC_C, pair)
            n = len(paired_values(self.texts, NAOPC_C, pair)[1])
        result = two_models_result(pair, difference, n, rejected_models(self.lines, NAOPC_C, pair))
        texts = sum(one.startswith(f"{self.data} ") for one in self.facts["sample_ids"])
        draw_headline(result, Badge(amount(texts, "text"), f"{', '.join(self.models)}: {self.data}"))
        tabs: dict[str, Callable[[], None]] = {}
        for name, lines in self.lines.items():
            if lines and name != _TEXTS:
                tabs[name.replace("_", " ")] = partial(self._table, self.tables[name], lines)
        if len(pair) > 1:
            tabs = {"two models": partial(self._two_models, pair)} | tabs
        if any(one["right"] is not None for one in self.texts):
            tabs["confusion"] = self._confusion
            tabs |= {f"by {kind}": partial(self._accuracy, kind) for kind in (TAG, LENGTH)}
        tabs = {_TITLES.get(name, name[:1].upper() + name[1:]): draw for name, draw in tabs.items()}
        draw_body(result, partial(self._picture, headline(result)), tabs, "parts-of-sweep", terms=_TERMS)

    def _pair(self) -> tuple[str, ...]:
        pairs = {f"{a} − {b}": (a, b) for a, b in combinations(self.models, 2)}
        if len(pairs) < 2:
            return next(iter(pairs.values()), self.models)
        return pairs[linked(st.selectbox, "Two models", list(pairs), next(iter(pairs)), "sweep-models")]

    def _picture(self, said: str) -> None:
        offered: dict[str, tuple[SweepTable, list[Line]]] = {}
        for name, lines in self.lines.items():
            table, value = self.tables[name], next(iter(self.tables[name].values))
            known = [one for one in without_members(lines) if one[value] is not None]
            if table.drawn == CURVES or not table.across:
                offered |= {name.replace("_", " "): (table, known)} if table.drawn and known else {}
            elif table.drawn:
                places = dict.fromkeys(one[table.across] for one in known)
                offered |= {place: (table, [one for one in known if one[table.across] == place]) for place in places}
        if not offered:
            st.caption("No figure.")
            return
        # First which measure is faithful on which model, then curves.
        places = {name: place for place, name in enumerate(_FIRST)}
        names = sorted(offered, key=lambda name: (places.get(name, len(places)), offered[name][0].drawn != CURVES))
        chosen = linked(st.selectbox, "Figure", names, names[0], "sweep-figure", label_visibility="collapsed")
        table, lines = offered[chosen]
        value = next(iter(table.values))
        lines = lines if table.drawn == CURVES else best_first(lines, value, table)
        draw = draw_curves_of_sweep if table.drawn == CURVES else draw_dots_of_sweep
        event = draw_figure(
            draw(lines, value, _titled(chosen, table, lines), table.reference),
            f"sweep-{chosen}-{st.session_state.get('sweep picks', 0)}",
            said,
            [NAME, chosen, self.data],
            f"{', '.join(self.models)}: {self.data}",
            on_select="rerun",
            selection_mode="points",
        )
        for point in event["selection"]["points"][:1]:
            place = point.get("customdata")
            place = place[0] if isinstance(place, list) else place
            target = examples_of_line(lines[place], table.name, self.keys) if isinstance(place, int) else {}
            if target:
                st.session_state["sweep picks"] = st.session_state.get("sweep picks", 0) + 1
                visit("Examples", **target)

    def _table(self, table: SweepTable, lines: Sequence[Line]) -> None:
        grid = grid_of(table, lines)
        rows = []
        # Under masking a high performance is none that is better.
        shaded = [[0.0] * len(grid.values)] * len(grid.rows) if table.drawn == CURVES else shares_of(grid)
        for (named, row), shares in zip(grid.rows.items(), shaded):
            cells = [
                RankedCell(swept_cell(one, value), share, _href(examples_of_line(one or {}, table.name, self.keys)))
                for share, one, value in zip(shares, row, grid.values)
            ]
            rows.append(([as_cell(name) for name in named], cells))
        ranked_table(grid.header, rows)

    def _two_models(self, pair: tuple[str, ...]) -> None:
        header = ["measure", "figure", *pair, "difference", "95 % low", "95 % high", "texts"]
        rows = [
            [one.measure, arrow(one.figure), one.first, one.second, *_ends(one.difference), one.n]
            for figure in (NAOPC_C, NAOPC_S)
            for one in paired_means(self.texts, figure, pair)
        ]
        data_table(header, rows, "sweep-two-models")

    def _confusion(self) -> None:
        for model in self.models:
            counted = confusion(self.texts, model)
            labels, classes = (sorted({key[place] for key in counted}) for place in (0, 1))
            rows = []
            for label in labels:
                whole = sum(counted[label, name] for name in classes)
                wanted = [self._examples(model, label=label, predicted=name) for name in classes]
                cells = [
                    RankedCell(as_cell(n := counted[label, name]), 0.999 * n / whole, link)
                    for name, link in zip(classes, wanted)
                ]
                rows.append(([label], cells))
            ranked_table([f"{model}: label", *(f"predicted {name}" for name in classes)], rows)

    def _accuracy(self, kind: str) -> None:
        found = accuracy_by(self.texts, kind)
        rows = []
        for value in dict.fromkeys(value for value, _ in found):
            shares = {model: found[value, model] for model in self.models if (value, model) in found}
            means = [one.mean for one, _ in shares.values()]
            worst, best = min(means), max(means)
            cells = []
            for model in self.models:
                if model not in shares:
                    cells.append(RankedCell("—"))
                    continue
                one, n = shares[model]
                text = f"{with_ends(one.mean, one.low, one.high)}, n {n}"
                share = float(one.mean == best > worst)
                cells.append(RankedCell(text, share, self._examples(model, **{kind: value})))
            rows.append(([value], cells))
        ranked_table([kind, *(f"{model}: accuracy ↑" for model in self.models)], rows)

    def _examples(self, model: str, **facets: str) -> str:
        target = examples_of_line({"model": model, "data": self.data}, _TEXTS, self.keys)
        return _href(target | facets) if target else ""


def without_members(lines: Sequence[Line]) -> list[Line]:
    """Of a family the means over its seeds alone, where there are such."""
    families = {one.get("model") for one in lines}
    return [one for one in lines if one.get("model", "").rpartition("/")[0] not in families]


def best_first(lines: Sequence[Line], value: str, table: SweepTable) -> list[Line]:
    """The same lines, the measure in front whose value is best on average over models."""
    ways = {arrow: way for way, arrow in ARROWS.items()}
    way = lines[0].get("direction") or ways.get(table.values[value][-1:]) or HIGHER
    means = {name: np.mean([one[value] for one in lines if one["measure"] == name]) for name in _measures(lines)}
    return sorted(lines, key=lambda one: -way * means[one["measure"]])


def shares_of(grid: Grid) -> list[list[float]]:
    """Where each number lies between the worst and the best of its column, 0 to 1; 0 where none is better."""
    every = [
        [math.nan if one is None or one[value] is None else better * one[value] for one, value, better in cells]
        for cells in (zip(row, grid.values, grid.better) for row in grid.rows.values())
    ]
    numbers = np.array(every, dtype=np.float64).reshape(len(every), len(grid.values))
    most, least = np.fmax.reduce(numbers), np.fmin.reduce(numbers)
    spread = np.where(most > least, most - least, np.inf)
    return np.nan_to_num((numbers - least) / spread).tolist()


def _titled(chosen: str, table: SweepTable, lines: Sequence[Line]) -> str:
    if table.drawn == CURVES:
        return f"{chosen} (by % masked)"
    return next(iter(table.values.values())) or f"{chosen} {ARROWS[lines[0].get('direction', NEITHER)]}".rstrip()


def _measures(lines: Sequence[Line]) -> set[str]:
    return {one["measure"] for one in lines}


def _href(target: dict[str, str]) -> str:
    return f"examples?{urlencode(target)}" if target else ""


def _ends(one: Interval) -> tuple[float, float, float]:
    return one.mean, one.low, one.high
