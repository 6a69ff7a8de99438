"""Home: what this is, shown at one sentence, and the ways in."""

from functools import partial

import numpy as np
import streamlit as st
from starlette.middleware import Middleware

from core.data.browsing import WRONG
from core.evaluation.families import all_tokens_masked, reads_pairs
from core.explanation.row_sentences import importance_note, importance_sentence
from core.explanation.rows import build_row, row_of_scores
from core.figures.figures import performance_by_masking
from core.measures.catalogue import default_measures, measures
from core.network.scheduler import NonFinite, OutOfMemory
from core.validity.marks import reference_text
from core.verdicts.deciding import Word
from core.verdicts.in_short import believed_sentence
from core.wording import amount, escaped, linked_name, plain, safe_name, strong
from pages.parts.components.pictures import chart, figure_buttons
from pages.parts.components.player import player
from pages.parts.components.words import chip, words
from pages.parts.face.headline import draw_headline
from pages.parts.frame.links import held, link_to, visit
from pages.parts.frame.pages import PAGES
from pages.parts.frame.picking import OWN
from pages.parts.frame.server import OwnPagesOnly, running
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import captions, prediction_line, show_answer, show_text_notes
from pages.parts.frame.tour import Strip, shipped_strip, take
from pages.parts.frame.working import in_turn
from pages.parts.sections.coloured import coloured_words
from pages.parts.sections.saving import about_models, save_attributions, save_table

WHAT_IT_IS = (
    "<b>Explanations of a classifier often disagree:</b> one importance measure calls these words important, "
    "another those. Faithscope masks (hides) the words that a measure names and says of each text which measures to "
    "believe: those whose words, masked first, make the model less sure of its prediction than words masked in random "
    "order do. That may be one, several or none, or it cannot be told."
)
BESIDE_STRIP = (
    "“Not rejected” is no proof that the model knows an input. In other orders and on other texts it may be otherwise: "
    "see the tour, and below."
)
STRATEGIES = {"half": "every second example masked", "mask": "every example masked", "none": "never masked"}


def home() -> None:
    """Draw the page."""
    view = open_page("Home", _lead)
    # Statistics take a moment to load: the example is drawn before, and stands below.
    believed = st.container()
    _example(view)
    with believed:
        _believed(view)
    _trust(view)
    st.header("Every page asks one question", anchor=False)
    for page in PAGES[1:]:
        question = page.question[0].lower() + page.question[1:]
        st.page_link(page.path, label=f"{page.title}: {question}", icon=page.icon)


def _lead() -> None:
    """What this is, the ways in, and the strip: it ships, so it is there before any model is."""
    show_answer(WHAT_IT_IS)
    _ways()
    strip = shipped_strip()
    if strip is not None:
        _coloured(strip)
        st.html(f"<p><b>{escaped(strip.asks, 400)}</b> {escaped(strip.said, 900)}</p>")
        player(strip.shown | {"brief": True}, key="strip")
        st.html(f"<p>{BESIDE_STRIP}</p>")


def _coloured(strip: Strip) -> None:
    """The strip's review as each measure colours it, and which of them to believe."""
    rows = [row_of_scores(measures()[one["measure"]], np.array(one["scores"]), one["variant"]) for one in strip.rows]
    verdicts = {one["measure"]: Word[one["word"]] for one in strip.rows}
    calls = f"{escaped(strip.model)} calls it {strong(strip.predicted)}; each colours the words it calls important"
    st.html(f"<p><b>One review, {amount(len(rows), 'measure')}:</b> {calls}. Here, {believed_sentence(verdicts)}</p>")
    about = {"model": strip.model, "data": "reviews", "example": strip.example}
    proof = link_to("attributions", **about, says="which measures to believe")
    words(
        rows,
        strip.shown["pieces"],
        strip.predicted,
        {},
        key="strip-words",
        scores={name: [chip(word, "", proof, "")] for name, word in verdicts.items()},
        brief=True,
    )


def _ways() -> None:
    asked = {key: str(value) for key in ("model", "data", "text") if (value := held(key)) is not None}
    of_data = asked if asked.get("data") != OWN else {key: asked[key] for key in asked if key == "model"}
    with st.container(horizontal=True, key="ways"):
        if st.button("Take the tour: three minutes", type="primary", icon=":material/tour:"):
            take(1)
        if st.button("See mistakes of the model", icon=":material/report:"):
            visit("pages/examples.py", **of_data, outcome=WRONG, order="confidence", descending="1")
        if st.button("Paste a text", icon=":material/edit:"):
            visit("pages/attributions.py", **asked | {"data": OWN})
        if st.button("Check a model", icon=":material/fact_check:"):
            visit("pages/model_check.py", **of_data)


def _believed(view: View) -> None:
    """Which measures to believe on the example, and which is most often over the data, where that is known already."""
    st.header("Which explanation can be believed?", anchor=False)
    page = linked_name("Attributions", link_to("attributions", says="which measures to believe"))
    asks = f"{page} tests it on the example."
    if view.browsed is None or view.example is None or view.explained != view.predicted or view.than is not None:
        st.html(f"<p>{asks}</p>")
        return
    from core.evaluation.sampling import SAMPLE, draw_examples, without_labels
    from core.evaluation.studies.verdicts import VerdictsOfTexts
    from core.evaluation.studies.verdicts_question import judged_sentence
    from pages.parts.sections.judged import known_report, words_on

    data, family = view.browsed.index.data, VerdictsOfTexts(default_measures(), unit=view.encoded.unit)
    words = words_on(view.explainer, data, view.example, family)
    texts = without_labels(data.name, data.digest, draw_examples(data.examples, SAMPLE))
    found = known_report(view.explainer, texts, (family,))
    over = "" if found is None else escaped(judged_sentence(found, family.sign), 2000)
    over = over.replace("Data set", linked_name("Data set", link_to("data_set")), 1)
    here = f"On this example: {believed_sentence(words)} {page} shows the evidence." if words else asks
    # The strip says it of its own example, under its own model.
    told = over and words and _on_strip(view) and (view.model.name, view.encoded.unit) == (_strip_model(), "word")
    for said in filter(None, ("" if told else here, over)):
        st.html(f"<p>{said}</p>")


def _trust(view: View) -> None:
    """What *Model check* answers on the chosen data, as far as that is known; below it the card."""
    model, card = view.model, view.model.card
    st.header("Can this model be trusted under masking?", anchor=False)
    result = None
    if view.browsed is not None:
        # Statistics take a moment to load: the example stands there before.
        from pages.parts.check.known import known_result

        result = known_result(view.explainer, view.browsed.index, view.encoded.unit)
    if result is not None:
        draw_headline(result)
    else:
        page = linked_name("Model check", link_to("model_check"))
        st.html(f"<p>Not known of these texts yet: {page} masks texts with labels at random.</p>")
    for note in model.notes:
        st.warning(plain(note))
    if card is not None:
        with st.expander("Its card, weights and reference", icon=":material/id_card:"):
            _performance(view, card)


def _example(view: View) -> None:
    # A long text would keep the first view waiting: one pass tells something too.
    explainer, encoded = view.explainer, view.encoded
    first, *others = (measures()[name] for name in default_measures())
    waits = not explainer.cost(encoded, first.name).cheap and explainer.stored(encoded, first.name, view.target) is None
    measure = min(others, key=lambda measure: measure.passes(encoded.F)) if waits else first
    st.header(f"{'The same' if _on_strip(view) else 'One'} example, explained by {measure.name}", anchor=False)
    try:
        with st.spinner("Computing the attribution …"), in_turn(view.model):
            found = explainer.attribute(encoded, measure.name, view.target)
            row = build_row(measure, found, "signed", encoded.premasked)
            label, share = view.model.labels[view.target], float(view.probabilities[view.target])
            said = importance_sentence(row, encoded, label, share, partial(_without, view))
    except (NonFinite, OutOfMemory) as error:
        st.error(f"{measure.name}: {plain(str(error))}")
        return
    prediction_line(view, said)
    coloured_words(view, [row])
    captions(filter(None, [importance_note(row, encoded)]))
    save_attributions(view, [row])
    show_text_notes(view)


def _on_strip(view: View) -> bool:
    """Whether the strip above shows the same text."""
    strip = shipped_strip()
    shown = [] if strip is None else strip.shown["pieces"]
    return bool(shown) and "".join(one["gap"] + one["text"] for one in shown) == view.example.text


def _strip_model() -> str:
    strip = shipped_strip()
    return "" if strip is None else strip.model


def _without(view: View, i: int) -> tuple[float, str]:
    """The explained class's probability with one feature masked, and what is predicted then where that changes."""
    found = view.explainer.without(view.encoded, i)
    new = int(found.argmax())
    return float(found[view.target]), "" if new == view.predicted else view.model.labels[new]


def _performance(view: View, card: dict) -> None:
    model, shown, explainer = view.model, card["performance"], view.explainer
    left, right = st.columns([2, 3], gap="large")
    with left:
        _facts(card, model)
        st.caption(plain(reference_text(explainer.reference, explainer.reference_problem)))
    everything = all_tokens_masked(reads_pairs(card))
    falls = f"falls from {shown['masked'][0]:.3f} unmasked to {shown['masked'][-1]:.3f} {everything}"
    alt = f"{shown['metric']} {falls}; class majority {shown['class_majority']:.3f}"
    name, columns = ["masking", model.name], ["masking ratio (0 to 1)", f"{shown['metric']} (higher is better)"]
    with right:
        chart(performance_by_masking(card), "performance", alt)
        with st.container(horizontal=True, vertical_alignment="center"):
            figure_buttons("performance", safe_name(name), about_models([model]))
            save_table(
                "Table (CSV)",
                [*columns, "class majority", "split", "examples", "model", "weights (SHA-256)"],
                lambda: [
                    [ratio, value, shown["class_majority"], shown["split"], shown["examples"], model.name, model.digest]
                    for ratio, value in zip(shown["ratios"], shown["masked"])
                ],
                safe_name(name, "csv"),
                key="table-performance",
            )


def _facts(card: dict, model) -> None:
    shown, plan = card["performance"], card["plan"]
    facts = {
        "Fine-tuned from": plan["base"],
        "Training": f"{STRATEGIES[plan['training']]}, {plan['method']}, {plan['epochs']} epochs",
        "Classes": ", ".join(model.labels),
        "Measured on": f"{shown['examples']:,} {shown['split']} examples",
        "Trained in": f"{card['seconds'] / 60:.0f} min on {card['machine']}",
        "Computed on": f"{model.device} in {model.precision}",
        "Weights": f"SHA-256 {model.digest[:12]}…",
    }
    style = "opacity:.72;padding-right:1rem;white-space:nowrap"
    rows = (
        f"<tr><td style='{style}'>{escaped(name)}</td><td>{escaped(fact)}</td></tr>" for name, fact in facts.items()
    )
    st.html(f"<table>{''.join(rows)}</table>")


if __name__ == "__main__":
    home()
else:
    # What `streamlit run` imports and serves; it runs this file once more for each visit to Home.
    app = st.App(__file__, middleware=[Middleware(OwnPagesOnly)], lifespan=running)
