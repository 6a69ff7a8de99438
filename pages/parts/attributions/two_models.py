"""The same text under a second model: its words below this model's, and whether measures rank them alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.explanation.row_sentences import models_sentence
from core.explanation.rows import WordRow, most_important, value_text
from core.mathematics.ranking import kendall_tau
from core.network.scheduler import NonFinite, OutOfMemory
from core.stability.known import known_unstable, labelled, why_unstable
from core.validity.marks import PLAIN, decide, model_text
from core.validity.references import CALIBRATED
from core.wording import number, plain
from pages.parts.attributions.attributing import Attributing, rows_beside
from pages.parts.components.tables import table
from pages.parts.components.versions import word_above_word
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions, show_answer
from pages.parts.frame.working import in_turn
from pages.parts.sections.sides import ALONE, Side, both_sides, choose_beside, classes_sentence, same_class


class OfModel(Attributing):
    """One measure under the second model."""

    @property
    def label(self) -> str:
        return f"{self.measure} under {self.view.model.name}"


def second_model(view: View, chosen: list[str], sign: str) -> None:
    """Draw the choice of a second model, and where there is one the text under both."""
    st.header("Do two models rest on the same words?", anchor=False)
    name = choose_beside(view, "explains the same text, its words below this model’s")
    said = st.container()
    if name == ALONE:
        st.caption("Choose a model to see the same words under it, such as a twin that was trained without masking.")
        return
    try:
        with in_turn(view.model):
            sides = both_sides(view, name, said)
            if len(sides) < 2:
                return
            views = view, _under(view, sides[1])
            told = [_tested(one) for one in views]
    except (NonFinite, OutOfMemory) as error:
        st.warning(plain(f"{name} cannot stand beside it: {error}"))
        return
    with said:
        show_answer(
            models_sentence([(one.model.name, one.model.labels, one.probabilities) for one in views]),
            " ".join(filter(None, [classes_sentence(sides), *told])),
        )
    if same_class(sides):
        _draw(views, chosen, sign)


def _draw(views: tuple[View, View], chosen: list[str], sign: str) -> None:
    waiting = st.container()
    works = [(Attributing(views[0], name), OfModel(views[1], name)) for name in chosen]
    pairs = [rows for both in works if (rows := rows_beside(both, sign, waiting)) is not None]
    words = [feature.text for feature in views[0].encoded.features]
    names = [one.model.name for one in views]
    places = [(i, i) for i in range(len(words))]
    word_above_word(names, (words, words), places, pairs, views[0].class_name, "two-models")
    if pairs:
        heads = ["measure", "same order? τ-b ↑", *(f"matters most under {name}" for name in names)]
        unstable = [known_unstable(one.explainer, one.encoded, one.explained, chosen, sign) for one in views]
        labels = {name: why for both in unstable for name, why in both.items() if why}
        table(heads, [_agreement(both, words, labels) for both in pairs], most=240)
        captions(f"{name}: {why_unstable(one)}" for name, one in zip(names, unstable) if any(one.values()))
        st.caption(
            "τ-b compares the orders of the words: 1 the same, 0 unrelated, −1 reversed. Two orders may differ because "
            "the models do, or because the measure is not faithful to one: *Recursive masking* takes both models."
        )


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


def _tested(view: View) -> str:
    """What the test says of the unmasked text under one model."""
    reference = view.explainer.reference
    p = view.explainer.tested(view.encoded).judge(np.zeros((1, view.encoded.F), dtype=bool)).p.get(CALIBRATED)
    floor = None if reference is None else reference.floor(CALIBRATED)
    values = np.ones(1) if p is None else p
    return model_text(decide(values, np.arange(1), 1, floor, PLAIN), view.model.name, float(values[0]))
