"""All that only a GPU can prove, in less than ten minutes; on a processor with tiny shapes, which shows nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.bench.bench_limits import base_speed, plain_tokens, random_classifier
from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.loading.loading import load
from core.mathematics.ranking import ranking
from core.network.architectures import Config
from core.network.halves import HALF, half_copy
from core.network.model import Model
from core.oracle.oracle import Oracle
from core.training.plan import Plan
from core.training.training import Tokenised, TrainingRun
from core.validity.references import find_reference
from core.wording import text_table

# What must agree with the processor, of p-values; and of how many texts, each with so many masks.
MOST_APART, TEXTS, MASKS = 1e-3, 20, 16
_MEASURES = ("leave-one-out", "integrated gradients")
_BATCH = 32


@dataclass(frozen=True)
class DeviceFigures:
    """What a device reached; claims: False where the shapes are tiny.

    beam: seconds ↓ of beam limits, width 5; sets: inputs that it asked for; features, tokens: of a text; erased:
    {precision: texts of `tokens` a second ↑, by leave-one-out}; steps: {precision: training steps of 32 texts a second
    ↑}; apart: largest difference of a p-value from the processor's; same: of attributions, those whose first word is
    the processor's; attributions: all of them.
    """

    device: str
    claims: bool
    features: int
    tokens: int
    beam: float
    sets: int
    erased: dict[str, float]
    steps: dict[str, float]
    apart: float
    same: int
    attributions: int

    @property
    def agrees(self) -> bool:
        """Whether it gives what the processor gives."""
        return self.apart <= MOST_APART and self.same == self.attributions


def measure_device(
    device: str,
    seconds: float = 20.0,
    name: str = "sst2-fmm",
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> DeviceFigures:
    """Measure a device and compare it with the processor.

    Args:
        seconds: of each loop at least; name: the model that is compared.
        progress: called with (what is measured next, parts done, parts).
    """
    from transformers import BertConfig

    claims = device != "cpu"
    config = BertConfig()
    if not claims:
        config = BertConfig(
            vocab_size=500, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
        )
    features, tokens = (100, 512) if claims else (10, 32)
    progress("device, limits", 0, 4)
    beam = base_speed(device, config, features)
    progress("device, leave-one-out", 1, 4)
    erased = erased_a_second(random_classifier(device, config), tokens, seconds)
    progress("device, training steps", 2, 4)
    steps = {kind: steps_a_second(device, config, kind == HALF, tokens // 4, seconds) for kind in ("float32", HALF)}
    progress("device, comparison", 3, 4)
    compared = compare_devices(load(name, "cpu"), load(name, device), TEXTS if claims else 2)
    progress("device", 4, 4)
    return DeviceFigures(device, claims, features, tokens, beam["seconds"], beam["sets"], erased, steps, *compared)


def compare_devices(here: Model, there: Model, texts: int) -> tuple[float, int, int]:
    """Largest difference of a p-value, and of how many attributions the first word is the same, of how many; bundled
    reviews under one model on two devices.
    """
    reference, rng = find_reference(here), np.random.default_rng(0)
    both = [Explainer(model, reference=reference) for model in (here, there)]
    apart, same = 0.0, []
    for example in read_bundled("reviews")[:texts]:
        encoded = here.encode(example.text)
        masks = rng.random((MASKS, encoded.F)) < rng.random((MASKS, 1))
        one, other = (explainer.tested(encoded).judge(masks).p for explainer in both)
        apart = max(apart, *(float(np.abs(one[form] - other[form]).max()) for form in one))
        target = int(both[0].logits(encoded).argmax())
        for measure in _MEASURES:
            first, second = (each.attribute(encoded, measure, target).scores["signed"] for each in both)
            same.append(ranking(first)[0] == ranking(second)[0])
    return apart, sum(same), len(same)


def erased_a_second(model: Model, tokens: int, seconds: float) -> dict[str, float]:
    """Texts of so many tokens a second, each explained by leave-one-out, by precision."""
    encoded = plain_tokens(tokens - 2, model.module.config.vocab_size, model.mask_id)
    masks = np.concatenate([np.zeros((1, encoded.F), dtype=bool), np.eye(encoded.F, dtype=bool)])
    models = {model.precision: model, HALF: half_copy(model)}
    return {
        precision: _rate(lambda one=one: Oracle(one, encoded).logits(masks), seconds)
        for precision, one in models.items()
        if one is not None
    }


def steps_a_second(device: str, config: Config, bfloat16: bool, tokens: int, seconds: float, steps: int = 8) -> float:
    """Training steps of 32 texts of so many tokens a second."""
    rng, rows = np.random.default_rng(0), _BATCH * steps
    ids = [rng.integers(5, config.vocab_size, tokens) for _ in range(rows)]
    data = Tokenised(ids, [np.ones(tokens, dtype=bool)] * rows, None, rng.integers(0, 2, rows))
    module = random_classifier(device, config).module.requires_grad_(True)
    plan = Plan("", "", "", "", batch=_BATCH, learning_rate=1e-5, bfloat16=bfloat16)
    run = TrainingRun(plan, module, 3, data, data, device, lambda *_: None)
    return steps * _rate(lambda: run.epoch(0), seconds)


def _rate(work: Callable[[], object], seconds: float) -> float:
    """How often a second; both kinds of work end with a number, so that the device has done it."""
    work()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds or not count:
        work()
        count += 1
    return count / (time.perf_counter() - began)


def device_lines(found: DeviceFigures) -> list[str]:
    """The figures as lines of text."""
    rows = [
        ["shape", "BERT-base" if found.claims else "tiny"],
        [f"beam 5, {found.features} features, s ↓", f"{found.beam:.2f}"],
        ["· sets", f"{found.sets:,}"],
        *([f"leave-one-out, {found.tokens} tokens, {kind}, texts/s ↑", f"{x:.2f}"] for kind, x in found.erased.items()),
        *([f"training, {kind}, steps/s ↑", f"{x:.2f}"] for kind, x in found.steps.items()),
        ["p-values apart ↓", f"{found.apart:.1e}"],
        ["same word ↑", f"{found.same}/{found.attributions}"],
    ]
    return text_table([found.device, ""], rows).splitlines()
