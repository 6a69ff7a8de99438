"""What several commands share: options, reading what they name, and a progress bar."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core import settings
from core.data.examples import DataSet, Example, bundled_data, bundled_set
from core.data.mapping import build
from core.data.sources import understand
from core.data.tables import read_table
from core.explanation.explainer import Explainer
from core.explanation.rows import SIGNS
from core.measures.catalogue import measures, offered_measures
from core.network.features import UNITS, Encoded
from core.network.model import Model
from core.oracle.target import Contrast, Target, target_name
from core.settings import PRECISIONS
from core.storage.files import write_whole
from core.storage.store import Store
from core.validity.marks import HOLM, RULES
from core.validity.references import CALIBRATED, FORMS
from core.wording import refuse_unknown

# How a command declares what it takes (`add_argument`), and what it was asked for.
Option = Callable[..., object]
Options = argparse.Namespace
_ENDINGS = ".json", ".csv"
_ROLES = ("text", "second", "label")
FORMATS = ".jsonl, .csv, .tsv or .parquet"
BESIDE_WEIGHTS = "output file (default: in the model's folder or the cache)"
# What an interrupted command says where it keeps what it has computed.
RESUMES = "Finished work is kept. Give the same command again to resume."


def add_model(option: Option, default: str | None = None) -> None:
    """Which model, and where and how a command computes with it."""
    option("--model", required=default is None, default=default, help="bundled name, folder, hub id or adapter")
    add_device(option)
    option("--precision", choices=PRECISIONS, default="float32", help="numeric precision")


def add_device(option: Option) -> None:
    """Where a command computes."""
    option("--device", default="auto", help="auto, cuda, mps or cpu")


def add_text(option: Option) -> None:
    """Which text, under which model, and which class of it is explained."""
    add_model(option, "sst2-fmm")
    option("--text", help="text; or use --data and --example")
    option("--second", help="second text, never masked")
    option("--data", help="bundled set or file")
    option("--example", help="example id in --data")
    add_class(option)
    option("--than", help="contrast class; the score is the logit difference")


def add_class(option: Option) -> None:
    """Which class is explained."""
    option("--class", dest="target", default="predicted", help="predicted, or a class name")


def add_unit(option: Option) -> None:
    """What is masked as one feature."""
    option("--unit", choices=UNITS, default="word", help="masked as one feature")


def add_seed(option: Option) -> None:
    """What decides all draws of a command."""
    option("--seed", type=int, default=0, help="random seed")


def add_test(option: Option) -> None:
    """How inputs are rejected as out-of-distribution."""
    option("--rule", choices=tuple(RULES), default=HOLM, help="multiple-testing correction")
    option("--form", choices=FORMS, default=CALIBRATED, help="form of p-values")


def named_example(options: Options) -> tuple[Example, str, str]:
    """The example that `add_text` asks for, its data set's name and digest; ValueError where there is none."""
    typed = options.text is not None
    if {options.data is None, options.example is None} != {typed}:
        raise ValueError("give either --text, or both --data and --example")
    if typed:
        return Example("typed text", options.text, options.second), "typed text", ""
    data = read_named(options.data, ())
    found = next((one for one in data.examples if one.id == options.example), None)
    if found is None:
        raise ValueError(f"{data.name} has no example {options.example!r}")
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
    store: Store
    explainer: Explainer
    encoded: Encoded
    target: Target

    @property
    def title(self) -> str:
        """Which text, and which class of it is explained."""
        return f"{self.example.id}, {target_name(self.explainer.model.labels, self.target)}"

    def write(self, out: str | None, header: Sequence[str], lines: Iterable[Sequence], told: dict) -> None:
        """Write what was found: `told` to a .json, lines under their header to a .csv; nothing without a file."""
        if not out:
            return
        from core.reports.exports import csv_text, provenance

        model, file = self.explainer.model, Path(out)
        facts = provenance(model, self.encoded, self.example, self.data, self.digest, self.target)
        text = (
            json.dumps(facts | told, indent=1)
            if file.suffix == ".json"
            else csv_text([*header, *facts], ([*line, *facts.values()] for line in lines))
        )
        write_whole(file, text.encode("utf-8"))
        print(f"Written: {out}")


def open_text(options: Options, check: Callable[[Model], None] = lambda model: None) -> OneText:
    """Load the model and read the text that `add_text` asks for; ValueError with a sentence where there is none, or no
    such unit or class, or where `OneText.write` does not write --out. check: raises for a model that cannot do what is
    asked.
    """
    if options.out and Path(options.out).suffix not in _ENDINGS:
        raise ValueError(f"--out ends in {' or '.join(_ENDINGS)}, not {Path(options.out).suffix or 'nothing'}")
    from core.explanation.explainer import with_reference
    from core.loading.loading import load

    example, data, digest = named_example(options)
    chosen = settings.read()
    store, model = Store(chosen.cache, chosen.cache_bytes), load(options.model, options.device, options.precision)
    check(model)
    say_of_models([model])
    explainer = with_reference(model, store, chosen.cache)
    encoded = explainer.encode(example.text, example.second, options.unit)
    target = named_target(options, model.labels, int(explainer.logits(encoded).argmax()))
    return OneText(example, data, digest, store, explainer, encoded, target)


def add_out(option: Option) -> None:
    """Which file `OneText.write` writes."""
    option("--out", help=".csv, or .json with provenance")


def refuse_below_one(option: str, number: int | None) -> None:
    """ValueError for a number below 1; None is unset."""
    if number is not None and number < 1:
        raise ValueError(f"{option} is at least 1, not {number}")


def refuse_measures(names: Sequence[str]) -> None:
    """ValueError for no measures, an unknown one, or one named twice."""
    refuse_unknown(("measure", names, offered_measures(names)))
    if not names:
        raise ValueError("name at least one measure")


def add_measures(option: Option, does: str, default: Iterable[str], nargs: str = "*") -> None:
    """Which measures, and which of their values; does: what is done with them."""
    asks = {name: one.options for name, one in measures().items() if one.options}
    asked = (f"{name} [{', '.join(f'{key}=…' for key in keys)}]" for name, keys in asks.items())
    told = f"measures {does}; quote a name with its options: {', '.join(asked)}"
    option("--measures", nargs=nargs, default=list(default), help=told)
    option("--values", dest="sign", choices=SIGNS, default="signed", help="measure values")


def add_data_option(option: Option) -> None:
    """Which data set, and which columns of its file hold what."""
    option("--data", required=True, help=f"file or bundled set ({', '.join(bundled_data())})")
    for role in _ROLES:
        option(f"--{role}", help=f"{role} column (default: guessed)")


def columns_of(options: Options) -> tuple[tuple[str, str | None], ...]:
    """The columns as they were named: (role, column)."""
    return tuple((role, getattr(options, role)) for role in _ROLES)


def read_named(data: str, columns: tuple[tuple[str, str | None], ...]) -> DataSet:
    """A bundled set by its name, or a file; columns: (role, column, None where it is guessed)."""
    if data in bundled_data():
        return bundled_set(data)
    table, mapping, _ = understand(read_table(Path(data)))
    return build(table, replace(mapping, **{role: column for role, column in columns if column is not None}))


def say_of_store(store: Store, told: Callable[[str], None]) -> None:
    """Say what the store could not keep, since the next run will not find it."""
    if store.last_problem is not None:
        told(store.last_problem)


def say(sentence: str) -> None:
    """Print a sentence beside what is computed, on standard error."""
    print(sentence, file=sys.stderr)


def say_of_models(models: Iterable[Model], told: Callable[[str], None] = say) -> None:
    """Say what whoever reads a model's numbers must know of it."""
    for model in models:
        for note in model.notes:
            told(f"{model.name}: {note}")


class Bar:
    """A progress bar on standard error, one line per phase."""

    def __init__(self):
        self._bar, self._phase = None, None

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm import tqdm

        phase = what.partition(",")[0]
        if self._bar is None or phase != self._phase or self._bar.total != total or done < self._bar.n:
            if self._bar is not None:
                self._bar.close()
            self._phase, self._bar = phase, tqdm(total=total, dynamic_ncols=True, mininterval=1.0)
        self._bar.set_description_str(what, refresh=False)
        self._bar.update(done - self._bar.n)

    def say(self, sentence: str) -> None:
        """Print a sentence beside the bar."""
        if self._bar is not None:
            self._bar.clear()
        say(sentence)
