"""AOPC of measures between the limits that the model allows, for one example and for a file of them."""

import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from core.composition.explaining import Explainer, softmax
from core.composition.rows import choose_variant
from core.mathematics.aopc import aopc, comprehensiveness_order, naopc, prefix_masks, sufficiency_order
from core.mathematics.limits import MOST_EXACT, Limits, beam_limits, exact_limits, widened
from core.mathematics.search import Value
from core.network.catalogue import DEFAULT, measures
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite, OutOfMemory
from core.network.tables import BadData, LabelledTexts

WIDTH = 5
# Exact limits cost 2^F scores; up to this many they are no dearer than they are worth.
EXACT_UP_TO = {"cpu": 4_096, "cuda": 1 << 17}


@dataclass(frozen=True, eq=False)
class Score:
    """One measure's orders of F' features and their AOPC: comprehensiveness ↑ better, sufficiency ↓ better.

    descending, ascending: float64[F' + 1], the score along the two orders, the unmasked input first.
    """

    measure: str
    comprehensive: np.ndarray
    sufficient: np.ndarray
    descending: np.ndarray
    ascending: np.ndarray

    @property
    def comprehensiveness(self) -> float:
        return aopc(self.descending)

    @property
    def sufficiency(self) -> float:
        return aopc(self.ascending)

    def normalised(self, limits: Limits) -> tuple[float, float]:
        """NAOPC of comprehensiveness (↑ better) and of sufficiency (↓ better); NaN where the limits coincide."""
        return tuple(naopc(score, limits.lower, limits.upper) for score in (self.comprehensiveness, self.sufficiency))


def probability(explainer: Explainer, encoded: Encoded, target: int, cancelled: Callable[[], bool] | None = None) -> Value:
    """v of an example: the probability of a class, bool[M, F] → float64[M], through the oracle's memo."""
    oracle = explainer.oracles.of(encoded)
    return lambda masks: softmax(oracle.logits(masks, cancelled=cancelled))[:, target]


def score(explainer: Explainer, encoded: Encoded, name: str, target: int, sign: str = "signed", *,
          cancelled: Callable[[], bool] | None = None) -> Score:
    """Score a measure's order on one example; only what the oracle does not know costs forward passes.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as `Explainer.attribute`.
    Source: NAOPC Eq. 1 and 3.
    """
    measure, value = measures()[name], probability(explainer, encoded, target, cancelled)
    scores = explainer.attribute(encoded, name, target, cancelled=cancelled).scores[choose_variant(measure, sign)]
    if np.isnan(scores).any():
        raise NonFinite(f"{name} gave NaN, so there is no order to score.")
    start = encoded.premasked
    orders = comprehensiveness_order(scores, start), sufficiency_order(scores, start)
    values = value(np.concatenate([prefix_masks(order, encoded.F, start) for order in orders]))
    return Score(name, *orders, *np.split(values, 2))


def default_exact(device: str) -> int:
    """How many scores exact limits may cost unasked on a device."""
    return EXACT_UP_TO["cuda" if device.startswith("cuda") else "cpu"]


def exact_cost(encoded: Encoded) -> int:
    """Scores that exact limits need, 2^F' of the features that are not masked in the text."""
    return 1 << int((~encoded.premasked).sum())


def find_limits(explainer: Explainer, encoded: Encoded, target: int, scored: tuple[Score, ...] = (), width: int = WIDTH, exact_up_to: int | None = None, *,
                cancelled: Callable[[], bool] | None = None) -> Generator[Limits, None, Limits]:
    """Limits of an example, the best so far first: a beam of one, the asked beam, and exact ones where they cost no more than allowed.

    Each is widened by every order that was scored, so no order lies beyond them. All searches share the oracle's memo.

    Args:
        scored: measures that were scored on this example.
        width: of the beam; exact_up_to: scores that exact limits may cost, the device's default without.
    Returns:
        The last of those that are yielded.
    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle; what was yielded before holds as beam limits.
        ValueError: every feature is masked already.
    Source: NAOPC §3; DESIGN §1.
    """
    value, start = probability(explainer, encoded, target, cancelled), encoded.premasked
    orders = [order for one in scored for order in (one.comprehensive, one.sufficient)]
    allowed = default_exact(explainer.model.device) if exact_up_to is None else exact_up_to
    found = None
    try:
        for tried in dict.fromkeys((1, width)):
            found = widened(beam_limits(value, encoded.F, tried, start), value, encoded.F, orders + ([] if found is None else [found.lowest, found.highest]), start)
            yield found
        if exact_cost(encoded) <= min(allowed, 1 << MOST_EXACT):
            found = exact_limits(value, encoded.F, start, allowed)
            yield found
    finally:
        explainer.oracles.of(encoded).flush()
    return found


@dataclass(frozen=True)
class Batch:
    """What decides the limits of a file of texts; target: "predicted" or a class's name."""

    model: str
    measures: tuple[str, ...] = DEFAULT
    sign: str = "signed"
    target: str = "predicted"
    unit: str = "word"
    width: int = WIDTH
    exact_up_to: int | None = None

    def check(self, labels: tuple[str, ...]) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        unknown = [name for name in self.measures if name not in measures()]
        if unknown:
            raise ValueError(f"there is no measure {unknown[0]!r}; choose of {', '.join(measures())}")
        if self.target not in ("predicted", *labels):
            raise ValueError(f"there is no class {self.target!r}; choose predicted or one of {', '.join(labels)}")
        if self.width < 1:
            raise ValueError(f"the beam's width is {self.width}; it must be at least 1")
        if self.exact_up_to is not None and self.exact_up_to > 1 << MOST_EXACT:
            raise ValueError(f"exact limits may cost at most {1 << MOST_EXACT:,} scores ({MOST_EXACT} features), not {self.exact_up_to:,}")


def limit_row(explainer: Explainer, encoded: Encoded, batch: Batch) -> dict:
    """One example's limits and scores as plain values, see `batch_limits`."""
    began = time.perf_counter()
    labels = explainer.model.labels
    target = int(explainer.logits(encoded).argmax()) if batch.target == "predicted" else labels.index(batch.target)
    scored = tuple(score(explainer, encoded, name, target, batch.sign) for name in batch.measures)
    *_, limits = find_limits(explainer, encoded, target, scored, batch.width, batch.exact_up_to)
    row = {"class": labels[target], "features": [feature.text for feature in encoded.features], "lower": limits.lower, "upper": limits.upper,
           "lowest_order": limits.lowest.tolist(), "highest_order": limits.highest.tolist(), "method": limits.method, "width": limits.width, "scores": limits.scores}
    for one in scored:
        normal = [None if np.isnan(value) else value for value in one.normalised(limits)]
        row |= {f"{one.measure}: comprehensiveness": one.comprehensiveness, f"{one.measure}: sufficiency": one.sufficiency,
                f"{one.measure}: comprehensiveness NAOPC": normal[0], f"{one.measure}: sufficiency NAOPC": normal[1]}
    return row | {"seconds": time.perf_counter() - began, "problem": None}


def batch_limits(explainer: Explainer, data: LabelledTexts, batch: Batch, out: Path, progress: Callable[[str, int, int], None] = lambda *_: None) -> Path:
    """Limits and scores of every text of a file, as Parquet; started again, it goes on after the last complete text.

    Columns: example (row of the file, from 1), model, weights, class, features, lower, upper, lowest_order and
    highest_order (places of the features, the one masked first comes first), method, width, scores; for each measure its
    comprehensiveness (↑), its sufficiency (↓) and both NAOPC (null where the limits coincide); seconds; problem
    (a sentence where a text has no limits; then the rest is null).

    Args:
        out: the Parquet file; what is done so far lies beside it until it is complete.
        progress: called with (what is being done, done, total).
    Raises:
        ValueError: a choice that cannot be carried out, or the rows beside `out` are of other choices.
    """
    batch.check(explainer.model.labels)
    begun = out.with_name(f"{out.name}.partial.jsonl")
    about = asdict(batch) | {"data": data.digest, "weights": explainer.model.digest, "precision": explainer.model.precision}
    rows = _resumed(begun, hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest())
    with begun.open("a", encoding="utf-8") as file:
        for i in range(len(rows), len(data)):
            progress("limits", i, len(data))
            rows.append({"example": i + 1, "model": batch.model, "weights": explainer.model.digest} | _row(explainer, data, i, batch))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    progress("limits", len(data), len(data))
    _write_parquet(rows, out)
    begun.unlink()
    return out


def _row(explainer: Explainer, data: LabelledTexts, i: int, batch: Batch) -> dict:
    try:
        encoded = explainer.encode(data.texts[i], data.seconds[i] if data.seconds else None, batch.unit)
        if encoded.premasked.all():
            return {"problem": "Every feature is masked in the text, so there are no orders to compare."}
        return limit_row(explainer, encoded, batch)
    except (NoFeatures, NonFinite, OutOfMemory) as error:
        return {"problem": str(error)}


def _resumed(path: Path, fingerprint: str) -> list[dict]:
    """The complete rows of an interrupted run; a new file begins with what decides its rows."""
    lines = list(_complete_lines(path)) if path.is_file() else []
    if lines and lines[0].get("fingerprint") != fingerprint:
        raise BadData(f"{path.name} holds rows of other texts, another model or other choices. Delete it, or choose another --out.")
    head = lines or [{"fingerprint": fingerprint}]
    # Written anew, without a last line that was cut short.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in head), encoding="utf-8")
    return head[1:]


def _complete_lines(path: Path) -> Iterator[dict]:
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        try:
            yield json.loads(line)
        except ValueError:
            return


def _write_parquet(rows: list[dict], out: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    names = list(dict.fromkeys(name for row in rows for name in row))
    parquet.write_table(pyarrow.table({name: [row.get(name) for row in rows] for name in names}), out)
