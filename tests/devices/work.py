"""All that reads a network, by the registers: a new measure, metric, attack, erasure or perturbation is here unasked."""

import copy
from functools import partial

import numpy as np

from core.attacks.attacking import attack_text
from core.attacks.catalogue import attacks
from core.attacks.victim import Budget
from core.data.tables import LabelledTexts
from core.evaluation.predicting import predict
from core.explanation.explainer import Explainer
from core.explanation.limiting import find_limits
from core.explanation.many import attribute_many
from core.interactions.finding import find_interactions
from core.judging.judging import How, Judge
from core.mathematics.erasure import PERTURBATIONS, PLACEMENTS
from core.mathematics.stepwise import finish
from core.measures.catalogue import measures
from core.measures.registry import WORDS, Explained
from core.metrics.catalogue import of_examples
from core.network.halves import half_copy
from core.network.model import POOLINGS
from core.oracle.erasing import ERASURES, erasures_of
from core.oracle.oracle import Oracle
from core.oracle.soft import Soft
from core.training.plan import Plan
from core.training.training import TrainingRun, tokenise
from core.validity.fitting import Drawing, fit_reference
from core.verdicts.finding import find_chance
from tests import tiny

TEXT, SHORT = "The captain's boat reads the wind", "The tide rises"
LABELLED = LabelledTexts(list(tiny.SENTENCES[:12]), None, np.arange(12) % 3, tiny.LABELS, "tiny", "0" * 64)
NAMES = [name for name, one in measures().items() if one.needs != WORDS]


def drawn_masks(encoded, count=7):
    return np.random.default_rng(3).random((count, encoded.F)) < 0.4


def attribution(model, name):
    encoded = model.encode(TEXT)
    if measures()[name].refusal(model.module.config.model_type, encoded.F):
        return []
    masked = np.arange(encoded.F) % 3 == 1
    found = [Explainer(model).attribute(encoded, name, target, masked).scores for target in (0, 2)]
    two = [encoded, model.encode(f"{TEXT} today")]
    found += attribute_many(Explainer(model), two, name, [0, 1], [np.zeros(one.F, dtype=bool) for one in two], 0)
    return [scores for one in found for scores in one.values()]


def path(model, name):
    encoded, one = model.encode(TEXT), measures()[name]
    explainer = Explainer(model)
    inside = explainer._inside(encoded, 0, np.zeros(encoded.F, dtype=bool))
    about = (explainer.oracles.of(encoded).logits, encoded.F, 0, inside.masked, 0, 0, inside)
    return [np.array(one.path(Explained(*about), 5))] if one.path else []


def erased(model, erasure, pooling):
    if erasure not in erasures_of(model):
        return []
    encoded = model.encode(TEXT)
    oracle = Oracle(model, encoded, erasure=erasure)
    if not pooling:
        return [oracle.logits(drawn_masks(encoded))]
    return list(oracle.logits_and_states(drawn_masks(encoded), pooling))


def perturbed(model, kind, placement):
    encoded = model.encode(TEXT)
    soft = Soft(model, encoded, draws=3, placement=placement)
    shares = encoded.F + (placement != PLACEMENTS[0])
    return [soft.probabilities(np.linspace(0, 1, shares), kind)]


def judged(model, name):
    judge = Judge(Explainer(model), model.encode(TEXT), How(draws=3))
    rated = judge.rate(np.linspace(-1, 1, judge.encoded.F), [name])
    return [np.array([rated.found[name].value])]


def tested(model):
    reference = fit_reference(model, LABELLED, Drawing(maskings=3))
    explainer = Explainer(model, reference=reference)
    encoded = model.encode(TEXT)
    p = explainer.tested(encoded).judge(drawn_masks(encoded))
    return [p.logits, *p.p.values()]


def verdict(model):
    encoded = model.encode(SHORT)
    found = finish(find_chance(Explainer(model), encoded, 0, ["leave-one-out", "gradient"], draws=19))
    return [found.null.reached, np.array(list(found.other.values()))]


def limits(model):
    encoded = model.encode(TEXT)
    found = finish(find_limits(Explainer(model), encoded, 0, 2, half=False))
    # Orders of sets that are equal up to rounding may differ, not what they come to.
    return [np.array([found.lowest.values.mean(), found.highest.values.mean()])]


def pairs(model):
    return [finish(find_interactions(Explainer(model), model.encode(SHORT), 0)).split.pairs]


def predicted(model):
    encoded = [model.encode(text) for text in tiny.SENTENCES[:6]]
    return [predict(model, encoded, [np.zeros(one.F, dtype=bool) for one in encoded])]


def attack(model, name):
    encoded = model.encode(TEXT)
    label = int(Explainer(model).logits(encoded).argmax())
    # What is drawn alike by rounding may differ: that it comes through is what counts.
    attack_text(model, encoded, label, name, Budget(0.5, 40, 0.0))
    return []


def half(model):
    encoded = model.encode(TEXT)
    return [Oracle(half_copy(model), encoded).logits(drawn_masks(encoded))]


def trained(model):
    """A step and what validates it; on a copy, whose weights change."""
    plan = Plan("", "", "", "", epochs=1, batch=6, learning_rate=1e-3)
    module = copy.deepcopy(model.module).requires_grad_(True)
    for part in module.modules():
        # A dropped element would be drawn by the device's own generator.
        if type(part).__name__ == "Dropout":
            part.p = 0.0
    data = tokenise(model.tokenizer, LABELLED, 32)
    run = TrainingRun(plan, module, model.mask_id, data, data, model.device, lambda *_: None)
    return [np.array([run.epoch(0)["loss"], run.validate()["selection"]])]


WORK = {
    **{f"measure {name}": partial(attribution, name=name) for name in NAMES},
    **{f"path of {name}": partial(path, name=name) for name in NAMES if measures()[name].path},
    **{
        f"erasure {erasure}, states {pooling or 'not asked'}": partial(erased, erasure=erasure, pooling=pooling)
        for erasure in ERASURES
        for pooling in ("", *POOLINGS)
    },
    **{
        f"perturbation {kind}, {placement}": partial(perturbed, kind=kind, placement=placement)
        for kind in PERTURBATIONS
        for placement in PLACEMENTS
    },
    **{f"metric {name}": partial(judged, name=name) for name in of_examples()},
    **{f"attack {name}": partial(attack, name=name) for name in attacks()},
    "reference and p-values": tested,
    "verdict": verdict,
    "limits": limits,
    "pairs": pairs,
    "predictions": predicted,
    "half precision": half,
    "training step": trained,
}


def compare(found, expected):
    """That two devices give the same."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        scale = max(1.0, float(np.abs(other[np.isfinite(other)]).max(initial=0)))
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-4 * scale)
