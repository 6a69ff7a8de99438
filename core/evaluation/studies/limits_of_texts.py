"""AOPC between its limits for a file of texts, as Parquet; each text's is a row of the store."""

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation.asking import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.study import Column, Row, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import (
    Found,
    default_exact,
    exact_cost,
    find_exact,
    find_searched,
    left_over,
    score,
    score_cost,
    search_cost,
)
from core.explanation.rows import measured_each, values_taken
from core.mathematics.search.limits import MOST_EXACT, TooDear, widened
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, offered_measures
from core.network.features import FIRST, Encoded, NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite, OutOfMemory
from core.storage.files import only_writer, whole_file
from core.wording import refuse_unknown


@dataclass(frozen=True)
class Batch(Study[Rows]):
    """Limits of every text of a file; target: "predicted" or a class's name; width: of a beam, None for insertion
    searches. A row is what `limit_row` says, as JSON.
    """

    name = "limits"
    columns: ClassVar = {"row": Column((), "")}
    leaves_out = NoFeatures, NonFinite, OutOfMemory

    model: str
    measures: tuple[str, ...] = field(default_factory=default_measures)
    sign: str = "signed"
    target: str = "predicted"
    unit: str = "word"
    width: int | None = None
    exact_up_to: int | None = None
    half: bool = True
    maskable: str = FIRST

    def check(self, model: Model | None = None) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out."""
        refuse_unknown(("measure", self.measures, offered_measures(self.measures)))
        if model is not None and self.target not in ("predicted", *model.labels):
            raise ValueError(f"there is no class {self.target!r}; choose predicted or one of {', '.join(model.labels)}")
        if self.width is not None and self.width < 1:
            raise ValueError(f"the beam's width is {self.width}; it must be at least 1")
        if self.exact_up_to is not None and self.exact_up_to > 1 << MOST_EXACT:
            raise ValueError(
                f"exact limits may cost at most {1 << MOST_EXACT:,} scores ({MOST_EXACT} features), not "
                f"{self.exact_up_to:,}"
            )

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure, on how limits are found, and on what classes are called."""
        found = {"width": self.width, "half": self.half, "exact": self.allowed(explainer.model.device)}
        about = {"target": self.target, "classes": list(explainer.model.labels)}
        return found | about | {"measures": measured_each(explainer, self.measures, self.sign)}

    def allowed(self, device: str) -> int:
        """How many scores exact limits may cost."""
        return min(default_exact(device) if self.exact_up_to is None else self.exact_up_to, 1 << MOST_EXACT)

    def row(self, subject: Subject) -> Row:
        """The limits of one text."""
        if subject.encoded.premasked.all():
            raise NoFeatures("Every feature is masked already.")
        return {"row": json.dumps(limit_row(subject.explainer, subject.encoded, self), ensure_ascii=False)}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What one text takes at most: its limits, and the scores of the measures."""
        exact = 1 << left_over(encoded) <= self.allowed(explainer.model.device)
        limits = exact_cost(explainer, encoded) if exact else search_cost(explainer, encoded, self.width, self.half)
        costs = [limits, *(score_cost(explainer, encoded, name) for name in self.measures)]
        return Cost.sum(costs)


def limits_of(explainer: Explainer, encoded: Encoded, target: int, batch: Batch) -> Found:
    """Exact limits where scores and memory allow, else those of a search; raises as the oracle."""
    allowed = batch.allowed(explainer.model.device)
    if 1 << left_over(encoded) <= allowed:
        with contextlib.suppress(TooDear):
            return finish(find_exact(explainer, encoded, target, allowed))
    return finish(find_searched(explainer, encoded, target, batch.width, batch.half, early=False))


def limit_row(explainer: Explainer, encoded: Encoded, batch: Batch) -> dict:
    """One example's limits and scores as plain values, see `batch_limits`."""
    began = time.perf_counter()
    labels, predicted = explainer.model.labels, int(explainer.logits(encoded).argmax())
    target = predicted if batch.target == "predicted" else labels.index(batch.target)
    scored = tuple(score(explainer, encoded, name, target, batch.sign) for name in batch.measures)
    found = limits_of(explainer, encoded, target, batch)
    limits = widened(found.limits, (one for every in scored for one in every.reached))
    row = {
        "class": labels[target],
        "predicted": labels[predicted],
        "tokens": encoded.T,
        "cut": encoded.truncation.cut,
        "typed_special": encoded.typed_special,
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
            f"{one.measure}: values": values_taken(one.measure, batch.sign),
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
    beside: Sequence[Explainer] = (),
    write: Callable[[list[dict], Path], None] | None = None,
) -> Path:
    """Limits and scores of every text of a file, as Parquet; rows that the store has are not computed again.

    Columns: example (row of the file, from 1), model, weights, class (explained), predicted, tokens (read), cut
    (longer), features, lower, upper, lowest_order and highest_order (places, masked first comes first), method, width,
    scores, searched (its precision); for each measure values, comprehensiveness ↑, sufficiency ↓ and both NAOPC (null
    where the limits coincide); seconds; problem (a sentence; then the rest is null); with models beside it same_class
    (whether all explain one class, without which scores do not compare; null where one has no limits).

    Args:
        out: the Parquet file; beside: other models.
        progress: called with (what, done, total); write: writes rows as another file than this.
    Raises:
        ValueError: a choice that cannot be carried out.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_file`.
    """
    asked = {explainer: batch} | {other: replace(batch, model=other.model.name) for other in beside}
    for each, study in asked.items():
        study.check(each.model)
    seconds = data.seconds or [None] * len(data)
    examples = [Example(f"{i + 1}", *pair) for i, pair in enumerate(zip(data.texts, seconds))]
    sample = replace(without_labels(data.name, data.digest, examples), maskable=batch.maskable)
    with only_writer(out) as place:
        rows = []
        for each, study in asked.items():
            named = f"limits of {study.model}" if beside else "limits"
            found = finish(run_study(each, sample, study, each.store, progress=partial(progress, named)))
            rows.append([_line(each, study, found, i) for i in range(len(sample))])
        with whole_file(place) as made:
            (write or _write_parquet)(_side_by_side(rows), made)
    return out


def _line(explainer: Explainer, study: Batch, found: Rows, i: int) -> dict:
    """A text's row with what it is of; a text that has no limits has a row all the same."""
    line = {"example": i + 1, "model": study.model, "weights": explainer.model.digest}
    if i in found.problems:
        return line | {"problem": found.problems[i]}
    return line | json.loads(found.sentences[found.columns["row"][i]])


def _side_by_side(every: list[list[dict]]) -> list[dict]:
    """The rows of one model after the other; with several, each says whether all explain the same class."""
    rows = [row for one in every for row in one]
    if len(every) < 2:
        return rows
    classes: dict[int, list] = {}
    for row in rows:
        classes.setdefault(row["example"], []).append(row.get("class"))
    same = {example: None if None in told else len(set(told)) == 1 for example, told in classes.items()}
    return [row | {"same_class": same[row["example"]]} for row in rows]


def _write_parquet(rows: list[dict], out: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    # The old table keeps its columns.
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "typed_special"]
    parquet.write_table(pyarrow.table({name: [row.get(name) for row in rows] for name in names}), out)
