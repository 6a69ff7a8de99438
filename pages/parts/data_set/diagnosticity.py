"""The part of the page Data set that says how diagnostic metrics are: the answer, the picture, the tables, the
settings.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.evaluation.studies.diagnosticity_report import ALL, DiagnosticityReport
from core.evaluation.studies.diagnosticity_sentences import (
    BASELINE_WORDS,
    HEADER,
    PAPER,
    PAPER_BY_TASK,
    PAPER_MEASURES,
    PAPER_TASKS,
    diagnosticity_answer,
    diagnosticity_findings,
    diagnosticity_json,
    diagnosticity_rows,
    set_against,
)
from core.evaluation.studies.scoring import COUNTS, DRAWS, RANDOM, SHUFFLED, Study
from core.explanation.judging import How
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length
from core.mathematics.diagnosticity import HALF, STRICT
from core.mathematics.erasure import MIN_MAX, SCALINGS, SOFTMAX
from core.measures.catalogue import measures, swept_measures
from core.metrics.catalogue import default_metrics, hard_and_soft, metrics, of_examples
from core.oracle.erasing import MASK, erasures_of
from core.wording import escaped, fixed_number, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.data_set.diagnosing import Diagnosing
from pages.parts.frame.links import choose_one, held, linked
from pages.parts.sections.asking import choose_sign
from pages.parts.sections.findings import show_findings
from pages.parts.sections.saving import about_model, save_report
from pages.parts.sections.streaming import stream

OTHER = {RANDOM: SHUFFLED, SHUFFLED: RANDOM}
RULES = {STRICT: "a tie counts 0", HALF: "a tie counts one half"}
DRAWN = ("1", str(DRAWS), "32")
_DRAWS_HELP = "Random draws of each soft perturbation. The paper takes one; more take longer and lessen the noise."
_BASELINE_HELP = (
    "What each measure is set against. Random: uniform attributions, as in the paper. Shuffled: the measure’s own "
    "scores in other places, so that soft metrics keep and erase as much as for the measure."
)


def diagnosticity_section(frame, texts) -> None:
    """Draw the part for the texts that are chosen."""
    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.subheader("Settings", anchor=False)
        study = _settings(frame.explainer.model)
    if not study.measures or not study.metrics:
        with said:
            st.info("Choose at least one measure and one metric in the settings.")
        return
    work = Diagnosing(frame.explainer, texts.name, texts.digest, texts.examples, study)
    stream([work], stage, partial(_draw, work), said, partial(_say, work), every=1.0)


def _settings(model) -> Study:
    offered = [name for name, metric in of_examples().items() if metric.direction]
    left, right = st.columns(2)
    with left:
        named = linked(
            st.multiselect,
            "Measures",
            [name for name in measures() if not measures()[name].baseline],
            list(swept_measures()),
            "measures",
            help="What is computed of a measure is kept when another is added.",
        )
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
            "How soft metrics turn an attribution into shares of each word that are kept.",
        )
        draws = choose_one("Draws over a data set", DRAWN, str(DRAWS), "draws-of-data", _DRAWS_HELP)
    erasure = choose_one("Erasure", erasures_of(model), MASK, "erasure", "How hard metrics erase a word.")
    baseline = choose_one("Baseline", COUNTS, RANDOM, "baseline", _BASELINE_HELP)
    # Of the sidebar and not of its example, which may be one that cannot be shown.
    unit = held("unit") or "word"
    return Study(
        tuple(named),
        tuple(name for name in offered if name in chosen),
        sign,
        How(erasure, scaling, int(draws)),
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
        said = (
            f"Nothing can be said: none of the {len(work.examples):,} text{'' if len(work.examples) == 1 else 's'} "
            f"can be scored."
        )
    elif work.runs:
        said = "The first text is being scored."
    else:
        said = "Not known yet. Ask for it below: it streams, and the first texts tell something already."
    st.html(f"<p style='font-size:1.12rem'>{said}</p>")
    notes = (
        found.notes
        if found is not None
        else [f"{count:,} of them: {sentence}" for sentence, count in _problems(work).items()]
    )
    for note in notes:
        st.caption(plain(note))


def _problems(work: Diagnosing) -> dict[str, int]:
    told = list(work.found.problems.values())
    return {sentence: told.count(sentence) for sentence in dict.fromkeys(told)}


def _draw(work: Diagnosing, asks) -> None:
    asks()
    found = work.report
    if found is None or not found.told:
        return
    _averages(found)
    _beside(work, found)
    _figure(work, found)
    _by_measure(found)
    _tests(found)
    _papers(found)
    save_report(
        HEADER,
        lambda: diagnosticity_rows(found),
        lambda: diagnosticity_json(found) | {"weights": work.explainer.model.digest, "data_sha256": work.digest},
        _name(found),
        "diagnosticity",
    )


def _averages(found: DiagnosticityReport) -> None:
    paper = found.study.baseline == RANDOM
    st.subheader(
        f"How often a metric prefers a measure to {'a random attribution' if paper else 'a shuffle of its own scores'}",
        anchor=False,
    )
    header = [
        "metric",
        f"{RULES[STRICT]} ↑ (the paper’s)",
        f"{RULES[HALF]} ↑ (0.5: neither preferred)",
        "ties",
        "texts",
        *["SoftFaith’s average ↑"] * paper,
    ]
    table(
        header,
        [
            [
                name,
                *_both(found.cells[name, ALL]),
                f"{found.cells[name, ALL].ties:.1%}",
                f"{found.cells[name, ALL].n:,}",
                *[fixed_number(PAPER[name][-1]) if name in PAPER else "—"] * paper,
            ]
            for name in found.told
        ],
    )
    st.caption(
        f"Diagnosticity over {len(found.study.measures)} measure{'' if len(found.study.measures) == 1 else 's'}, each "
        f"set against {set_against(found.study)}; "
        f"in brackets the 95 % interval over texts. A metric that does not tell measures from "
        f"{BASELINE_WORDS[found.study.baseline]} "
        "says little about which measure is better. Ties come of clipping, and of short texts on which both choose the "
        "same words. "
        "Whether the erased and perturbed inputs are out-of-distribution is not tested here; Hard and soft erasure "
        "tests it for one text."
    )


def _beside(work: Diagnosing, found: DiagnosticityReport) -> None:
    """The other baseline beside this one, once both are known for all of these texts; else why one would ask for it."""
    asked = found.study.baseline
    other = replace(work, study=replace(work.study, baseline=OTHER[asked], count=COUNTS[OTHER[asked]]))
    known = other.report if found.complete and other.found.complete else None
    told = [name for name in found.told if known is not None and name in known.told]
    # Softmax shares 1 over the words, whatever the scores.
    amounts = work.study.how.scaling != SOFTMAX and any(metrics()[name].soft for name in found.told)
    if not told:
        if asked == RANDOM and amounts:
            st.caption(
                "How much soft metrics keep or erase depends on what an attribution’s scores add up to, which may be "
                "less than random scores do. "
                "To compare at the same amount, set Baseline to shuffled in the settings below."
            )
        return
    st.markdown("**Against both baselines**, a tie counting one half (0.5: neither preferred)")
    shown = {asked: found, OTHER[asked]: known}
    table(
        ["metric", *(f"against {BASELINE_WORDS[name]} ↑" for name in COUNTS), "texts"],
        [
            [
                name,
                *(_span(shown[baseline].cells[name, ALL].half) for baseline in COUNTS),
                f"{found.cells[name, ALL].n:,}",
            ]
            for name in told
        ],
    )
    why = (
        "Shuffled scores make soft metrics keep and erase as much as the measure’s own do, random scores another "
        "amount. A soft metric that is ahead "
        "against shuffles only, or against random ones only, may be telling amounts and not words. " * amounts
    )
    st.caption(
        f"{why}For hard metrics a shuffle is a random order like any other, so that their two numbers differ by chance "
        f"alone."
    )


def _both(cell) -> list[str]:
    return [_span(cell.strict), _span(cell.half)]


def _span(interval) -> str:
    return (
        "—"
        if interval.mean != interval.mean
        else f"{fixed_number(interval.mean)} [{fixed_number(interval.low)}, {fixed_number(interval.high)}]"
    )


def _share(cell) -> str:
    return f"{cell.ties:.1%}" if cell.n else "—"


def _figure(work: Diagnosing, found: DiagnosticityReport) -> None:
    if not any(name in found.told for name in found.lengths):
        return
    st.subheader("By the length of the rationale", anchor=False)
    in_words = "; ".join(
        f"{name}: {', '.join(fixed_number(cell.strict.mean) for cell in cells)}"
        for name, cells in found.lengths.items()
    )
    draw_figure(
        draw_diagnosticity_by_length(found),
        "diagnosticity",
        f"Diagnosticity against {BASELINE_WORDS[found.study.baseline]} at each length of the rationale, a tie "
        f"counting 0. {in_words}.",
        _name(found),
        about_model(work.explainer.model),
    )
    st.caption(
        "Hard metrics judge rationales of each length; soft ones have no length, so they are level (dashed). Bands: 95 "
        "% over texts. "
        "Higher is better: "
        f"the metric tells measures from {BASELINE_WORDS[found.study.baseline]} more often."
    )


def _by_measure(found: DiagnosticityReport) -> None:
    with st.expander("Every measure by itself"):
        table(
            ["measure", "metric", f"{RULES[STRICT]} ↑", f"{RULES[HALF]} ↑", "ties", "texts"],
            [
                [
                    measure,
                    name,
                    *_both(found.cells[name, measure]),
                    _share(found.cells[name, measure]),
                    f"{found.cells[name, measure].n:,}",
                ]
                for measure in found.study.measures
                for name in found.told
            ],
        )


def _tests(found: DiagnosticityReport) -> None:
    if not found.tests:
        pairs = " or ".join(f"{hard} with {soft}" for hard, soft in hard_and_soft())
        st.caption(f"Choose {pairs} among the metrics to test soft against hard ones.")
        return
    st.subheader("Soft against hard", anchor=False)
    table(
        ["soft against hard", "", "soft ↑", "hard ↑", "rank-sum p (the paper’s)", "paired p", "texts"],
        [
            [
                f"{one.soft} against {one.hard}",
                RULES[one.rule],
                fixed_number(one.found.second),
                fixed_number(one.found.first),
                *map(_p, (one.found.rank_sum, one.found.paired)),
                f"{one.found.n:,}",
            ]
            for one in found.tests
        ],
    )
    for reason in dict.fromkeys(one.found.reason for one in found.tests if one.found.reason):
        st.caption(plain(reason))
    st.caption(
        "On the texts that have both. Rank-sum: Wilcoxon’s test as the paper uses it, as if the two had been found on "
        "different texts. "
        "Paired: Wilcoxon’s signed-rank test on the same texts (zeros by Pratt), which is what the sentence above goes "
        "by."
    )


def _p(p: float) -> str:
    return "—" if p != p else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _papers(found: DiagnosticityReport) -> None:
    told = diagnosticity_findings(found)
    if not told:
        return
    show_findings("SoftFaith", told, 120)
    with st.expander("SoftFaith’s figures (Tables 2 and 3), a tie counting 0"):
        names = [name for name in found.told if name in PAPER]
        listed = [(measure, place) for place, measure in enumerate(PAPER_MEASURES)]
        table(
            ["over its tasks", *(head for name in names for head in (f"{name}, paper", f"{name}, here"))],
            [
                [
                    "average" if measure == ALL else measure,
                    *(
                        cell
                        for name in names
                        for cell in (fixed_number(PAPER[name][place]), _here(found, name, measure))
                    ),
                ]
                for measure, place in listed
            ],
        )
        table(
            ["over its measures", *names],
            [
                [task, *(fixed_number(PAPER_BY_TASK[name][place]) for name in names)]
                for place, task in enumerate(PAPER_TASKS)
            ],
        )
        st.caption(
            "Another model, other data and one draw, so the order and the sign can be compared and the numbers cannot. "
            "Its average holds DeepLift, too."
        )


def _here(found: DiagnosticityReport, name: str, measure: str) -> str:
    return fixed_number(found.cells[name, measure].strict.mean) if (name, measure) in found.cells else "—"


def _name(found: DiagnosticityReport) -> list[str]:
    """What files are named by."""
    return ["diagnosticity", *["shuffled"] * (found.study.baseline == SHUFFLED), found.model, found.data]
