"""The picture of a model check and its tabs: models, measures, p-values, a paper's findings."""

import streamlit as st

from core.evaluation.families import family
from core.evaluation.studies import check_tables
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_report import CheckReport
from core.evaluation.studies.disagreement import disagreement
from core.figures.check_figures import p_panels, panels, spans
from core.wording import plain
from pages.parts.components.pictures import chart, draw_figure
from pages.parts.components.tables import data_table
from pages.parts.frame.links import choose, held_of_all, visit
from pages.parts.sections.saving import about_models
from pages.parts.sections.studying import Asking

# What stands in a tab that has nothing to show.
_NO_MEASURE = "No measure is computed yet."
_NO_REFERENCE = "Without a MaSF reference there are no p-values."
_NO_FINDINGS = "Needs a model card and unpicked texts of two classes."


def draw_check_curves(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """What masking does to performance, and how many texts are rejected."""
    name, about = _file_of(checked, found)
    draw_figure(panels(found, form), "curves", check_tables.curves_in_words(found), name, about)


def draw_models(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """Models trained with and without masking: on these texts, and by their cards."""
    data_table(*check_tables.training_table(found, form), "models-checked")
    cards = family(checked[0].model.card)
    if len(cards) > 1:
        rows = [(f"{one.name} ({check_tables.STRATEGIES[one.training]})", one) for one in cards]
        drawn = [(name, one.unmasked, one.masked, one.majority) for name, one in rows]
        st.markdown(f"**By their cards, on {cards[0].examples:,} test examples**")
        chart(spans(drawn, cards[0].metric, cards[0].paired), "spans", check_tables.spans_in_words(cards))


def draw_measures(checked: list[Asking], found: CheckReport, form: str) -> None:
    """How faithful the measures are; where evidence is known, beside how well they find it."""
    if not found.measured:
        st.caption(_NO_MEASURE)
        return
    data_table(*check_tables.faithfulness_table(found, form), "measures-checked")
    # The example at which finding the evidence and being faithful part most.
    known = found.measured_tally.settled and check_tables.with_evidence(found)
    parts = disagreement(checked[0].answers.found) if known else None
    if parts is None:
        return
    example = found.sample.examples[parts.place].id
    st.markdown(f"**Largest disagreement: {plain(example)}**")
    data_table(*check_tables.disagreement_table(parts), "disagreement")
    if st.button(f"Choose {plain(example)}", key="choose-disagreement", icon=":material/arrow_forward:"):
        choose("example", example)
        # The sidebar shows it too.
        st.rerun()


def draw_p_values(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """The p-values of the data set at every ratio, and a way to the texts that are rejected."""
    if not any(one.floor for one in found):
        st.caption(_NO_REFERENCE)
        return
    name, about = _file_of(checked, found)
    draw_figure(p_panels(found), "p-values", check_tables.p_in_words(found), [*name, "p"], about)
    data_table(*check_tables.ratios_table(found, form), "ratios-checked")
    if st.button("See which texts are rejected", icon=":material/table_rows:"):
        visit("Examples", **held_of_all("model", "data", "unit"), columns="rejected", order="rejected")


def draw_findings(found: list[CheckReport]) -> None:
    """What a paper found of training with masking, row by row."""
    findings = check_findings(found)
    if findings:
        data_table(*check_tables.findings_table("FMM", findings), "findings-fmm")
    else:
        st.caption(_NO_FINDINGS)


def _file_of(checked: list[Asking], found: list[CheckReport]) -> tuple[list[str], str]:
    """The parts of a file's name, and the line under a picture."""
    models = [one.model for one in checked if one.model.digest in {report.digest for report in found}]
    return ["model-check", *(one.model for one in found)], about_models(models, checked[0].sample.name)
