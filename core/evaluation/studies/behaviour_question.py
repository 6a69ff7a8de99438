"""How does a model behave under masking? Every order of an example by itself, told together."""

from dataclasses import dataclass, field, replace
from typing import Any

from core.evaluation.studies.behaviour import ORDERS, Course, Walked
from core.evaluation.studies.behaviour_report import ALL, HALF, BehaviourReport, CourseLine, X, behaviour_report
from core.evaluation.studies.fewest import FewestFeatures, Searched
from core.evaluation.study import Answers, Question, Study, Table, choice, register
from core.explanation.explainer import softmax
from core.explanation.rows import SIGNS, values_taken
from core.measures.catalogue import default_measures, offered_measures
from core.network.features import UNITS
from core.network.model import Model
from core.oracle.erasing import ERASURES, MASK
from core.wording import as_cell, as_json, ends_of, number, refuse_unknown


def behaviour_rows(found: BehaviourReport, beside: list[BehaviourReport] | None = None) -> list[dict]:
    """A report as rows, one for each course and ratio; beside: the reports among which it stands."""
    apart = classes_apart(beside or [found])
    return [
        {
            "model": found.model,
            "order": line.course.measure,
            "erased by": line.course.erasure,
            "masking ratio (0 to 1)": float(ratio),
            "examples": line.n,
            "change of centroid (1 - cosine, 0 to 2)": float(line.centroid[k]),
            "change of mean standard deviation (share)": float(line.spread[k]),
            "change of mean standard deviation (absolute)": float(line.sigma[k]),
            "predictions not changed yet (share)": float(line.unflipped[k]),
            "fidelity (higher is more faithful)": line.fidelity.mean,
            "fidelity, 95 % from": line.fidelity.low,
            "fidelity, 95 % to": line.fidelity.high,
            "normalised fidelity (at most 1)": line.normalised,
            "predictions that never change (share)": line.never,
            "examples judged": line.judged,
            "examples on which the models predict different classes": apart and apart[0],
        }
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def behaviour_json(reports: list[BehaviourReport]) -> dict:
    """Reports as plain values for a JSON file; null where there is no number."""
    apart = classes_apart(reports)
    return {
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


def behaviour_table(reports: list[BehaviourReport]) -> tuple[list[str], list[list[Any]]]:
    """Fidelity and drift of each order of each model, (header, rows) of values; shares in percent."""
    header = [
        "model",
        "order",
        "fidelity ↑",
        "fidelity, 95 % interval",
        "normalised ↑",
        "never changes (%)",
        *(f"centroid change at {share}" for share in ("50 %", "100 %")),
        *(f"change of mean σ at {share} (%)" for share in ("50 %", "100 %")),
        *(f"change of mean σ at {share}" for share in ("50 %", "100 %")),
        "examples",
    ]
    return header, [_cells(one, line) for one in reports for line in one.lines]


def _cells(one: BehaviourReport, line: CourseLine) -> list[Any]:
    interval = line.fidelity
    return [
        one.model,
        line.course.measure,
        interval.mean,
        ends_of(interval.low, interval.high) or None,
        0.0 if line.course.random else line.normalised,
        100 * line.never,
        *(float(line.centroid[k]) for k in (HALF, ALL)),
        *(100 * float(line.spread[k]) for k in (HALF, ALL)),
        *(float(line.sigma[k]) for k in (HALF, ALL)),
        line.n,
    ]


def classes_apart(reports: list[BehaviourReport]) -> tuple[int, int] | None:
    """On how many examples models explain different classes, of how many that all have; None with one model."""
    if len(reports) < 2:
        return None
    shared = set.intersection(*(set(one.explained) for one in reports))
    return sum(len({one.explained[i] for one in reports}) > 1 for i in shared), len(shared)


def behaviour_in_words(reports: list[BehaviourReport]) -> str:
    """The figure for those who do not see it."""
    parts = (
        f"{one.model}, {line.course.measure}: {', '.join(number(100 * value) for value in line.unflipped)}"
        for one in reports
        for line in one.lines
    )
    return f"Predictions not changed yet at each masking ratio, in percent. {'; '.join(parts)}."


@register
@dataclass(frozen=True)
class Behaviour(Question[BehaviourReport]):
    """When predictions change and embeddings drift, along `count` random orders and each measure’s."""

    name, order, page, done = "behaviour", 2, "Model check", "followed"
    asks = "When do predictions change as words are erased, and how far do embeddings drift?"

    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    unit: str = "word"
    erasure: str = MASK
    seed: int = 0
    count: int = 1
    baseline: str = "random"
    fewest: bool = choice(False, (False, True), "also search the fewest words that change each prediction")

    @property
    def studies(self) -> tuple[Study, ...]:
        """Random order, each measure's, and the search."""
        found: list[Study] = []
        if self.count:
            found.append(Course(unit=self.unit, erasure=self.erasure, seed=self.seed))
        found += [Course(name, self.sign, self.unit, self.erasure, self.seed) for name in self.measures]
        if self.fewest:
            found.append(FewestFeatures(self.unit, self.erasure))
        return tuple(found)

    def beside(self) -> "Behaviour":
        """Random order and the first measure's, and the search."""
        return replace(self, measures=self.measures[:1])

    def check(self, model: Model | None = None) -> None:
        """As everywhere; orders have no shuffles to be set against."""
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)),
            ("erasure", (self.erasure,), ERASURES),
            ("unit", (self.unit,), UNITS),
            ("kind of values", (self.sign,), SIGNS),
        )
        if self.baseline != "random":
            raise ValueError(
                "behaviour is followed along random order and the measures' own, which have no shuffles; leave the "
                "baseline random"
            )
        if not self.studies:
            raise ValueError("choose a measure, or random order, to erase along")
        for study in self.studies[:1]:
            study.check(model)

    def conclude(self, answers: Answers) -> BehaviourReport | None:
        """All of it in numbers; None where no example could be followed."""
        found = behaviour_report(answers.model, answers.sample, *_apart(answers))
        return None if found is None else replace(found, tally=answers.tally([*_apart(answers)[0]]))

    def tables(self, report: BehaviourReport) -> list[Table]:
        """Fidelity and drift of each order."""
        header, rows = behaviour_table([report])
        return [(header, [[as_cell(value) for value in row] for row in rows])]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, order, and masking ratio.

        Columns: measure (or "random order"), values (its variant; null for random), erasure, seed, features (that can
        be erased), fewest (of them that change the prediction, whatever their order; 0 where none found does, null
        where that is not searched), flip (C/F: share of them erased when the prediction changes, 1 where it never
        does, mean over the random orders; ↓), never (share of the orders in which it never changes), ratio (masked),
        predicted (class there), kept (probability there of the class predicted at first).
        """
        lines = []
        walked, searched = _apart(answers)
        for i, example in enumerate(answers.sample.examples):
            about = {"example": example.id, "class": None, "probability": None}
            problems = {course: one.problems[i] for course, one in walked.items() if i in one.problems}
            if not any(one.there[i] for one in walked.values()):
                lines.append(about | {"problem": next(iter(problems.values()), None)})
                continue
            lines += [
                about | {"problem": why, "cut": i in walked[course].cut, "measure": course.measure}
                for course, why in problems.items()
            ]
            fewest = int(searched.fewest[i]) if searched is not None and searched.there[i] else None
            for course, one in walked.items():
                told = _along(i, course, one, answers.model.labels) if one.there[i] else []
                lines += [about | line | {"fewest": fewest} for line in told]
        return lines


def _apart(answers: Answers) -> tuple[dict[Course, Walked], Searched | None]:
    """What is known along orders, and what was searched."""
    walked = {study: one for study, one in answers.found.items() if isinstance(study, Course)}
    return walked, next((one for study, one in answers.found.items() if study not in walked), None)


def _along(i: int, course: Course, one: Walked, labels: tuple[str, ...]) -> list[dict]:
    """The lines of one example along one order."""
    probabilities, first = softmax(one.logits[i]), int(one.predicted[i, 0])
    about = {
        "class": labels[first],
        "probability": float(probabilities[0, first]),
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
    return [
        about | {"ratio": float(x), "predicted": labels[one.predicted[i, k]], "kept": float(probabilities[k, first])}
        for k, x in enumerate(X)
    ]
