"""ROAR and Recursive ROAR: mask what a measure ranks first, train again, and see how much the model loses."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from core.data.tables import LabelledTexts
from core.explanation.explainer import Explainer
from core.explanation.rows import SIGNS
from core.loading.loading import choose_device, load
from core.loading.model_files import ADAPTER_WEIGHTS, WEIGHTS
from core.mathematics.masking import RATIOS
from core.measures.catalogue import measure, offered_measures
from core.network.features import UNITS
from core.network.memory import keep_freed_memory
from core.network.scheduler import THERE_AND_BACK, NonFinite
from core.roar.masked import MaskingStep, Masks, Texts, mask_first, rank_features, read_lists, save_lists
from core.storage.files import only_writer, write_whole
from core.training.bases import base_digest
from core.training.checkpoints import TrainingError, library_versions
from core.training.retraining import CARD, TrainingCard, clock, read_card, retrain
from core.training.training import Plan, load_start, read_files
from core.wording import refuse_unknown

RANDOM = "random"
NOTHING, EVERYTHING = MaskingStep(ratio=0.0), MaskingStep(ratio=1.0)
_MASKS, _ORDER, _UNMASKED = "masks.safetensors", "order.safetensors", "unmasked"
Told = Callable[[str], None]


@dataclass(frozen=True)
class RoarStudy:
    """All that decides a study.

    plan: how each model is trained, on texts whose masks stay; out: the folder of all trainings; seed: the first one.
    recursive: the measure is computed again, with the model of the step before; else once, on unmasked texts.
    """

    plan: Plan
    measures: tuple[str, ...]
    steps: tuple[MaskingStep, ...] = tuple(MaskingStep(ratio) for ratio in RATIOS[1:])
    seeds: int = 3
    recursive: bool = True
    sign: str = "signed"
    unit: str = "word"

    def check(self) -> None:
        """ValueError or TrainingError with a sentence for the first choice that cannot be carried out."""
        self.plan.check()
        refuse_unknown(
            ("measure", self.measures, offered_measures(self.measures)),
            ("values", (self.sign,), SIGNS),
            ("unit", (self.unit,), UNITS),
        )
        if not self.measures:
            raise ValueError("name at least one measure")
        if self.seeds < 1:
            raise ValueError(f"--seeds is at least 1, not {self.seeds}")
        amounts = [step.amount for step in self.steps]
        if not amounts or amounts != sorted(set(amounts)) or amounts[0] <= 0:
            raise ValueError("ratios are fractions that ascend, above 0 and up to 1")
        if amounts[-1] > 1 and self.steps[-1].ratio is not None:
            raise ValueError(f"a ratio is a fraction up to 1, not {amounts[-1]:g}")
        if self.plan.test is None:
            raise ValueError("ROAR measures on a test file: give --test")

    @property
    def asked(self) -> tuple[str, ...]:
        """The baseline, which all measures share, and the measures."""
        return RANDOM, *(name for name in self.measures if name != RANDOM)


def run_roar(
    study: RoarStudy, progress: Callable[[str, int, int], None] = lambda *_: None, told: Told = print
) -> list[TrainingCard]:
    """Carry out every training that is not there yet; their cards, by seed, measure and step.

    Each training has a folder with a card under `plan.out`; the weights go once nothing is computed with them any more.
    The same study started again trains what has no card, from masks that were written before their training began.

    Args:
        progress: called with (what is being done, forward passes done, most that there will be); a gradient counts as
            two more.
        told: called with a sentence on each training that did not converge, and on what was left out of the data.
    Raises:
        ValueError, TrainingError, BadData, UnsupportedModel: a sentence on what to change.
        NonFinite: a measure does not apply.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_folder`; finished trainings stay.
    Source: ROAR §4; glossary, ROAR.
    """
    study.check()
    plan, files = read_files(study.plan, told)
    with only_writer(Path(plan.out), folder=True) as folder:
        _claim(folder, study, plan, files)
        work = _Work(replace(study, plan=plan), folder, files, progress, told)
        return [card for number in range(study.seeds) for card in work.seed(plan.seed + number)]


def _claim(folder: Path, study: RoarStudy, plan: Plan, files: dict[str, LabelledTexts]) -> None:
    """Write what the trainings of a folder are of; TrainingError where they are of something else."""
    left_out = ("train", "validation", "test", "out", "device", "seed", "shortcut", "planted")
    about = {name: value for name, value in asdict(plan).items() if name not in left_out}
    about |= {"recursive": study.recursive, "values": study.sign, "unit": study.unit}
    # One-shot masks do not depend on each other; recursive ones depend on all that were there before.
    about |= {"steps": [str(step) for step in study.steps] if study.recursive else []}
    about |= {"data": {split: texts.digest for split, texts in files.items()}, "weights": base_digest(plan.base)}
    about |= library_versions(plan.method)
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    place = folder / "study.json"
    if place.is_file() and json.loads(place.read_text(encoding="utf-8")).get("fingerprint") != found:
        raise TrainingError(f"{folder} holds trainings of another plan or data. Delete it or choose another --out.")
    write_whole(place, json.dumps(about | {"fingerprint": found}, indent=1).encode(), replaces=True)


class _Work:
    """A study's moving parts: the texts as they are read, and the folder of all trainings."""

    def __init__(self, study: RoarStudy, folder: Path, files: dict[str, LabelledTexts], progress, told: Told):
        self.study, self.folder, self.progress, self.told = study, folder, progress, told
        self.plan, self.files = study.plan, files
        self.device = choose_device(study.plan.device)
        if self.device == "cpu":
            keep_freed_memory()
        module, tokenizer, mask_id, longest = self._base(study.plan)
        width = min(study.plan.max_tokens, longest)
        self.data = {split: Texts.read(tokenizer, texts, study.unit, width, mask_id) for split, texts in files.items()}
        self._refuse(module.config.model_type)
        self.steps = [step for step in study.steps if step != EVERYTHING]
        sizes = {split: len(one.labels) for split, one in self.data.items()}
        self.training = study.plan.epochs * (THERE_AND_BACK * sizes["train"] + sizes["validation"]) + sizes["test"]
        # What there is to do, in forward passes: ranking by a measure at each step, each training, and a seed's part.
        self.ranking = {name: self._ranking(name) for name in study.asked}
        ranked = sum(sum(passes.values()) for passes in self.ranking.values())
        self.seed_passes = ranked + (2 + len(study.asked) * len(self.steps)) * self.training
        self.done, self.total = 0, study.seeds * self.seed_passes

    def _base(self, plan: Plan):
        return load_start(plan, self.files["train"])

    def _refuse(self, family: str) -> None:
        """NonFinite with a sentence for a measure that does not apply, before hours have gone."""
        most = max(int((~one.premasked).sum()) for texts in self.data.values() for one in texts.encoded)
        for name in self.study.asked:
            if why := measure(name).refusal(family, most):
                raise NonFinite(why)

    def _ranking(self, name: str) -> dict[MaskingStep, int]:
        """Forward passes that ranking all features takes at most before each step."""
        named, found = measure(name), {}
        free = [int((~one.premasked).sum()) for texts in self.data.values() for one in texts.encoded]
        for step, before in zip(self.steps, [NOTHING, *self.steps]):
            again = self.study.recursive or before == NOTHING
            found[step] = named.weight * sum(named.passes(F - before.count(F)) for F in free) if again else 0
        return found

    def _tell(self, what: str, passes: int, share: float) -> None:
        """Tell how far it is: such a share of so many passes beside those that are done."""
        self.progress(f"ROAR, {what}", round(self.done + share * passes), self.total)

    def seed(self, seed: int) -> list[TrainingCard]:
        """Every training of a seed."""
        end = self.done + self.seed_passes
        cards = self._trained(seed)
        # Nothing follows a training that did not converge.
        self.done = end
        self._tell(f"seed {seed}", 0, 0.0)
        return cards

    def _trained(self, seed: int) -> list[TrainingCard]:
        own = self.folder / f"seed-{seed}"
        unmasked = {split: texts.unmasked for split, texts in self.data.items()}
        everything = {split: [mask | True for mask in masks] for split, masks in unmasked.items()}
        first = self._train(own / _UNMASKED, unmasked, "", NOTHING, seed, keep=True)
        if first.problem:
            return [first]
        cards = [first, self._train(own / "everything masked", everything, "", EVERYTHING, seed)]
        for name in self.study.asked:
            cards += self._follow(own, name, seed)
        return cards

    def _follow(self, own: Path, name: str, seed: int) -> list[TrainingCard]:
        """The trainings of a measure; none behind one that did not converge, whose ranking means nothing."""
        cards, before, ranking = [], own / _UNMASKED, self.ranking[name]
        places = {step: own / name.replace("/", "-") / str(step) for step in self.steps}
        for step, place in places.items():
            end = self.done + ranking[step] + self.training
            follower = next((places[one] for one in places if one.amount > step.amount), None)
            # Weights are there for the masks of the next step alone.
            keep = self.study.recursive and follower is not None and not (follower / _MASKS).is_file()
            card = read_card(place)
            if card is None or (keep and not card.problem and not _has_weights(place)):
                spent = clock()
                masks = self._masks(place, before, name, step, seed, ranking[step])
                card = self._train(place, masks, name, step, seed, keep, spent())
            if self.study.recursive and before.name != _UNMASKED:
                _drop_weights(before)
            self.done = end
            cards.append(card)
            if card.problem:
                break
            before = place if self.study.recursive else before
        return cards

    def _masks(self, place: Path, before: Path, name: str, step: MaskingStep, seed: int, passes: int) -> dict:
        """What is masked at a step: as it was written, or what the measure ranks first under the model before."""
        if (written := read_lists(place / _MASKS, self.data)) is not None:
            return written
        orders = self._orders(place.parent, before, name, seed, partial(self._tell, f"seed {seed}, {name}", passes))
        self.done += passes
        masks = {split: mask_first(texts, orders[split], step) for split, texts in self.data.items()}
        save_lists(place / _MASKS, masks)
        return masks

    def _orders(self, own: Path, before: Path, name: str, seed: int, tell: Callable[[float], None]) -> dict:
        once = not self.study.recursive
        if once and (written := read_lists(own / _ORDER, self.data)) is not None:
            return written
        start = {split: texts.unmasked for split, texts in self.data.items()}
        masked = start if before.name == _UNMASKED else read_lists(before / _MASKS, self.data)
        if masked is None:
            raise TrainingError(f"{before / _MASKS} is gone or damaged. Delete {own} and rerun.")
        explainer, sign = Explainer(load(str(before), self.plan.device)), self.study.sign
        orders, every = {}, sum(len(texts.labels) for texts in self.data.values())
        for split, texts in self.data.items():
            ranked = sum(map(len, orders.values()))
            asked = explainer, texts, masked[split], name, sign, seed
            orders[split] = rank_features(*asked, lambda done, _, ranked=ranked: tell((ranked + done) / every))
        if once:
            save_lists(own / _ORDER, orders)
        return orders

    def _train(
        self,
        place: Path,
        masks: dict[str, Masks],
        name: str,
        step: MaskingStep,
        seed: int,
        keep=False,
        taken: float = 0.0,
    ) -> TrainingCard:
        """A training's card: as it was written, where its weights are there if they are to be kept, or a new one."""
        found = read_card(place)
        if found is not None and (not keep or found.problem or _has_weights(place)):
            self.done += self.training
            return found
        plan, spent = replace(self.plan, seed=seed), clock()
        data = {split: texts.with_masks(masks[split]) for split, texts in self.data.items()}
        performance, epochs, problem = retrain(
            plan,
            lambda plan: self._base(plan)[:3],
            data,
            step.amount if step.ratio is not None else 0.5,
            place if keep else None,
            self.device,
            partial(self._tell, f"seed {seed}, {name or place.name}, {step}", self.training),
        )
        self.done += self.training
        size = len(data["test"].labels)
        card = TrainingCard(name, step.ratio, step.features, seed, performance, problem, epochs, size, spent(), taken)
        card.write(place, plan)
        if problem:
            self.told(f"Left out: seed {seed}, {name or place.name}, {step}: {problem}.")
        return card


def _has_weights(place: Path) -> bool:
    return any((place / name).is_file() for name in (WEIGHTS, ADAPTER_WEIGHTS))


def _drop_weights(place: Path) -> None:
    """Leave the card and the masks of a finished training."""
    for path in place.iterdir() if place.is_dir() else ():
        if path.name not in (CARD, _MASKS):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
