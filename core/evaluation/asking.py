"""Ask a study or a question of every example of a sample, with what the store knows; what it would take."""

from collections.abc import Callable, Generator
from functools import partial
from typing import cast

from core.evaluation.engine import Run, Texts, lacking
from core.evaluation.sampling import Sample
from core.evaluation.store_log import StoreLog
from core.evaluation.study import Answers, Found, Known, Question, Study
from core.explanation.explainer import Cost, Explainer
from core.mathematics.stepwise import finish
from core.network.features import NoFeatures
from core.storage.shelf import Shelf
from core.storage.store import Store


def run_study(
    explainer: Explainer,
    sample: Sample,
    study: Study[Found],
    store: Store | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    within: Callable[[float], None] | None = None,
    texts: Texts | None = None,
) -> Generator[Found, None, Found]:
    """Ask a study of every example of a sample; yields what is known after each, and returns all of it.

    What the store knows is read; texts that cannot be masked, or give NaN, are left out and counted.

    Args:
        progress: called with (examples done, N); within: with how far it is, weighted by cost, before each batch.
        texts: as of `Run`.
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
        ValueError: as `Study.check`.
    """
    study.check(explainer.model)
    if len(sample) > 1:  # one example is what pages show, which know much of it already
        shelf = None if store is None else Shelf(store)
        explainer = Explainer(explainer.model, shelf, explainer.reference, kept=explainer.kept)
    log = None if store is None else StoreLog(store, study.key(explainer))
    return (yield from Run(explainer, sample, study, log, texts).go(progress, cancelled, within))


def ask(
    explainer: Explainer,
    sample: Sample,
    question: Question,
    store: Store,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Answers:
    """Ask a question of every example, study by study, resuming; progress: (label of the study, examples done, N).
    ValueError as `Study.check`.
    """
    texts: Texts = {}
    found = {
        study: finish(run_study(explainer, sample, study, store, progress=partial(progress, study.label), texts=texts))
        for study in question.studies
    }
    return Answers(explainer.model, explainer.reference, sample, found)


def read_study(explainer: Explainer, sample: Sample, study: Study[Found], store: Store) -> Found:
    """What the store knows of a study on a sample; computes nothing."""
    return Run(explainer, sample, study, StoreLog(store, study.key(explainer))).so_far()


def study_cost(
    explainer: Explainer, sample: Sample, study: Study[Found], found: Found | None = None, looked_at: int = 48
) -> Cost:
    """What a study takes at most on examples that are not known, by some of every length; found: what is."""
    left, costs = list(range(len(sample))) if found is None else lacking(cast(Known, found)), []
    rising = sorted((sample.examples[i] for i in left), key=lambda one: (len(one.text), one.text))
    for k in range(parts := min(looked_at, len(rising))):  # the price hangs on the length
        example = rising[(2 * k + 1) * len(rising) // (2 * parts)]
        try:
            encoded = explainer.encode(example.text, example.second, study.unit, sample.maskable)
            costs.append(study.cost(explainer, encoded, found))
        except NoFeatures:
            continue
    return Cost.sum(costs).times(len(left) / max(1, len(costs)))
