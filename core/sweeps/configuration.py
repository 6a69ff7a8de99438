"""What a sweep is asked for: a TOML file, checked before anything is computed."""

import hashlib
import json
import tomllib
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from core.explanation.rows import SIGNS
from core.measures.catalogue import default_measures, offered_measures
from core.metrics.catalogue import default_metrics, of_examples
from core.network.features import UNITS
from core.settings import PRECISIONS
from core.sweeps.registry import sweep_tables
from core.wording import in_words, refuse_unknown

# Of a data set that is no bundled one: its file, and which of its columns hold what.
SOURCE = "file text second label labels".split()
# What is a whole number, what stands in a list, and what a list holds in words.
_WHOLE = ("sample", "sample_seed")
_LISTS = {"models": str, "data": (str, dict), "measures": str, "metrics": str, "seeds": int, "tables": str}


@dataclass(frozen=True)
class Source:
    """A data set: a bundled name or a file, its columns by role where they were named, and names of its labels."""

    file: str
    columns: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """Models × data × measures × metrics × seeds.

    sample: examples of each data set, the same for all, None for all of them; sample_seed: by which they are drawn;
    seeds: of random orders, and of measures that draw; values: "signed" or "absolute"; tables: names of `sweep_tables`;
    out: the folder of files.
    """

    models: tuple[str, ...]
    data: tuple[Source, ...]
    out: str
    measures: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    sample: int | None = None
    sample_seed: int = 0
    tables: tuple[str, ...] = ()
    values: str = SIGNS[0]
    unit: str = "word"
    precision: str = "float32"

    @property
    def digest(self) -> str:
        """SHA-256 of all choices but where files go."""
        chosen = {name: value for name, value in asdict(self).items() if name != "out"}
        return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()

    def check(self) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_unknown(
            ("model", self.models, self.models),
            ("data set", [one.file for one in self.data], [one.file for one in self.data]),
            ("measure", self.measures, offered_measures(self.measures)),
            ("metric", self.metrics, of_examples()),
            ("seed", map(str, self.seeds), [str(seed) for seed in self.seeds]),
            ("table", self.tables, sweep_tables()),
            ("kind of values", (self.values,), SIGNS),
            ("unit", (self.unit,), UNITS),
            ("precision", (self.precision,), PRECISIONS),
        )
        sample = [] if self.sample is None else [self.sample]
        for name, least, numbers in (
            ("sample", 1, sample),
            ("sample_seed", 0, [self.sample_seed]),
            ("seeds", 0, self.seeds),
        ):
            if min(numbers, default=least) < least:
                raise ValueError(f"{name} is at least {least}, not {min(numbers)}")


def read_sweep(path: Path) -> Sweep:
    """The sweep that a TOML file asks for; ValueError with a sentence for what it cannot ask for, OSError."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no TOML file: {in_words(error)}") from error
    refuse_unknown(("key", written, [one.name for one in fields(Sweep)]))
    lacking = [one.name for one in fields(Sweep) if one.default is MISSING and one.name not in written]
    if lacking:
        raise ValueError(f"{path.name} lacks the key {lacking[0]}")
    chosen: dict[str, Any] = {"measures": default_measures(), "metrics": default_metrics()}
    chosen |= {"tables": tuple(sweep_tables())} | {name: _value(name, value) for name, value in written.items()}
    sweep = Sweep(**chosen)
    sweep.check()
    return sweep


def _value(name: str, value: Any) -> Any:
    """A value of the file as the sweep holds it."""
    if name in _LISTS:
        kind: Any = _LISTS[name]
        if not isinstance(value, list) or not all(isinstance(one, kind) and one is not True for one in value):
            what = "whole numbers" if kind is int else "texts"
            raise ValueError(f"{name} is a list of {what}, not {value!r}")
        if not value and name != "measures":
            raise ValueError(f"{name} is empty; name at least one")
        return tuple(map(_source, value)) if name == "data" else tuple(value)
    wanted: Any = int if name in _WHOLE else str
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ValueError(f"{name} is a {'whole number' if wanted is int else 'text'}, not {value!r}")
    return value


def _source(value: str | dict) -> Source:
    if isinstance(value, str):
        return Source(value)
    refuse_unknown(("key of data", value, SOURCE))
    labels = value.get("labels", [])
    texts = [one for name, one in value.items() if name != "labels"]
    if (
        "file" not in value
        or not isinstance(labels, list)
        or not all(isinstance(one, str) for one in [*texts, *labels])
    ):
        raise ValueError(f"data is a name, or a file with the names of its columns, not {value!r}")
    columns = tuple((role, value[role]) for role in SOURCE[1:4] if role in value)
    return Source(value["file"], columns, tuple(labels))
