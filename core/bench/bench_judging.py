"""Speed of judging: metrics that share inputs against each by itself, draws in one batch against one by one."""

import statistics
from collections.abc import Callable

from core.bench.clock import clocked
from core.explanation.explainer import Explainer, with_reference
from core.judging.judging import How, Judge, judge_measure
from core.measures.catalogue import import_captum, measures
from core.metrics.catalogue import of_examples
from core.network.features import Encoded
from core.network.model import Model
from core.oracle.soft import Soft

WORDS_25 = (
    "This film is a warm, funny and deeply felt story about two brothers who lose everything but find each "
    "other again in the end"
)


def judging_speed(model: Model, repeats: int = 5, text: str = WORDS_25) -> dict:
    """Measure judging on this machine; medians, each run with a fresh explainer and no store.

    Returns:
        hard: seconds of all hard metrics of all fast measures, with p-values and attributions; passes: inputs read.
        shared: seconds of the metrics alone; ratio: their time with nothing shared over it, higher is better.
        soft: seconds of Soft-NS and Soft-NC of one measure, 32 draws.
        one_by_one: time of the same draws in batches of one over `soft`, higher is better.
    """
    import_captum()
    encoded = model.encode(text)
    cheap = [
        name
        for name, measure in measures().items()
        if measure.swept and not measure.baseline and measure.passes(encoded.F) <= 2 * encoded.F + 2
    ]
    hard = tuple(name for name, metric in of_examples().items() if not metric.soft)
    explainer = with_reference(model, None)
    scores = [Judge(explainer, encoded).attribution(name)[0] for name in cheap]
    _together(model, encoded, cheap[:1], hard)

    def middle(work: Callable[[], None]) -> float:
        return statistics.median(clocked(work)[1] for _ in range(repeats))

    together = middle(lambda: _together(model, encoded, cheap, hard))
    before = model.scheduler.counters.passes
    _together(model, encoded, cheap, hard)
    passes = model.scheduler.counters.passes - before
    shared, alone = (middle(lambda: _rated(model, encoded, scores, hard, share)) for share in (True, False))
    soft, single = (middle(lambda: run(model, encoded)) for run in (_soft, _one_by_one))
    return {
        "features": encoded.F,
        "measures": len(cheap),
        "metrics": len(hard),
        "hard": together,
        "passes": passes,
        "shared": shared,
        "ratio": alone / shared,
        "soft": soft,
        "one_by_one": single / soft,
    }


def judging_lines(found: dict) -> list[str]:
    """The figures as lines of text."""
    return [
        (
            f"{found['metrics']} hard metrics of {found['measures']} measures, {found['features']} words, "
            f"three erasures: {found['hard']:.2f} s ↓, {found['passes']:,} passes; "
            f"metrics alone {found['shared']:.2f} s ↓, unshared over shared inputs ↑: {found['ratio']:.1f}"
        ),
        (
            f"Soft-NS and Soft-NC, 32 draws: {found['soft']:.2f} s ↓; "
            f"single draws over one batch ↑: {found['one_by_one']:.1f}"
        ),
    ]


def _together(model: Model, encoded: Encoded, names: list[str], hard: tuple[str, ...]) -> None:
    explainer = with_reference(model, None)
    for name in names:
        judge_measure(explainer, encoded, name, "signed", hard)


def _rated(model: Model, encoded: Encoded, scores: list, hard: tuple[str, ...], share: bool) -> None:
    """Judge attributions that are there, with one memo for all metrics or one for each."""
    explainer = Explainer(model)
    for one in scores:
        for metric in hard:
            Judge(explainer if share else Explainer(model), encoded).rate(one, (metric,))


def _soft(model: Model, encoded: Encoded) -> None:
    judge = Judge(Explainer(model), encoded, How())
    judge.rate(judge.random(0), ("Soft-NS", "Soft-NC"))


def _one_by_one(model: Model, encoded: Encoded) -> None:
    """As many draws, each a batch of its own."""
    scores = Judge(Explainer(model), encoded).random(0)
    for share in (scores, 1 - scores):
        for seed in range(How().draws):
            Soft(model, encoded, 1, seed).probabilities(share)
    # As beside the draws in one batch: the text itself, and nothing of it.
    Explainer(model).logits(encoded)
    Soft(model, encoded, 1).probabilities(0 * scores)
