"""Speed, as ratios in one run: the network, leave-one-out, MaSF, limits and metrics."""

import contextlib
import os
import platform
import statistics
from collections.abc import Callable

import numpy as np
import torch

from core.bench import bench_judging, bench_limits
from core.bench.bench_host import host_speed
from core.bench.bench_search import compare_searches, search_lines
from core.bench.bench_words import words_speed
from core.bench.clock import clocked, most_held
from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.measures.registry import Explained
from core.network.features import Encoded
from core.network.model import Model
from core.network.packed import plain_products
from core.oracle.oracle import Oracle
from core.validity.masf import fit_literal, p_values
from core.validity.references import find_reference

TEXT = (
    "The director wanted a thriller, a romance and a tax lecture, and after two hours "
    "nobody could say which one it was."
)
BATCHES = (1, 8, 64)


def bench(model: Model, repeats: int = 7, progress: Callable[[str, int, int], None] = lambda *_: None) -> dict:
    """Measure a model on this machine.

    Args:
        repeats: timings of each contestant, taken in turn; medians are compared.
        progress: called with (what is measured next, parts done, parts).
    Returns:
        peak: floating-point operations per second of the fastest matrix product.
        forward: {batch: (passes per second, share of the peak, time with PyTorch's products over ours)}, higher is
            better.
        leave_one_out: {Captum's batch: its time over ours}, higher is better.
        host: masks a second without a network, higher is better.
        masf, p_values, words, limits, searches, judging: what the functions that measure them return.
    """
    encoded = model.encode(TEXT)
    peak = matrix_product_peak(model, repeats)
    parts: dict[str, Callable[[], object]] = {
        "forward": lambda: {batch: _forward(model, encoded, batch, peak, repeats) for batch in BATCHES},
        "leave_one_out": lambda: _against_captum(model, encoded, repeats),
        "host": lambda: host_speed(model),
        "masf": masf_speed,
        "p_values": lambda: p_value_cost(model, encoded, repeats),
        "words": words_speed,
        "limits": lambda: bench_limits.limits_speed(model, repeats),
        "searches": lambda: compare_searches(Explainer(model), (*bench_limits.EXACT, bench_limits.BEAMED)),
        "judging": lambda: bench_judging.judging_speed(model, repeats),
    }
    found = {"machine": machine(model), "features": encoded.F, "tokens": encoded.T, "peak": peak}
    for done, (name, measured) in enumerate(parts.items()):
        progress(f"bench, {name}", done, len(parts))
        found[name] = measured()
    progress("bench", len(parts), len(parts))
    return found


def matrix_product_peak(model: Model, repeats: int) -> float:
    """Fastest square matrix product in the model's precision, in operations a second."""
    best, dtype = 0.0, next(model.module.parameters()).dtype
    for size in (512, 1024, 2048):
        left, right = torch.rand(2, size, size, device=model.device, dtype=dtype)
        seconds = min(clocked(lambda: left @ right, model.device)[1] for _ in range(repeats + 2))
        best = max(best, 2 * size**3 / seconds)
    return best


def masf_speed(
    observations: int = 1000, reference: int = 5000, layers: int = 7, dimensions: int = 384, compared: int = 25
) -> dict[str, float]:
    """Time MaSF by binary search against comparing with every reference value.

    Args:
        observations, reference: numbers of float32[layers, dimensions] states that are tested and that are fitted.
        compared: observations that are compared with every value; their time is scaled up to all.
    Returns:
        ratio: time of comparing over that of the whole test, higher is better.
        megabytes: most memory that the test holds; seconds: its time; lower is better.
    """
    rng = np.random.default_rng(0)
    states, tested = (
        rng.standard_normal((count, layers, dimensions)).astype(np.float32) for count in (reference, observations)
    )
    masf = fit_literal(states)
    flat, few = states.reshape(reference, -1), tested[:compared].reshape(compared, -1)
    masf.p_values(tested[:2])
    ours = min(clocked(lambda: masf.p_values(tested))[1] for _ in range(3))
    every = clocked(lambda: [(flat < row).mean(axis=0) for row in few])[1] * observations / compared
    return {"ratio": every / ours, "megabytes": most_held(lambda: masf.p_values(tested)), "seconds": ours}


def p_value_cost(model: Model, encoded: Encoded, repeats: int) -> dict[int, float]:
    """What p-values add to forward passes: {batch: milliseconds, states and test}; lower is better."""
    reference = find_reference(model)
    if reference is None:
        return {}
    added = {}
    for batch in (1, encoded.F + 1):
        ids, lengths = np.tile(encoded.ids, (batch, 1)), np.full(batch, encoded.T)
        types = None if encoded.type_ids is None else np.tile(encoded.type_ids, (batch, 1))

        def tested() -> None:
            p_values(reference.forms, np.asarray(model.run(ids, lengths, types, reference.pooling)[1]))

        times = [(clocked(lambda: model.run(ids, lengths, types))[1], clocked(tested)[1]) for _ in range(4 * repeats)]
        plain, with_p = (statistics.median(column) for column in zip(*times))
        added[batch] = 1000 * (with_p - plain)
    return added


def machine(model: Model) -> str:
    """The processor, its threads and the device, in words."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}, {model.device}, {model.precision}"
    )


def bench_report(found: dict) -> str:
    """The figures as lines of text."""
    lines = [
        found["machine"],
        f"matrix product: {found['peak'] / 1e9:.0f} GFLOP/s peak",
        f"forward passes of {found['tokens']} tokens (share of the peak, time with PyTorch's products over ours ↑):",
    ]
    lines += [
        f"  batch {batch:>2}: {rate:7.0f} a second, {share:.0%} of the peak, {ratio:.2f}"
        for batch, (rate, share, ratio) in found["forward"].items()
    ]
    lines.append(f"leave-one-out of {found['features']} features, Captum's time over ours ↑:")
    lines += [f"  {name}: {ratio:.2f}" for name, ratio in found["leave_one_out"].items()]
    lines.append(f"masks a second on the host ↑: {found['host']:,.0f}")
    masf = found["masf"]
    lines.append(
        "MaSF (1,000 observations, 5,000 references, 7 × 384), brute force over ours ↑: "
        f"{masf['ratio']:.0f} ({masf['seconds']:.2f} s, {masf['megabytes']:.0f} MB)"
    )
    lines += [f"p-values add to a batch of {batch} (↓): {added:.1f} ms" for batch, added in found["p_values"].items()]
    words = found["words"]
    lines.append(f"words, SciPy over ours ↑: {words['ratio']:.0f} ({words['seconds']:.2f} s)")
    lines += bench_limits.limits_lines(found["limits"]) + search_lines(found["searches"])
    return "\n".join(lines + bench_judging.judging_lines(found["judging"]))


def _forward(model: Model, encoded: Encoded, batch: int, peak: float, repeats: int) -> tuple[float, float, float]:
    from torch.utils.flop_counter import FlopCounterMode

    ids, lengths = np.tile(encoded.ids, (batch, 1)), np.full(batch, encoded.T)
    types = None if encoded.type_ids is None else np.tile(encoded.type_ids, (batch, 1))

    def timed(products: contextlib.AbstractContextManager) -> float:
        with products:
            return clocked(lambda: model.run(ids, lengths, types))[1]

    pairs = [(timed(contextlib.nullcontext()), timed(plain_products())) for _ in range(2 * repeats)]
    seconds, plain = map(statistics.median, zip(*pairs))
    with model.eager_attention(), plain_products(), torch.no_grad(), FlopCounterMode(display=False) as counter:
        model.differentiable(model.embed(encoded.ids[None]), encoded.type_ids)
    return batch / seconds, counter.get_total_flops() * batch / seconds / peak, plain / seconds


def _against_captum(model: Model, encoded: Encoded, repeats: int) -> dict[str, float]:
    target = int(Oracle(model, encoded).logits(np.zeros((1, encoded.F), dtype=bool))[0].argmax())
    contestants = {"ours": lambda: _ours(model, encoded, target)}
    for at_once in (1, 32):
        contestants[f"captum, {at_once} at a time"] = _captum(model, encoded, target, at_once)
    expected = contestants["ours"]()
    for name, run in contestants.items():
        np.testing.assert_allclose(run(), expected, atol=1e-4, err_msg=f"{name} disagrees")
    rounds = [[clocked(run)[1] for run in contestants.values()] for _ in range(repeats)]
    seconds = dict(zip(contestants, map(statistics.median, zip(*rounds))))
    ours = seconds.pop("ours")
    return {name: time / ours for name, time in seconds.items()}


def _ours(model: Model, encoded: Encoded, target: int) -> np.ndarray:
    # A fresh oracle: nothing is read from a memo.
    oracle = Oracle(model, encoded)
    return measure("leave-one-out").compute(Explained(oracle.logits, encoded.F, target, encoded.premasked))["signed"]


def _captum(model: Model, encoded: Encoded, target: int, at_once: int) -> Callable[[], np.ndarray]:
    from captum.attr import FeatureAblation

    ids = model.tensor(encoded.ids[None])
    special = model.tensor(encoded.feature_of[None] < 0)
    baseline = torch.where(special, ids, torch.full_like(ids, encoded.mask_id))
    # Special tokens are "ablated" to themselves along with feature 0, so that both sides do the same passes.
    groups = model.tensor(np.maximum(encoded.feature_of, 0)[None])

    def forward(batch: torch.Tensor) -> torch.Tensor:
        return model.differentiable(model.module.get_input_embeddings()(batch), encoded.type_ids)[0]

    def run() -> np.ndarray:
        with model.lock, torch.inference_mode():
            scores = FeatureAblation(forward).attribute(
                ids, baselines=baseline, target=target, feature_mask=groups, perturbations_per_eval=at_once
            )
        first = [int(np.flatnonzero(encoded.feature_of == i)[0]) for i in range(encoded.F)]
        return scores[0].float().cpu().numpy()[first]

    return run
