"""Two attributions set by hand: the same words in the same order, other weights; what hard and soft metrics make of
it.
"""

from collections.abc import Collection

import numpy as np
import streamlit as st

from core.explanation.rows import pieces
from core.judging.hand_set import REST, Pair, judge_pair, row_of, top_words
from core.judging.metric_report import head
from core.mathematics.ranking import LEVEL
from core.metrics.catalogue import metrics
from core.network.scheduler import NonFinite, OutOfMemory
from core.validity.marks import KEY, OUT, with_sign
from core.wording import escaped, joined, number, plain
from pages.parts.components.tables import table
from pages.parts.components.words import words
from pages.parts.erasure.choosing import ErasureChoice
from pages.parts.erasure.judging import judge_of
from pages.parts.frame.links import linked
from pages.parts.frame.working import in_turn
from pages.parts.sections.sides import Side

_STEPS = tuple(f"{i / 20:g}" for i in range(21))
# One steep, one even; the first word weighs most in both.
_STARTS = {"A": ("1", "0.3", "0.1"), "B": ("1", "0.9", "0.8")}
_LEVEL = (
    f"Told apart as in the table above: not level, that is, {LEVEL:g} or more apart, and soft scores more than two "
    "standard errors of their difference."
)
_DIFFER = {None: "—", True: "yes", False: "no, level"}


def hand_setting(side: Side, choice: ErasureChoice, scores: np.ndarray, measure: str) -> None:
    """Sliders for the weights of the words that a measure ranks first, and the sentence that follows from them."""
    if np.isnan(scores).any():
        st.caption(f"This begins with the words that {plain(measure)} ranks first; it gave no numbers here.")
        return
    top = top_words(scores, side.encoded.premasked)
    if len(top) < 2:
        st.caption(f"With a single {side.encoded.unit} there is nothing to weigh against it.")
        return
    named = [side.encoded.features[i].text for i in top]
    st.caption(
        f"Both attributions hold the {len(top)} {side.encoded.unit}s that {plain(measure)} ranks first; all others "
        f"weigh {REST:g}. "
        "Move the weights: hard metrics read the order of the words alone, soft ones how much each weighs."
    )
    weights = {}
    for name, column in zip(_STARTS, st.columns(2, gap="large")):
        with column:
            st.markdown(f"**Attribution {name}**, {'steep' if name == 'A' else 'even'} to start with")
            weights[name] = [
                float(
                    linked(st.select_slider, f"{name} · {plain(word)}", _STEPS, start, f"weight-{name.lower()}{i + 1}")
                )
                for i, (word, start) in enumerate(zip(named, _STARTS[name]))
            ]
    try:
        with in_turn(side.model):
            pair = judge_pair(judge_of(side, choice.how), top, weights["A"], weights["B"])
    except (NonFinite, OutOfMemory) as error:
        st.error(plain(str(error)))
        return
    _say_pair(side, choice, pair)


def _say_pair(side: Side, choice: ErasureChoice, pair: Pair) -> None:
    """The two as coloured words, what metrics make of them, and their scores."""
    floor = None if side.reference is None else side.reference.floor(choice.form)
    marked = {at for at, gate in pair.gates(floor, choice.rule, choice.form).items() if gate.marked}
    rows = [row_of(f"attribution {name}", each, side.encoded.premasked) for name, each in zip(_STARTS, pair.scores)]
    words(rows, pieces(side.encoded), side.class_name, {}, key="words-by-hand", unit=side.encoded.unit)
    st.html(f"<p>{pair_line(pair, marked)}</p>")
    cells = [
        [f"attribution {name}", *(with_sign(_cell(score), (k, metric) in marked) for metric, score in found.items())]
        for k, (name, found) in enumerate(zip(_STARTS, pair.found))
    ]
    told_apart = ["told apart?", *(_DIFFER[pair.differ(name)] for name in pair.found[0])]
    table(["", *map(head, pair.found[0])], [*cells, told_apart])
    st.caption(f"{f'{KEY}. ' * bool(marked)}{_LEVEL}")


def pair_line(pair: Pair, marked: Collection[tuple[int, str]] = ()) -> str:
    """What hard and soft metrics make of the two, a sentence or two of HTML; marked: which scores, (0 or 1, metric),
    rest on rejected inputs.
    """
    undefined = [name for name in pair.found[0] if pair.differ(name) is None]
    if len(undefined) == len(pair.found[0]):
        return f"None of the metrics is defined here: {escaped(pair.found[0][undefined[0]].note, 200)}"
    gone = (
        f" {joined(undefined)} {_verb(undefined, 'is', 'are')} undefined here: "
        f"{escaped(pair.found[0][undefined[0]].note, 200)}"
        if undefined
        else ""
    )
    return f"{_of_hard(pair)} {_of_soft(pair, marked)}{gone}".strip()


def _of_hard(pair: Pair) -> str:
    """What hard metrics make of the order."""
    differ, same = _apart(pair, soft=False)
    if pair.same_order:
        alike = f", so <b>{joined(same)} {_verb(same, 'is', 'are')} exactly the same</b> for both" if same else ""
        return f"Both rank all words alike{alike}."
    begins = "The two no longer rank the words alike"
    if differ:
        return f"{begins}, so <b>{joined(differ)} {_verb(differ, 'differs', 'differ')} now</b>."
    if not same:
        return f"{begins}."
    return (
        f"{begins}, yet <b>{joined(same)} {_verb(same, 'is', 'are')} still level</b>: at these lengths the same "
        f"words are erased, or others that count about as much."
    )


def _of_soft(pair: Pair, marked: Collection[tuple[int, str]]) -> str:
    """What soft metrics make of the weights."""
    differ, same = _apart(pair, soft=True)
    if differ:
        # On inputs that the model does not know that is no evidence.
        known = [name for name in differ if not {(0, name), (1, name)} & set(marked)]
        named = f"<b>{joined(differ)}</b>" if known == differ else joined(differ)
        rests = f", on inputs that are {OUT}" * (known != differ)
        return f"{named} {_verb(differ, 'tells', 'tell')} them apart: {_told(pair, differ, marked)}{rests}."
    if not same:
        return ""
    level = f"{joined(same)} {_verb(same, 'does', 'do')} not tell them apart"
    # Where all of them rest on rejected inputs, other weights are no remedy.
    if all({(0, name), (1, name)} & set(marked) for name in same):
        return f"{level}, on inputs that are {OUT}, which is no evidence; another example may have others."
    return f"{level}; move the weights further apart, or choose another example."


def _apart(pair: Pair, soft: bool) -> tuple[list[str], list[str]]:
    """The soft or the hard metrics that tell the two apart, and those that do not."""
    names = [name for name in pair.found[0] if metrics()[name].soft is soft]
    return [name for name in names if pair.differ(name)], [name for name in names if pair.differ(name) is False]


def _verb(names: list[str], one: str, more: str) -> str:
    return one if len(names) == 1 else more


def _told(pair: Pair, soft: list[str], marked: Collection[tuple[int, str]]) -> str:
    told = {
        (k, name): with_sign(number(found[name].value), (k, name) in marked)
        for k, found in enumerate(pair.found)
        for name in soft
    }
    return "; ".join(f"{name} ↑ gives A {told[0, name]} and B {told[1, name]}" for name in soft)


def _cell(score) -> str:
    spread = f" ± {number(score.error)}" if score.error == score.error else ""
    return number(score.value) + spread
