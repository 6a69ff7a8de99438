"""What the page Data set draws of how diagnostic metrics are: the tables, the picture, the tests, the paper beside."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from core.evaluation.findings import FEW, LOOKS
from core.evaluation.studies.diagnosticity_paper import diagnosticity_findings
from core.evaluation.studies.diagnosticity_report import DiagnosticityReport
from core.evaluation.studies.diagnosticity_sentences import (
    BASELINE_WORDS,
    HEADER,
    diagnosticity_json,
    diagnosticity_rows,
)
from core.evaluation.studies.diagnosticity_tables import (
    FINDINGS_NOTE,
    LENGTHS_NOTE,
    SIDES_NOTE,
    averages_note,
    averages_table,
    baselines_note,
    baselines_table,
    diagnosticity_table,
    lengths_in_words,
    paper_tables,
    preferences_in_words,
    tests_table,
)
from core.evaluation.studies.scoring import RANDOM, SHUFFLED
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length, draw_preferences
from core.metrics.catalogue import hard_and_soft
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.face.body import draw_tabs
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions
from pages.parts.sections.findings import show_findings
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.studying import Asking


def draw_diagnosticity(_: DataView, work: Asking, asks: Callable[[], None]) -> None:
    """Draw what is known so far: how often each metric prefers measures, and behind it the tables."""
    found = work.report
    if found is None or not found.told:
        asks()
        return
    name, about = _name(found), about_models([work.model], found.data)
    draw_figure(draw_preferences(found), "preferences", preferences_in_words(found), [*name, "preferences"], about)
    captions(work.question.sentences(found)[1:])
    each = "; small: each measure by itself" * (len(found.study.measures) > 1)
    other = "a random one" if found.study.baseline == RANDOM else "a shuffle of its own scores"
    st.caption(
        f"A pair: a measure’s attribution of a text, and {other}. A metric prefers the one that it scores as more "
        "faithful; a tie counts one half. Hard metrics (NS, NC) erase words, soft ones perturb them in part. Bars: "
        f"95 % over texts, from {FEW} texts on{each}. A metric near the line says "
        "little about which measure is better."
    )
    asks()
    # Always the same ones: what is shown stays chosen while more is found.
    parts = {
        "Numbers": partial(_averages, work, found),
        "By length of the rationale": partial(_figure, found, name, about),
        "By measure": partial(_by_measure, found),
        "Soft against hard": partial(_tests, found),
        "Beside SoftFaith": partial(_papers, found),
    }
    draw_tabs(parts, "parts-of-diagnosticity")
    save_report(
        HEADER,
        lambda: diagnosticity_rows(found),
        lambda: diagnosticity_json(found) | {"weights": work.model.digest, "data_sha256": work.sample.digest},
        name,
        "diagnosticity",
    )


def _averages(work: Asking, found: DiagnosticityReport) -> None:
    table(*averages_table(found))
    st.caption(averages_note(found))
    # The other baseline beside this one, once both are known for all of these texts; else why one would ask for it.
    other = replace(work, question=found.study.other())
    known = other.report if found.complete and other.answers.complete else None
    header, rows = ([], []) if known is None else baselines_table(found, known)
    # Of whichever of the two is against random attributions.
    amounts = bool(found.by_amount or (known and known.by_amount))
    if rows:
        st.markdown("**Against both baselines**, a tie counting one half (0.5: neither preferred)")
        table(header, rows)
        st.caption(baselines_note([row[0] for row in rows], amounts))
    elif found.by_amount:
        st.caption(
            "How much soft metrics keep or erase depends on what an attribution’s scores add up to, which may be less "
            "than random scores do. To compare at the same amount, set Baseline to shuffled in the settings below, or "
            "choose the metrics of a fixed share there."
        )


def _by_measure(found: DiagnosticityReport) -> None:
    table(*diagnosticity_table(found))
    st.caption(SIDES_NOTE)


def _figure(found: DiagnosticityReport, name: list[str], about: str) -> None:
    figure = draw_diagnosticity_by_length([found])
    if figure is None:
        st.caption("None of these metrics judges rationales of several lengths; hard ones do.")
        return
    draw_figure(figure, "diagnosticity", lengths_in_words(found), name, about)
    st.caption(
        "Hard metrics judge rationales of each length; soft ones have no length, so they are level (dashed). Bands: 95 "
        f"% over texts. Higher is better: the metric prefers measures to {BASELINE_WORDS[found.study.baseline]} more "
        f"often. {LENGTHS_NOTE}"
    )


def _tests(found: DiagnosticityReport) -> None:
    if not (found.tests or found.fixed):
        pairs = " or ".join(f"{hard} with {soft}" for hard, soft in hard_and_soft())
        st.caption(f"Choose {pairs} among the metrics to test soft against hard ones.")
        return
    table(*tests_table(found))
    captions(dict.fromkeys(one.found.reason for one in (*found.tests, *found.fixed) if one.found.reason))
    st.caption(
        f"On the texts on which both metrics have a value; p from {FEW} texts on. Rank-sum: Wilcoxon’s test as "
        "SoftFaith uses it, as if the two had been found on different texts. Paired: Wilcoxon’s signed-rank test on "
        f"the same texts (zeros by Pratt), which is what the sentence above goes by, {LOOKS}. Each p by "
        "itself, not adjusted over the lines."
    )


def _papers(found: DiagnosticityReport) -> None:
    told = diagnosticity_findings(found)
    if not told:
        st.caption("SoftFaith’s findings are of its own baseline and metrics, and stand beside those alone.")
        return
    show_findings("SoftFaith", told, 140)
    st.caption(FINDINGS_NOTE)
    with st.expander("SoftFaith’s figures (Tables 2 and 3), a tie counting 0"):
        for header, rows in paper_tables(found):
            table(header, rows)
        st.caption(
            "Another model, other data and one draw, so the order and the sign can be compared and the numbers cannot. "
            "Its average holds DeepLift, too. Its code keeps the most important words least, the reverse of its Eq. 3, "
            "so that its soft figures may be of what Scaling calls reversed."
        )


def _name(found: DiagnosticityReport) -> list[str]:
    """What files are named by."""
    return ["diagnosticity", *["shuffled"] * (found.study.baseline == SHUFFLED), found.model, found.data]
