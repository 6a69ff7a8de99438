"""Browse a data set: search, filter, count and sort its examples beside what a model predicts for them."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom

from core.data.examples import DataSet, first_places
from core.mathematics.statistics import significant
from core.wording import listed

RIGHT, WRONG = "right", "wrong"
NO_LABEL, NOT_PREDICTED, UNJUDGED, UNTAGGED = "(no label)", "(not predicted)", "(no verdict)", "(no tag)"
# Of words, tokens or whatever is masked as one piece.
_MASKED = {0.0: "1 masked", 2.0: "2 masked", 3.0: "3 to 5 masked", 6.0: "6 masked and more", math.inf: "never"}
# What was found out of each example: bands by their lower ends. Infinity: what never happens.
TRAITS = {
    "rejected": {0.0: "unmasked", 0.05: "10 to 50 % masked", 0.55: "60 to 100 % masked", math.inf: "at no step"},
    "changes": _MASKED,
    # The smallest set that changes the prediction, whatever the order.
    "smallest": _MASKED,
    "disagreement": {-1.0: "τ below 0", 0.0: "τ 0 to 0.5", 0.5: "τ 0.5 and more"},
    "twin": {0.0: "says the same", 1.0: "differs"},
    "verdict": {-1.0: "worse than chance", 0.0: "not shown better than chance", 1.0: "better than chance"},
    # Of all measures that are compared.
    "best": {-1.0: "all worse", 0.0: "none better", 1.0: "one better"},
    "naopc": {0.0: "below 0.5", 0.5: "0.5 to 0.8", 0.8: "from 0.8"},
    "racu": {-math.inf: "below 0", 0.0: "0 to 0.5", 0.5: "from 0.5"},
    "evidence": {0.0: "missed", math.nextafter(0, 1): "partly found", 1.0: "found"},
}
# Those that follow the order of a measure, and those that depend on what is masked as one piece.
ALONG_ORDER = {"rejected", "changes", "verdict", "evidence"}
BY_UNIT = ALONG_ORDER | {"disagreement", "smallest", "best", "naopc", "racu"}
# Those that there are of each measure, as "naopc: gradient".
PER_MEASURE = ("naopc", "racu")
PINNED, NOTED, UNPINNED = "★ pinned", "★ with note", "not pinned"
NOT_COMPUTED, UNDEFINED = "(not computed)", "(undefined)"
ORDERS = ("row", "text", "label", "predicted", "label probability", "confidence", "length", *TRAITS)
# Lower ends of the bands, and what they are called.
_CONFIDENCE = {0.0: "below 60 %", 0.6: "60 to 80 %", 0.8: "80 to 95 %", 0.95: "95 % and more"}
_LENGTH = {
    0: "up to 5 words",
    6: "6 to 10",
    11: "11 to 20",
    21: "21 to 40",
    41: "41 to 80",
    81: "81 to 160",
    161: "over 160",
}
_TERM = re.compile(r'"([^"]*)(?:"|$)|([^\s"]+)')
_MOST_TAGS = 40


def length_band(words: int) -> str:
    """What the length of a text of so many words is called."""
    return _LENGTH[max(low for low in _LENGTH if low <= words)]


def trait_of_measure(name: str) -> tuple[str, str]:
    """A trait's name in TRAITS, and the measure that it is of, "" where it is of none in particular."""
    kind, _, measure = name.partition(": ")
    return kind, measure


def is_trait(name: str) -> bool:
    """Whether traits may be called so."""
    kind, measure = trait_of_measure(name)
    return kind in PER_MEASURE if measure else kind in TRAITS


@dataclass(frozen=True)
class Query:
    """What is looked for; every part narrows, several values of one facet widen. Empty: all, in the file's order.

    search: terms that must all occur in text, second text or id, in any case; "quoted words" are one term.
    facets: {facet: values}, see `facets`. order: one of ORDERS; examples without the value come last. all_tags: whether
    several tags narrow, so that an example has all of them; of the other facets it has one value.
    """

    search: str = ""
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order: str = "row"
    descending: bool = False
    all_tags: bool = False

    @property
    def asks_model(self) -> bool:
        """Whether its answer depends on what a model predicts."""
        return self._by_model or self.order in ("predicted", "label probability", "confidence") or is_trait(self.order)

    @property
    def traits(self) -> tuple[str, ...]:
        """The traits that its answer depends on."""
        asked = [*(facet for facet, values in self.facets.items() if values), self.order]
        return tuple(dict.fromkeys(name for name in asked if is_trait(name)))

    @property
    def before_traits(self) -> "Query":
        """The same without what depends on traits: of which examples these are to be known."""
        facets = {facet: values for facet, values in self.facets.items() if not is_trait(facet)}
        return replace(self, facets=facets, order="row", descending=False)

    @property
    def picked_by(self) -> str:
        """How it chooses examples where that shows in their accuracy: by what a model does, or by hand; else ""."""
        if self._by_model:
            return "by what the model does with them"
        return "by hand" if self.facets.get("pinned") else ""

    @property
    def _by_model(self) -> bool:
        facets = [facet for facet, values in self.facets.items() if values]
        return any(facet in ("predicted", "outcome", "confidence") or is_trait(facet) for facet in facets)

    @property
    def narrows(self) -> bool:
        """Whether it leaves anything out."""
        return bool(terms(self.search)) or any(self.facets.values())

    @property
    def in_words(self) -> str:
        """What it asks for, as text: 'search "not", tag negation and short, label positive'; "" for everything."""
        joins = {True: " and ", False: " or "}
        found = [f"search “{self.search.strip()}”"] if terms(self.search) else []
        found += [
            f"{facet} {joins[self.all_tags and facet == 'tag'].join(values)}"
            for facet, values in self.facets.items()
            if values
        ]
        return ", ".join(found)

    def toggled(self, facet: str, value: str) -> "Query":
        """The query with one value of a facet switched on, or off where it is on."""
        now = self.facets.get(facet, ())
        then = tuple(v for v in now if v != value) if value in now else (*now, value)
        return replace(self, facets={name: values for name, values in {**self.facets, facet: then}.items() if values})


class Index:
    """A data set prepared for browsing: N examples as columns. Building it reads every text once.

    lengths: int64[N], runs of non-space characters; labels: int64[N], places in data.classes, −1 for none; texts: as of
    `first_places`, None where all texts are different.
    """

    def __init__(self, data: DataSet):
        self.data = data
        self.rows = {example.id: i for i, example in enumerate(data.examples)}
        self.haystack = ["\n".join((e.text, e.second or "", e.id)).casefold() for e in data.examples]
        self.lengths = np.array([len(e.text.split()) for e in data.examples], dtype=np.int64)
        classes = {name: i for i, name in enumerate(data.classes)}
        self.labels = np.array([classes.get(e.label, -1) for e in data.examples], dtype=np.int64)
        first = first_places(data.examples)
        self.texts = first if (first != np.arange(len(first))).any() else None
        counted = Counter(tag for e in data.examples for tag in dict.fromkeys(e.tags))
        # The commonest first, as a menu shows them.
        self.tags = tuple(tag for tag, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TAGS])
        self.tagged = np.zeros((len(self.tags) + 1, len(data)), dtype=bool)
        place = {tag: k for k, tag in enumerate(self.tags)}
        for i, example in enumerate(data.examples):
            # Tags beyond the commonest are no value of the facet, but tags all the same.
            self.tagged[[place[tag] for tag in example.tags if tag in place] or ([] if example.tags else [-1]), i] = (
                True
            )

    def __len__(self) -> int:
        return len(self.data)

    @property
    def different(self) -> int:
        """How many different texts there are, pairs by both."""
        return len(self) if self.texts is None else len(np.unique(self.texts))

    @property
    def groups(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """{facet: (values, which examples have which)}: int64[N] (−1: the last value) or, for tags, bool[values, N]."""
        return {"label": ((*self.data.classes, NO_LABEL), self.labels), "tag": ((*self.tags, UNTAGGED), self.tagged)}


def each_text_once(chosen: np.ndarray, texts: np.ndarray | None) -> np.ndarray:
    """Keep the first example of each text, since confidence intervals assume independent examples.

    Args:
        chosen: bool[N], the examples to count.
        texts: int64[N] or None, as of `Index`.
    Returns:
        bool[N], a subset of `chosen`.
    """
    if texts is None:
        return chosen
    places = np.flatnonzero(chosen)
    kept = np.zeros(len(chosen), dtype=bool)
    kept[places[np.unique(texts[places], return_index=True)[1]]] = True
    return kept


@dataclass(frozen=True)
class LabelMatch:
    """Which class of a model each label of a data set means.

    classes: {label: place of its class}; how: what was not matched, or matched by order, "" if labels and classes are
    the same; by_order: matched by the order of the classes, which may be wrong.
    """

    classes: dict[str, int]
    how: str = ""
    by_order: bool = False


def match_labels(labels: tuple[str, ...], model_labels: tuple[str, ...], ordered: bool = False) -> LabelMatch:
    """Tie a data set's labels to a model's classes.

    By name, whatever the case; else numbers from 0 in the order of the model's classes; else, where the model's
    classes are only numbered (LABEL_0 …) and as many, in the order that the data gives its labels, if it does
    (`ordered`). What cannot be tied is left out, never guessed.
    """
    names = {name.strip().casefold(): i for i, name in enumerate(model_labels)}
    by_name = {label: names[label.strip().casefold()] for label in labels if label.strip().casefold() in names}
    if by_name or not labels:
        missing = [label for label in labels if label not in by_name]
        return LabelMatch(by_name, f"Not judged: {listed(missing, 6)}." if missing else "")
    numbered = "0" in labels and all(label.isascii() and label.isdigit() and len(label) < 10 for label in labels)
    if numbered and max(map(int, labels)) < len(model_labels):
        return _by_order({label: int(label) for label in labels}, model_labels)
    if (
        ordered
        and len(labels) == len(model_labels)
        and all(re.fullmatch(r"(?i)label_\d+", name) for name in model_labels)
    ):
        return _by_order({label: i for i, label in enumerate(labels)}, model_labels)
    return LabelMatch({}, f"Not judged: {listed(labels, 6)}. The model's classes: {listed(model_labels, 6)}.")


def find_other(
    match: LabelMatch, model_labels: tuple[str, ...], meant: np.ndarray, predicted: np.ndarray
) -> LabelMatch | None:
    """The reading of the labels that is right on most texts, where it is shown to be right more than twice as often as
    the present one; else None. Exact binomial test at 5 % over the texts of which one is right, times all readings.

    meant: int64[N], the class that each text's label means by `match`; predicted: int64[N]; −1 for none.
    """
    known, now = (meant >= 0) & (predicted >= 0), np.array([*match.classes.values()], dtype=np.int64)
    C, L, rows = len(model_labels), len(now), np.arange(len(now))
    # Of one class alone nobody can tell hard texts from another reading.
    if len(set(now)) < max(L, 2) or len(np.unique(meant[known])) < 2:
        return None
    counts = np.array([np.bincount(predicted[known & (meant == c)], minlength=C) for c in now])
    # Less than one text in favour of what stands, so that ties leave it as it is.
    other = linear_sum_assignment(counts + 0.5 / L * (np.arange(C) == now[:, None]), maximize=True)[1]
    right, before = int(counts[rows, other].sum()), int(counts[rows, now].sum())
    both = int(counts[rows, now][now == other].sum())
    # As a logarithm, since of many classes there are more readings than a float holds.
    p = binom.logsf(right - both - 1, right + before - 2 * both, 2 / 3) + math.lgamma(C + 1) - math.lgamma(C - L + 1)
    if right == before or not significant(math.exp(min(p, 0.0))):
        return None
    classes = dict(zip(match.classes, map(int, other)))
    told = listed([f"{label} = {model_labels[c]}" for label, c in classes.items()], 6)
    return LabelMatch(classes, f"Right on {right:,} of {known.sum():,} texts with {told}; on {before:,} as matched.")


def names_by(match: LabelMatch | None, model_labels: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the labels 0, 1, … by a match; () where labels are no such numbers."""
    places = [] if match is None else [match.classes.get(f"{i}") for i in range(len(match.classes))]
    return tuple(model_labels[place] for place in places if place is not None) if None not in places else ()


def _by_order(classes: dict[str, int], model_labels: tuple[str, ...]) -> LabelMatch:
    meant = listed((f"{label} = {model_labels[i]}" for label, i in classes.items()), 6)
    return LabelMatch(classes, f"Labels matched by order: {meant}.", by_order=True)


@dataclass(frozen=True, eq=False)
class Trait:
    """One of TRAITS of N examples. values: float64[N], NaN undefined, infinity never; known: bool[N], computed."""

    values: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of a model for the N examples of a data set.

    labels: the model's C class names; predicted: int64[N], the class, −1 without a prediction; confidence: float64[N],
    its probability, NaN without one; label_probability: float64[N], of the label's class, NaN without either (low:
    confidently wrong); right: int64[N], 1 right, 0 wrong, −1 not judged; traits: {name of TRAITS: what is known};
    pinned: int64[N], 1 pinned, 2 with a note, or None where pins are not asked for; other: as of `find_other`, over all
    texts, each once.
    """

    labels: tuple[str, ...]
    predicted: np.ndarray
    confidence: np.ndarray
    label_probability: np.ndarray
    right: np.ndarray
    traits: Mapping[str, Trait] = field(default_factory=dict)
    pinned: np.ndarray | None = None
    other: LabelMatch | None = None

    @property
    def accuracy(self) -> float:
        """Share of right ones among those that can be judged, in [0, 1]; NaN if there are none. Higher is better."""
        judged = self.right >= 0
        return float(self.right[judged].mean()) if judged.any() else float("nan")


def judge(index: Index, labels: tuple[str, ...], match: LabelMatch, probabilities: np.ndarray | None) -> Predicted:
    """Compare predictions with labels.

    Args:
        labels: the model's C class names, () without a model.
        probabilities: float[N, C], rows of NaN for examples that are not predicted yet; None for none at all.
    """
    N = len(index)
    if not labels:
        return Predicted((), np.full(N, -1), np.full(N, np.nan), np.full(N, np.nan), np.full(N, -1))
    probabilities = (
        np.full((N, len(labels)), np.nan) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    )
    there = np.all(np.isfinite(probabilities), axis=1)
    predicted = np.where(there, np.where(there[:, None], probabilities, 0.0).argmax(axis=1), -1)
    confidence = np.where(there, probabilities.max(axis=1), np.nan)
    classes = np.array([match.classes.get(name, -1) for name in index.data.classes] + [-1], dtype=np.int64)
    meant = classes[index.labels]
    known = there & (meant >= 0)
    label_probability = np.where(known, probabilities[np.arange(N), np.maximum(meant, 0)], np.nan)
    right = np.where(known, predicted == meant, -1).astype(np.int64)
    other = find_other(match, labels, np.where(each_text_once(known, index.texts), meant, -1), predicted)
    return Predicted(labels, predicted, confidence, label_probability, right, other=other)


def facets(index: Index, judged: Predicted) -> dict[str, tuple[str, ...]]:
    """What can be filtered by: each facet's values in the order of a menu, the one for "none" last."""
    return {facet: names for facet, (names, _) in _members(index, judged).items()}


def select(index: Index, judged: Predicted, query: Query) -> np.ndarray:
    """Rows of the examples that a query leaves, in its order → int64[n]."""
    kept = np.flatnonzero(np.logical_and.reduce(list(_parts(index, judged, query).values())))
    values = _values(index, judged, query.order)
    if values is None:
        return kept[::-1] if query.descending else kept
    chosen = values[kept]
    missing = np.isnan(chosen)
    # Stable either way, so that equal values stay in the file's order.
    order = np.argsort(np.where(missing, 0.0, -chosen if query.descending else chosen), kind="stable")
    return kept[np.concatenate([order[~missing[order]], order[missing[order]]])]


def counts(index: Index, judged: Predicted, query: Query) -> dict[str, dict[str, int]]:
    """For each facet, how many examples each of its values would leave beside the query's other parts."""
    parts = _parts(index, judged, query)
    found = {}
    for facet, (names, members) in _members(index, judged).items():
        beside = facet == "tag" and query.all_tags
        others = np.logical_and.reduce([mask for part, mask in parts.items() if part != facet or beside])
        if members.ndim == 2:
            tally = members[:, others].sum(axis=1)
        else:
            tally = np.bincount(np.where(members < 0, len(names) - 1, members)[others], minlength=len(names))
        found[facet] = dict(zip(names, map(int, tally)))
    return found


def worst(judged: Predicted, rows: np.ndarray | None = None) -> int | None:
    """The row of the most confident mistake, of all or of these rows, int64[n]; None if there is none."""
    wrong = np.flatnonzero(judged.right == 0)
    wrong = wrong if rows is None else wrong[np.isin(wrong, rows)]
    return int(wrong[judged.confidence[wrong].argmax()]) if len(wrong) else None


def terms(search: str) -> list[str]:
    """The terms of a search, in lower case; all must occur. A quote that is not closed yet reaches to the end."""
    return [term.casefold() for quoted, word in _TERM.findall(search) if (term := quoted.strip() or word)]


def excerpt(text: str, wanted: list[str], most: int = 260) -> str:
    """The part of a text that a table shows: its beginning, or where the first of the terms stands."""
    if len(text) <= most:
        return text
    low = text.casefold()
    places = [place for term in wanted if (place := low.find(term)) >= 0]
    first = min(places, default=0)
    start = max(0, first - most // 3) if first >= most - 20 else 0
    return ("…" if start else "") + text[start : start + most] + ("…" if start + most < len(text) else "")


def _members(index: Index, judged: Predicted) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Each facet's values, and which examples have which, as `Index.groups`."""
    confidence = np.searchsorted(list(_CONFIDENCE), np.nan_to_num(judged.confidence), side="right") - 1
    length = np.searchsorted(list(_LENGTH), index.lengths, side="right") - 1
    found = {
        "label": index.groups["label"],
        "predicted": ((*judged.labels, NOT_PREDICTED), judged.predicted),
        "outcome": ((WRONG, RIGHT, UNJUDGED), judged.right),
        "confidence": ((*_CONFIDENCE.values(), NOT_PREDICTED), np.where(judged.predicted < 0, -1, confidence)),
        "length": (tuple(_LENGTH.values()), length),
        "tag": index.groups["tag"],
    }
    for name, trait in judged.traits.items():
        bands = TRAITS[trait_of_measure(name)[0]]
        place = np.searchsorted(list(bands), np.nan_to_num(trait.values, nan=0.0, posinf=np.inf), side="right") - 1
        place = np.where(np.isnan(trait.values), len(bands), place)
        found[name] = (*bands.values(), UNDEFINED, NOT_COMPUTED), np.where(trait.known, place, -1)
    if judged.pinned is not None:
        pinned = judged.pinned > 0
        found["pinned"] = (PINNED, NOTED, UNPINNED), np.stack([pinned, judged.pinned > 1, ~pinned])
    return found


def _parts(index: Index, judged: Predicted, query: Query) -> dict[str, np.ndarray]:
    """Each part of the query as bool[N]; a value that no example can have leaves nothing."""
    wanted = terms(query.search)
    held = [all(term in text for term in wanted) for text in index.haystack] if wanted else [True] * len(index)
    found = {"search": np.array(held, dtype=bool)}
    for facet, (names, members) in _members(index, judged).items():
        asked = np.array([name in query.facets.get(facet, ()) for name in names])
        if not query.facets.get(facet):
            continue
        if members.ndim == 2:
            # A value that no example can have leaves nothing where all are asked for, too.
            all_of = query.all_tags and facet == "tag"
            every = all_of and set(query.facets[facet]) <= set(names)
            found[facet] = members[asked].all(axis=0) if every else members[asked].any(axis=0) & (not all_of)
        else:
            found[facet] = asked[members]
    return found


def _values(index: Index, judged: Predicted, order: str) -> np.ndarray | None:
    """What an order sorts by, float64[N] with NaN where there is nothing; None for the order of the file."""
    if order == "text":
        values = np.empty(len(index))
        values[sorted(range(len(index)), key=index.haystack.__getitem__)] = np.arange(len(index))
        return values
    if is_trait(order):
        return judged.traits[order].values if order in judged.traits else np.full(len(index), np.nan)
    if order in ("label", "predicted"):
        codes = index.labels if order == "label" else judged.predicted
        return np.where(codes < 0, np.nan, codes)
    lengths = index.lengths.astype(np.float64)
    known = {"label probability": judged.label_probability, "confidence": judged.confidence, "length": lengths}
    return known.get(order)
