"""What stands beside a text: another version of it, as its original or its pair, or the same under a second model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.data.examples import Example
from core.explanation.edits import Version, aligned, changed_cells, version_rows
from core.explanation.explainer import read_alike
from core.explanation.rows import WordRow, most_important, value_text
from core.mathematics.ranking import kendall_tau
from core.network.features import NoFeatures
from core.network.scheduler import NonFinite, OutOfMemory
from core.reports.exports import Beside
from core.results.inputs import gate_caveats, reference_caveats
from core.results.result import Result
from core.results.versions import versions_result
from core.stability.known import labelled
from core.terms import MASF_P
from core.validity.marks import HOLM, PLAIN, UNAVAILABLE, Gate, decide, with_sign
from core.validity.references import CALIBRATED
from core.wording import number, plain, shortened
from pages.parts.attributions.attributing import Attributing, rows_beside
from pages.parts.components.tables import table
from pages.parts.components.versions import word_above_word
from pages.parts.face.headline import draw_badges, draw_finding
from pages.parts.frame.links import choose, forget, held, hold, remark
from pages.parts.frame.picking import AGAINST, NOT_KEPT, read_own, remembered, set_beside, stands_beside
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions
from pages.parts.frame.working import in_turn
from pages.parts.sections.saving import shown_of
from pages.parts.sections.sides import ALONE, both_sides, pick_beside, same_class, side_caveats

# What the address says of an example that is shown beside its pair; of an edit it names the original's digest.
PAIR = "pair"
_CHANGED = ["measure", "where the text changed", "of the rest, what moved most", "unit"]


def versions_section(view: View, chosen: list[str], sign: str) -> Callable[[], Beside | None]:
    """Draw the text beside the one that it was made from, or beside its pair, where that is asked for, and return what
    writes that one into files; else the button that asks.
    """
    example = _other(view)
    if example is None:
        _offer(view)
        return lambda: None
    pair = view.browsed is not None
    with st.container(border=True, key="beside-each-other"):
        try:
            with in_turn(view.model):
                encoded = read_alike(view.explainer, example, view.encoded)
                likely = view.explainer.probabilities(encoded)
                other = replace(view, encoded=encoded, example=example, probabilities=likely)
                shown = (view, other) if pair else (other, view)
                names = (view.example.id, example.id) if pair else ("original", "edit")
                told = _version(shown[0], names[0]), _version(shown[1], names[1])
        except (NoFeatures, NonFinite, OutOfMemory) as error:
            st.warning(plain(f"The other text cannot be shown beside it: {error}"))
            _close()
            return lambda: None
        pairs, result, tables = _draw(shown, told, chosen, sign)
        with st.container(horizontal=True):
            if pair:
                named = f"Go to {plain(example.id)}"
                st.button(named, on_click=choose, args=("example", example.id), key="go-to-pair")
            _close()
    names = names if pair else names[::-1]
    rows = [both[1 if pair else 0] for both in pairs]
    return lambda: Beside(names, shown_of(other, other, rows), pair, result, tables)


def _draw(shown: tuple[View, View], told: tuple[Version, Version], chosen: list[str], sign: str) -> tuple:
    """Draw both; the rows of each measure, and what changed, and tables of it."""
    view, (first, second) = shown[0], told
    places = aligned(first.words, second.words)
    gate = _gate(view, [one.p for one in told], HOLM)
    result = _result(shown, told, places, gate)
    draw_finding(result)
    waiting = st.container()
    works = [[Attributing(side, name, f" for the {one.name}") for side, one in zip(shown, told)] for name in chosen]
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
    return Version(name, view.encoded, view.explainer.logits(view.encoded), _unmasked_p(view), view.label_class)


def _unmasked_p(view: View) -> float | None:
    """The p-value of the unmasked text; None without a reference."""
    p = view.explainer.tested(view.encoded).judge(np.zeros((1, view.encoded.F), dtype=bool)).p.get(CALIBRATED)
    return None if p is None else float(p[0])


def _gate(view: View, p: Sequence[float | None], rule: str) -> Gate:
    """What the test says of unmasked texts with these p-values."""
    reference, values = view.explainer.reference, np.array([1.0 if one is None else one for one in p])
    floor = None if reference is None else reference.floor(CALIBRATED)
    return decide(values, np.arange(len(p)), len(p), floor, rule)


def _result(shown: tuple[View, View], told: tuple[Version, Version], places: list, gate: Gate) -> Result:
    model, reference = shown[0].model, shown[0].explainer.reference
    tested = [
        reference_caveats(reference, np.array([one.encoded.T]), model.precision, maskable=one.encoded.maskable)
        for one in shown
    ]
    return versions_result(*told, places, model.labels, [*gate_caveats([gate]), *tested[0], *tested[1]])


def _other(view: View) -> Example | None:
    """The text that is asked for beside this one; None where none is, or where it is not here."""
    asked = held(AGAINST)
    if asked is None:
        return None
    found, why = None, NOT_KEPT
    if view.browsed is not None:
        found = view.pair if asked == PAIR else None
        why = f"This link asks for {shortened(view.example.id)} beside its pair, and it has none here."
    elif asked != PAIR and stands_beside(held("text")) and (kept := read_own(asked)) is not None:
        found = Example("original", kept[0], kept[1])
    if found is None:
        # Why is said where a link asked for it.
        if f"held {AGAINST}" not in st.session_state:
            remark(why)
        forget(AGAINST)
        return None
    hold(AGAINST, asked)
    st.query_params[AGAINST] = asked
    return found


def _offer(view: View) -> None:
    """The button that asks for the other version, where there is one."""
    if view.browsed is None:
        source = next((one.edited for one in remembered() if one.digest == held("text")), None)
        if source is not None:
            _offer_button("Show beside the original", source.digest)
    elif view.pair is not None:
        _offer_button(f"Its pair: {plain(view.pair.id)}", PAIR)


def _offer_button(label: str, asked: str) -> None:
    st.button(label, key="beside", on_click=set_beside, args=(asked, held("text")), icon=":material/compare_arrows:")


def _close() -> None:
    st.button("Close the comparison", key="close-versions", on_click=forget, args=(AGAINST,))


def second_model(view: View, chosen: list[str], sign: str) -> None:
    """Draw the choice of a second model, and where there is one the text under both."""
    st.header("Do two models rest on the same words?", anchor=False)
    name = pick_beside(view.model)
    said = st.container()
    if name == ALONE:
        return
    try:
        with in_turn(view.model):
            sides = both_sides(view, name, said)
            if len(sides) < 2:
                return
            p = [_unmasked_p(side) for side in sides]
    except (NonFinite, OutOfMemory) as error:
        st.warning(plain(f"{name} cannot stand beside it: {error}"))
        return
    with said:
        _predictions(sides, p, [_gate(one, [value], PLAIN) for one, value in zip(sides, p)])
    if same_class(sides):
        _draw_models(sides, chosen, sign)


def _predictions(sides: Sequence[View], p: Sequence[float | None], gates: Sequence[Gate]) -> None:
    """What each model predicts and what its test says of the unmasked text, and what limits comparing them."""
    tested = [
        with_sign(number(value), gate.marked) if gate.available and value is not None else UNAVAILABLE
        for value, gate in zip(p, gates)
    ]
    columns = ["model", "predicts", "probability", "explained", f"{MASF_P} of the text ↑"]
    rows = [
        [side.model.name, side.predicted_name, number(side.probability), side.class_name, text]
        for side, text in zip(sides, tested)
    ]
    table(columns, rows)
    limits = [caveat for side in sides for caveat in side_caveats(sides, side)]
    draw_badges([], [*limits, *gate_caveats(gates)])


def _draw_models(sides: Sequence[View], chosen: list[str], sign: str) -> None:
    waiting, names = st.container(), [one.model.name for one in sides]
    works = [(Attributing(sides[0], name), Attributing(sides[1], name, f" under {names[1]}")) for name in chosen]
    pairs = rows_beside(works, sign, waiting)
    words = [feature.text for feature in sides[0].encoded.features]
    places = [(i, i) for i in range(len(words))]
    word_above_word(names, (words, words), places, pairs, sides[0].class_name, "two-models")
    if not pairs:
        return
    heads = ["measure", "same order? τ-b ↑", *(f"matters most under {name}" for name in names)]
    unstable = [{name: why for name, why in one.unstable(chosen, sign).items() if why} for one in sides]
    table(heads, [_agreement(both, words, unstable[0] | unstable[1]) for both in pairs], most=240)
    captions(f"{name}: {why}" for name, one in zip(names, unstable) for why in one.values())
    st.caption("Orders may also differ because a measure is unfaithful.")


def _agreement(rows: Sequence[WordRow], words: list[str], unstable: Mapping[str, str]) -> list[str]:
    first, second = rows
    tau = kendall_tau(first.free, second.free)
    tops = [most_important(row) for row in rows]
    cells = ["no word" if i is None else f"“{words[i]}” {value_text(row, i)}" for row, i in zip(rows, tops)]
    return [labelled(first.measure, unstable), "—" if np.isnan(tau) else number(tau), *cells]
