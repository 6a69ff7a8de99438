"""Home: what is loaded, and can it be trusted under masking?"""

import streamlit as st

from core.explanation.rows import WordRow, build_row, most_important, pieces
from core.figures.figures import performance_by_masking
from core.measures.catalogue import default_measures, measures
from core.measures.registry import ORACLE
from core.network.scheduler import NonFinite, OutOfMemory
from core.validity.marks import says_nothing
from core.wording import escaped, number, plain, safe_name
from pages.parts.components.pictures import figure_buttons
from pages.parts.components.words import words
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import prediction_line, show_text_notes
from pages.parts.frame.waiting import in_turn
from pages.parts.sections.saving import about_model, about_view, attributions_name, save_attributions, save_table


def home() -> None:
    """Draw the page."""
    view = open_page("Home", "What is loaded, and can it be trusted under masking?")
    _answer(view)
    _example(view)
    _model(view)
    _where_next()


def _answer(view: View) -> None:
    model, card = view.model, view.model.card
    where = f"<b>{escaped(model.name)}</b> is loaded, on {escaped(model.device)} in {escaped(model.precision)}."
    verdict = (
        _trust(card["performance"])
        if card
        else "No card of its training came with it, so nothing is known here about how it behaves under masking."
    )
    st.html(f"<p style='font-size:1.12rem'>{where} {verdict}</p>")


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
    said = _most_important(view, row)
    prediction_line(view, said)
    words(
        [row],
        pieces(view.encoded, view.example.evidence),
        view.class_name,
        {measure.name: measure.definition},
        name=attributions_name(view),
        about=about_view(view),
        unit=view.encoded.unit,
    )
    save_attributions(view, [row], said)
    show_text_notes(view)


def _most_important(view: View, row: WordRow) -> str:
    first = most_important(row)
    if first is None:
        return (
            f"No single {view.encoded.unit} speaks for that class: masking any one of them would not lower its logit."
        )
    word = f"<b>{escaped(view.encoded.features[first].text)}</b>"
    if measures()[row.measure].needs != ORACLE:
        return f"It is most sensitive to {word}."
    return (
        f"Masking {word} alone would cost that class most: its logit would fall by {number(float(row.scores[first]))}."
    )


def _model(view: View) -> None:
    model, card = view.model, view.model.card
    for note in model.notes:
        st.warning(plain(note))
    if card is None:
        return
    st.subheader("How it behaves under masking", anchor=False)
    shown = card["performance"]
    left, right = st.columns([2, 3], gap="large")
    with left:
        facts = {
            "Fine-tuned from": card["plan"]["base"],
            "Training": _strategy(card["plan"]),
            "Classes": ", ".join(model.labels),
            "Measured on": f"{shown['examples']:,} {shown['split']} examples",
            "Trained in": f"{card['seconds'] / 60:.0f} min on {card['machine']}",
            "Weights": f"SHA-256 {model.digest[:12]}…",
        }
        st.html(
            "<table>"
            + "".join(
                f"<tr><td "
                f"style='opacity:.72;padding-right:1rem;white-space:nowrap'>{escaped(name)}</td><td>{escaped(fact)}</td></tr>"
                for name, fact in facts.items()
            )
            + "</table>"
        )
        st.caption(_tested(view.explainer))
    with right:
        st.plotly_chart(
            performance_by_masking(card),
            width="stretch",
            theme=None,
            key="performance",
            config={"displayModeBar": False},
            alt=f"{shown['metric']} falls from {shown['masked'][0]:.3f} unmasked to {shown['masked'][-1]:.3f} with "
            f"every token masked; "
            f"class majority {shown['class_majority']:.3f}",
        )
        name = ["masking", model.name]
        with st.container(horizontal=True, vertical_alignment="center"):
            figure_buttons("performance", safe_name(name), about_model(model), "the figure")
            save_table(
                "Table (CSV)",
                [
                    "masking ratio (0 to 1)",
                    f"{shown['metric']} (higher is better)",
                    "class majority",
                    "split",
                    "examples",
                ],
                lambda: [
                    [ratio, value, shown["class_majority"], shown["split"], shown["examples"]]
                    for ratio, value in zip(shown["ratios"], shown["masked"])
                ],
                safe_name(name, "csv"),
                key="table-performance",
            )


def _trust(shown: dict) -> str:
    masked, majority = shown["masked"][-1], shown["class_majority"]
    unmasked, end, floor = (
        f"{value:.3g}" if shown["metric"] == "Matthews" else f"{100 * value:.1f} %"
        for value in (shown["masked"][0], masked, majority)
    )
    reach = f"It reaches {unmasked} {escaped(shown['metric'])} ↑; with every token masked, {end} ↑"
    # One example more or less is a tie.
    if masked >= majority - 1 / shown["examples"]:
        return (
            f"{reach}, no less than always answering the commonest class ({floor}): a necessary sign, though no proof, "
            "that it stays on familiar ground when words are masked."
        )
    return (
        f"{reach}, less than always answering the commonest class ({floor}): masking confuses it, so distrust "
        f"scores that rest on masking."
    )


def _tested(explainer) -> str:
    """What the reference of MaSF is good for, in a sentence or two."""
    reference = explainer.reference
    if reference is None:
        return plain(
            explainer.reference_problem
            or "It has no MaSF reference, so no test says whether its masked inputs are in-distribution."
        )
    if says_nothing(reference):
        return (
            f"Its MaSF reference is too small: the smallest p-value is {number(reference.floor())}, so it cannot "
            f"reject anything at 5 %."
        )
    rejected = reference.false_rejections()
    rejects = f" Held out and rejected all the same, at 5 % (↓ better): {rejected}." if rejected else ""
    return (
        f"MaSF tests masked inputs against {reference.about['texts']:,} texts; its smallest p-value is "
        f"{number(reference.floor())}.{rejects}"
    )


def _strategy(plan: dict) -> str:
    names = {"half": "every second example masked", "mask": "every example masked", "none": "never masked"}
    return f"{names[plan['training']]}, {plan['method']}, {plan['epochs']} epochs"


def _where_next() -> None:
    st.subheader("Where next", anchor=False)
    st.page_link(
        "pages/examples.py",
        label="Examples: which example is worth looking at, and which of your own?",
        icon=":material/table_rows:",
    )
    st.page_link(
        "pages/attributions.py",
        label="Attributions: which words does each importance measure call important, and do they agree?",
        icon=":material/format_color_text:",
    )
    st.page_link(
        "pages/recursive_masking.py",
        label="Recursive masking: does masking them change the prediction, on inputs the model knows?",
        icon=":material/skip_next:",
    )
    st.page_link(
        "pages/aopc_and_naopc.py",
        label="AOPC and NAOPC: how good is that, given what this model allows?",
        icon=":material/straighten:",
    )
    st.page_link(
        "pages/hard_and_soft_erasure.py",
        label="Hard and soft erasure: do the metrics agree?",
        icon=":material/ink_eraser:",
    )
    st.page_link(
        "pages/model_check.py",
        label="Model check: is masking in-distribution for this model at all, and how does it behave under it?",
        icon=":material/fact_check:",
    )
    st.page_link("pages/data_set.py", label="Data set: does it hold beyond this example?", icon=":material/dataset:")


home()
