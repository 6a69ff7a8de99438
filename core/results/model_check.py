"""Model check: are masked texts in-distribution for a model?"""

from collections.abc import Iterable

import numpy as np

from core.evaluation.findings import FEW, not_more
from core.evaluation.studies.check_findings import leads_by_length
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    PICKED,
    POOR,
    REJECTED,
    UNSURE,
    UNTESTED,
    CheckReport,
    X,
)
from core.results.catalogue import register_result
from core.results.caveats import Caveat, holding
from core.results.inputs import DOUBTS, cut_facts, gate_caveats
from core.results.result import Fact, Kind, Outcome, Result
from core.validity.references import CALIBRATED


class ModelCheckOutcome(Outcome):
    """What masking texts at random says of a model."""

    NOT_REJECTED = "not rejected"
    NOT_REJECTED_AT_USUAL_LENGTHS = "not rejected at usual lengths"
    REJECTED = "rejected"
    CONFUSED = "confused"
    NOT_KNOWN = "not known"
    RUNNING = "running"

    @property
    def answer(self) -> str:
        """The shortest answer: "yes", "no" or "not known"."""
        return _ANSWERS.get(self, "not known")


_ANSWERS = {
    ModelCheckOutcome.NOT_REJECTED: "yes",
    ModelCheckOutcome.NOT_REJECTED_AT_USUAL_LENGTHS: "yes",
    ModelCheckOutcome.REJECTED: "no",
    ModelCheckOutcome.CONFUSED: "no",
}
# Verdicts for which nothing is told, whatever the test says.
_NOTHING = (PICKED, POOR, UNTESTED, DOUBTFUL)


@register_result(MaskingCheck.name)
def check_result(found: CheckReport) -> Result:
    """What a model check says; of the calibrated form, whichever is drawn."""
    slots: dict[str, str | float] = {"model": found.model, "count": found.n, "label": found.majority_name}
    if CALIBRATED in found.random.gates:
        k = int(found.random.rejected[CALIBRATED].argmax())
        slots |= {"share": float(found.random.share(CALIBRATED)[k]), "ratio": float(X[k])}
    if found.other_lengths is not None:
        slots |= {"low": found.other_lengths[0], "high": found.other_lengths[1]}
    return Result.of(_outcome(found), _facts(found) if found.shown else (), _caveats(found), **slots)


def unchecked_result(model: str, coming: bool) -> Result:
    """The same where no text has an answer; coming: whether one may still get it."""
    if coming:
        return Result.of(ModelCheckOutcome.RUNNING, caveats=[Caveat.PARTIAL], model=model)
    return Result.of(ModelCheckOutcome.NOT_KNOWN, caveats=[Caveat.FEW_TEXTS], model=model, count=0)


def _outcome(found: CheckReport) -> ModelCheckOutcome:
    if found.tally.coming and not found.tally.settled:
        return ModelCheckOutcome.RUNNING
    verdict = found.verdict
    if found.n < FEW or verdict in _NOTHING:
        return ModelCheckOutcome.NOT_KNOWN
    if verdict == CONFUSED:
        return ModelCheckOutcome.CONFUSED
    if verdict == REJECTED:
        # Of unmasked texts, too, masking need not be why.
        if found.random.gates[CALIBRATED].rejected[0]:
            return ModelCheckOutcome.NOT_KNOWN
        usual = leads_by_length(found)
        return ModelCheckOutcome.NOT_REJECTED_AT_USUAL_LENGTHS if usual else ModelCheckOutcome.REJECTED
    # Not rejected together, but more single texts are than chance and the margin explain.
    if not_more(found.most_rejected(), found.n) is False and not found.as_held_out:
        return ModelCheckOutcome.NOT_KNOWN
    return ModelCheckOutcome.NOT_REJECTED


def _caveats(found: CheckReport) -> Iterable[Caveat]:
    holds = {
        Caveat.PARTIAL: not found.tally.complete,
        Caveat.FEW_TEXTS: found.n < FEW,
        Caveat.SELECTED: bool(found.sample.picked),
        Caveat.LABEL_ORDER_DOUBTFUL: found.sample.match.by_order and not found.other,
        Caveat.LABELS_EXCHANGED: found.other is not None,
        Caveat.NOT_ABOVE_MAJORITY: found.verdict in (CONFUSED, POOR, ONE_CLASS)
        or (found.verdict == UNSURE and found.n >= FEW)
        or not found.above_constant,
        Caveat.TRUNCATED: bool(found.followed.cut),
        Caveat.NOT_TESTED: CALIBRATED not in found.random.gates,
    }
    return [
        *holding(holds),
        *gate_caveats([found.random.gates.get(CALIBRATED)]),
        *(DOUBTS[why] for why in found.doubted),
    ]


def _facts(found: CheckReport) -> list[Fact]:
    random, metric = found.random, found.metric
    kind = Kind.NUMBER if metric == "Matthews" else Kind.SHARE
    cut = cut_facts(len(found.followed.cut), len(found.sample))
    ends = np.full((2, len(X)), np.nan) if random.ends is None else random.ends
    facts = [
        Fact("unmasked", f"{metric}, unmasked", found.unmasked, kind, "↑", *ends[:, 0].tolist()),
        Fact("all_masked", f"{metric}, all masked", found.masked, kind, "↑", *ends[:, -1].tolist()),
    ]
    if CALIBRATED not in random.gates:
        return [*facts, _texts(found), _majority(found, kind), *cut]
    most, marked = found.most_rejected(), random.marked(CALIBRATED)
    rejecting = (most.low, most.high) if found.n >= FEW else (np.nan, np.nan)
    about = "rejected (out-of-distribution)"
    p, ratio = found.smallest()
    return [
        *facts,
        Fact("rejected", "most texts rejected", most.mean, Kind.SHARE, "↓", *rejecting, marked=marked, about=about),
        _texts(found),
        _majority(found, kind),
        Fact("rejected_unmasked", "texts rejected unmasked", float(random.share(CALIBRATED)[0]), Kind.SHARE, "↓"),
        Fact("smallest_p", "smallest p, by count", p, Kind.P, "↑", marked=marked, about="by count, by Simes"),
        Fact("smallest_p_at", "masked there", ratio, Kind.SHARE, about="masking ratio"),
        *cut,
    ]


def _texts(found: CheckReport) -> Fact:
    return Fact("texts", "texts", found.n, Kind.COUNT, of=len(found.sample))


def _majority(found: CheckReport, kind: Kind) -> Fact:
    return Fact("majority", "class majority", found.majority, kind, about="class majority")
