"""The same text under a second model: its words below this model's, and whether measures rank them alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.explanation.rows import WordRow, most_important, value_text
from core.mathematics.ranking import kendall_tau
from core.network.scheduler import NonFinite, OutOfMemory
from core.results.inputs import gate_caveats
from core.stability.known import known_unstable, labelled
from core.terms import MASF_P
from core.validity.marks import PLAIN, UNAVAILABLE, Gate, decide, with_sign
from core.validity.references import CALIBRATED
from core.wording import number, plain
from pages.parts.attributions.attributing import Attributing, rows_beside
from pages.parts.components.tables import table
from pages.parts.components.versions import word_above_word
from pages.parts.face.headline import draw_badges
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions
from pages.parts.frame.working import in_turn
from pages.parts.sections.sides import ALONE, Side, both_sides, choose_beside, same_class, side_caveats


class OfModel(Attributing):
    """One measure under the second model."""

    @property
    def label(self) -> str:
        return f"{self.measure} under {self.view.model.name}"


def second_model(view: View, chosen: list[str], sign: str) -> None:
    """Draw the choice of a second model, and where there is one the text under both."""
    st.header("Do two models rest on the same words?", anchor=False)
    name = choose_beside(view)
    said = st.container()
    if name == ALONE:
        return
    try:
        with in_turn(view.model):
            sides = both_sides(view, name, said)
            if len(sides) < 2:
                return
            views = view, _under(view, sides[1])
            gates = [_tested(one) for one in views]
    except (NonFinite, OutOfMemory) as error:
        st.warning(plain(f"{name} cannot stand beside it: {error}"))
        return
    with said:
        _predictions(sides, gates)
    if same_class(sides):
        _draw(views, chosen, sign)


def _predictions(sides: Sequence[Side], gates: Sequence[tuple[Gate, float]]) -> None:
    """What each model predicts and what its test says of the unmasked text, and what limits comparing them."""
    columns = ["model", "predicts", "probability", "explained", f"{MASF_P} of the text ↑"]
    rows = [
        [side.model.name, side.predicted_name, number(side.probability), side.class_name, _p_text(gate, p)]
        for side, (gate, p) in zip(sides, gates)
    ]
    table(columns, rows)
    limits = [caveat for side in sides for caveat in side_caveats(sides, side)]
    draw_badges([], [*limits, *gate_caveats([gate for gate, _ in gates])])


def _p_text(gate: Gate, p: float) -> str:
    return with_sign(number(p), gate.marked) if gate.available else UNAVAILABLE


def _draw(views: tuple[View, View], chosen: list[str], sign: str) -> None:
    waiting = st.container()
    pairs = rows_beside([(Attributing(views[0], name), OfModel(views[1], name)) for name in chosen], sign, waiting)
    words = [feature.text for feature in views[0].encoded.features]
    names = [one.model.name for one in views]
    places = [(i, i) for i in range(len(words))]
    word_above_word(names, (words, words), places, pairs, views[0].class_name, "two-models")
    if not pairs:
        return
    heads = ["measure", "same order? τ-b ↑", *(f"matters most under {name}" for name in names)]
    unstable = [_unstable(one, chosen, sign) for one in views]
    table(heads, [_agreement(both, words, unstable[0] | unstable[1]) for both in pairs], most=240)
    captions(f"{name}: {why}" for name, one in zip(names, unstable) for why in one.values())
    st.caption("Orders may also differ because a measure is unfaithful.")


def _unstable(view: View, chosen: list[str], sign: str) -> dict[str, str]:
    """{measure: why its ranking is unstable} of those that are known to be."""
    known = known_unstable(view.explainer, view.encoded, view.explained, chosen, sign)
    return {name: why for name, why in known.items() if why}


def _agreement(rows: Sequence[WordRow], words: list[str], unstable: Mapping[str, str]) -> list[str]:
    first, second = rows
    tau = kendall_tau(first.free, second.free)
    tops = [most_important(row) for row in rows]
    cells = ["no word" if i is None else f"“{words[i]}” {value_text(row, i)}" for row, i in zip(rows, tops)]
    return [labelled(first.measure, unstable), "—" if np.isnan(tau) else number(tau), *cells]


def _under(view: View, side: Side) -> View:
    """The same example under a second model."""
    return replace(
        view,
        explainer=side.explainer,
        encoded=side.encoded,
        probabilities=side.explainer.probabilities(side.encoded),
        target=side.target,
        than=side.than,
    )


def _tested(view: View) -> tuple[Gate, float]:
    """What the test says of the unmasked text under one model, and its p-value; 1 without a reference."""
    reference = view.explainer.reference
    p = view.explainer.tested(view.encoded).judge(np.zeros((1, view.encoded.F), dtype=bool)).p.get(CALIBRATED)
    floor = None if reference is None else reference.floor(CALIBRATED)
    values = np.ones(1) if p is None else p
    return decide(values, np.arange(1), 1, floor, PLAIN), float(values[0])
