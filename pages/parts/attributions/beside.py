"""Two versions of a text beside each other: an edit and its original, an example and its pair."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from core.data.browsing import Index
from core.data.examples import Example
from core.explanation.edits import Version, aligned, changed_cells, version_rows
from core.network.features import NoFeatures
from core.network.scheduler import NonFinite, OutOfMemory
from core.results.inputs import gate_caveats, reference_caveats
from core.results.result import Result
from core.results.versions import versions_result
from core.validity.marks import HOLM, Gate, decide, with_sign
from core.validity.references import CALIBRATED
from core.wording import number, plain, shortened
from pages.parts.attributions.attributing import Attributing, rows_beside
from pages.parts.components.tables import table
from pages.parts.components.versions import word_above_word
from pages.parts.face.headline import draw_finding
from pages.parts.frame.links import choose, forget, held, hold, remark
from pages.parts.frame.picking import AGAINST, NOT_KEPT, remembered, set_beside, stands_beside
from pages.parts.frame.sidebar import View, read_own
from pages.parts.frame.working import in_turn
from pages.parts.sections.saving import OtherVersion

# What the address says of an example that is shown beside its pair; of an edit it names the original's digest.
PAIR = "pair"
_CHANGED = ["measure", "where the text changed", "of the rest, what moved most", "unit"]


@dataclass(frozen=True, eq=False)
class OfVersion(Attributing):
    """One measure on the other version of a text."""

    called: str = ""

    @property
    def label(self) -> str:
        return f"{self.measure} for the {self.called}"


def versions_section(view: View, chosen: list[str], sign: str) -> OtherVersion | None:
    """Draw the text beside the one that it was made from, or beside its pair, where that is asked for, and return that
    one; else the button that asks.
    """
    example = _other(view)
    if example is None:
        _offer(view)
        return None
    pair = view.browsed is not None
    with st.container(border=True, key="beside-each-other"):
        try:
            with in_turn(view.model):
                other = _view_of(view, example)
                shown = (view, other) if pair else (other, view)
                names = (view.example.id, example.id) if pair else ("original", "edit")
                told = _version(shown[0], names[0]), _version(shown[1], names[1])
        except (NoFeatures, NonFinite, OutOfMemory) as error:
            st.warning(plain(f"The other text cannot be shown beside it: {error}"))
            _close()
            return None
        pairs, result, tables = _draw(shown, told, chosen, sign)
        with st.container(horizontal=True):
            if pair:
                _go_to(example)
            _close()
    names = names if pair else names[::-1]
    return OtherVersion(other, [rows[1 if pair else 0] for rows in pairs], names, pair, result, tables)


def _draw(shown: tuple[View, View], told: tuple[Version, Version], chosen: list[str], sign: str) -> tuple:
    """Draw both; the rows of each measure, and what changed, and tables of it."""
    view, (first, second) = shown[0], told
    places = aligned(first.words, second.words)
    gate = _gate(view, told)
    result = _result(shown, told, places, gate)
    draw_finding(result)
    waiting = st.container()
    works = [[OfVersion(side, name, one.name) for side, one in zip(shown, told)] for name in chosen]
    pairs = rows_beside(works, sign, waiting)
    word_above_word(
        [one.name for one in told], (first.words, second.words), places, pairs, shown[0].class_name, "versions"
    )
    marked = ["" if one.p is None else with_sign(number(one.p), bool(no)) for one, no in zip(told, gate.rejected)]
    facts = version_rows(first, second, view.model.labels, view.explained, marked)
    tables = [(["", first.name, second.name, "change"], facts)]
    if pairs:
        words = first.words, second.words
        cells = [[one.measure, *changed_cells(one, other, words, places), one.unit] for one, other in pairs]
        tables.append((_CHANGED, cells))
    for header, rows in tables:
        table(header, rows, most=240)
    return pairs, result, tuple(tables)


def _version(view: View, name: str) -> Version:
    unmasked = np.zeros((1, view.encoded.F), dtype=bool)
    tested = view.explainer.tested(view.encoded)
    p = tested.judge(unmasked).p.get(CALIBRATED)
    return Version(
        name, view.encoded, view.explainer.logits(view.encoded), None if p is None else float(p[0]), view.label_class
    )


def _gate(view: View, told: tuple[Version, Version]) -> Gate:
    reference = view.explainer.reference
    p = np.array([1.0 if one.p is None else one.p for one in told])
    return decide(p, np.arange(2), 2, None if reference is None else reference.floor(CALIBRATED), HOLM)


def _result(shown: tuple[View, View], told: tuple[Version, Version], places: list, gate: Gate) -> Result:
    model, reference = shown[0].model, shown[0].explainer.reference
    tested = [reference_caveats(reference, np.array([one.encoded.T]), model.precision) for one in shown]
    return versions_result(*told, places, model.labels, [*gate_caveats([gate]), *tested[0], *tested[1]])


def _view_of(view: View, example: Example) -> View:
    encoded = view.explainer.encode(example.text, example.second, view.encoded.unit)
    return replace(view, encoded=encoded, example=example, probabilities=view.explainer.probabilities(encoded))


def _other(view: View) -> Example | None:
    """The text that is asked for beside this one; None where none is, or where it is not here."""
    asked = held(AGAINST)
    if asked is None:
        return None
    found = _original(asked) if view.browsed is None else _pair(view.browsed.index, view.example, asked)
    if found is not None:
        hold(AGAINST, asked)
        st.query_params[AGAINST] = asked
    return found


def _pair(index: Index, example: Example, asked: str) -> Example | None:
    if asked == PAIR and example.pair in index.rows:
        return index.data.examples[index.rows[example.pair]]
    return _let_go(f"This link asks for {shortened(example.id)} beside its pair, and it has none here.")


def _original(asked: str) -> Example | None:
    found = read_own(asked) if stands_beside(held("text")) and asked != PAIR else None
    return _let_go(NOT_KEPT) if found is None else Example("original", found[0], found[1])


def _let_go(why: str) -> None:
    """Compare no longer; why: said where a link asked for it."""
    if f"held {AGAINST}" not in st.session_state:
        remark(why)
    forget(AGAINST)


def _offer(view: View) -> None:
    """The button that asks for the other version, where there is one."""
    if view.browsed is None:
        _offer_original()
    elif view.example.pair in view.browsed.index.rows:
        _offer_button(f"Its pair, one edit apart: {plain(view.example.pair)}", PAIR)


def _offer_original() -> None:
    source = next((one.edited for one in remembered() if one.digest == held("text")), None)
    if source is not None:
        _offer_button("Show beside the original", source.digest)


def _offer_button(label: str, asked: str) -> None:
    st.button(label, key="beside", on_click=set_beside, args=(asked, held("text")), icon=":material/compare_arrows:")


def _go_to(example: Example) -> None:
    st.button(f"Go to {plain(example.id)}", on_click=choose, args=("example", example.id), key="go-to-pair")


def _close() -> None:
    st.button("Close the comparison", key="close-versions", on_click=forget, args=(AGAINST,))
