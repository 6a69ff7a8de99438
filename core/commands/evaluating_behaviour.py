"""`python -m core evaluate --what behaviour`: when predictions change and how far embeddings drift, example by
example.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.data.examples import Example
from core.evaluation.engine import run_study
from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import RANDOM, Course, Walked
from core.evaluation.studies.behaviour_report import HALF, BehaviourReport, X, behaviour_report
from core.evaluation.studies.behaviour_sentences import behaviour_answer, signed_number, signed_percent
from core.evaluation.studies.fewest import FewestFeatures, Searched
from core.evaluation.studies.scoring import Scoring
from core.explanation.explainer import Explainer, softmax
from core.explanation.rows import values_taken
from core.mathematics.stepwise import finish
from core.network.model import Model
from core.storage.store import Store
from core.wording import fixed_number, with_ends


@dataclass(frozen=True, eq=False)
class BehaviourRun:
    """Examples along every course of a study; searched: the fewest features that change each prediction, where asked
    for.
    """

    sample: Sample
    walked: dict[Course, Walked]
    searched: Searched | None = None

    def report(self, model: Model) -> BehaviourReport | None:
        """All of it in numbers; None where no example could be followed."""
        return behaviour_report(model, self.sample, self.walked, self.searched)


def follow_examples(
    explainer: Explainer,
    sample: Sample,
    study: Scoring,
    store: Store,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    fewest: bool = False,
) -> BehaviourRun:
    """Erase along random order and each measure of a study on every example; goes on where it was interrupted. Labels
    are not asked for. fewest: search the fewest features that change each prediction, too.
    """
    how: dict[str, Any] = {"unit": study.unit, "erasure": study.how.erasure, "seed": study.how.seed}
    courses = [
        *[Course(RANDOM, **how)] * bool(study.count),
        *(Course(name, study.sign, **how) for name in study.measures),
    ]
    searches = [FewestFeatures(study.unit, study.how.erasure)] * fewest
    found = {
        one: finish(run_study(explainer, sample, one, store, progress=partial(progress, one.measure)))
        for one in (*courses, *searches)
    }
    return BehaviourRun(sample, {course: found[course] for course in courses}, *(found[one] for one in searches))


def behaviour_lines(examples: Sequence[Example], found: BehaviourRun, labels: tuple[str, ...]) -> list[dict]:
    """A line for each example, order, and masking ratio.

    Columns: measure (or "random order"), values (its variant; null for random), erasure, seed, features (that can be
    erased), fewest (of them that change the prediction, whatever their order; 0 where none found does, null where that
    is not searched), flip (C/F: share of them erased when the prediction changes, 1 where it never does, mean over the
    random orders; ↓), never (share of the orders in which it never changes), ratio (masked), predicted (class there),
    kept (probability there of the class predicted at first).
    """
    lines, searched = [], found.searched
    for i, example in enumerate(examples):
        there = {course: one for course, one in found.walked.items() if one.there[i]}
        if not there:
            problem = next((one.problems[i] for one in found.walked.values() if i in one.problems), None)
            lines.append(_unknown(example) | {"problem": problem})
        lines += [
            _unknown(example) | {"problem": one.problems[i], "cut": i in one.cut, "measure": course.measure}
            for course, one in found.walked.items()
            if there and i in one.problems
        ]
        fewest = int(searched.fewest[i]) if searched is not None and searched.there[i] else None
        for course, one in there.items():
            about = _unknown(example) | _about(i, course, one, labels) | {"fewest": fewest}
            kept = softmax(one.logits[i])[:, one.predicted[i, 0]]
            lines += [
                about | {"ratio": float(ratio), "predicted": labels[one.predicted[i, k]], "kept": float(kept[k])}
                for k, ratio in enumerate(X)
            ]
    return lines


def _unknown(example: Example) -> dict:
    return {"example": example.id, "row": None, "class": None, "probability": None}


def _about(i: int, course: Course, one: Walked, labels: tuple[str, ...]) -> dict:
    """What is said of an example along a course, whatever the ratio."""
    first = int(one.predicted[i, 0])
    return {
        "class": labels[first],
        "probability": float(softmax(one.logits[i])[0, first]),
        "problem": None,
        "cut": i in one.cut,
        "measure": course.measure,
        "values": values_taken(course.measure, course.sign),
        "erasure": course.erasure,
        "seed": course.seed,
        "features": int(one.free[i]),
        "flip": float(one.shares[i]),
        "never": float(one.never[i]),
    }


def readable_behaviour(found: BehaviourReport) -> str:
    """A report as text: the answer, a line for each order, what to know of the examples."""
    parts = [" ".join(behaviour_answer([found])), *found.notes]
    for line in found.lines:
        fidelity = with_ends(line.fidelity.mean, line.fidelity.low, line.fidelity.high, fixed_number)
        parts.append(
            f"{line.course.measure}: fidelity ↑ {fidelity}, normalised "
            f"{fixed_number(line.normalised)} ↑, never changes "
            f"{100 * line.never:.3g} %, centroid change {line.centroid[HALF]:.3f} at 50 % and {line.centroid[-1]:.3f} "
            f"at 100 %, change of mean σ "
            f"{signed_percent(line.spread[HALF])} and {signed_percent(line.spread[-1])} "
            f"({signed_number(line.sigma[HALF])} and {signed_number(line.sigma[-1])})"
        )
    return "\n".join(parts)
