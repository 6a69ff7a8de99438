"""Hard and soft erasure: does it matter how words are erased?"""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.evaluation.studies.masking_caution import hardly_elsewhere
from core.evaluation.studies.scoring import Scoring
from core.explanation.limiting import left_over
from core.judging import metric_sentences
from core.judging.metric_report import HEADER, MetricReport, metric_rows
from core.mathematics.ranking import LEVEL
from core.measures.catalogue import measures
from core.measures.registry import ORACLE
from core.metrics.catalogue import metrics
from core.stability.known import COLUMN, unstable_cell, why_unstable
from core.validity.marks import SIGN
from core.verdicts.telling import suits_sentence
from core.wording import linked_name, safe_name, strong
from pages.parts.components.tables import table
from pages.parts.erasure.choosing import choose_erasure
from pages.parts.erasure.closer import closer_look
from pages.parts.erasure.judging import KnownRatings
from pages.parts.erasure.metric_cells import draw_metric_table
from pages.parts.frame.links import link_to
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import captions, prediction_line, show_notes
from pages.parts.frame.working import tally_of
from pages.parts.sections.judged import rejected_on_sample
from pages.parts.sections.saving import save_table
from pages.parts.sections.sides import Side, about_the_test
from pages.parts.sections.streaming import stream

_COLOURS = (
    "Blue: fewer than half of the random attributions score at least as well (↓ fewer is better), full where none "
    "does; no colour: half of them or more do, or it is not known. That is no test. "
    f"Hatched {SIGN}: not ranked."
)
_LEVEL = " Level: too close to put one before the other."
_PLACES = (
    "1st is the best place. Measures are level, and share it, where their scores, before they are rounded, lie closer "
    f"than {LEVEL:g}, or those of soft metrics within two standard errors of their difference: draws alone may be why. "
    "Of two measures that are alike, draws put one first on about 5 % of texts all the same; of more measures some two "
    "more often. ⇅ "
    f"Rank flip: another metric orders this measure and another one the other way. What is marked {SIGN} is hatched, "
    "has no place, and no order rests on it."
)
_KEPT = (
    "NS keeps only the words that a measure ranks first, NC erases just these. Soft-NS keeps a share of every word, as "
    "much as its score says, and Soft-NC erases that share. The perturbed embeddings of soft metrics are tested like "
    "erased words."
)
_SPREAD = (
    "±: standard error of a soft score, which is a mean over random draws: about how far other draws would move it. ± "
    "of a lead, by how much one measure is ahead of the next: the standard errors of both, put together as the root of "
    "their summed squares. Both scores use the same draws, so that as a rule the lead is surer than its ± says. "
    "sd: standard deviation over random attributions, or shuffles. Scoreboard draws soft metrics of each random "
    "attribution once, so that its mean of them is a little different."
)


def hard_and_soft_erasure() -> None:
    """Draw the page."""
    asked = open_page("Hard and soft erasure", above=True)
    # Whatever class the sidebar asks for: these metrics are defined for the one that is predicted.
    view = replace(asked, target=asked.predicted)
    said, choice = view.places.answer, choose_erasure(view)
    stage, closer, below = (st.container() for _ in range(3))
    side = Side(view.explainer, view.encoded, view.target, view.predicted)
    aside = (
        ""
        if asked.target == view.target
        else f" The sidebar asks for {strong(asked.class_name)}; hard and soft erasure always judge the prediction, so "
        f"{strong(view.class_name)} is explained here."
    )
    if left_over(view.encoded) == 0:
        nothing = f"Every {view.encoded.unit} is masked in the text already, so there is nothing to erase and no metric"
        with said:
            prediction_line(view, f"{nothing} to compare.{aside}")
    else:
        known = KnownRatings.of(side, choice)
        # The closer look is not looked for in between: the page is drawn anew with each measure and at the end.
        say, anew = partial(_say, view, known, aside), lambda: len(known.rated)
        stream(known.works, stage, partial(_draw, view, known), said, say, anew=anew, together=True)
        with closer:
            closer_look(view, known)
    with below:
        about_the_test([side], choice.form)
        show_notes(view)


def _say(view: View, known: KnownRatings, aside: str) -> None:
    tally = tally_of(known.judged)
    report, runs = known.report, tally.coming
    if not report.names:
        told = "Choose a metric to see what it says."
    elif not known.judged:
        told = "Choose measures to see whether the metrics agree on them."
    elif report.rated:
        told = metric_sentences.metrics_answer(
            report.table, report.unit, report.features, tally, report.marked, report.tested, report.whole
        )
    else:
        told = "The measures are being judged." if runs else "Ask for a measure below to see how the metrics rate it."
    many = linked_name("Data set", link_to("data_set", section=Scoring.name))
    then = metric_sentences.advice(report, many) if report.names and report.rated and tally.complete else ""
    # Cells that stand far above random attributions read as verdicts, which another page gives.
    proof = linked_name("AOPC and NAOPC", link_to("aopc_and_naopc"))
    chance = f"Whether an order is more than luck is tested on {proof}, not here." if then else ""
    favours = suits_sentence(report.rated, "as hard metrics erase them") if then and _led_by_masking(report) else ""
    elsewhere = _elsewhere(view, known) if then and report.marked.any() else ""
    rests = " ".join(filter(None, [then, elsewhere, chance, favours]))
    prediction_line(view, aside.strip(), rests, first=told)


def _elsewhere(view: View, known: KnownRatings) -> str:
    """By which of the metrics that are marked here other texts will hardly tell either, as *Scoreboard* knows; HTML."""
    if view.browsed is None:
        return ""
    choice, data = known.choice, view.browsed.index.data
    report, unit = known.report, view.encoded.unit
    rejected = [name for name, out in zip(report.table.metrics, report.marked.T) if out.all()]
    found = rejected_on_sample(view.explainer, data, rejected, choice.how, choice.sign, unit)
    return hardly_elsewhere(found, linked_name("Scoreboard", link_to("scoreboard", on="a sample of the data")))


def _led_by_masking(report: MetricReport) -> bool:
    """Whether a measure that masks words itself is first by a metric that erases them whole."""
    leads = [
        first for first, named in report.trusted.leaders().items() if not all(metrics()[one].soft for one in named)
    ]
    return any(measures()[one].needs == ORACLE for first in leads for one in first if one in measures())


def _draw(view: View, known: KnownRatings, asks) -> None:
    report = known.report
    if (report.rated or report.coming) and report.names:
        _table(view, known, report)
    asks()


def _table(view: View, known: KnownRatings, report: MetricReport) -> None:
    unstable = known.unstable
    draw_metric_table(report, unstable)
    captions(filter(None, [why_unstable(unstable)]))
    coloured = _COLOURS * bool((report.better == report.better).any())
    # A word that stands in no cell is not explained.
    placed = [column[column > 0].tolist() for column in report.trusted.places.T]
    coloured += _LEVEL * any(len({*column}) < len(column) for column in placed)
    turned = "⇅: another metric orders it and another measure the other way." * bool(report.trusted.flips.any())
    captions(filter(None, (f"{coloured} {turned}".strip(), metric_sentences.validity_sentence(report))))
    captions(metric_sentences.notes(report.table))
    with st.expander("How to read it"):
        captions(filter(None, (_KEPT, metric_sentences.lengths_sentence(report), _PLACES, _SPREAD)))
        table(*metric_rows(report.names), most=300)
    if not report.rated:
        return
    name = safe_name(["erasure", view.example.id, view.model.name], "csv")
    whose = [view.model.name, view.model.digest]
    save_table(
        "Table (CSV)",
        [*HEADER, "model", "weights (SHA-256)", COLUMN],
        lambda: [[*row, *whose, unstable_cell(row[0], unstable)] for row in report.rows()],
        name,
        key="metrics-csv",
    )


hard_and_soft_erasure()
