"""Model check: is masking in-distribution for this model at all, and how does it behave under it?"""

from functools import partial

import streamlit as st

from core.data.parsed import BadData
from core.evaluation.families import Measured, family
from core.evaluation.sampling import draw_sample, same_examples
from core.evaluation.studies.check_report import CheckReport, X, left_out, metric_of, told_left_out
from core.evaluation.studies.check_sentences import (
    HEADER,
    all_as_json,
    check_findings,
    check_rows,
    name_of,
    percent,
    verdict_sentence,
)
from core.evaluation.studies.disagreement import disagreement
from core.evaluation.studies.model_check import RANDOM, Curve
from core.figures.check_figures import panels, spans
from core.network.architectures import UnsupportedModel
from core.validity.marks import HOLM, Why, ratios_text, with_sign
from core.validity.references import FORMS, how_to_fit
from core.wording import escaped, number, plain
from pages.parts.check.behaviour_tab import behaviour
from pages.parts.check.checking import Checked, Checking
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import choose, held, linked
from pages.parts.frame.sidebar import Frame, open_data
from pages.parts.sections.asking import choose_measures, choose_models, choose_sign, choose_size, other_model
from pages.parts.sections.findings import show_findings
from pages.parts.sections.saving import about_model, save_report
from pages.parts.sections.sides import RECURSIVE, choose_form, choose_order, reference_facts
from pages.parts.sections.streaming import stream

VALIDITY, BEHAVIOUR = "in-distribution", "behaviour"
PARTS = {VALIDITY: "Is masking in-distribution?", BEHAVIOUR: "Behaviour under masking"}
STRATEGIES = {"half": "every second example masked", "mask": "only masked", "none": "never masked", "": "no card"}


def model_check() -> None:
    """Draw the page."""
    frame = open_data(
        "Model check",
        "Is masking in-distribution for this model at all, and how does it behave under it?",
        "A text of your own has no label, so performance cannot be told from it. Choose labelled data",
    )
    if frame is None:
        return
    # A choice and no tabs: what is not shown neither starts nor polls.
    if (
        linked(
            st.segmented_control,
            "Part",
            list(PARTS),
            VALIDITY,
            "part",
            required=True,
            format_func=PARTS.get,
            label_visibility="collapsed",
        )
        == BEHAVIOUR
    ):
        behaviour(frame)
    else:
        _validity(frame)


def _validity(frame: Frame) -> None:
    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.subheader("Settings", anchor=False)
        settings = _settings(frame)
    try:
        checked = _models(frame, settings, said)
    except BadData as error:
        with said:
            st.error(plain(str(error)), icon=":material/error:")
        return
    stream(
        [work for one in checked for work in one.works],
        stage,
        partial(_draw, frame, checked, settings["form"]),
        said,
        partial(_say, checked),
        every=1.0,
    )
    with below:
        _about_references(checked, settings["form"])


def _settings(frame: Frame) -> dict:
    left, middle, right = st.columns(3)
    with left:
        size = choose_size()
        beside = choose_models(frame.explainer.model, "Checked on the same examples in random order")
    with middle:
        chosen = choose_measures("Each masks what it ranks first for the label, step by step, on every example.")
        form = choose_form()
    with right:
        sign = choose_sign()
        order = choose_order()
    return {
        "size": size,
        "beside": beside,
        "measures": chosen,
        "form": form,
        "sign": sign,
        "recompute": order == RECURSIVE,
    }


def _models(frame: Frame, settings: dict, said) -> list[Checked]:
    """The model of the page with its measures, and those beside it that can be loaded, in random order alone; BadData
    where there is no sample.
    """
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit = held("unit")
    curves = [
        Curve(RANDOM, unit=unit),
        *(Curve(name, settings["sign"], unit, settings["recompute"]) for name in settings["measures"]),
    ]
    data = frame.browsed.index.data
    sample = draw_sample(data, frame.explainer.model.labels, settings["size"])
    found = [Checked(tuple(Checking(frame.explainer, sample, curve, True) for curve in curves))]
    for name in settings["beside"]:
        try:
            other = other_model(name, [one.model for one in found])
            found.append(Checked((Checking(other, same_examples(sample, data, other.model.labels), curves[0], False),)))
        except (UnsupportedModel, BadData) as error:
            with said:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
    return found


def _say(checked: list[Checked]) -> None:
    first, passed = checked[0], checked[0].passed()
    chance, found = first.works[0], first.report(passed)
    problems = left_out(passed[chance.curve])
    if found is not None:
        so_far = (
            ""
            if found.n + sum(problems.values()) == len(found.sample)
            else f" So far, on {found.n:,} of {len(found.sample):,} examples."
        )
        said = escaped(verdict_sentence(found), 900) + so_far
    elif chance.complete:
        said = f"None of the {len(chance.sample):,} examples of the sample could be checked."
    elif chance.runs:
        said = "The first examples are being masked in random order."
    else:
        said = "Ask for random order below to see how it behaves under masking."
    st.html(f"<p style='font-size:1.12rem'>{said}</p>")
    for note in found.notes if found is not None else [*chance.sample.notes, *told_left_out(problems)]:
        st.caption(plain(note))


def _draw(frame: Frame, checked: list[Checked], form: str, asks) -> None:
    passed = [one.passed() for one in checked]
    metric = metric_of(checked[0].model)
    found = [one.report(known, metric) for one, known in zip(checked, passed)]
    asks()
    if found[0] is None:
        return
    told = [one for one in found if one is not None]
    _curves(frame, told, form, checked[0].explainer.reference)
    _side_by_side(frame, told, form)
    _measures(passed[0], found[0], form)
    save_report(
        HEADER,
        lambda: [row for one in told for row in check_rows(one)],
        lambda: all_as_json(told),
        ["model-check", told[0].model],
        "check",
    )


def _curves(frame: Frame, found: list[CheckReport], form: str, reference) -> None:
    st.subheader("What masking does", anchor=False)
    in_words = "; ".join(
        f"{one.model}, {name_of(line.curve)}: {', '.join(f'{value:.2f}' for value in line.performance)}"
        for one in found
        for line in one.lines
    )
    draw_figure(
        panels(found, form),
        "curves",
        f"Performance at each masking ratio. {in_words}.",
        ["model-check", found[0].model],
        about_model(frame.explainer.model),
    )
    falsely = (
        f" Held out and rejected all the same ↓: {reference.false_rejections(form)}."
        if reference is not None and reference.false_rejections(form)
        else ""
    )
    st.caption(
        "Random order is grey; a faithful measure takes performance down faster. Dashed red: 5 %. A data-set p below "
        "it (Simes over the examples) says that texts "
        f"masked so far are out-of-distribution for the model.{falsely}"
    )


def _side_by_side(frame: Frame, found: list[CheckReport], form: str) -> None:
    st.subheader("Trained with masking, and without", anchor=False)
    first = found[0]
    header = [
        "model",
        "trained",
        f"unmasked {first.metric} ↑",
        "all masked ↑",
        "class majority",
        *(f"smallest p, {of} ↑" for of in FORMS),
        "texts rejected at 0, 50, 100 % ↓",
    ]
    table(
        header,
        [
            [
                one.model,
                STRATEGIES[one.training],
                *(percent(value, one.metric) for value in (one.unmasked, one.masked, one.majority)),
                *(_smallest(one, of) for of in FORMS),
                _shares(one, form),
            ]
            for one in found
        ],
        most=90,
    )
    _cards(family(frame.explainer.model.card))
    show_findings("FMM", check_findings(found), 160)


def _cards(cards: list[Measured]) -> None:
    """What the cards of a model and its relatives say, where it has any."""
    if len(cards) > 1:
        st.plotly_chart(
            spans(
                [(f"{one.name} ({STRATEGIES[one.training]})", one.unmasked, one.masked, one.majority) for one in cards],
                cards[0].metric,
            ),
            width="stretch",
            theme=None,
            key="spans",
            config={"displayModeBar": False},
            alt="; ".join(
                f"{one.name}: {percent(one.unmasked, one.metric)} unmasked, {percent(one.masked, one.metric)} with "
                f"everything masked"
                for one in cards
            ),
        )
        away = [one.name for one in cards if not one.ships]
        st.caption(
            plain(
                f"By their cards, on the whole test file ({cards[0].examples:,} examples, tokens masked at random, of "
                f"a pair in both texts)." + (f" The weights of {', '.join(away)} are not included." if away else "")
            )
        )


def _smallest(one: CheckReport, form: str) -> str:
    if not one.floor:
        return f"— ({Why.NO_REFERENCE})"
    p, at = one.smallest(form)
    return with_sign(f"{number(p)} at {at:.0%} masked", one.random.marked(form))


def _shares(one: CheckReport, form: str) -> str:
    shares = one.random.rejected.get(form)
    return "—" if shares is None else " · ".join(f"{100 * shares[k]:.1f}" for k in (0, 5, 10)) + " %"


def _measures(passed: dict, found: CheckReport, form: str) -> None:
    """How faithful the measures are; where evidence is known, beside how well they find it."""
    told = [line for line in found.lines if not line.curve.random]
    if not told:
        return
    st.subheader("How faithful are the measures?", anchor=False)
    known = [line for line in told if line.precision == line.precision]
    if known:
        said = _found_and_faithful(known, found, form)
        if said:
            st.html(f"<p>{said}</p>")
    header = [
        "measure",
        "RACU ↑",
        "ACU ↑",
        f"smallest p, {form}",
        *["average precision ↑", "recall of top k ↑"] * bool(known),
        "examples",
    ]
    chance = [
        "random order",
        "0",
        "0",
        number(found.smallest(form)[0]) if found.floor else "—",
        *([number(known[0].chance), ""] if known else []),
        f"{found.n:,}",
    ]
    table(header, [*(_measure_row(line, found, form, bool(known)) for line in told), chance])
    st.caption(
        "RACU: does masking what it ranks first take the performance down, set against random order (0) and one that "
        "takes all of it at once (1; signed ones "
        "exceed it)? That is faithfulness; ACU is the area itself and does not compare across models. "
        + ratios_text(found.random.gates[form].rule if form in found.random.gates else HOLM, len(X))
        + (
            " Average precision and recall: does the attribution of the unmasked text rank the words of the evidence "
            "first (k: as many as there are)? That is "
            "plausibility. The two can disagree."
            if known
            else ""
        )
    )
    if known:
        _disagreement(passed, found)


def _found_and_faithful(known: list, found: CheckReport, form: str) -> str:
    """The measure that finds the evidence best and the one that is the most faithful, HTML in which all text is
    escaped; of those that are through.
    """
    through = [line for line in known if line.n == found.n]
    if len(through) < 2:
        return ""
    finder, faithful = (
        max(through, key=lambda line: line.precision),
        max((line for line in through if line.racu == line.racu), key=lambda line: line.racu, default=None),
    )
    if faithful is None:
        parted = (
            "which is the most faithful one cannot be told, since masking in random order takes no performance "
            "away here"
        )
    elif faithful.racu <= 0:
        parted = "none is more faithful than random order"
    else:
        same = "the same measure" if finder is faithful else f"<b>{escaped(faithful.curve.measure)}</b>"
        score = with_sign(f"RACU {number(faithful.racu)} ↑", found.marked(faithful, form))
        parted = f"{same} is the most faithful one ({score})"
    chance = f"where a random order has {number(finder.chance)}"
    if finder.precision <= finder.chance:
        return f"None of these measures finds the evidence better than chance ({chance}), and {parted}."
    return (
        f"<b>{escaped(finder.curve.measure)}</b> finds the evidence best (average precision "
        f"{number(finder.precision)} ↑, {chance}), and {parted}."
    )


def _measure_row(line, found: CheckReport, form: str, known: bool) -> list[str]:
    smallest = number(float(line.p[form].min())) if form in line.p else "—"
    evidence = [number(line.precision), number(line.recall)] if known else []
    return [
        name_of(line.curve),
        *(with_sign(number(value), found.marked(line, form) and value == value) for value in (line.racu, line.acu)),
        smallest,
        *evidence,
        f"{line.n:,}",
    ]


def _disagreement(passed: dict, found: CheckReport) -> None:
    """The example at which finding the evidence and being faithful part most."""
    parts = disagreement(passed)
    if parts is not None:
        example = found.sample.examples[parts.place].id
        st.html(
            f"<p>They part most on <b>{escaped(example)}</b>: {escaped(parts.finder)} finds the evidence (average "
            f"precision {number(parts.precision[0])} ↑ against "
            f"{number(parts.precision[1])}), but {escaped(parts.faithful)} is more faithful there (ACU "
            f"{number(parts.acu[1])} ↑ against {number(parts.acu[0])}, "
            "both set against one random order).</p>"
        )
        if st.button(f"Choose {plain(example)}", key="choose-disagreement", icon=":material/arrow_forward:"):
            choose("example", example)
            # The sidebar shows it too.
            st.rerun()


def _about_references(checked: list[Checked], form: str) -> None:
    with st.expander("About the p-values: the references", expanded=checked[0].explainer.reference is None):
        for one in checked:
            st.markdown(f"**{plain(one.model.name)}**")
            if one.explainer.reference is None:
                st.info(
                    plain(
                        one.explainer.reference_problem
                        or f"{one.model.name} has no MaSF reference. {how_to_fit(one.model)}"
                    )
                )
                continue
            table(["reference", f"{form} form"], reference_facts(one.explainer.reference, form), most=200)


model_check()
