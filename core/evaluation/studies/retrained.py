"""What `python -m core roar` wrote, read for the question whether retraining agrees."""

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core import settings
from core.data.stories import TASKS
from core.loading.model_files import parse_json
from core.mathematics.curves import racu, rising
from core.mathematics.masking import RATIOS
from core.mathematics.performance import METRICS, lowest
from core.network.features import UNITS
from core.storage.files import read_plain
from core.wording import quoted

STORIES = "stories 1"
# What ships, by the name of its data.
SHIPPED = {f"stories {task}": settings.BUNDLED / "computed" / f"roar-stories-{task}.json" for task in TASKS}
_MOST = 50_000_000
_SHARED = "all"


@dataclass(frozen=True, eq=False)
class Retrained:
    """A ROAR study over S seeds.

    names: random order and M measures; ratios: K fractions masked, 0 in front; performance: float[S, 1 + M, K] on the
    test texts, NaN where there is none; floor: float[S], with everything masked; tested: `short_digest` of each test
    text; trainings, seconds: all that were carried out, attributions included.
    """

    recursive: bool
    sign: str
    unit: str
    metric: str
    labels: tuple[str, ...]
    names: tuple[str, ...]
    ratios: tuple[float, ...]
    seeds: tuple[int, ...]
    performance: np.ndarray
    floor: np.ndarray
    tested: frozenset[str]
    trainings: int
    seconds: float

    @functools.cached_property
    def racus(self) -> np.ndarray:
        """RACU of each seed and measure, float[S, M]; NaN where a point of its curve or of random order's is none."""
        x, found = np.array(self.ratios), np.full((len(self.seeds), len(self.names) - 1), np.nan)
        for s, floor in enumerate(self.floor):
            for m in range(1, len(self.names)):
                found[s, m - 1] = racu(x, self.performance[s, m], self.performance[s, 0], float(floor))
        return found

    @functools.cached_property
    def leaking(self) -> np.ndarray:
        """Whether each measure's masks leak the class, bool[M], see `core.mathematics.curves.rising`."""
        return rising(self.performance[:, 1:], len(self.tested), 1.0 - lowest(self.metric))


def short_digest(text: str, second: str | None) -> str:
    """What tells a test text from others."""
    return hashlib.sha256(f"{text}\0{second or ''}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_retrained(name: str) -> Retrained:
    """Read a study that ships, or a JSON file of `python -m core roar`; ValueError with a sentence where it is none."""
    place = SHIPPED.get(name, Path(name))
    try:
        changed = place.stat().st_mtime_ns
        return _read(place, changed)
    except OSError as error:
        raise ValueError(f"{quoted(name)} cannot be read; name a JSON file from python -m core roar") from error


@functools.lru_cache(maxsize=16)
def _read(place: Path, changed: int) -> Retrained:
    try:
        return _of(parse_json(read_plain(place, _MOST)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f" ({error})" if isinstance(error, _Unfit) else ""
        raise ValueError(
            f"{quoted(place.name)} is no JSON file from python -m core roar that can be compared{why}"
        ) from error


class _Unfit(ValueError):
    """A study that is none to compare with, and why."""


def _of(found: dict[str, Any]) -> Retrained:
    lines = [line for line in found["lines"] if line["seed"] is not None and line["performance"] is not None]
    if any(line["features"] is not None for line in lines):
        raise _Unfit("it masks numbers of features, not ratios")
    at = {(int(one["seed"]), str(one["measure"]), float(one["ratio"])): one for one in lines}
    seeds = tuple(sorted({seed for seed, _, _ in at}))
    names = tuple(dict.fromkeys(name for _, name, _ in at if name != _SHARED))
    # A step that masks everything stands in the means alone: all measures share its training.
    steps = [line["ratio"] for line in found["lines"] if line["measure"] != _SHARED and line["ratio"] is not None]
    ratios = tuple(sorted({0.0, *map(float, steps)}))
    if len(names) < 2 or names[0] != "random":
        raise _Unfit("random order or every measure is missing")
    if not set(ratios) <= set(RATIOS):
        raise _Unfit("its ratios are not multiples of 0.1")
    if found["metric"] not in METRICS or found["feature_unit"] not in UNITS:
        raise _Unfit("its metric or unit is unknown")

    def of(seed: int, name: str, ratio: float) -> float:
        one = at.get((seed, _SHARED if ratio in (0.0, 1.0) else name, ratio))
        return np.nan if one is None or one["problem"] else float(one["performance"])

    performance = np.array([[[of(s, name, ratio) for ratio in ratios] for name in names] for s in seeds])
    return Retrained(
        bool(found["recursive"]),
        str(found["variant"]),
        str(found["feature_unit"]),
        str(found["metric"]),
        tuple(map(str, found["labels"])),
        names,
        ratios,
        seeds,
        performance,
        np.array([of(s, _SHARED, 1.0) for s in seeds]),
        frozenset(map(str, found["tested"])),
        len(lines),
        float(sum(line["seconds"] for line in lines)),
    )
