"""Is masking in-distribution, a part of Model check: the verdict, what masking does to models and measures, the
references.
"""

from functools import partial

import streamlit as st

from core.data.examples import DataSet, bundled_data, hard_note
from core.evaluation.families import family
from core.evaluation.studies import check_tables
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import EACH_STEP, ONCE, SEEDS, MaskingCheck
from core.evaluation.studies.check_report import DOUBTFUL, REJECTED, CheckReport, X, left_out, metric_of, told_left_out
from core.evaluation.studies.check_rows import HEADER, all_as_json, check_rows
from core.evaluation.studies.check_sentences import (
    accuracy_note,
    check_figures,
    end_note,
    expected_sentence,
    twin_sentence,
)
from core.evaluation.studies.check_words import own_orders_sentence
from core.evaluation.studies.disagreement import disagreement
from core.figures.check_figures import p_panels, panels, spans
from core.terms import MASF_P
from core.validity.marks import SIGN
from core.validity.references import fitting_command, how_to_fit
from core.wording import escaped, none_of, plain, share_text, unbroken
from pages.parts.check.checking import choose_texts, models_on_sample
from pages.parts.check.known import answer_parts
from pages.parts.components.pictures import chart, draw_figure
from pages.parts.components.tables import table
from pages.parts.face.body import draw_tabs
from pages.parts.frame.links import choose, choose_one, held, link_to, visit
from pages.parts.frame.sidebar import DataView, chosen_method
from pages.parts.frame.texts import captions, coming, show_answer
from pages.parts.sections.asking import choose_measures, choose_models, choose_sign
from pages.parts.sections.filtered import FILTERED
from pages.parts.sections.findings import show_findings
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.sides import RECURSIVE, choose_order, show_reference
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking

_COMING = "Coming: on how many of these texts the model no longer knows the input once words are masked at random."
_FMM = (
    "FMM: Madsen, Reddy and Chandar (2024), Faithfulness Measurable Masked Language Models, where masked fine-tuning "
    "and the MaSF test are from. Margin: of how many points a difference must be to count here."
)
_SEEDS_HELP = (
    "Of each text. Measures are set against the mean of them; everything else is told of the first. More take longer "
    "and lessen what chance does to ACU and RACU."
)


def validity(frame: DataView) -> None:
    """Draw this part of the page."""
    said, stage, below = (st.container() for _ in range(3))
    with coming(said, stage, _COMING):
        with below:
            st.header("Settings", anchor=False)
            question, size, filtered, beside, form = _settings(frame)
        checked = models_on_sample(frame, question, size, filtered, beside, said)
    if not checked:
        return
    works, first = [work for one in checked for work in one.works], checked[0]
    stream(
        works, stage, partial(_draw, checked, form, frame.browsed.index.data), said, partial(_say, checked), every=1.0
    )
    with below, st.expander(f"About the {MASF_P}: the references", expanded=first.explainer.reference is None):
        for one in checked:
            show_reference(one.explainer, form, f"{one.model.name} has no MaSF reference.")
        if first.explainer.reference is not None:
            st.caption(f"On the command line. {plain(how_to_fit(first.model))}")


def _settings(frame: DataView) -> tuple[MaskingCheck, int, bool, list[str], str]:
    filtered, size = choose_texts(frame)
    left, right = st.columns(2)
    with left:
        beside = choose_models(frame.explainer.model, "Checked on the same examples in random order")
    with right:
        chosen = choose_measures("Each masks what it ranks first for the label, step by step, on every example.")
    form, places = chosen_method().form, st.columns(3)
    with places[0]:
        sign = choose_sign()
    with places[1]:
        computed = EACH_STEP if choose_order() == RECURSIVE else ONCE
    with places[2]:
        seeds = choose_one("Random orders", [str(count) for count in SEEDS], str(SEEDS[0]), "seeds", _SEEDS_HELP)
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit, metric = held("unit"), metric_of(frame.explainer.model)
    return MaskingCheck(tuple(chosen), sign, unit, computed, int(seeds), metric=metric), size, filtered, beside, form


def _say(checked: list[Asking]) -> None:
    first = checked[0]
    chance, found = first.works[0], first.report
    if found is not None:
        twin = twin_sentence([one.report for one in checked if one.report is not None])
        parts = [*answer_parts(found, twin), *filter(None, [escaped(own_orders_sentence(found), 600)])]
        header, rows = check_tables.lengths_table(found)
        # Where a table says how often, what it rests on is a step away; that it was stopped is one paragraph more.
        seen = 2 + (not found.tally.complete)
        show_answer(*(parts[:seen] if rows else parts))
        if rows:
            table(header, rows, most=80)
            captions(filter(None, [check_tables.lengths_note(found)]))
            with st.expander("By which test, and in measures’ own orders"):
                st.html(unbroken("".join(f"<p>{one}</p>" for one in parts[seen:])))
        if found.tally.settled and found.verdict in (DOUBTFUL, REJECTED):
            _what_to_do(first, found)
        return
    if chance.complete:
        said = f"{none_of(len(chance.sample), 'example')} of the sample could be checked."
    elif chance.runs:
        said = "The first examples are being masked in random order."
    else:
        said = "Ask for random order below to see how it behaves under masking."
    show_answer(said)
    captions([*chance.sample.notes, *told_left_out(left_out(chance.found))])


def _what_to_do(first: Asking, found: CheckReport) -> None:
    """Ways on where inputs are rejected, folded away; a command stands here and in no sentence of the answer."""
    with st.expander("What to do", icon=":material/build:"):
        st.markdown("\n".join(f"- {one}" for one in _ways_on(first, found)))
        if st.button("See which texts are rejected, and at which step", icon=":material/table_rows:"):
            asked = {key: str(value) for key in ("model", "data", "unit") if (value := held(key)) is not None}
            visit("pages/examples.py", **asked, columns="rejected", order="rejected")
        st.markdown("- **Fit a reference on texts like these** (in FILE), in a terminal, and open this page again:")
        st.code(fitting_command(first.model), language="bash")


def _ways_on(first: Asking, found: CheckReport) -> list[str]:
    """What one can do, a line of Markdown each."""
    where, model = found.rejected(), first.model
    average = (
        f"**Go by single texts without {SIGN}, and by no average of these**: no {SIGN} says only that the masked "
        "inputs of a text are not rejected; whether to believe an explanation of it is for its verdict to say. "
        "*Attributions* and *Recursive masking* test each text by itself, *Data set* (verdicts) does so for many; ACU "
        "and RACU below and *Scoreboard* average."
    )
    ways = [average]
    if 0 < where[0] and len(where) == len(X) - where[0]:
        ways.append(f"**Mask no more than {share_text(X[where[0] - 1])}**: up to there these texts are not rejected.")
    masked = [one.name for one in family(model.card) if one.ships and one.training == "half" and one.name != model.name]
    if found.training not in ("half", "mask"):
        other = f"Choose the model {plain(masked[0])}" if masked else "Take a model that was trained to be masked"
        ways.append(f"**{other}**: {plain(model.name)} was not trained on masked texts.")
    if found.other_lengths is not None:
        low, high = found.other_lengths
        ways.append(
            f"**Ask texts of {low:,} to {high:,} tokens** (words, or pieces of words), as nine of ten of the "
            "reference’s have: on *Examples* pick the ranges of *Words by spaces* that come nearest, and choose "
            f"*{FILTERED}* in the settings below."
        )
    return ways


def _draw(checked: list[Asking], form: str, data: DataSet, asks) -> None:
    found = [one.report for one in checked]
    if found[0] is None or not found[0].shown:
        # Of so few texts nothing is told.
        asks()
        return
    first, told = checked[0], [one for one in found if one is not None]
    name = ["model-check", *(one.model for one in told)]
    about = about_models([one.model for one, known in zip(checked, found) if known is not None], first.sample.name)
    _curves(first, told, form, name, about, data)
    asks()
    # Always the same ones: what is shown stays chosen while more is found.
    parts = {
        "Trained with masking, and without": partial(_side_by_side, first, told, form),
        "How faithful the measures are": partial(_measures, first.answers.found, found[0], form),
        "p-values": partial(_p_values, told, form, name, about),
    }
    draw_tabs(parts, "parts-of-check")
    save_report(
        HEADER, lambda: [row for one in told for row in check_rows(one)], lambda: all_as_json(told), name, "check"
    )


def _curves(first: Asking, found: list[CheckReport], form: str, name: list[str], about: str, data: DataSet) -> None:
    """The answer's picture: what masking does to performance, and how many texts are rejected."""
    draw_figure(panels(found, form), "curves", check_tables.curves_in_words(found), name, about)
    reference, one = first.explainer.reference, found[0]
    faster = "Random order is grey; a faithful measure takes performance down faster."
    how = "exact (Clopper and Pearson)" if one.metric == "accuracy" else "of shares exact, of performance resampled"
    bands = f" Shaded: 95 % intervals over the texts, each ratio by itself, {how}." * (one.random.ends is not None)
    st.caption(plain(f"{check_figures(one)} {faster}{bands} {end_note(one)}".rstrip()))
    tested = "" if reference is None else f"Rejected: unlike what the model knows. {expected_sentence(reference, form)}"
    hard, own = hard_note(data), data.name not in bundled_data()
    written = f"{hard}, so performance may be lower here than on a test file." * bool(hard)
    captions([*filter(None, [tested, accuracy_note(one, own), written]), *one.notes])


def _p_values(found: list[CheckReport], form: str, name: list[str], about: str) -> None:
    if not any(one.floor for one in found):
        st.caption("Without a MaSF reference there are no p-values.")
        return
    for said in filter(None, [check_tables.p_sentence(found), own_orders_sentence(found[0])]):
        st.html(unbroken(f"<p>{escaped(said, 1200)}</p>"))
    draw_figure(p_panels(found), "p-values", check_tables.p_in_words(found), [*name, "p"], about)
    st.caption(
        "Dashed red: 5 %, each ratio by itself, so that the smallest of all is more often below it. A calibrated "
        "data-set p (by count) below it says that more texts masked so much are rejected than chance explains; "
        f"{check_tables.literal_takes(found[0])} ▼: smaller than the axis reaches; the table has it."
    )
    header, rows = check_tables.ratios_table(found, form)
    if rows:
        with st.expander("Every p, ratio by ratio"):
            table(header, rows, most=90)
            st.caption(check_tables.ratios_note(form))


def _side_by_side(first: Asking, found: list[CheckReport], form: str) -> None:
    """What training with masking does, finding by finding of the paper; by the cards; and here, in numbers."""
    cards = family(first.model.card)
    show_findings("FMM", check_findings(found), 400)
    captions([_FMM, *filter(None, [check_tables.apart_note(found, cards)])])
    if len(cards) > 1:
        rows = [(f"{one.name} ({check_tables.STRATEGIES[one.training]})", one) for one in cards]
        drawn = spans(
            [(name, one.unmasked, one.masked, one.majority) for name, one in rows], cards[0].metric, cards[0].paired
        )
        chart(drawn, "spans", check_tables.spans_in_words(cards))
        captions([check_tables.spans_note(cards)])
    with st.expander("Model by model on these texts, in numbers"):
        table(*check_tables.training_table(found, form), most=90)
        captions(filter(None, [check_tables.uneven_note(found)]))


def _measures(passed: dict, found: CheckReport, form: str) -> None:
    """How faithful the measures are; where evidence is known, beside how well they find it."""
    if not found.measured:
        st.caption("No measure is computed here yet: ask for one above, or choose one in the settings.")
        return
    faithful = check_tables.faithful_sentence(found, form)
    for said in filter(None, [escaped(faithful, 1500), check_tables.found_and_faithful(found, form)]):
        st.html(f"<p>{said}</p>")
    table(*check_tables.measures_table(found, form))
    captions([check_tables.elsewhere_note(found), check_tables.measured_caveats(found)])
    st.caption(check_tables.measures_note(found, form))
    # The example at which finding the evidence and being faithful part most.
    parts = disagreement(passed) if found.measured_tally.settled and check_tables.with_evidence(found) else None
    if parts is not None:
        example = found.sample.examples[parts.place].id
        st.html(f"<p>{check_tables.disagreement_sentence(parts, example, link_to(example=example))}</p>")
        if st.button(f"Choose {plain(example)}", key="choose-disagreement", icon=":material/arrow_forward:"):
            choose("example", example)
            # The sidebar shows it too.
            st.rerun()
