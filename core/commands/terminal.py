"""What several commands share: reading what their options name, and a progress bar."""

import contextlib
import functools
import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import settings
from core.commands.options import ROLES, Options
from core.data.examples import DataSet, Example, bundled_data, bundled_set
from core.data.mapping import Named
from core.data.sources import open_data, read_data
from core.data.tables import RawTable
from core.explanation.explainer import Cost, Explainer
from core.measures.catalogue import offered_measures
from core.network.features import FIRST, Encoded
from core.network.model import Model
from core.oracle.target import Contrast, Target, score_name, target_name
from core.results.caveats import Caveat
from core.results.inputs import model_caveats, text_caveats
from core.storage.library import Library
from core.storage.store import Store, open_store
from core.wording import amount, estimate, nearest_name, refuse_unknown

# Work that is expected to take no more seconds begins without a word.
_SLOW = 2.0
# Seconds that one bar waits for another.
_PATIENCE = 1.0
# What an interrupted command says where it keeps what it has computed.
RESUMES = "Finished work is kept. Give the same command again to resume."


def say(sentence: str) -> None:
    """Print a sentence beside what is computed, on standard error."""
    print(sentence, file=sys.stderr)


def named_example(options: Options) -> tuple[Example, str, str]:
    """The example that `add_text` asks for, its data set's name and digest; ValueError where there is none."""
    typed = options.text is not None
    if {options.data is None, options.example is None} != {typed}:
        raise ValueError("give either --text, or both --data and --example")
    if typed:
        return Example("typed text", options.text, options.second), "typed text", ""
    data = read_named(options.data, {})
    found = next((one for one in data.examples if one.id == options.example), None)
    if found is None:
        near = nearest_name(options.example, [one.id for one in data.examples])
        meant = f"; did you mean {near!r}?" if near else ""
        raise ValueError(f"{data.name} has no example {options.example!r}{meant}")
    return found, data.name, data.digest


def named_target(options: Options, labels: Sequence[str], predicted: int) -> Target:
    """The class that `add_text` asks for, or one rather than another; ValueError where there is none of that name."""

    def place(name: str) -> int:
        if name not in labels:
            raise ValueError(f"no class {name!r}; choose one of {', '.join(labels)}")
        return labels.index(name)

    of = predicted if options.target == "predicted" else place(options.target)
    return of if options.than is None else Contrast(of, place(options.than))


@dataclass(frozen=True, eq=False)
class OneText:
    """A text that a command was asked about, under its model; digest: of its data set, "" of a typed one."""

    example: Example
    data: str
    digest: str
    explainer: Explainer
    encoded: Encoded
    target: Target

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What limits whatever is said of the text, typed or not, under its model."""
        own = not self.digest and self.explainer.reference is not None
        return (*text_caveats(self.encoded, own), *model_caveats(self.explainer.model))

    @property
    def title(self) -> str:
        """Which text, and which class of it is explained."""
        return f"{self.example.id}, {self.class_name}"

    @property
    def class_name(self) -> str:
        """What is explained: a class, or one rather than another."""
        return target_name(self.explainer.model.labels, self.target)

    @property
    def score(self) -> str:
        """What v is: the probability of the class, or the difference of the logits of two."""
        return score_name(self.explainer.model.labels, self.target)

    def facts(self) -> dict[str, str]:
        """What it is an explanation of, and what it is made with."""
        from core.reports.exports import provenance

        model = self.explainer.model
        return provenance(model, self.encoded, self.example, self.data, self.digest, self.target)

    def origin(self, options: Options) -> dict[str, str]:
        """What `facts` lacks: choices, commit, reference, values of measures, seed of what draws, ids, and what limits
        the text.
        """
        from core.reports.answers import commit

        made = {"commit": commit(), "configuration_sha256": configuration_digest(options, self.digest)}
        made |= {"reference_sha256": self.explainer.tests_by or "", "variant": options.sign, "seed": "0"}
        return made | {"sample_ids": self.example.id, "text_caveats": ", ".join(one.name for one in self.caveats)}


def text_of(options: Options, explainer: Explainer, named: tuple[Example, str, str] | None = None) -> OneText:
    """The text that `add_text` asks for under a model that is loaded; named: as `named_example`. ValueError with a
    sentence where there is none, or no such unit or class.
    """
    example, data, digest = named or named_example(options)
    encoded = explainer.encode(example.text, example.second, options.unit, options.maskable)
    if explainer.model.any_label:
        explainer = explainer.of_label(explainer.highest_label(encoded))
    target = named_target(options, explainer.model.labels, int(explainer.logits(encoded).argmax()))
    return OneText(example, data, digest, explainer, encoded, target)


def open_models(
    options: Options,
    told: Callable[[str], None] = say,
    seeds: Mapping[str, int] | None = None,
    loaded: Explainer | None = None,
) -> tuple[Store, list[Explainer]]:
    """The store, and every model that is asked for with what its inputs are tested by; seeds: as of `seeds_of`, whose
    names stand for their family; loaded: in place of the first. ValueError where a family's members have other
    classes, or one of them stands beside it.
    """
    store, family = open_store(settings.read()), named_family(seeds or {})
    asked = [name.rstrip("/") if name.rstrip("/") == family else name for name in _asked_models(options, loaded)]
    names = [one for name in asked for one in (seeds or [] if name == family else [name])]
    opened = [open_model(name, store, options.device, options.precision, told) for name in names]
    found = opened if loaded is None else [loaded, *opened]
    digests = [one.model.digest for one in found]
    members = [one.model for one in found if one.model.name in (seeds or {})]
    if twice := next((one for one in members if digests.count(one.digest) > 1), None):
        raise ValueError(f"leave out {twice.name}; its family has it")
    first, *others = members or [found[0].model]
    for one in others:
        require_classes(one, first)
    return store, found


def seeds_of(options: Options, told: Callable[[str], None] = say, loaded: Explainer | None = None) -> dict[str, int]:
    """The members of the family that is asked for, {name: seed}; {} without one. told: called with what is left out;
    loaded: a model in place of the first.

    UnsupportedModel: none can be used; ValueError: there are two families.
    """
    families = [found for name in _asked_models(options, loaded) if (found := members_of(name, told))]
    if len(families) > 1:
        raise ValueError(f"name one family; of {named_family(families[1])} a member")
    return families[0] if families else {}


def members_of(name: str, told: Callable[[str], None] = say) -> dict[str, int]:
    """The members of a family, {name: seed}; {} of one model. told: called with what is left out.

    UnsupportedModel: none can be used.
    """
    from core.loading.locating import find_seeds, member_names

    family = find_seeds(name)
    for sentence in () if family is None else family.left_out:
        told(sentence)
    return {} if family is None else member_names(name)


def require_classes(one: Model, first: Model) -> None:
    """ValueError where a member of a family has other classes than the first of it."""
    if one.labels != first.labels:
        theirs, ours = (", ".join(model.labels) for model in (one, first))
        raise ValueError(f"{one.name} has the classes {theirs}, not {ours}; leave it out of family.json")


def named_family(seeds: Iterable[str]) -> str:
    """The family whose members these are, as it was asked for; "" of none."""
    return next(iter(seeds), "").rpartition("/")[0]


def _asked_models(options: Options, loaded: Explainer | None) -> list[str]:
    return [*([options.model] if loaded is None else []), *vars(options).get("beside", [])]


def open_model(
    name: str, store: Store, device: str = "auto", precision: str = "float32", told: Callable[[str], None] = say
) -> Explainer:
    """A model with what its inputs are tested by; told: called with what whoever reads its numbers must know."""
    from core.explanation.explainer import with_reference
    from core.loading.loading import load
    from core.validity.marks import small_reference

    model = load(name, device, precision)
    say_of_model(model, told)
    explainer = with_reference(model, store, Library(settings.read().cache).references)
    if problem := small_reference(explainer.reference):
        told(f"{model.name}, reference: {problem}")
    return explainer


def origin_of(options: Options, explainers: Sequence[Explainer], data: DataSet, ids: Sequence[str]) -> dict[str, Any]:
    """Where a file of answers comes from: models, data and its examples, choices, versions, commit and day."""
    from core.reports.answers import origin
    from core.reports.exports import model_identity

    first, *beside = (model_identity(one.model) for one in explainers)
    about = first | ({"beside": [f"{one['model']} {one['weights_sha256']}" for one in beside]} if beside else {})
    about |= {"reference_sha256": explainers[0].tests_by or ""}
    about |= {"data": data.name, "data_sha256": data.digest, "feature_unit": options.unit, "variant": options.sign}
    about |= {} if options.maskable == FIRST else {"maskable": options.maskable}
    about |= {"configuration_sha256": configuration_digest(options, data.digest)}
    return about | {"seed": options.seed} | origin() | {"sample_ids": list(ids)}


def configuration_digest(options: Options, data: str) -> str:
    """SHA-256 of all choices but where files go and what computes; data: digest, which stands for its name."""
    plain = (str, int, float, list, tuple, type(None))
    chosen = {name: value for name, value in vars(options).items() if isinstance(value, plain)}
    chosen = {name: value for name, value in chosen.items() if name not in ("out", "device", "data")}
    return hashlib.sha256(json.dumps(chosen | {"data": data}, sort_keys=True, default=str).encode()).hexdigest()


def refuse_below_one(option: str, number: int | None) -> None:
    """ValueError for a number below 1; None is unset."""
    if number is not None and number < 1:
        raise ValueError(f"{option} is at least 1, not {number}")


def refuse_measures(names: Sequence[str]) -> None:
    """ValueError for no measures, an unknown one, or one named twice."""
    refuse_unknown(("measure", names, offered_measures(names)))
    if not names:
        raise ValueError("name at least one measure")


def columns_of(options: Options) -> Named:
    """The columns as they were named."""
    return {role: getattr(options, role, None) for role in ROLES}


def data_of(options: Options) -> DataSet:
    """The data that a command is asked about, with columns and labels as they were named; BadData where it is empty."""
    return read_named(options.data, columns_of(options), getattr(options, "labels", None) or ())


def read_named(data: str | RawTable, columns: Named, labels: Sequence[str] = ()) -> DataSet:
    """A bundled set by its name, a file or a table, of which what was left out is said; BadData where it is empty."""
    if isinstance(data, str) and data in bundled_data():
        return bundled_set(data)
    kept = Library(settings.read().cache)
    if isinstance(data, str) and not Path(data).exists() and data in kept.data():
        # As links name what was added on a page.
        return open_data(kept, data)
    return read_data(Path(data) if isinstance(data, str) else data, say, columns, tuple(labels))[2]


def say_of_store(store: Store | None, told: Callable[[str], None]) -> None:
    """Say what the store could not keep, since the next run will not find it."""
    if store is not None and store.last_problem is not None:
        told(store.last_problem)


def say_of_model(model: Model, told: Callable[[str], None] = say) -> None:
    """Say what whoever reads a model's numbers must know of it."""
    for note in model.notes:
        told(f"{model.name}: {note}")


class _Yielding:
    """A lock that nobody waits for long: what an interrupt leaves locked keeps no one from going on."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def acquire(self, *_: Any) -> None:
        self._lock.acquire(timeout=_PATIENCE)

    def release(self) -> None:
        # It is another's where waiting ended.
        with contextlib.suppress(RuntimeError):
            self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


@functools.cache
def _line() -> Any:
    """A bar of tqdm's without its locks and the thread that watches bars: interrupted while they are made, the two wait
    for each other for good.
    """
    from tqdm import tqdm

    class Line(tqdm):
        monitor_interval = 0

    Line.set_lock(_Yielding())
    return Line


class Bar:
    """A progress bar on standard error, one line per phase; delay: seconds before which a phase shows none."""

    def __init__(self, delay: float = 0.0):
        self._bar, self._phase, self._delay = None, None, delay

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, what: str, done: int, total: int) -> None:
        phase = what.partition(",")[0]
        if self._bar is None or phase != self._phase or self._bar.total != total or done < self._bar.n:
            if self._bar is not None:
                self._bar.close()
            self._phase, self._bar = phase, _line()(total=total, dynamic_ncols=True, mininterval=1.0, delay=self._delay)
        self._bar.set_description_str(what, refresh=False)
        self._bar.update(done - self._bar.n)

    @staticmethod
    def price(cost: Cost) -> str:
        """What work costs, in words, as pages say it."""
        return f"at most {amount(cost.passes, 'forward pass')}, about {estimate(cost.seconds)}"

    def cost(self, what: str, cost: Cost, more: str = "") -> None:
        """Say what slow work costs before it begins; more: what else could be chosen."""
        if cost.seconds > _SLOW or more:
            self.say(f"{what}: {self.price(cost)}. {more}".rstrip())

    def say(self, sentence: str) -> None:
        """Print a sentence beside the bar."""
        if self._bar is not None:
            self._bar.clear()
        say(sentence)
