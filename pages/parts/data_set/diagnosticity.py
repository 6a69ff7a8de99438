"""The part of the page Data set that says how diagnostic metrics are: the answer, the picture, the tables, the
settings.
"""

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.evaluation.sampling import without_labels
from core.evaluation.studies.diagnosticity_report import DiagnosticityReport
from core.evaluation.studies.diagnosticity_sentences import (
    BASELINE_WORDS,
    HEADER,
    diagnosticity_answer,
    diagnosticity_findings,
    diagnosticity_json,
    diagnosticity_rows,
)
from core.evaluation.studies.diagnosticity_tables import (
    averages_note,
    averages_table,
    baselines_table,
    diagnosticity_table,
    lengths_in_words,
    paper_tables,
    tests_table,
)
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM, SHUFFLED, Scoring
from core.explanation.judging import How
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length
from core.mathematics.erasure import MIN_MAX, SCALINGS, SOFTMAX
from core.measures.catalogue import swept_measures
from core.metrics.catalogue import default_metrics, hard_and_soft, metrics, of_examples
from core.oracle.erasing import MASK, erasures_of
from core.wording import escaped
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.data_set.diagnosing import Diagnosing
from pages.parts.frame.links import choose_one, held, linked
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions, show_answer
from pages.parts.sections.asking import choose_measures, choose_perturbation, choose_sign
from pages.parts.sections.findings import show_findings
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.streaming import stream

OTHER = {RANDOM: SHUFFLED, SHUFFLED: RANDOM}
DRAWN = ("1", str(DRAWS), "32")
_DRAWS_HELP = "Random draws of each soft perturbation. The paper takes one; more take longer and lessen the noise."
_BASELINE_HELP = (
    "What each measure is set against. Random: uniform attributions, as in the paper. Shuffled: the measure’s own "
    "scores in other places, so that soft metrics keep and erase as much as for the measure."
)


def diagnosticity_section(frame: DataView, texts: Any) -> None:
    """Draw the part for the texts that are chosen."""
    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.subheader("Settings", anchor=False)
        study = _settings(frame.explainer.model)
    if not study.measures or not study.metrics:
        with said:
            st.info("Choose at least one measure and one metric in the settings.")
        return
    work = Diagnosing(frame.explainer, without_labels(texts.name, texts.digest, texts.examples), study)
    stream([work], stage, partial(_draw, work), said, partial(_say, work), every=1.0)


def _settings(model) -> Scoring:
    offered = [name for name, metric in of_examples().items() if metric.direction]
    left, right = st.columns(2)
    with left:
        named = choose_measures("What is computed of a measure is kept when another is added.", first=swept_measures())
        sign = choose_sign(
            "Signed: what supports the predicted class ranks first. Absolute: what matters most either way."
        )
    with right:
        chosen = linked(
            st.multiselect,
            "Metrics",
            offered,
            list(default_metrics()),
            "metrics",
            help="Those that prefer more or less; sparsity prefers neither.",
        )
        scaling = choose_one(
            "Scaling",
            SCALINGS,
            MIN_MAX,
            "scaling",
            "How soft metrics turn an attribution into shares of each word that are kept. Reversed keeps the most "
            "important words least, as SoftFaith’s code does and its text does not.",
        )
        draws = choose_one("Draws over a data set", DRAWN, str(DRAWS), "draws-of-data", _DRAWS_HELP)
    placement, sigma = choose_perturbation(chosen)
    erasure = choose_one("Erasure", erasures_of(model), MASK, "erasure", "How hard metrics erase a word.")
    baseline = choose_one("Baseline", COUNTS, RANDOM, "baseline", _BASELINE_HELP)
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit = held("unit") or "word"
    return Scoring(
        tuple(named),
        tuple(name for name in offered if name in chosen),
        sign,
        How(erasure, scaling, int(draws), placement=placement, sigma=sigma),
        COUNTS[baseline],
        unit,
        baseline,
    )


def _say(work: Diagnosing) -> None:
    found = work.report
    if found is not None:
        so_far = "" if found.complete else f" So far, over {found.n:,} of {found.total:,} texts."
        said = escaped(diagnosticity_answer(found), 1200) + so_far
    elif work.found.complete:
        texts = f"{len(work.sample):,} text{'' if len(work.sample) == 1 else 's'}"
        said = f"Nothing can be said: none of the {texts} can be scored."
    elif work.runs:
        said = "The first text is being scored."
    else:
        said = "Not known yet. Ask for it below: it streams, and the first texts tell something already."
    show_answer(said)
    if found is not None:
        captions(found.notes)
    else:
        told = Counter(work.found.problems.values())
        captions(f"{count:,} of them: {sentence}" for sentence, count in told.items())


def _draw(work: Diagnosing, asks) -> None:
    asks()
    found = work.report
    if found is None or not found.told:
        return
    name, about = _name(found), about_models([work.explainer.model], found.data)
    _averages(work, found)
    _figure(found, name, about)
    with st.expander("Every measure by itself"):
        table(*diagnosticity_table(found))
    _tests(found)
    _papers(found)
    save_report(
        HEADER,
        lambda: diagnosticity_rows(found),
        lambda: diagnosticity_json(found) | {"weights": work.explainer.model.digest, "data_sha256": work.sample.digest},
        name,
        "diagnosticity",
    )


def _averages(work: Diagnosing, found: DiagnosticityReport) -> None:
    asked, told = found.study.baseline, "a random attribution"
    st.subheader(
        f"How often a metric prefers a measure to {told if asked == RANDOM else 'a shuffle of its own scores'}",
        anchor=False,
    )
    table(*averages_table(found))
    st.caption(averages_note(found))
    # The other baseline beside this one, once both are known for all of these texts; else why one would ask for it.
    other = replace(work, study=replace(work.study, baseline=OTHER[asked], count=COUNTS[OTHER[asked]]))
    known = other.report if found.complete and other.found.complete else None
    header, rows = ([], []) if known is None else baselines_table(found, known)
    # Softmax shares 1 over the words, whatever the scores.
    amounts = work.study.how.scaling != SOFTMAX and any(metrics()[name].soft for name in found.told)
    if rows:
        st.markdown("**Against both baselines**, a tie counting one half (0.5: neither preferred)")
        table(header, rows)
        st.caption(
            "Shuffled scores make soft metrics keep and erase as much as the measure’s own do, random scores another "
            "amount. A soft metric that is ahead against shuffles only, or against random ones only, may be telling "
            "amounts and not words. "
            * amounts
            + "For hard metrics a shuffle is a random order like any other, so that their two numbers differ by chance "
            "alone."
        )
    elif asked == RANDOM and amounts:
        st.caption(
            "How much soft metrics keep or erase depends on what an attribution’s scores add up to, which may be less "
            "than random scores do. To compare at the same amount, set Baseline to shuffled in the settings below."
        )


def _figure(found: DiagnosticityReport, name: list[str], about: str) -> None:
    if not any(metric in found.told for metric in found.lengths):
        return
    st.subheader("By the length of the rationale", anchor=False)
    draw_figure(draw_diagnosticity_by_length(found), "diagnosticity", lengths_in_words(found), name, about)
    st.caption(
        "Hard metrics judge rationales of each length; soft ones have no length, so they are level (dashed). Bands: 95 "
        f"% over texts. Higher is better: the metric tells measures from {BASELINE_WORDS[found.study.baseline]} more "
        "often."
    )


def _tests(found: DiagnosticityReport) -> None:
    if not found.tests:
        pairs = " or ".join(f"{hard} with {soft}" for hard, soft in hard_and_soft())
        st.caption(f"Choose {pairs} among the metrics to test soft against hard ones.")
        return
    st.subheader("Soft against hard", anchor=False)
    table(*tests_table(found))
    captions(dict.fromkeys(one.found.reason for one in found.tests if one.found.reason))
    st.caption(
        "On the texts that have both. Rank-sum: Wilcoxon’s test as the paper uses it, as if the two had been found on "
        "different texts. Paired: Wilcoxon’s signed-rank test on the same texts (zeros by Pratt), which is what the "
        "sentence above goes by."
    )


def _papers(found: DiagnosticityReport) -> None:
    told = diagnosticity_findings(found)
    if not told:
        return
    show_findings("SoftFaith", told, 120)
    with st.expander("SoftFaith’s figures (Tables 2 and 3), a tie counting 0"):
        for header, rows in paper_tables(found):
            table(header, rows)
        st.caption(
            "Another model, other data and one draw, so the order and the sign can be compared and the numbers cannot. "
            "Its average holds DeepLift, too."
        )


def _name(found: DiagnosticityReport) -> list[str]:
    """What files are named by."""
    return ["diagnosticity", *["shuffled"] * (found.study.baseline == SHUFFLED), found.model, found.data]
