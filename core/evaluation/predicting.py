"""Predict whole data sets, masked or not, through the scheduler, and write down what was predicted."""

import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.data.browsing import Index, LabelMatch, Predicted
from core.evaluation.study import Known
from core.explanation.explainer import Cost, softmax
from core.mathematics.masking import random_mask
from core.network.features import MASK_SPELLINGS, Encoded, NoFeatures, masked_ids
from core.network.model import Model
from core.network.scheduler import Input
from core.network.tokens import read_tokens
from core.storage.content import ROWS, Content, Numbers
from core.storage.store import Entry, Store, canonical_key

# A text, and the second of a pair or None.
Text = tuple[str, str | None]
# What a killed server loses at most.
SAVE_ROWS, SAVE_SECONDS = 2048, 10.0


def predict(
    model: Model,
    encoded: Sequence[Encoded],
    masks: Sequence[np.ndarray] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> np.ndarray:
    """Logits of N examples, float32[N, C], each under its own mask bool[F], True = masked; None masks nothing.

    ValueError: another number of masks than examples.
    """
    if masks is not None and len(masks) != len(encoded):
        raise ValueError(f"{len(encoded)} examples need as many masks, got {len(masks)}")
    rows = []
    for i, example in enumerate(encoded):
        mask = np.zeros(example.F, dtype=bool) if masks is None else masks[i]
        rows.append(Input(masked_ids(example, mask[None])[0], example.type_ids))
    logits = np.empty((len(rows), model.C), dtype=np.float32)
    for indices, batch, _ in model.scheduler.run(rows, progress=progress, cancelled=cancelled):
        logits[indices] = batch
    return logits


def predict_at_ratios(
    model: Model,
    encoded: Sequence[Encoded],
    ratios: Sequence[float],
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Predicted classes under fresh random masks of each ratio, int64[R, N]. Source: FMM Fig. 4, random baseline."""
    predicted = np.empty((len(ratios), len(encoded)), dtype=np.int64)
    for r, ratio in enumerate(ratios):
        rng = np.random.default_rng([seed, r])
        masks = [random_mask(example.F, ratio, rng) for example in encoded]
        predicted[r] = predict(model, encoded, masks).argmax(axis=1)
        if progress is not None:
            progress(r + 1, len(ratios))
    return predicted


@dataclass(frozen=True, eq=False)
class Predictions(Known):
    """Class probabilities of N texts, as far as they are known; never changed.

    probabilities: float32[N, C], NaN where there are none; problems: {index: sentence} of texts that will have none.
    """

    probabilities: np.ndarray
    problems: dict[int, str]

    @cached_property
    def there(self) -> np.ndarray:
        """Which texts have probabilities, bool[N]."""
        return ~np.any(np.isnan(self.probabilities), axis=1)

    @cached_property
    def predicted(self) -> np.ndarray:
        """The likeliest class, int64[N]; −1 where there is none."""
        return np.where(self.there, self.probabilities.argmax(axis=1), -1)

    @cached_property
    def confidence(self) -> np.ndarray:
        """The likeliest class's probability, float32[N]; NaN where there is none."""
        return self.probabilities.max(axis=1)


def predict_all(
    model: Model,
    texts: Sequence[Text],
    *,
    store: Store | None = None,
    seconds: float = 0.7,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Predictions, None, Predictions]:
    """Predict a whole data set in slices: a generator that yields what is known after each and returns all of it.

    Identical texts are read once, and what the store knows is not computed again. Probabilities equal those of
    `Explainer.probabilities` up to the rounding of sums in other batches (float32: within 1e-5).

    Args:
        texts: N pairs (text, second or None); seconds: of work in a slice, give or take a batch.
        progress: called with (texts done, N) after each batch; cancelled: asked before each batch.
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
    """
    whole = _Whole(model, texts, store)
    if progress is not None:
        progress(whole.done, len(texts))
    if 0 < whole.done < len(texts):
        # Shown at once, before the first slice of work.
        yield whole.so_far()
    try:
        for _ in whole.slices(seconds, progress, cancelled):
            yield whole.so_far()
    finally:
        whole.save()
    return whole.so_far()


def stored_predictions(model: Model, texts: Sequence[Text], store: Store) -> Predictions:
    """What the store knows of a data set's predictions, from all of them to none; computes nothing."""
    return _Whole(model, texts, store).so_far()


def expected_cost(model: Model, texts: Sequence[Text], sample: int = 64) -> Cost:
    """What predicting a data set would take at the speed seen so far, going by the lengths of some of its texts."""
    # A very long text is cut anyway; no more of it than this is read.
    some = (
        [
            (texts[i][0][:20_000], texts[i][1] and texts[i][1][:20_000])
            for i in np.unique(np.linspace(0, len(texts) - 1, sample).astype(int))
        ]
        if texts
        else []
    )
    lengths = [len(row.ids) for row in rows_of(model, some) if isinstance(row, Input)]
    tokens = len(texts) * float(np.mean(lengths)) if lengths else 0.0
    return Cost.of(len(texts), int(tokens), model.scheduler.counters)


def rows_of(model: Model, texts: Sequence[Text]) -> list[Input | str]:
    """What the network reads for each text as it stands, or a sentence where nothing in it can be masked.

    As `Explainer.logits` asks, without looking for words where the text masks nothing: a sixth of the time.
    """
    found: list[Input | str] = [""] * len(texts)
    for paired in (False, True):
        # As for one text: an empty second is none.
        places = [i for i, (_, second) in enumerate(texts) if bool(second) == paired]
        for i, row in zip(places, _tokenised(model, [texts[i] for i in places], paired)):
            found[i] = row or _encoded(model, *texts[i])
    return found


def _tokenised(model: Model, texts: list[Text], paired: bool) -> list[Input | None]:
    """Rows of texts that are plainly all features and no typed mask; None where that takes a closer look."""
    if not texts:
        return []
    spellings = {*MASK_SPELLINGS, model.tokenizer.convert_ids_to_tokens(model.mask_id)}
    seconds = [second or "" for _, second in texts] if paired else None
    rows = []
    for (text, _), tokens in zip(
        texts, read_tokens(model.tokenizer, [text for text, _ in texts], seconds, model.max_tokens), strict=True
    ):
        ids = tokens.ids
        plainly = (
            model.mask_id not in ids
            and not any(spelling in text for spelling in spellings)
            and model.reads(ids, tokens.type_ids)
            # A token stands for more than spaces of the first text; mostly the first one does.
            and any(text[start:end].strip() for start, end in tokens.offsets[tokens.sides == 0])
        )
        rows.append(Input(ids, tokens.type_ids) if plainly else None)
    return rows


def _encoded(model: Model, text: str, second: str | None) -> Input | str:
    try:
        encoded = model.encode(text, second)
    except NoFeatures as error:
        return str(error)
    return Input(masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool))[0], encoded.type_ids)


class _Whole:
    """D different texts, what is known of each, and what is kept: segments of a log, one entry at the end."""

    def __init__(self, model: Model, texts: Sequence[Text], store: Store | None):
        self.model, self.store = model, store
        at: dict[Text, int] = {}
        self.place = np.array([at.setdefault((text, second), len(at)) for text, second in texts], dtype=np.int64)
        self.different = list(at)
        self.copies = np.bincount(self.place, minlength=len(at))
        self.key = canonical_key(
            "predictions", 1, model=model.digest, precision=model.precision, texts=_digest(self.different)
        )
        self.logits = np.full((len(at), model.C), np.nan, dtype=np.float32)
        self.probabilities = self.logits.copy()
        self.problems: dict[int, str] = {}
        self.known = np.zeros(len(at), dtype=bool)
        self._read_store()
        self.kept = self.known.copy()
        self.last_saved = time.monotonic()

    @property
    def done(self) -> int:
        """How many of the N texts are known."""
        return int(self.copies[self.known].sum())

    def so_far(self) -> Predictions:
        """A picture of what is known now."""
        broken = np.flatnonzero(np.isin(self.place, list(self.problems))) if self.problems else ()
        return Predictions(self.probabilities[self.place], {int(i): self.problems[int(self.place[i])] for i in broken})

    def slices(
        self, seconds: float, progress: Callable[[int, int], None] | None, cancelled: Callable[[], bool] | None
    ) -> Generator[None, None, None]:
        """Compute what is not known; yields whenever about so many seconds of work are done."""
        missing = np.flatnonzero(~self.known)
        # Sorted by length within a window: enough that little is padded, few enough that the first are not long in
        # coming.
        window = 32 * self.model.scheduler.max_rows
        end = time.monotonic() + seconds
        for start in range(0, len(missing), window):
            for _ in self._window(missing[start : start + window], cancelled):
                if progress is not None:
                    progress(self.done, len(self.place))
                if time.monotonic() >= end:
                    unsaved = (self.known & ~self.kept).sum()
                    if unsaved >= SAVE_ROWS or time.monotonic() - self.last_saved >= SAVE_SECONDS:
                        self.save()
                    yield
                    end = time.monotonic() + seconds

    def save(self) -> None:
        """Keep what is not kept yet; everything, once it is complete."""
        fresh = np.flatnonzero(self.known & ~self.kept)
        if self.store is None or not len(fresh):
            return
        if self.known.all():
            problems = {"problems": _by_sentence(self.problems)}
            self.store.put(self.key, {"logits": self.logits}, problems, self._content(len(self.different)))
        else:
            problems = {int(i): self.problems[int(i)] for i in fresh if int(i) in self.problems}
            rows = {"places": fresh, "logits": self.logits[fresh]}
            self.store.append(self.key, rows, {"problems": _by_sentence(problems)}, self._content(ROWS))
        self.kept[fresh] = True
        self.last_saved = time.monotonic()

    def _window(self, places: np.ndarray, cancelled) -> Generator[None, None, None]:
        found = rows_of(self.model, [self.different[i] for i in places])
        readable = np.array([isinstance(row, Input) for row in found], dtype=bool)
        self.problems |= {int(i): row for i, row in zip(places, found) if not isinstance(row, Input)}
        self.known[places[~readable]] = True
        rows, places = [row for row in found if isinstance(row, Input)], places[readable]
        for indices, logits, _ in self.model.scheduler.run(rows, cancelled=cancelled):
            self._keep(places[indices], logits)
            yield

    def _keep(self, places: np.ndarray, logits: np.ndarray) -> None:
        broken = ~np.all(np.isfinite(logits), axis=1)
        if broken.any():
            why = f"The model returned NaN or infinity for this text. {self.model.advice}"
            self.problems |= dict.fromkeys(places[broken].tolist(), why)
        self.logits[places] = np.where(broken[:, None], np.nan, logits)
        self.probabilities[places] = softmax(self.logits[places])
        self.known[places] = True

    def _read_store(self) -> None:
        if self.store is None:
            return
        entry = self.store.get(self.key, self._content(len(self.different)))
        if entry is not None:
            self._take(np.arange(len(self.different)), entry)
            return
        for segment in self.store.segments(self.key, self._content(ROWS)):
            self._take(segment.arrays["places"], segment)

    def _take(self, places: np.ndarray, entry: Entry) -> None:
        self.logits[places] = entry.arrays["logits"]
        self.probabilities[places] = softmax(entry.arrays["logits"])
        self.known[places] = True
        self.problems |= {i: sentence for sentence, indices in entry.meta["problems"].items() for i in indices}

    def _content(self, rows: int | str) -> Content:
        """An entry of all texts, or a segment of some: logits, NaN where and only where a text has a problem."""
        places = {"places": Numbers("int64", (ROWS,), 0, len(self.different) - 1)} if rows == ROWS else {}
        logits = Numbers("float32", (rows, self.model.C), nan=True)
        return Content(places | {"logits": logits}, agrees=_problems_agree)


def _problems_agree(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bool:
    """Whether the texts without logits are those with a sentence, each with one."""
    blank = np.isnan(arrays["logits"])
    places = np.flatnonzero(blank.all(axis=1))
    told = [i for indices in meta["problems"].values() for i in indices]
    places = arrays["places"][places] if "places" in arrays else places
    return bool((blank.all(axis=1) == blank.any(axis=1)).all()) and sorted(told) == places.tolist()


def _by_sentence(problems: dict[int, str]) -> dict[str, list[int]]:
    # A few sentences for many texts: the other way round a file of blank rows would be kept as one sentence a row.
    return {sentence: [i for i, said in problems.items() if said == sentence] for sentence in set(problems.values())}


def _digest(texts: Sequence[Text]) -> str:
    """SHA-256 of the texts in order, each with its length, so that no two lists spell the same."""
    parts = [f"{len(one)}:{one}" + ("-" if second is None else f"{len(second)}:{second}") for one, second in texts]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


EXAMPLE_COLUMNS = [
    "id",
    "text",
    "second text",
    "label",
    "predicted",
    "confidence (0 to 1)",
    "probability of label (0 to 1, higher is better)",
    "outcome",
    "words",
    "tags",
    "note",
]


def label_text(judged: Predicted, match: LabelMatch, label: str | None) -> str:
    """A label as it stands in the data, and the class that it means where that is called otherwise."""
    if label is None:
        return "—"
    meant = match.classes.get(label)
    name = label if meant is None else judged.labels[meant]
    return label if name.casefold() == label.casefold() else f"{label} = {name}"


def example_rows(index: Index, judged: Predicted, rows: Iterable[int]) -> Iterator[list]:
    """Examples for a CSV file, see EXAMPLE_COLUMNS."""
    for i in rows:
        example = index.data.examples[i]
        yield [
            example.id,
            example.text,
            example.second or "",
            example.label or "",
            judged.labels[judged.predicted[i]] if judged.predicted[i] >= 0 else "",
            float(judged.confidence[i]),
            float(judged.label_probability[i]),
            {1: "right", 0: "wrong", -1: ""}[int(judged.right[i])],
            int(index.lengths[i]),
            "; ".join(example.tags),
            example.note,
        ]
