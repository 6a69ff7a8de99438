"""What a model check says: its verdict in a sentence, what papers found beside it, its numbers as rows and JSON."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    FEW,
    ONE_CLASS,
    POOR,
    TRUSTED,
    UNTESTED,
    CheckReport,
    CurveFigures,
    X,
)
from core.evaluation.studies.model_check import Curve
from core.mathematics.statistics import significant
from core.measures.catalogue import measures
from core.validity.marks import OUT, SIGN
from core.validity.references import CALIBRATED, FORMS, LITERAL
from core.wording import as_json, percent


def verdict_sentence(found: CheckReport) -> str:
    """One sentence or two on whether the model can be trusted under masking; plain text."""
    masked = "all of the first text" if found.sample.paired else "everything"
    reach = (
        f"{found.model} reaches {percent(found.unmasked, found.metric)} {found.metric} ↑ unmasked and "
        f"{percent(found.masked, found.metric)} with {masked} masked, "
        f"where always answering {found.majority_name} reaches {percent(found.majority, found.metric)}"
    )
    one = found.n == 1
    few = f" {found.n} example{'' if one else 's'} alone say{'s' if one else ''} little." if found.n < FEW else ""
    tested = found.verdict not in (CONFUSED, POOR, UNTESTED)
    return (_tested(found, reach) if tested else _untested(found, reach, masked)) + few


def _untested(found: CheckReport, reach: str, masked: str) -> str:
    """The verdict for which what the test says, if anything, does not count."""
    if found.verdict == CONFUSED:
        where = _where(found.rejected())
        return (
            f"No: {reach}. With {masked} masked it does worse than that constant answer, so masking confuses it, "
            f"and scores that rest on masking say little."
        ) + (f" {SIGN} MaSF rejects its inputs as out-of-distribution {where}, too." if where else "")
    if found.verdict == POOR:
        return f"It does not do this task: {reach}. What masking does to it says little; choose data of its own task."
    why = (
        f"its MaSF reference is too small to reject anything (smallest p = {found.floor[CALIBRATED]:.3g})"
        if found.floor
        else "there is no MaSF reference"
    )
    return f"Half an answer: {reach}. Whether masked inputs are out-of-distribution for it was not tested, since {why}."


def _tested(found: CheckReport, reach: str) -> str:
    (p, at), where = found.smallest(), found.rejected()
    if found.verdict in (TRUSTED, ONE_CLASS):
        one_class = "Half an answer, since the sample holds one class only"
        begins = "Nothing speaks against it" if found.verdict == TRUSTED else one_class
        return (
            f"{begins}: {reach}, and masked at random its inputs are not {OUT} at any ratio (smallest p = {p:.3g}, at "
            f"{at:.0%} masked)."
        )
    if where[0] == 0:
        return (
            f"Not on this data: {reach}, but {SIGN} MaSF rejects even the unmasked texts (p = "
            f"{found.random.p[CALIBRATED][0]:.3g}). They are unlike those of its "
            "reference, in length or in kind, so the test says nothing about masking here."
        )
    said = f"{SIGN} masked at random its inputs are {OUT} {_where(where)} (smallest p = {p:.3g}, at {at:.0%})"
    if found.verdict == DOUBTFUL:
        return (
            f"On the edge: {reach}, and {said}, each ratio by itself at 5 % as in the paper; Holm over all {len(X)} "
            "ratios rejects none."
        )
    return f"No: {reach}, but {said}."


def _where(places: np.ndarray) -> str:
    """Ratios in words: "from 50% masked on" where all that follow are among them, else each of them; "" for none."""
    if not len(places):
        return ""
    if len(places) > 1 and places[-1] == len(X) - 1 and len(places) == len(X) - places[0]:
        return f"from {X[places[0]]:.0%} masked on"
    return f"at {', '.join(f'{X[place]:.0%}' for place in places)} masked"


@dataclass(frozen=True)
class Finding:
    """A finding of a paper, what is found here, and whether the two agree; None where that is unsure, and why."""

    claim: str
    here: str
    agrees: bool | None
    unsure: str = "too few examples to tell"

    @property
    def said(self) -> str:
        """Whether the two agree, in words."""
        return {True: "agrees", False: "departs from the paper", None: self.unsure}[self.agrees]


def check_findings(reports: list[CheckReport]) -> list[Finding]:
    """What FMM found, beside what these models do; the first of each training strategy that was trained on the same
    file as the first report's.

    Accuracy counts as lost beyond two standard errors of the difference of two shares. Nothing is told of a sample of
    one class.

    Source: FMM §5.1 and §5.2.
    """
    by: dict[str, CheckReport] = {}
    for one in reports:
        if one is reports[0] or (one.trained_on is not None and one.trained_on == reports[0].trained_on):
            by.setdefault(one.training, one)
    masked, plain = by.get("half"), by.get("none")
    if reports[0].sample.one_class:
        return []
    return [found for found in (*_performance(masked, plain), *_validity(masked, plain)) if found is not None]


def _performance(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    if masked and plain and masked.metric == "accuracy":
        lost, error = (
            plain.unmasked - masked.unmasked,
            np.sqrt(sum(one.unmasked * (1 - one.unmasked) / one.n for one in (plain, masked))),
        )
        yield Finding(
            "Masked fine-tuning loses no unmasked performance.",
            f"{percent(masked.unmasked)} against {percent(plain.unmasked)} of plain fine-tuning",
            bool(lost <= 2 * error),
        )
    for one, falls, claim in (
        (masked, False, "With everything masked, a masked fine-tuned model reaches the class majority."),
        (plain, True, "With everything masked, a plain model falls below it."),
    ):
        if one is not None:
            below = True if significant(one.worse) else False if one.masked >= one.majority - 1 / one.n else None
            yield Finding(
                claim,
                f"{percent(one.masked, one.metric)}, class majority {percent(one.majority, one.metric)}",
                None if below is None else below == falls,
            )


def _validity(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    for one, should, name in ((masked, False, "masked fine-tuned"), (plain, True, "plain")):
        if one is not None and CALIBRATED in one.random.gates and one.random.gates[CALIBRATED].available:
            (p, at), where = one.smallest(), one.rejected().tolist()
            claim = (
                f"The inputs of a {name} model are {'rejected' if should else 'not rejected'} at "
                f"{'some' if should else 'any'} masking ratio."
            )
            # The one exception that FMM names among masked fine-tuned models.
            only_all = "; at no smaller ratio, as FMM found for bAbI-2" if not should and where == [len(X) - 1] else ""
            here = (
                f"smallest p = {p:.3g}, at {at:.0%} masked (calibrated){only_all}; literal form "
                f"{one.smallest(LITERAL)[0]:.3g}"
            )
            yield Finding(claim, here, bool(where) == should)


# ---- as rows

HEADER = (
    "model",
    "curve",
    "masking ratio (0 to 1)",
    "examples",
    "performance (higher is better)",
    "class majority",
    "data-set p (calibrated)",
    "data-set p (literal)",
    "share rejected at 5 % (calibrated)",
    "share rejected at 5 % (literal)",
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
            *(float(line.p[form][k]) if form in line.p else "" for form in FORMS),
            *(float(line.rejected[form][k]) if form in line.rejected else "" for form in FORMS),
        ]
        for line in found.lines
        for k, ratio in enumerate(X)
    ]


def all_as_json(reports: list[CheckReport]) -> dict:
    """Reports and the findings of papers beside them, as plain values for a JSON file."""
    return {
        "models": [check_json(one) for one in reports],
        "findings": [{"claim": one.claim, "here": one.here, "agrees": one.agrees} for one in check_findings(reports)],
    }


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
        "verdict": found.verdict,
        "sentence": verdict_sentence(found),
        "worse_than_majority_p": found.worse,
        "floor": found.floor,
        "notes": list(found.notes),
        "left_out": found.left_out,
        "ratios": X.tolist(),
        "curves": [_line_as_json(line) for line in found.lines],
    }


def _line_as_json(line: CurveFigures) -> dict:
    return {
        "measure": line.curve.measure,
        "values": line.curve.sign,
        "unit": line.curve.unit,
        "computed": "at each step" if recomputed(line.curve) else "once",
        "examples": line.n,
        "performance": line.performance.tolist(),
        "p": {form: p.tolist() for form, p in line.p.items()},
        "rejected": {form: share.tolist() for form, share in line.rejected.items()},
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


def name_of(curve: Curve) -> str:
    """A curve's name in tables: its measure, and how it was computed where that is not recursive."""
    return curve.measure if curve.random or curve.recompute else f"{curve.measure}, computed once"
