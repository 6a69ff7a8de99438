"""What a row of coloured words shows: shades, places and value texts of one attribution."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.explanation.explainer import Attribution, Explainer
from core.explanation.plausibility import feature_mask
from core.mathematics.curves import importance_shares
from core.mathematics.ranking import kendall_tau, ranks, top_overlap
from core.measures.catalogue import is_measure, measure
from core.measures.registry import Measure
from core.network.features import Encoded, Feature, find_words

# The two kinds of values that a person chooses between.
SIGNS = ("signed", "absolute")
# k of the overlap of measures.
TOP = 3


@dataclass(frozen=True)
class WordRow:
    """One measure's row: scores float64[F], shades in [−1, 1], places 1..F' (1 matters most).

    masked: bool[F], features that the text itself masks; they are left out of places (0 there) and of
    every comparison, since nothing was measured for them, and so are those without a score yet (NaN).
    kind: "signed", "positive" (no sign, no opposing words) or
    "rank" (places only).
    """

    measure: str
    variant: str
    kind: str
    unit: str
    scores: np.ndarray
    shades: np.ndarray
    places: np.ndarray
    largest: float
    masked: np.ndarray

    @property
    def free(self) -> np.ndarray:
        """Scores of the features that can be masked, float64[F']."""
        return self.scores[~self.masked]


def build_row(measure: Measure, attribution: Attribution, sign: str, masked: np.ndarray | None = None) -> WordRow:
    """Choose the variant for "signed" or "absolute" and scale its colour to the example's largest value.

    A measure that lacks the asked variant shows its own (gradient has no sign; beam only places).
    """
    variant = choose_variant(measure, sign)
    return row_of_scores(measure, attribution.scores[variant], variant, masked)


def row_of_scores(measure: Measure, scores: np.ndarray, variant: str, masked: np.ndarray | None = None) -> WordRow:
    """The same of one variant's scores, float64[F]."""
    kind = "rank" if measure.rank_only else "signed" if variant in measure.signed else "positive"
    waiting = np.isnan(scores)
    largest = float(np.abs(scores[~waiting]).max(initial=0.0))
    shades = np.zeros_like(scores) if kind == "rank" or largest == 0 else np.where(waiting, 0.0, scores) / largest
    masked = waiting if masked is None else masked | waiting
    places = np.zeros(len(scores), dtype=np.int64)
    places[~masked] = ranks(scores[~masked])
    return WordRow(measure.name, variant, kind, measure.unit, scores, shades, places, largest, masked)


def choose_variant(measure: Measure, sign: str) -> str:
    """The variant that is asked for, or the measure's default where it has no such variant."""
    return sign if sign in measure.variants else measure.variants[0]


def values_taken(name: str, sign: str) -> str | None:
    """The values that are really taken of a measure where "signed" or "absolute" is asked for, as files say it: "L2" of
    gradient; None of what is no measure, such as random order.
    """
    return choose_variant(measure(name), sign) if is_measure(name) else None


def measured(explainer: Explainer, name: str, sign: str) -> dict:
    """What a stored result depends on of a measure: its name, its version, the variant that is asked for, and the words
    that it reads.
    """
    named = measure(name)
    about = {"measure": named.name, "measure_version": named.version, "variant": choose_variant(named, sign)}
    return about | explainer.words_read(name)


def measured_each(explainer: Explainer, names: Sequence[str], sign: str) -> list[dict]:
    """The same of measures that are computed with seed 0."""
    return [measured(explainer, name, sign) | {"seed": 0 if measure(name).seeded else None} for name in names]


def value_text(row: WordRow, i: int) -> str:
    """A score as people read it: three significant digits with its sign, or a place."""
    if np.isnan(row.scores[i]):
        return "not computed yet"
    if row.masked[i]:
        return "masked already"
    if row.kind == "rank":
        return f"place {row.places[i]}"
    return f"{row.scores[i]:+.3g}" if row.kind == "signed" and row.scores[i] else f"{row.scores[i]:.3g}"


def pieces(encoded: Encoded, evidence: Sequence[tuple[int, int]] = ()) -> list[dict]:
    """The text cut into what a page draws: {"gap", "text", "masked"} per feature, gap = what stands before it, of a
    pair also of the text before it.

    Features that the tokenizer does not know have "unknown": True besides. evidence: characters [start, end) of the
    text; features that share one with them have "evidence": True besides.
    """
    cut, at, marked = [], (0, 0), feature_mask(encoded, evidence)
    for feature, masked, mark, unknown in zip(encoded.features, encoded.premasked, marked, encoded.unknown):
        cut.append(
            {"gap": _between(encoded, at, feature), "text": feature.text, "masked": bool(masked)}
            | ({"evidence": True} if mark else {})
            | ({"unknown": True} if unknown else {})
        )
        at = feature.side, feature.end
    return cut


def _between(encoded: Encoded, at: tuple[int, int], feature: Feature) -> str:
    """What stands between a place of a text, (side, character), and a feature."""
    side, end = at
    if side == feature.side:
        return encoded.sides[side][end : feature.start]
    return f"{encoded.text[end:]}\n{encoded.sides[1][: feature.start]}"


def find_pieces(text: str, most: int = 500) -> list[dict]:
    """The first words of a text as `pieces` gives them, before a model is there to read it."""
    cut, end = [], 0
    for start, stop in find_words(text[:10_000])[:most]:
        cut.append({"gap": text[end:start], "text": text[start:stop], "masked": False})
        end = stop
    return cut


def kinds_differ(rows: Sequence[WordRow]) -> bool:
    """Whether some measures have no sign, and so rank what opposes the class strongly first, and others last."""
    kinds = {row.kind for row in rows if not measure(row.measure).baseline}
    return "positive" in kinds and len(kinds) > 1


def agreement(rows: list[WordRow], k: int) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's tau-b and top-k overlap between M attributions.

    Returns:
        float64[M, M] each, in [−1, 1] and [0, 1]; higher is more agreement; NaN where there is no order.
    """
    tau, overlap = np.full((2, len(rows), len(rows)), np.nan)
    for i, first in enumerate(rows):
        for j, second in enumerate(rows):
            tau[i, j] = kendall_tau(first.free, second.free)
            if has_order(first) and has_order(second):
                overlap[i, j] = top_overlap(first.free, second.free, k)
    return tau, overlap


def top_shares(rows: Sequence[WordRow], k: int) -> list[tuple[WordRow, float]]:
    """Of each row that has magnitudes the share of its total importance, 0 to 1, in its k most important features."""
    shares = [(row, importance_shares(row.free)) for row in rows if row.kind != "rank" and len(row.free)]
    return [(row, float(one[min(k, len(one)) - 1])) for row, one in shares if not np.isnan(one[0])]


def has_order(row: WordRow) -> bool:
    """Whether the scores put the features in any order: not where they are all equal."""
    return len(row.free) == 1 or (len(row.free) > 1 and float(np.ptp(row.free)) > 0)


def most_important(row: WordRow) -> int | None:
    """The feature that matters most; None where no word speaks for the class, or all scores are equal."""
    if not has_order(row) or (row.kind == "signed" and float(row.free.max()) <= 0):
        return None
    return int(np.flatnonzero(row.places == 1)[0])
