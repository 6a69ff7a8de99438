"""Behaviour under masking, a part of Model check: when predictions change, how far embeddings drift, and a map of
them.
"""

from functools import partial

import numpy as np
import streamlit as st

from core.data.parsed import BadData
from core.evaluation.sampling import draw_sample, same_examples
from core.evaluation.studies.behaviour import ORDERS, RANDOM, Course
from core.evaluation.studies.behaviour_report import (
    ALL,
    HALF,
    HEADER,
    BehaviourReport,
    CourseLine,
    behaviour_answer,
    behaviour_json,
    behaviour_rows,
    signed_percent,
)
from core.evaluation.studies.embedding_map import FEWEST, MOST, can_map
from core.figures.behaviour_figures import COLOURS, MASKED, behaviour_panels, groups_of, map_figure
from core.network.architectures import UnsupportedModel
from core.oracle.erasing import MASK, erasures_of
from core.wording import escaped, number, plain
from pages.parts.check.behaviour import Behaved, Behaving, MapWork
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import choose, held, linked
from pages.parts.frame.sidebar import Frame
from pages.parts.sections.asking import choose_measures, choose_models, choose_sign, choose_size, other_model
from pages.parts.sections.saving import about_model, save_report
from pages.parts.sections.streaming import stream


def behaviour(frame: Frame) -> None:
    """Draw this part of the page."""
    # UMAP imports it on another thread, and a chart that is drawn while it is half there fails.
    import pandas  # noqa: F401

    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.subheader("Settings", anchor=False)
        settings = _settings(frame)
    try:
        behaved = _models(frame, settings, said)
    except BadData as error:
        with said:
            st.error(plain(str(error)), icon=":material/error:")
        return
    mapped = settings["mapped"]
    stream(
        lambda: [*(work for one in behaved for work in one.works), *_maps(behaved, mapped)],
        stage,
        partial(_draw, frame, behaved, mapped),
        said,
        partial(_say, behaved),
        every=1.0,
        together=True,
    )


def _settings(frame: Frame) -> dict:
    model = frame.explainer.model
    left, middle, right = st.columns(3)
    with left:
        size = choose_size()
        beside = choose_models(model, "Erased on the same examples, in random order and in that of the first measure")
    with middle:
        chosen = choose_measures(
            "Each ranks the words of the unmasked text once, for the class predicted; they are erased in that order, "
            "on every example."
        )
        erasure = linked(
            st.selectbox,
            "Erase by",
            erasures_of(model),
            MASK,
            "erasure",
            help="What stands where a word was: the mask token, nothing (removal), the zero embedding, or the unknown "
            "token, as RobustInf has it.",
        )
    with right:
        sign = choose_sign()
        mapped = linked(
            st.selectbox,
            "Map of the embeddings along",
            [RANDOM, *chosen],
            RANDOM,
            "mapped",
            help="In which order words were erased in the texts whose embeddings are shown on the map.",
        )
    return {"size": size, "beside": beside, "measures": chosen, "erasure": erasure, "sign": sign, "mapped": mapped}


def _models(frame: Frame, settings: dict, said) -> list[Behaved]:
    """The model of the page with its measures, and those beside it that can be loaded with the first of them; BadData
    where there is no sample.
    """
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit, erasure = held("unit"), settings["erasure"]
    courses = [
        Course(unit=unit, erasure=erasure),
        *(Course(name, settings["sign"], unit, erasure) for name in settings["measures"]),
    ]
    data = frame.browsed.index.data
    sample = draw_sample(data, frame.explainer.model.labels, settings["size"])
    found = [Behaved(tuple(Behaving(frame.explainer, sample, course, True) for course in courses))]
    for name in settings["beside"]:
        try:
            other = other_model(name, [one.model for one in found])
            if erasure not in erasures_of(other.model):
                raise UnsupportedModel(f"it cannot erase by the {erasure}.")
            theirs = same_examples(sample, data, other.model.labels)
            found.append(Behaved(tuple(Behaving(other, theirs, course, False) for course in courses[:2])))
        except (UnsupportedModel, BadData) as error:
            with said:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
    return found


def _maps(behaved: list[Behaved], measure: str) -> list[MapWork]:
    """A map for each model whose embeddings along an order are all there."""
    works = [one.by_measure(measure) for one in behaved] if can_map() else []
    maps = [MapWork.of(work) for work in works if work is not None and work.through and work.passed.there.any()]
    return [one for one in maps if len(one.points) >= FEWEST]


def _say(behaved: list[Behaved]) -> None:
    first, reports = behaved[0].works[0], [one.report() for one in behaved]
    told = [one for one in reports if one is not None]
    if reports[0] is not None:
        done = first.passed.done
        so_far = (
            f" So far, on {done:,} of {len(first.sample):,} examples."
            if first.runs or 0 < done < len(first.sample)
            else ""
        )
        sentences = behaviour_answer(told)
        said = "<br>".join(escaped(sentence, 600) for sentence in sentences) + so_far
    elif first.through:
        problems = list(dict.fromkeys(first.passed.problems.values()))
        said = f"None of the {len(first.sample):,} examples of the sample could be erased. " + " ".join(
            escaped(problem, 300) for problem in problems[:3]
        )
    elif first.runs:
        said = "The first examples are being erased in random order."
    else:
        said = "Ask for random order below to see when predictions change and embeddings drift."
    st.html(f"<p style='font-size:1.12rem'>{said}</p>")
    for note in (*first.sample.notes, *(reports[0].notes if reports[0] is not None else ())):
        st.caption(plain(note))


def _draw(frame: Frame, behaved: list[Behaved], measure: str, asks) -> None:
    asks()
    found = [one for one in (one.report() for one in behaved) if one is not None]
    if not found:
        return
    _figure(frame, found)
    _table(found)
    _map_section(frame, _maps(behaved, measure), measure)
    save_report(
        HEADER,
        lambda: [row for one in found for row in behaviour_rows(one)],
        lambda: behaviour_json(found),
        ["behaviour", found[0].model],
        "behaviour",
    )


def _figure(frame: Frame, found: list[BehaviourReport]) -> None:
    st.subheader("What erasing does to predictions and embeddings", anchor=False)
    in_words = "; ".join(
        f"{one.model}, {line.course.measure}: {', '.join(number(100 * value) for value in line.unflipped)}"
        for one in found
        for line in one.lines
    )
    draw_figure(
        behaviour_panels(found),
        "behaviour",
        f"Predictions not changed yet at each masking ratio, in percent. {in_words}.",
        ["behaviour", found[0].model],
        about_model(frame.explainer.model),
    )
    st.caption(
        "Above: the faster a line falls, the more faithful its order; the area above it is the fidelity. Random order "
        "is grey "
        f"({ORDERS} orders of each text). Below: embeddings are the mean over the tokens of the second-to-last layer, "
        f"set against those of the unmasked texts. "
        "Left, how far their centre has moved (0: not at all). Right, how much less (−) or more (+) they differ from "
        "each other."
    )


def _table(found: list[BehaviourReport]) -> None:
    st.subheader("Fidelity and drift", anchor=False)
    header = [
        "model",
        "order",
        "fidelity ↑ (95 %)",
        "normalised ↑",
        "never changes ↓",
        "centroid change at 50 · 100 % masked",
        "change of mean σ at 50 · 100 %",
        "examples",
    ]
    table(header, [_row(one, line) for one in found for line in one.lines], most=90)
    st.caption(
        "Fidelity: 1 − mean(C/F), with C of F words erased at the first change of prediction; a prediction that never "
        "changes counts C/F = 1. Normalised: 0 is "
        "random order, 1 the largest there can be on these texts (the first word erased always changes it). Centroid "
        "change: 1 − cosine, 0 to 2. "
        "σ: mean over the dimensions of the standard deviation over the examples."
    )
    if len(found) > 1:
        st.info(
            "Do not rank models by fidelity: it is specific to a model (RobustInf), and what can be reached differs "
            "from model to model (NAOPC). That is why "
            "the normalised number stands beside the raw one."
        )


def _row(one: BehaviourReport, line: CourseLine) -> list[str]:
    interval = line.fidelity
    fidelity = (
        "—" if not line.judged else f"{number(interval.mean)} ({number(interval.low)} to {number(interval.high)})"
    )
    normalised = "0 (by definition)" if line.course.random else number(line.normalised)
    never = "—" if line.never != line.never else f"{number(100 * line.never)} %"
    centroid = " · ".join(number(float(line.centroid[k])) for k in (HALF, ALL))
    spread = " · ".join(signed_percent(float(line.spread[k])) for k in (HALF, ALL))
    return [one.model, line.course.measure, fidelity, normalised, never, centroid, spread, f"{line.n:,}"]


# ---- the map


def _map_section(frame: Frame, maps: list[MapWork], measure: str) -> None:
    st.subheader("Map of the embeddings", anchor=False)
    drawn = [one for one in maps if one.places is not None]
    if not can_map():
        st.info("UMAP is not installed, so no map is drawn. Run the line of the README that installs the requirements.")
        return
    if not drawn:
        order = RANDOM if measure == RANDOM else f"the order of {plain(measure)}"
        st.caption(f"It is drawn once all examples are erased in {order}, from {FEWEST} embeddings on.")
        return
    colour = linked(st.segmented_control, "Colour by", COLOURS, MASKED, "colour", required=True)
    for column, one in zip(st.columns(len(drawn)), drawn):
        with column:
            _map(frame, one, colour)
    st.caption(
        f"Each point is one text with 0, 20, 50, 80 or 100 % masked (at most {MOST} texts); a click chooses its "
        f"example, whose points are joined. UMAP keeps "
        "neighbours together: distances between groups, their sizes and the axes mean nothing, and two maps do not "
        "compare point by point."
    )


def _map(frame: Frame, one: MapWork, colour: str) -> None:
    work, points = one.behaving, one.points
    model, sample, walked = work.explainer.model, work.sample, work.passed
    predicted = walked.predicted[points.example, points.ratio]
    chosen = frame.example.id if frame.example is not None else None
    path = np.flatnonzero([sample.examples[i].id == chosen for i in points.example])
    told = [(sample.examples[i].id, int(i), model.labels[c]) for i, c in zip(points.example, predicted)]
    groups = groups_of(colour, points.ratio, sample.labels[points.example], predicted, model.labels)
    st.markdown(f"**{plain(model.name)}**")
    # A new key after each choice, so that the point that was clicked does not choose its example again.
    event = draw_figure(
        map_figure(one.places, groups, told, points.ratio, path),
        f"map-{model.digest[:12]}-{st.session_state.get('map picks', 0)}",
        f"{len(points):,} embeddings of {model.name} in the plane, by {colour}.",
        ["map", model.name],
        about_model(model),
        "the map",
        on_select="rerun",
        selection_mode="points",
    )
    for point in event["selection"]["points"][:1]:
        place = point.get("customdata", [None, None])[1]
        if isinstance(place, int) and 0 <= place < len(sample):
            st.session_state["map picks"] = st.session_state.get("map picks", 0) + 1
            choose("example", sample.examples[place].id)
            # The sidebar shows it too.
            st.rerun()
