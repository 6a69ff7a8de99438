"""A family of seeds: the same training with one seed after the other, each an ordinary model folder."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from core.data.tables import LabelledTexts
from core.evaluation.predicting import predict_at_ratios
from core.loading.loading import load
from core.loading.model_files import ADAPTER, INDEX, WEIGHTS
from core.loading.seeds import Member, Seeds, read_seeds
from core.mathematics.performance import lowest
from core.mathematics.statistics import Interval, seeds_interval
from core.network.features import BOTH
from core.storage.files import only_writer
from core.training.checkpoints import NotFinite, TrainingError
from core.training.retraining import CARD, Problem, problem_of
from core.training.training import Plan, fingerprint, read_files, train

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class SeedsReport:
    """What a family reaches by the cards of its members, those that converged: metric at masking ratios.

    mean: of each ratio, with the 95 % t-interval over seeds in logit space.
    """

    family: Seeds
    metric: str
    ratios: tuple[float, ...]
    mean: tuple[Interval, ...]


def train_seeds(
    plan: Plan, count: int, progress: Progress = lambda *_: None, told: Callable[[str], None] = lambda _: None
) -> Path:
    """Train a plan with `count` seeds from the plan's own on, each into a folder `seed-…` of the plan's `out`.

    A member that is listed is not trained again; one that was stopped goes on after its last complete epoch. More seeds
    may be added later. Those that did not converge are listed with why, and left out of whatever is computed.

    Args and Raises:
        As `core.training.training.train`; TrainingError also where no seed converged, count is below 1, or the folder
        holds a model or a family of another plan or data.
    Returns:
        The family's folder.
    Source: ROAR and FMM, which train five seeds.
    """
    if count < 1:
        raise TrainingError(f"seeds is {count}; it must be at least 1.")
    plan.check()
    out = Path(plan.out)
    if any((out / name).exists() for name in (WEIGHTS, INDEX, ADAPTER)):
        raise TrainingError(f"{str(out)!r} holds a model. Choose another --out.")
    read, data = read_files(plan, told)
    with only_writer(out, folder=True) as place:
        family = _begun(place, fingerprint(replace(read, seed=0), data))
        for seed in range(plan.seed, plan.seed + count):
            name = f"seed-{seed}"
            done = next((one for one in family.trained if one.seed == seed), None)
            if done is not None and (done.problem or done in family.members):
                continue
            own = replace(plan, seed=seed, out=str(place / name))
            problem = _trained(own, data["validation"], partial(_of_seed, progress, seed), told)
            others = [one for one in family.trained if one.seed != seed]
            family = replace(family, trained=tuple(sorted([*others, Member(name, seed, problem)], key=_by_seed)))
            family.write()
    for sentence in family.left_out:
        told(sentence)
    if not family.members:
        raise TrainingError(f"No seed of {str(out)!r} converged. Train longer, or with another learning rate.")
    return out


def seeds_report(family: Seeds) -> SeedsReport:
    """What the cards of a family's members say."""
    cards = [
        json.loads((family.folder / one.folder / CARD).read_text(encoding="utf-8"))["performance"]
        for one in family.members
    ]
    reached = np.array([card["masked"] for card in cards])
    low = lowest(cards[0]["metric"])
    mean = tuple(seeds_interval(values, low, 1.0, cards[0]["examples"]) for values in reached.T)
    return SeedsReport(family, cards[0]["metric"], tuple(cards[0]["ratios"]), mean)


def _begun(out: Path, plan: str) -> Seeds:
    found = read_seeds(out)
    if found is not None and found.plan != plan:
        raise TrainingError(f"{str(out)!r} holds a family of another plan or data. Choose another --out.")
    return found or Seeds(out, plan, ())


def _by_seed(one: Member) -> int:
    return one.seed


def _of_seed(progress: Progress, seed: int, what: str, done: int, total: int) -> None:
    progress(f"seed {seed}: {what}", done, total)


def _trained(plan: Plan, validation: LabelledTexts, progress: Progress, told: Callable[[str], None]) -> str:
    """Train a member; a `Problem`, "" where it converged."""
    try:
        out = train(plan, progress, told)
    except NotFinite:
        return str(Problem.NOT_FINITE)
    model = load(str(out), plan.device)
    pairs = zip(validation.texts, validation.seconds or [None] * len(validation))
    encoded = [model.encode(text, second, "token", BOTH) for text, second in pairs]
    predicted = predict_at_ratios(model, encoded, (0.0,), plan.seed)[0]
    reached = json.loads((out / CARD).read_text(encoding="utf-8"))["performance"]
    return str(problem_of(len(np.unique(predicted)) == 1, reached["masked"][0], reached["class_majority"]))
