"""What a model check comes to, for files: its numbers as rows, and all of it as JSON."""

from dataclasses import astuple

import numpy as np

from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import EACH_STEP, ONCE
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.evaluation.studies.model_check import Curve
from core.explanation.rows import values_taken
from core.measures.catalogue import measures
from core.validity.references import CALIBRATED, FORMS
from core.wording import as_json

HEADER = (
    "model",
    "curve",
    "masking ratio (0 to 1)",
    "examples",
    "performance (higher is better)",
    "class majority",
    "performance: lower end of its 95 % interval",
    "performance: upper end",
    "data-set p (calibrated, by count)",
    "data-set p (literal, by Simes)",
    "data-set p (calibrated, by Simes)",
    "texts rejected at 5 % (calibrated)",
    "texts rejected at 5 % (literal)",
)


def check_rows(found: CheckReport) -> list[list]:
    """A report as rows, one for each curve and ratio, see HEADER."""
    return [
        [
            found.model,
            line.curve.measure,
            float(ratio),
            line.n,
            float(line.performance[k]),
            found.majority,
            *(["", ""] if line.ends is None else line.ends[:, k].tolist()),
            *(float(line.p[form][k]) if form in line.p else "" for form in FORMS),
            float(line.simes[CALIBRATED][k]) if CALIBRATED in line.simes else "",
            *(int(line.rejected[form][k]) if form in line.rejected else "" for form in FORMS),
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


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
    return {
        "measure": line.curve.measure,
        "values": values_taken(line.curve.measure, line.curve.sign),
        "unit": line.curve.unit,
        "computed": EACH_STEP if recomputed(line.curve) else ONCE,
        "examples": line.n,
        "performance": line.performance.tolist(),
        "performance_interval": None if line.ends is None else line.ends.tolist(),
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


def recomputed(curve: Curve) -> bool:
    """Whether a curve's measure is computed again at each step; beam's order is recursive already."""
    return curve.random or (curve.recompute and not measures()[curve.measure].recursive)
