"""Hard and soft erasure: do the metrics agree?"""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.explanation.judging import How
from core.explanation.limiting import left_over
from core.explanation.metric_table import MetricTable, equal_lengths
from core.figures.erasure_figures import ByLength, draw_scores_by_length, leaving, places_across
from core.figures.palette import hue
from core.mathematics.erasure import DRAWS, MIN_MAX, SCALINGS, rationale_sizes
from core.measures.catalogue import default_measures, measures
from core.metrics.catalogue import default_metrics, hard_and_soft, of_examples
from core.oracle.erasing import MASK, erasures_of
from core.validity.marks import MEANING
from core.wording import escaped, number, plain, safe_name, without_markup
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import square, table
from pages.parts.erasure import metric_cells
from pages.parts.erasure.hand_setting import hand_setting
from pages.parts.erasure.judging import KnownRatings
from pages.parts.erasure.metric_cells import MetricGates
from pages.parts.frame.links import choose_one, linked
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import prediction_line, show_text_notes
from pages.parts.sections.asking import choose_sign
from pages.parts.sections.saving import about_view, save_table
from pages.parts.sections.sides import Side, about_the_test, choose_form, choose_rule
from pages.parts.sections.streaming import stream

COUNTS = ("8", str(DRAWS), "128")
_ERASURE_HELP = (
    "How hard metrics erase a word: by the mask token, by taking it out, by a zero word embedding, or by the unknown "
    "token."
)
_SCALING_HELP = (
    "How soft metrics turn scores into shares in [0, 1]. Softmax shares 1 over all words, so that little of each is "
    "kept."
)
_DRAWS_HELP = "Soft metrics keep each element of a word embedding by chance. More draws, smaller standard error."


@dataclass(frozen=True)
class Choice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    metrics: tuple[str, ...]
    sign: str
    how: How
    rule: str
    form: str


def hard_and_soft_erasure() -> None:
    """Draw the page."""
    asked = open_page("Hard and soft erasure", "Do the metrics agree?")
    # Whatever class the sidebar asks for: these metrics are defined for the one that is predicted.
    view = replace(asked, target=asked.predicted)
    said, stage, hand, chooser, leaves, below = (st.container() for _ in range(6))
    with below:
        st.subheader("Settings", anchor=False)
        choice = _settings(view)
    side = Side(view.explainer, view.encoded, view.target)
    aside = _aside(asked, view)
    if left_over(view.encoded) == 0:
        with said:
            prediction_line(
                view,
                f"Every {view.encoded.unit} is masked in the text already, so there is nothing to erase and no metric "
                f"to compare.{aside}",
            )
    else:
        known = KnownRatings.of(side, choice.measures, choice.sign, choice.metrics, choice.how)
        with chooser:
            rationale = _choose_rationale(choice)
        gating = MetricGates(side.reference, choice.rule, choice.form)
        stream(
            known.works,
            stage,
            partial(_draw, view, known, gating),
            said,
            partial(_say, view, known, gating, aside),
            # With the first measure the words to weigh are there.
            anew=lambda: bool(known.rated),
        )
        with leaves:
            # Not looked for in between: the page is drawn anew with the first measure and at the end.
            _leaves(view, known, gating, rationale)
        with hand:
            _hand(known, choice)
    with below:
        about_the_test([side], choice.form)
        for note in view.model.notes:
            st.caption(plain(note))
        show_text_notes(view)


def _aside(asked: View, view: View) -> str:
    """Which class is explained, where the sidebar asks for another; HTML in which all text is escaped."""
    return (
        ""
        if asked.target == view.target
        else (
            f" The sidebar asks for <b>{escaped(asked.class_name)}</b>; hard and soft erasure always judge the "
            f"prediction, so <b>{escaped(view.class_name)}</b> is explained here."
        )
    )


def _settings(view: View) -> Choice:
    chosen = linked(
        st.multiselect,
        "Metrics",
        list(of_examples()),
        list(default_metrics()),
        "metrics",
        help="Hard ones erase words whole; soft ones keep a share of every word, as much as its attribution says.",
    )
    named = linked(
        st.multiselect,
        "Measures",
        list(measures()),
        list(default_measures()),
        "measures",
        help="Cheap ones are judged at once; dear ones say what they cost and wait to be asked.",
    )
    left, right = st.columns([3, 2])
    with left:
        erasure = choose_one("Erasure", erasures_of(view.model), MASK, "erasure", _ERASURE_HELP)
    with right:
        scaling = choose_one("Scaling", SCALINGS, MIN_MAX, "scaling", _SCALING_HELP)
    first, second, third, fourth = st.columns(4)
    with first:
        sign = choose_sign("Signed: what supports the class ranks first. Absolute: what matters most either way.")
    with second:
        draws = choose_one("Draws", COUNTS, str(DRAWS), "draws", _DRAWS_HELP)
    with third:
        rule = choose_rule()
    with fourth:
        form = choose_form()
    return Choice(
        tuple(named),
        tuple(name for name in of_examples() if name in chosen),
        sign,
        How(erasure, scaling, int(draws)),
        rule,
        form,
    )


def _choose_rationale(choice: Choice) -> str | None:
    """Heading and choice of the measure whose rationales are tested; None without measures."""
    st.subheader("Which erasure leaves the distribution?", anchor=False)
    if not choice.measures:
        st.caption("Choose a measure in the settings.")
        return None
    return linked(
        st.selectbox,
        "Rationales of",
        list(choice.measures),
        choice.measures[0],
        "rationales",
        width=320,
        help="The words that this measure ranks first, at each length, kept alone or erased.",
    )


def _say(view: View, known: KnownRatings, gating: MetricGates, aside: str) -> None:
    board = known.board
    told = metric_cells.erasure_answer(known, board, not any(work.runs for work in known.judged))
    tested = metric_cells.validity(known.rated, gating, known.names) if board.measures else ""
    prediction_line(
        view,
        f"{aside}</p><p style='font-size:1.12rem'>{told}</p><p>{escaped(tested, 600)}"
        if tested
        else f"{aside}</p><p style='font-size:1.12rem'>{told}",
    )


def _draw(view: View, known: KnownRatings, gating: MetricGates, asks) -> None:
    board = known.board
    if board.measures and board.metrics:
        _table(view, known, board, gating)
    asks()
    if board.measures and board.metrics:
        _agreement(view, board)
        _lengths(view, known, board)


def _table(view: View, known: KnownRatings, board: MetricTable, gating: MetricGates) -> None:
    st.caption(
        "NS keeps only the words that a measure ranks first, NC erases just these. Soft-NS keeps a share of every "
        "word, as much as its score says, "
        "and Soft-NC erases that share."
    )
    metric_cells.draw_table(known, board, gating)
    st.caption(
        "**1.** is the best place, and the bluer the better; scores equal to three decimals share one. "
        f"⇅ Rank flip: this measure and another are ordered the other way by another metric. {MEANING} "
        "± Standard error over draws; in the random row, and of shuffles, the standard deviation. "
        "The perturbed embeddings of soft metrics are tested like erased words."
    )
    chance = known.chance if all(one.complete for one in known.chances) else {}
    for said in filter(None, (metric_cells.no_better(board, chance), *metric_cells.notes(board))):
        st.caption(plain(said))
    with st.expander("What the metrics measure"):
        table(
            ["metric", "what it measures", "direction", "range", "source"],
            metric_cells.metric_rows(known.names),
            most=300,
        )
    save_table(
        "Table (CSV)",
        metric_cells.COLUMNS,
        lambda: metric_cells.file_rows(known, board, gating),
        safe_name(["erasure", view.example.id, view.model.name], "csv"),
        key="metrics-csv",
    )


def _agreement(view: View, board: MetricTable) -> None:
    shown = metric_cells.directed(board.metrics)
    st.subheader("Do they rank the measures alike?", anchor=False)
    if len(shown) < 2 or len(board.measures) < 2:
        st.caption("That takes two metrics with a direction, and two measures.")
        return
    heads = [metric_cells.head(board.metrics[k]) for k in shown]
    texts = [[number(float(value)) for value in row] for row in board.values[:, shown]]
    drawn = places_across(board.measures, [hue(name) for name in board.measures], heads, board.places[:, shown], texts)
    draw_figure(
        drawn,
        "places",
        metric_cells.in_words(board),
        ["metric-places", view.example.id, view.model.name],
        about_view(view),
        "the places",
    )
    square(board.agreement[shown][:, shown], heads)
    st.caption(
        f"Agreement of two metrics: Kendall’s τ-b over the {len(board.measures)} measures, better before worse; 1 is "
        f"the same order, −1 the reverse, "
        "— where a metric ties all of them. Lines that cross are rank flips."
    )


def _lengths(view: View, known: KnownRatings, board: MetricTable) -> None:
    sizes, unit = rationale_sizes(left_over(view.encoded)), view.encoded.unit
    panels = []
    for name, soft in ((hard, soft if soft in board.metrics else "") for hard, soft in hard_and_soft()):
        if name not in board.metrics:
            continue
        lines = [
            ByLength(measure, hue(measure), one.found[name].by_length, one.found[soft].value if soft else float("nan"))
            for measure, one in known.rated.items()
            if one.found[name].by_length is not None
        ]
        panels += [(metric_cells.head(name), soft, lines)] * bool(lines)
    st.subheader("Does the rationale’s length decide?", anchor=False)
    if not panels:
        st.caption("That is asked of NS and NC where they are defined; choose one of them in the settings.")
        return
    draw_figure(
        draw_scores_by_length(panels, sizes, unit),
        "lengths",
        "Scores of the hard metrics against the rationale’s length; the numbers are in the file of the table.",
        ["erasure-by-length", view.example.id, view.model.name],
        about_view(view),
        "the scores by length",
    )
    same = [
        f"{' and '.join(f'{100 * length:g} %' for length in lengths)} are the same {size} "
        f"{unit}{'' if size == 1 else 's'}"
        for size, lengths in equal_lengths(sizes)
    ]
    st.caption(
        f"Full and dashed lines: hard metrics, which need a length; flat dotted lines: the soft metric of the same "
        f"measure, which needs none.{_short(same)}"
    )


def _short(same: list[str]) -> str:
    return (
        f" This text is short: {'; '.join(same)}, so these points are one input that counts more than once in the mean."
        if same
        else ""
    )


def _hand(known: KnownRatings, choice: Choice) -> None:
    st.subheader("Same order, other weights: who notices?", anchor=False)
    rated = next(iter(known.rated.items()), None)
    if rated is None:
        st.caption("This begins with the words that the first measure ranks first; it waits for that measure.")
        return
    st.fragment(hand_setting)(known.side, choice.how, rated[1].scores, rated[0])


def _leaves(view: View, known: KnownRatings, gating: MetricGates, measure: str | None) -> None:
    if measure is None:
        return
    found = known.rated.get(measure)
    if found is None:
        st.caption("Its rationales are tested when it is judged.")
        return
    leaves = {erasure: forms[gating.form] for erasure, forms in found.leaves.items() if gating.form in forms}
    if not leaves:
        why = (
            f"{measure} gave no numbers, so it has no rationales."
            if gating.floor is not None
            else "This model has no reference to test erased inputs against."
        )
        st.caption(plain(why))
        return
    sizes = rationale_sizes(left_over(view.encoded))
    gates = metric_cells.gates_of_leaves(leaves, sizes, gating)
    said = metric_cells.leaving_line(measure, gates, sizes, gating.form)
    st.html(f"<p>{said}</p>")
    rejected = {erasure: gate.rejected.reshape(2, -1) for erasure, gate in gates.items()}
    draw_figure(
        leaving(leaves, rejected, sizes, view.encoded.unit),
        "leaving",
        f"p-values of kept and erased rationales by erasure. {without_markup(said)}",
        ["erasure-p-values", view.example.id, view.model.name],
        about_view(view),
        "the p-values",
    )
    st.caption(
        "↑ Higher is more familiar to the model. Below the dashed line p is under 5 %; a cross: rejected as "
        "out-of-distribution. "
        "The test can only reject: “not rejected” is no proof. NS keeps the rationale, NC erases it."
    )


hard_and_soft_erasure()
