"""Can a model be trusted under masking? Random order and each measure's on every example, told together."""

from dataclasses import astuple, dataclass, replace

import numpy as np

from core.evaluation.studies import check_tables
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X, build_check_report
from core.evaluation.studies.model_check import Curve
from core.evaluation.study import Answers, Question, Table, choice, register
from core.explanation.rows import SIGNS, values_taken
from core.measures.catalogue import measure, offered_measures
from core.network.features import UNITS
from core.network.model import Model
from core.validity.references import CALIBRATED, FORMS
from core.wording import as_cell, as_json, refuse_unknown

EACH_STEP, ONCE = "at each step", "once"
SEEDS = 1, 3, 5


@register
@dataclass(frozen=True)
class MaskingCheck(Question[CheckReport]):
    """Performance and p-values at every masking ratio, explaining the label.

    computed: EACH_STEP or ONCE; metric: another than the card's, so that models are measured alike.
    """

    name, order, page, done, labelled = "model check", 3, "Model check", "checked", True
    asks = "Can the model be trusted under masking, and how faithful are the measures?"

    measures: tuple[str, ...] = ()
    sign: str = "signed"
    unit: str = "word"
    computed: str = choice(EACH_STEP, (EACH_STEP, ONCE), "recursive masking, or the order of the unmasked text")
    seeds: int = choice(1, SEEDS, "random orders of each text whose mean measures are set against")
    seed: int = 0
    metric: str | None = None

    @property
    def studies(self) -> tuple[Curve, ...]:
        """Random order, each measure's, and more random orders."""
        recompute = self.computed == EACH_STEP
        orders = (Curve(name, self.sign, self.unit, recompute, self.seed) for name in self.measures)
        first, *more = (Curve(unit=self.unit, seed=self.seed + i) for i in range(self.seeds))
        return (first, *orders, *more)

    def beside(self) -> "MaskingCheck":
        """Random order alone."""
        return replace(self, measures=(), seeds=1)

    def check(self, model: Model | None = None) -> None:
        """As everywhere."""
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)),
            ("unit", (self.unit,), UNITS),
            ("kind of values", (self.sign,), SIGNS),
            ("number of random orders", (str(self.seeds),), tuple(map(str, SEEDS))),
            ("way to compute", (self.computed,), (EACH_STEP, ONCE)),
        )

    def conclude(self, answers: Answers) -> CheckReport | None:
        """All of it in numbers; None before the first example in random order."""
        found = build_check_report(answers.model, answers.reference, answers.sample, answers.found, self.metric)
        if found is None:
            return None
        return replace(found, tally=answers.tally(self.studies[:1]), measured_tally=answers.tally())

    def tables(self, report: CheckReport) -> list[Table]:
        """Random order, and how faithful the measures are."""
        measured = [check_tables.faithfulness_table(report, CALIBRATED)] if report.measured else []
        tables = [check_tables.training_table([report], CALIBRATED), *measured]
        return [(header, [[as_cell(value) for value in row] for row in rows]) for header, rows in tables]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, order and masking ratio.

        Columns: label, measure (or "random order"), values (its variant; null for random), seed (of random order, else
        null), ratio (masked), predicted (class there), value (probability of the label there), a p of each form (null
        without a reference).
        """
        lines, labels = [], answers.model.labels
        for i, example in enumerate(answers.sample.examples):
            for curve, one in answers.found.items():
                about = {"example": example.id, "problem": one.problems.get(i), "label": example.label}
                about |= {"cut": i in one.cut, "measure": curve.measure}
                about |= {"values": values_taken(curve.measure, curve.sign)}
                about |= {"seed": curve.seed if curve.random else None}
                there = [
                    {
                        "ratio": float(x),
                        "predicted": labels[one.predicted[i, k]],
                        "value": float(one.values[i, k]),
                        **{f"p {form}": as_json(one.p[form][i, k]) for form in FORMS},
                    }
                    for k, x in enumerate(X if one.there[i] else ())
                ]
                lines += [about | told for told in there or [{}]]
        return lines


def check_rows(found: CheckReport) -> list[dict]:
    """A report as rows, one for each curve and ratio."""
    rows = []
    for line in found.lines:
        for k, ratio in enumerate(X):
            low, high = ("", "") if line.ends is None else line.ends[:, k].tolist()
            p = {form: float(line.p[form][k]) if form in line.p else "" for form in FORMS}
            simes = float(line.simes[CALIBRATED][k]) if CALIBRATED in line.simes else ""
            rejected = {form: int(line.rejected[form][k]) if form in line.rejected else "" for form in FORMS}
            rows.append(
                {
                    "model": found.model,
                    "curve": line.curve.measure,
                    "masking ratio (0 to 1)": float(ratio),
                    "examples": line.n,
                    "performance (higher is better)": float(line.performance[k]),
                    "class majority": found.majority,
                    "performance: lower end of its 95 % interval": low,
                    "performance: upper end": high,
                    **{f"data-set p ({check_tables.ASKS[form]})": p[form] for form in FORMS},
                    "data-set p (calibrated, by Simes)": simes,
                    **{f"texts rejected at 5 % ({form})": rejected[form] for form in FORMS},
                    "log loss (lower is better)": float(line.loss[k]),
                }
            )
    return rows


def findings_json(reports: list[CheckReport]) -> list[dict]:
    """The findings of papers beside reports, as plain values for a JSON file."""
    return [
        {
            "claim": one.claim,
            "paper": one.paper,
            "here": one.here,
            "tests": one.more,
            "agrees": one.agrees,
            "said": one.word,
        }
        for one in check_findings(reports)
    ]


def check_json(found: CheckReport) -> dict:
    """A report as plain values for a JSON file; null where there is no number."""
    return {
        "model": found.model,
        "weights": found.digest,
        "training": found.training,
        "data": found.sample.name,
        "data_sha256": found.sample.digest,
        "examples": found.n,
        "metric": found.metric,
        "class_majority": found.majority,
        "majority_class": found.majority_name,
        "verdict": found.verdict if found.tally.settled else None,
        "worse_than_majority_p": found.worse,
        "above_majority_unmasked": as_json(np.array(astuple(found.gained[0]))),
        "above_majority_all_masked": as_json(np.array(astuple(found.gained[1]))),
        "floor": found.floor,
        "notes": list(found.notes),
        "left_out": found.left_out,
        "held_out_rejected": None if found.held_out is None else list(found.held_out.rejected),
        "held_out_texts": None if found.held_out is None else found.held_out.m,
        "ratios": X.tolist(),
        "curves": [_line_as_json(line) for line in found.lines],
    }


def _line_as_json(line: CurveFigures) -> dict:
    # A measure whose order is recursive already is not computed again.
    anew = line.curve.random or (line.curve.recompute and not measure(line.curve.measure).recursive)
    return {
        "measure": line.curve.measure,
        "values": values_taken(line.curve.measure, line.curve.sign),
        "unit": line.curve.unit,
        "computed": EACH_STEP if anew else ONCE,
        "examples": line.n,
        "performance": line.performance.tolist(),
        "performance_interval": None if line.ends is None else line.ends.tolist(),
        "log_loss": line.loss.tolist(),
        "p": {form: p.tolist() for form, p in line.p.items()},
        "simes": {form: p.tolist() for form, p in line.simes.items()},
        "rejected": {form: line.share(form).tolist() for form in line.rejected},
        "texts_rejected": {form: count.tolist() for form, count in line.rejected.items()},
        "acu": as_json(line.acu),
        "acu_interval": [as_json(line.areas.acu.low), as_json(line.areas.acu.high)],
        "racu": as_json(line.racu),
        "racu_interval": [as_json(line.areas.racu.low), as_json(line.areas.racu.high)],
        "racu_unstable": line.areas.unstable,
        "evidence_average_precision": as_json(line.precision),
        "evidence_recall": as_json(line.recall),
        "evidence_chance": as_json(line.chance),
    }
