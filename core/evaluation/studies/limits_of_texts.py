"""AOPC between its limits for a file of texts: resumable, as Parquet."""

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from core.data.parsed import BadData
from core.data.tables import LabelledTexts
from core.explanation.explainer import Explainer
from core.explanation.limiting import WIDTH, Found, default_exact, find_beam, find_exact, left_over, score
from core.mathematics.search.limits import MOST_EXACT, TooDear, widened
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, measures
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite, OutOfMemory


@dataclass(frozen=True)
class Batch:
    """What decides the limits of a file of texts; target: "predicted" or a class's name."""

    model: str
    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    target: str = "predicted"
    unit: str = "word"
    width: int = WIDTH
    exact_up_to: int | None = None
    half: bool = True

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
            raise ValueError(
                f"exact limits may cost at most {1 << MOST_EXACT:,} scores ({MOST_EXACT} features), not "
                f"{self.exact_up_to:,}"
            )


def limits_of(explainer: Explainer, encoded: Encoded, target: int, batch: Batch) -> Found:
    """Exact limits where they cost no more scores than allowed and fit into the memory that is free, else beam limits.

    Raises:
        OutOfMemory, NonFinite: as the oracle.
    """
    allowed = default_exact(explainer.model.device) if batch.exact_up_to is None else batch.exact_up_to
    if 1 << left_over(encoded) <= min(allowed, 1 << MOST_EXACT):
        with contextlib.suppress(TooDear):
            return finish(find_exact(explainer, encoded, target, allowed))
    return finish(find_beam(explainer, encoded, target, batch.width, batch.half, early=False))


def limit_row(explainer: Explainer, encoded: Encoded, batch: Batch) -> dict:
    """One example's limits and scores as plain values, see `batch_limits`."""
    began = time.perf_counter()
    labels = explainer.model.labels
    target = int(explainer.logits(encoded).argmax()) if batch.target == "predicted" else labels.index(batch.target)
    scored = tuple(score(explainer, encoded, name, target, batch.sign) for name in batch.measures)
    found = limits_of(explainer, encoded, target, batch)
    limits = widened(found.limits, (one for every in scored for one in every.reached))
    row = {
        "class": labels[target],
        "features": [feature.text for feature in encoded.features],
        "lower": limits.lower,
        "upper": limits.upper,
        "lowest_order": limits.lowest.tolist(),
        "highest_order": limits.highest.tolist(),
        "method": limits.method,
        "width": limits.width,
        "scores": limits.scores,
        "searched": found.searched,
    }
    for one in scored:
        normal = [None if np.isnan(value) else value for value in one.normalised(limits)]
        row |= {
            f"{one.measure}: comprehensiveness": one.comprehensiveness,
            f"{one.measure}: sufficiency": one.sufficiency,
            f"{one.measure}: comprehensiveness NAOPC": normal[0],
            f"{one.measure}: sufficiency NAOPC": normal[1],
        }
    return row | {"seconds": time.perf_counter() - began, "problem": None}


def batch_limits(
    explainer: Explainer,
    data: LabelledTexts,
    batch: Batch,
    out: Path,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Path:
    """Limits and scores of every text of a file, as Parquet; started again, it goes on after the last complete text.

    Columns: example (row of the file, from 1), model, weights, class, features, lower, upper, lowest_order and
    highest_order (places of the features, the one masked first comes first), method, width, scores, searched (the
    precision of the search); for each measure its
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
    about = asdict(batch) | {
        "data": data.digest,
        "weights": explainer.model.digest,
        "precision": explainer.model.precision,
    }
    rows = _resumed(begun, hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest())
    with begun.open("a", encoding="utf-8") as file:
        for i in range(len(rows), len(data)):
            progress("limits", i, len(data))
            rows.append(
                {"example": i + 1, "model": batch.model, "weights": explainer.model.digest}
                | _row(explainer, data, i, batch)
            )
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
        try:
            return limit_row(explainer, encoded, batch)
        finally:
            # A file's texts come once each: what one of them holds is not kept from the next.
            explainer.forget(encoded)
    except (NoFeatures, NonFinite, OutOfMemory) as error:
        return {"problem": str(error)}


def _resumed(path: Path, fingerprint: str) -> list[dict]:
    """The complete rows of an interrupted run; a new file begins with what decides its rows."""
    lines = list(_complete_lines(path)) if path.is_file() else []
    if lines and lines[0].get("fingerprint") != fingerprint:
        raise BadData(
            f"{path.name} holds rows of other texts, another model or other choices. Delete it, or choose another "
            f"--out."
        )
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
