"""Home: one example under three measures, masked step by step, and the ways in."""

from functools import partial

import numpy as np
import streamlit as st
from starlette.middleware import Middleware

from core.data.browsing import WRONG
from core.explanation.recursive import BY_RATIO
from core.explanation.rows import build_row, pieces, row_of_scores
from core.measures.catalogue import default_measures, measure
from core.network.scheduler import NonFinite, OutOfMemory
from core.results.verdicts import verdicts_result, word_status, words_result
from core.texts.rendering import sentence
from core.verdicts.deciding import Word
from core.wording import plain
from pages.parts.components.player import player
from pages.parts.components.words import chip, words
from pages.parts.face.headline import draw_headline
from pages.parts.frame.links import held, held_of_all, link_to, visit
from pages.parts.frame.picking import OWN
from pages.parts.frame.server import OwnPagesOnly, running
from pages.parts.frame.sidebar import View, chosen_method, open_page
from pages.parts.frame.texts import view_badges, view_caveats
from pages.parts.frame.tour import Strip, shipped_strip, shown_choices, take
from pages.parts.frame.working import in_turn
from pages.parts.sections.judged import words_on
from pages.parts.sections.paths import Choice, Path
from pages.parts.sections.sides import RECURSIVE, Orders
from pages.parts.sections.streaming import stream
from pages.parts.steps.stepping import frame, pane


def home() -> None:
    """Draw the page."""
    strip = shipped_strip()
    # What ships stands there before any model is loaded, if it is of what is chosen.
    mine = strip is not None and shown_choices() == {"model": strip.model, "data": strip.data, "example": strip.example}
    view = open_page("Home", partial(_lead, strip if mine else None))
    if not mine:
        _example(view)


def _lead(strip: Strip | None) -> None:
    st.html(f"<p>{sentence('home', 'what')}</p>")
    _ways()
    if strip is not None:
        _shipped(strip)


def _ways() -> None:
    """Four ways in; mistakes and checks are of data, whatever text of one's own was looked at."""
    own = held("data") == OWN
    asked, of_data = held_of_all("model", "data", "text"), held_of_all("model", *([] if own else ["data", "text"]))
    with st.container(horizontal=True, key="ways"):
        if st.button("Take the tour", type="primary", icon=":material/tour:"):
            take(1)
        if st.button("See mistakes of the model", icon=":material/report:"):
            visit("Examples", **of_data, outcome=WRONG, order="confidence", descending="1")
        if st.button("Paste a text", icon=":material/edit:"):
            visit("Attributions", **asked | {"data": OWN})
        if st.button("Check a model", icon=":material/fact_check:"):
            visit("Model check", **of_data)


def _shipped(strip: Strip) -> None:
    """The example that ships, as each measure colours it, and masked step by step."""
    verdicts = {one["measure"]: Word[one["word"]] for one in strip.rows}
    draw_headline(words_result(verdicts))
    rows = [row_of_scores(measure(one["measure"]), np.array(one["scores"]), one["variant"]) for one in strip.rows]
    about = {"model": strip.model, "data": strip.data, "example": strip.example}
    _words(rows, strip.shown["pieces"], strip.predicted, verdicts, link_to("attributions", **about))
    player(strip.shown | {"brief": True}, key="strip")


def _words(rows: list, shown: list[dict], predicted: str, verdicts: dict[str, Word], proof: str) -> None:
    scores = {name: [chip(word_status(word), "", proof, "")] for name, word in verdicts.items()}
    words(rows, shown, predicted, {}, key="strip-words", scores=scores, brief=True)


def _example(view: View) -> None:
    """Any other example in the same way, computed as far as that is fast."""
    verdicts = _known_verdicts(view)
    result = words_result(verdicts) if verdicts else verdicts_result(None, asked=False)
    draw_headline(result, *view_badges(view), more=view_caveats(view))
    if not verdicts:
        st.page_link("pages/attributions.py", label="Compare with random orders", icon=":material/arrow_forward:")
    found = [(measure(name), one) for name in default_measures() if (one := _attribution(view, name)) is not None]
    rows = [build_row(named, one, "signed", view.encoded.premasked) for named, one in found]
    if rows:
        text = pieces(view.encoded, view.example.evidence)
        _words(rows, text, view.class_name, verdicts, link_to("attributions"))
    form, rule = chosen_method()
    choice = Choice((default_measures()[0],), default_measures()[0], "signed", BY_RATIO, RECURSIVE, rule, form)
    path = Path(view, choice.played, choice, Orders(view, BY_RATIO))
    stream([path], (st.container(), partial(_player, view, path)))


def _known_verdicts(view: View) -> dict[str, Word]:
    """The verdicts on the example, where they are known already; {} elsewhere."""
    if view.browsed is None or view.explained != view.predicted or view.than is not None:
        return {}
    # Statistics take a moment to load: only where there is something to read.
    from core.evaluation.studies.verdicts import VerdictsOfTexts

    family = VerdictsOfTexts(default_measures(), unit=view.encoded.unit)
    return words_on(view.explainer, view.browsed.index.data, view.example, family)


def _attribution(view: View, name: str):
    """What a measure finds, where it is known, fast or one pass and back; None elsewhere."""
    explainer, encoded = view.explainer, view.encoded
    stored, cost = explainer.stored(encoded, name, view.explained), explainer.cost(encoded, name)
    if stored is not None or not cost.prompt:
        return stored
    try:
        with in_turn(view.model):
            return explainer.attribute(encoded, name, view.explained)
    except (NonFinite, OutOfMemory) as error:
        st.error(f"{name}: {plain(str(error))}")
        return None


def _player(view: View, path: Path, asks) -> None:
    summary = path.summary
    if summary is None:
        st.skeleton(160)
    else:
        text, drawn = pieces(view.encoded, ()), [pane(path, summary)]
        shown = frame(f"home-{path.key[:16]}", view.encoded, text, path.names, 0, drawn)
        player(shown | {"title": f"Words masked step by step by {path.measure}", "brief": True}, key="strip")
    asks()


if __name__ == "__main__":
    home()
else:
    # What `streamlit run` imports and serves; it runs this file once more for each visit to Home.
    app = st.App(__file__, middleware=[Middleware(OwnPagesOnly)], lifespan=running)
