"""Home: what is loaded, and can it be trusted under masking?"""

import streamlit as st
from starlette.middleware import Middleware

from core.evaluation.families import all_tokens_masked, card_sentence, measured_card, reads_pairs
from core.explanation.row_sentences import importance_sentence
from core.explanation.rows import build_row
from core.figures.figures import performance_by_masking
from core.measures.catalogue import default_measures, measures
from core.network.scheduler import NonFinite, OutOfMemory
from core.validity.marks import reference_text
from core.wording import escaped, plain, safe_name
from pages.parts.components.pictures import chart, figure_buttons
from pages.parts.frame.pages import PAGES
from pages.parts.frame.server import OwnPagesOnly, running
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import prediction_line, show_answer, show_text_notes
from pages.parts.frame.waiting import in_turn
from pages.parts.sections.coloured import coloured_words
from pages.parts.sections.saving import about_models, save_attributions, save_table

STRATEGIES = {"half": "every second example masked", "mask": "every example masked", "none": "never masked"}


def home() -> None:
    """Draw the page."""
    view = open_page("Home")
    model, card = view.model, view.model.card
    where = f"<b>{escaped(model.name)}</b> is loaded, on {escaped(model.device)} in {escaped(model.precision)}."
    verdict = (
        card_sentence(measured_card(model.name, card))
        if card
        else "No card of its training came with it, so nothing is known here about how it behaves under masking."
    )
    show_answer(f"{where} {escaped(verdict, 600)}")
    _example(view)
    for note in model.notes:
        st.warning(plain(note))
    if card is not None:
        _performance(view, card)
    st.subheader("Where next", anchor=False)
    for page in PAGES[1:]:
        question = page.question[0].lower() + page.question[1:]
        st.page_link(page.path, label=f"{page.title}: {question}", icon=page.icon)


def _example(view: View) -> None:
    st.subheader("One example", anchor=False)
    # A long text would keep the first view waiting: one pass tells something too.
    explainer, encoded = view.explainer, view.encoded
    first, *others = (measures()[name] for name in default_measures())
    waits = not explainer.cost(encoded, first.name).cheap and explainer.stored(encoded, first.name, view.target) is None
    measure = min(others, key=lambda measure: measure.passes(encoded.F)) if waits else first
    try:
        with st.spinner("Computing the attribution …"), in_turn(view.model):
            found = explainer.attribute(encoded, measure.name, view.target)
    except (NonFinite, OutOfMemory) as error:
        st.error(f"{measure.name}: {plain(str(error))}")
        return
    row = build_row(measure, found, "signed", encoded.premasked)
    said = importance_sentence(row, encoded)
    prediction_line(view, said)
    coloured_words(view, [row])
    save_attributions(view, [row], said)
    show_text_notes(view)


def _performance(view: View, card: dict) -> None:
    st.subheader("How it behaves under masking", anchor=False)
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
