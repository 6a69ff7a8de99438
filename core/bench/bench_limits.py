"""Speed of limits: searches over sets against the printed beam, exact limits, and the dynamic program alone."""

import itertools
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from core.bench.clock import clocked, most_held
from core.bench.literal_limits import literal_limits
from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact, find_searched
from core.loading.loading import building
from core.mathematics.search.limits import lattice_limits
from core.mathematics.stepwise import finish
from core.network.architectures import Config, architecture_of
from core.network.features import Encoded, Feature, Truncation
from core.network.model import Model
from core.oracle.oracle import Oracle
from core.wording import amount, text_table

BEAMED = "The plot wanders a little, but two patient and generous actors make almost every quiet scene worth watching."
EXACT = ("A slow, dull and joyless film.", "The plot wanders, but two patient actors carry every scene.")
# Of the beam that the printed algorithm keeps.
WIDTH = 5
# How far limits may lie within the twin's, by what they were searched in.
SLACK = {"float32": 1e-5}
HALF_SLACK = 1e-3


def limits_speed(
    model: Model, repeats: int = 7, budget: float = 30.0, beamed: str = BEAMED, exact: tuple[str, ...] = EXACT
) -> dict:
    """Measure limits on this machine.

    Args:
        repeats: most rounds of the contest, all begun within `budget` seconds.
    Returns:
        contest: see `contest`; exact: {words: seconds of exact limits}; program: see `program_speed`;
        base: see `base_speed`, None except on CUDA.
    """
    return {
        "contest": contest(model, model.encode(beamed), WIDTH, repeats, budget),
        "exact": dict(_exact(model, text) for text in exact),
        "program": program_speed(repeats),
        "base": base_speed(model.device) if model.device.startswith("cuda") else None,
    }


def contest(model: Model, encoded: Encoded, width: int, repeats: int, budget: float) -> dict:
    """An insertion search and a beam against the algorithm as printed, in turn, by fresh explainers, both limits.

    The copy in half precision is made before.

    Returns:
        features, width, rounds: counts; twin: seconds as printed, None for families that it cannot read.
        ours: {(search, precision): a dict}, with "seconds"; "sets", the inputs asked for; "network", the share of the
            time spent in it; "ratio", the twin's time over ours, higher is better; and "wider", how far
            (lower, upper) lie beyond the twin's limits, above 0 where ours are wider.
    """
    explainer = Explainer(model)
    target = int(explainer.logits(encoded).argmax())
    _warm_up(explainer, encoded)
    halves = (False, True) if explainer.searching(encoded) is not None else (False,)
    contestants: dict[str | tuple[int | None, bool], Callable[[], dict]] = {}
    if model.architecture.reading != "last":
        literal = partial(literal_limits, model, encoded, target, width)
        contestants["twin"] = lambda: dict(zip(("limits", "seconds"), clocked(literal)))
    for search in itertools.product((None, width), halves):
        contestants[search] = partial(_ours, model, encoded, target, *search)
    runs, started, rounds = {name: [] for name in contestants}, time.perf_counter(), 0
    while rounds == 0 or (rounds < repeats and (time.perf_counter() - started) * (rounds + 1) / rounds <= budget):
        for name, run in contestants.items():
            runs[name].append(run())
        rounds += 1
    twin = _middle(runs.pop("twin")) if "twin" in runs else None
    ours = {}
    for found in runs.values():
        # A search in half precision that overflowed went on in the model's own, which has its figures already.
        ours.setdefault((found[0]["by"], found[0]["searched"]), _compared(_middle(found), twin))
    return {
        "features": encoded.F,
        "width": width,
        "rounds": rounds,
        "twin": None if twin is None else twin["seconds"],
        "ours": ours,
    }


def program_speed(repeats: int, small: int = 12, large: int = 20) -> dict[str, float]:
    """The dynamic program of exact limits on random scores, lower is better: {"small", "large": features;
    "milliseconds": of the small one; "seconds", "megabytes": of the large one, beyond the scores}.
    """
    rng = np.random.default_rng(0)
    few, many = rng.random(1 << small), rng.random(1 << large)
    quick = statistics.median(clocked(lambda: lattice_limits(few))[1] for _ in range(max(1, repeats)))
    slow = statistics.median(clocked(lambda: lattice_limits(many))[1] for _ in range(min(3, max(1, repeats))))
    held = most_held(lambda: lattice_limits(many))
    return {"small": small, "large": large, "milliseconds": 1000 * quick, "seconds": slow, "megabytes": held}


def base_speed(device: str, config: Config | None = None, features: int = 100, width: int = WIDTH) -> dict:
    """Beam limits of a long input (features of one token) under a classifier, by default BERT-base, after a warm-up.

    Returns features, width; searched: the precision; seconds ↓; sets: inputs asked for; limits: (lower, upper).
    """
    model = random_classifier(device, config)
    encoded = plain_tokens(features, model.module.config.vocab_size, model.mask_id)
    explainer = Explainer(model)
    target = int(Oracle(model, encoded).logits(np.zeros((1, features), dtype=bool)).argmax())
    _warm_up(explainer, encoded)
    found = _ours(model, encoded, target, width, True)
    return {"features": features, "width": width} | {
        name: found[name] for name in ("searched", "seconds", "sets", "limits")
    }


def random_classifier(device: str, config: Config | None = None) -> Model:
    """A BERT classifier of two classes with random float32 weights, by default of BERT-base’s shape."""
    import torch
    from transformers import AutoModelForSequenceClassification, BertConfig

    config = config or BertConfig()
    with building(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = AutoModelForSequenceClassification.from_config(config)
    module.eval().requires_grad_(False).to(device)
    family, labels = architecture_of("bert"), tuple(map(str, config.id2label or ()))
    most = config.max_position_embeddings
    return Model("random", "random", module, None, family, device, "float32", labels, 3, most)


def plain_tokens(features: int, vocabulary: int, mask_id: int) -> Encoded:
    """Encode a text of words of one token each, drawn from the vocabulary, between a first and a last special token."""
    words = [f"word{i}" for i in range(features)]
    ends = np.cumsum([len(word) + 1 for word in words])
    spans = tuple(Feature(word, int(end) - len(word) - 1, int(end) - 1) for word, end in zip(words, ends))
    ids = np.array([1, *np.random.default_rng(0).integers(mask_id + 1, vocabulary, features), 2], dtype=np.int64)
    feature_of = np.array([-1, *range(features), -1], dtype=np.int64)
    text, types, premasked = " ".join(words), np.zeros_like(ids), np.zeros(features, dtype=bool)
    whole = Truncation(features, features, False)
    return Encoded(text, None, "word", ids, types, feature_of, spans, premasked, mask_id, whole)


def limits_lines(found: dict) -> list[str]:
    """The figures as lines of text."""
    run, base = found["contest"], found["base"]
    rows = [] if run["twin"] is None else [["as printed", f"{run['width']} orders", f"{run['twin']:.2f}", *[""] * 6]]
    rows += [_row(by, precision, ours) for (by, precision), ours in run["ours"].items()]
    program = found["program"]
    further = [
        *([f"exact limits, {amount(words, 'word')}", f"{seconds:.2f} s"] for words, seconds in found["exact"].items()),
        [f"dynamic program alone, {amount(program['small'], 'word')}", f"{program['milliseconds']:.1f} ms"],
        [f"dynamic program alone, {amount(program['large'], 'word')}", f"{program['seconds']:.2f} s"],
        ["its memory", f"{program['megabytes']:.0f} MB"],
    ]
    if base is not None:
        shape = f"BERT-base, {base['features']} features, beam of {base['width']}, {base['searched']}"
        further.append([shape, f"{base['seconds']:.1f} s, {base['sets']:,} sets"])
    return [
        f"limits of {amount(run['features'], 'word')}, medians of {run['rounds']}",
        *text_table(_HEADER, rows).split("\n"),
        *text_table(["further figures", "↓"], further).split("\n"),
    ]


# Of the contest: ratio is the printed algorithm's time over ours, wider how far ours lie beyond its limits.
_HEADER = [
    "search",
    "precision",
    "seconds ↓",
    "sets ↓",
    "in the network ↑",
    "width ↑",
    "ratio ↑",
    "wider ↑ (lower, upper)",
    "as wide",
]


def _row(by: str, precision: str, ours: dict) -> list[str]:
    lower, upper = ours["limits"]
    shown = [by, precision, f"{ours['seconds']:.2f}", f"{ours['sets']:,}", f"{ours['network']:.0%}"]
    shown.append(f"{upper - lower:.4f}")
    if ours["wider"] is None:
        return [*shown, "", "", ""]
    as_wide = min(ours["wider"]) >= -SLACK.get(precision, HALF_SLACK)
    below, above = ours["wider"]
    return [*shown, f"{ours['ratio']:.2f}", f"{below:+.1e}, {above:+.1e}", "yes" if as_wide else "NO"]


def _exact(model: Model, text: str) -> tuple[int, float]:
    """The number of features, and the seconds that their exact limits take."""
    explainer, encoded = Explainer(model), model.encode(text)
    target = int(Oracle(model, encoded).logits(np.zeros((1, encoded.F), dtype=bool)).argmax())
    return encoded.F, clocked(lambda: finish(find_exact(explainer, encoded, target)))[1]


def _ours(model: Model, encoded: Encoded, target: int, width: int | None, half: bool) -> dict:
    """One search by an explainer that knows nothing yet; width: of the beam, None for an insertion search."""
    explainer = Explainer(model)
    searching = (explainer.searching(encoded) if half else None) or explainer.oracles.of(encoded)
    models = {id(one): one for one in (model, searching.model)}.values()
    before = sum(one.scheduler.counters.seconds for one in models)
    found, seconds = clocked(lambda: finish(find_searched(explainer, encoded, target, width, half, early=False)))
    inside = sum(one.scheduler.counters.seconds for one in models) - before
    return {
        "by": "insertion search" if width is None else f"beam of {width}",
        "searched": found.searched,
        "seconds": seconds,
        "network": inside / seconds,
        "sets": searching.counters.passes,
        "limits": (found.limits.lower, found.limits.upper),
    }


def _compared(ours: dict, twin: dict | None) -> dict:
    if twin is None:
        return ours | {"ratio": None, "wider": None}
    (lower, upper), (twin_lower, twin_upper) = ours["limits"], twin["limits"]
    return ours | {"ratio": twin["seconds"] / ours["seconds"], "wider": (twin_lower - lower, upper - twin_upper)}


def _middle(runs: list[dict]) -> dict:
    """One run with the medians of all: what they find is the same every time."""
    return runs[0] | {
        name: statistics.median(run[name] for run in runs) for name in ("seconds", "network") if name in runs[0]
    }


def _warm_up(explainer: Explainer, encoded: Encoded) -> None:
    """Run both models once, through oracles that are thrown away: the first batches of a shape take longer."""
    masks = np.tril(np.ones((encoded.F, encoded.F), dtype=bool))
    rough = explainer.searching(encoded)
    for model in (explainer.model, *(() if rough is None else (rough.model,))):
        Oracle(model, encoded).logits(masks)
