"""What behaviour under masking says: when predictions change and how far embeddings drift, in sentences, a table, rows
and JSON.
"""

from collections.abc import Sequence

from core.evaluation.findings import FEW, unranked
from core.evaluation.studies.behaviour import ORDERS, Course
from core.evaluation.studies.behaviour_report import ALL, HALF, BehaviourReport, CourseLine, X
from core.explanation.rows import values_taken
from core.oracle.erasing import MASK
from core.validity.marks import OUT
from core.wording import as_json, joined, number, with_ends

TOO_FEW_YET = "Too few yet to say anything."
REJECTED_COUNT = (
    f"Changes on inputs that are {OUT} count, too: nothing is tested here. Whether masked inputs are rejected is told "
    "by the other part of this page, “Is masking in-distribution?”."
)


def behaviour_answer(reports: list[BehaviourReport]) -> list[str]:
    """The answer in sentences, as text: which order changes predictions earliest, by the tally of the first report; how
    far the embeddings of each model drift, and on how many examples models predict different classes. While examples
    are to come no figure is told of fewer than 20: it swings with each that comes.
    """
    first = reports[0]
    _, shared = told_apart(reports) or (0, 0)
    counted = ((drift_sentence(reports), first.lines[0].n), (apart_sentence(reports), shared))
    figures = [sentence for sentence, n in counted if sentence and (first.tally.settled or n >= FEW)]
    if not first.tally.settled:
        figures = [f"So far, {sentence[0].lower()}{sentence[1:]}" for sentence in figures]
    return [sentence for sentence in (first.tally.tell(flips_sentence(first), _flips(first)), *figures) if sentence]


def _flips(found: BehaviourReport) -> str:
    """When predictions change along each order of 20 texts or more, none set above another; "" where nothing can be
    judged.
    """
    lines = [line for line in found.lines if line.judged >= FEW]
    told = [f"{line.course.measure} {_after(line)} (n = {line.judged:,})" for line in lines]
    few = found.lines[0].n < FEW or any(line.judged for line in found.lines)
    return f"Predictions of {found.model} change, by order: {'; '.join(told)}." if told else TOO_FEW_YET * few


def flips_sentence(found: BehaviourReport) -> str:
    """Which measure changes the predictions of a model earliest, set against random order; "" where nothing can be
    judged. Of fewer than 20 texts, and of texts picked by what the model does with them, random order alone is told.
    """
    chance, ranked = found.random, found.ranked
    told = "" if chance is None or not chance.judged or (ranked and chance.n != ranked[0].n) else _after(chance)
    why = "which order changes predictions earliest", "when predictions change"
    untold = unranked(ranked[0].judged, found.sample.picked, *why) if ranked else ""
    if not ranked or untold:
        return f"{untold} {_by_chance(found) if told else ''}".strip()
    first = ranked[0]
    over = f"On {first.judged:,} text{'' if first.judged == 1 else 's'}"
    if first.never == 1:
        return (
            f"{over} no measure ever changes the prediction of "
            f"{found.model}{f'; random order does {told}' if told and chance is not None and chance.never < 1 else ''}."
        )
    beside = f", in random order {told}" if told else ""
    if told and chance is not None and first.fidelity.mean <= chance.fidelity.mean:
        return (
            f"{over} no measure changes the prediction of {found.model} earlier than chance: {first.course.measure}, "
            f"the earliest, {_after(first)}{beside}."
        )
    return (
        f"{over}, {first.course.measure} changes the prediction of {found.model} earliest: {_after(first)}{beside} "
        f"(fidelity {first.fidelity.mean:.3g} ↑; not tested{_meet(ranked)})."
    )


def _meet(ranked: Sequence[CourseLine]) -> str:
    """Which others' 95 % intervals meet that of the first, as a sentence goes on; "" for none."""
    level = [line.course.measure for line in ranked[1:] if line.fidelity.high >= ranked[0].fidelity.low]
    return (
        f", and the 95 % interval{'s' * (len(level) > 1)} of {joined(level)} meet{'s' * (len(level) == 1)} its"
        * bool(level)
    )


def _by_chance(found: BehaviourReport) -> str:
    """When predictions change in random order."""
    chance = found.random
    if chance is None:
        return ""
    changes = "never changes its prediction" if chance.never == 1 else f"changes its prediction {_after(chance)}"
    return f"{_done(chance.course).capitalize()} in random order, {found.model} {changes}."


def told_apart(reports: list[BehaviourReport]) -> tuple[int, int] | None:
    """On how many examples models beside each other predict, and explain, different classes, of how many that all of
    them went through; None with one model.
    """
    if len(reports) < 2:
        return None
    shared = set.intersection(*(set(one.explained) for one in reports))
    return sum(len({one.explained[i] for one in reports}) > 1 for i in shared), len(shared)


def apart_sentence(reports: list[BehaviourReport]) -> str:
    """The same in a sentence; "" where all predict the same."""
    apart, shared = told_apart(reports) or (0, 0)
    if not apart:
        return ""
    return (
        f"On {apart:,} of {shared:,} example{'' if shared == 1 else 's'} the models predict different classes; each is "
        "judged by what changes its own."
    )


def _after(line: CourseLine) -> str:
    """When predictions change along an order; those that never do are said."""
    if line.never == 1:
        return "never"
    each = "of the orders " * line.course.random
    never = f" ({100 * line.never:.3g} % {each}never do, which counts as 100 %)" if line.never else ""
    return f"after {100 * (1 - line.fidelity.mean):.3g} % of the {line.course.unit}s on average{never}"


def _done(course: Course) -> str:
    return "masked" if course.erasure == MASK else "erased"


def drift_sentence(reports: list[BehaviourReport]) -> str:
    """How far the embeddings are from the unmasked ones at 50 % and at 100 %, along the first model's first course, for
    all that have it; "" for one example alone.
    """
    course = reports[0].lines[0].course
    told = [
        (one, line)
        for one in reports
        for line in one.lines
        if line.course == course and line.n > 1 and line.n == reports[0].lines[0].n
    ]
    if not told or told[0][0] is not reports[0]:
        return ""
    how = "at random" if course.random else f"in the order of {course.measure}"
    half, everything = (
        [(one.model, f"{line.centroid[k]:.2f}", signed_percent(line.spread[k])) for one, line in told]
        for k in (HALF, ALL)
    )
    done, sample = _done(course), reports[0].sample
    return (
        f"Half{sample.of_first} {done} {how}, the centre of the embeddings has moved by {half[0][1]} (1 − cosine) and "
        f"their spread changed by {half[0][2]}{_beside(half)}; "
        f"with {sample.whole} {done} by {everything[0][1]} and {everything[0][2]}{_beside(everything)}."
    )


def _beside(told: list[tuple[str, str, str]]) -> str:
    """The numbers of the models after the first, in brackets."""
    return (
        f" ({'; '.join(f'{name}: {centroid}, {spread}' for name, centroid, spread in told[1:])})"
        if len(told) > 1
        else ""
    )


def signed_percent(share: float) -> str:
    """A change as a signed percentage; — where there is no number."""
    return "—" if share != share else f"{100 * share:+.3g} %".replace("-", "−")


def signed_number(value: float) -> str:
    """A change with its sign; — where there is no number."""
    return "—" if value != value else f"{value:+.3g}".replace("-", "−")


def behaviour_in_words(reports: list[BehaviourReport]) -> str:
    """The figure for those who do not see it."""
    told = (
        f"{one.model}, {line.course.measure}: {', '.join(number(100 * value) for value in line.unflipped)}"
        for one in reports
        for line in one.lines
    )
    return f"Predictions not changed yet at each masking ratio, in percent. {'; '.join(told)}."


def behaviour_table(reports: list[BehaviourReport]) -> tuple[list[str], list[list[str]]]:
    """Fidelity and drift of each order of each model, (header, rows) of text."""
    header = [
        "model",
        "order",
        "fidelity ↑ (95 %)",
        "normalised ↑",
        "never changes",
        f"centroid change at 50 · 100 %{reports[0].sample.of_first} masked",
        "change of mean σ at 50 · 100 %",
        "the same, absolute",
        "examples",
    ]
    return header, [_cells(one, line) for one in reports for line in one.lines]


def _cells(one: BehaviourReport, line: CourseLine) -> list[str]:
    interval = line.fidelity
    return [
        one.model,
        line.course.measure,
        with_ends(interval.mean, interval.low, interval.high),
        "0 (by definition)" if line.course.random else number(line.normalised),
        "—" if line.never != line.never else f"{number(100 * line.never)} %",
        " · ".join(number(float(line.centroid[k])) for k in (HALF, ALL)),
        " · ".join(signed_percent(float(line.spread[k])) for k in (HALF, ALL)),
        " · ".join(signed_number(float(line.sigma[k])) for k in (HALF, ALL)),
        f"{line.n:,}",
    ]


# ---- as rows

HEADER = (
    "model",
    "order",
    "erased by",
    "masking ratio (0 to 1)",
    "examples",
    "change of centroid (1 - cosine, 0 to 2)",
    "change of mean standard deviation (share)",
    "change of mean standard deviation (absolute)",
    "predictions not changed yet (share)",
    "fidelity (higher is more faithful)",
    "fidelity, 95 % from",
    "fidelity, 95 % to",
    "normalised fidelity (at most 1)",
    "predictions that never change (share)",
    "examples judged",
    "examples on which the models predict different classes",
)


def behaviour_rows(found: BehaviourReport, beside: list[BehaviourReport] | None = None) -> list[list]:
    """A report as rows, one for each course and ratio, see HEADER; fidelity is of the whole course; beside: the reports
    among which it stands.
    """
    apart = told_apart(beside or [found])
    return [
        [
            found.model,
            line.course.measure,
            line.course.erasure,
            float(ratio),
            line.n,
            float(line.centroid[k]),
            float(line.spread[k]),
            float(line.sigma[k]),
            float(line.unflipped[k]),
            line.fidelity.mean,
            line.fidelity.low,
            line.fidelity.high,
            line.normalised,
            line.never,
            line.judged,
            apart and apart[0],
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def behaviour_json(reports: list[BehaviourReport]) -> dict:
    """Reports as plain values for a JSON file; null where there is no number."""
    apart = told_apart(reports)
    return {
        "answer": behaviour_answer(reports),
        "examples_of_different_classes": apart and apart[0],
        "models": [
            {
                "model": one.model,
                "weights": one.digest,
                "training": one.training,
                "data": one.sample.name,
                "data_sha256": one.sample.digest,
                "largest_fidelity": as_json(one.best),
                "notes": list(one.notes),
                "left_out": one.left_out,
                "ratios": X.tolist(),
                "random_orders": ORDERS,
                "curves": [_line_json(line) for line in one.lines],
            }
            for one in reports
        ],
    }


def _line_json(line: CourseLine) -> dict:
    course = line.course
    return {
        "measure": course.measure,
        "values": values_taken(course.measure, course.sign),
        "unit": course.unit,
        "erased_by": course.erasure,
        "examples": line.n,
        "judged": line.judged,
        "fidelity": as_json(line.fidelity.mean),
        "fidelity_interval": [as_json(line.fidelity.low), as_json(line.fidelity.high)],
        "normalised_fidelity": as_json(line.normalised),
        "never_changes": as_json(line.never),
        "not_changed_yet": as_json(line.unflipped),
        "centroid_change": as_json(line.centroid),
        "spread_change": as_json(line.spread),
        "spread_difference": as_json(line.sigma),
    }
