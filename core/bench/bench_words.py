"""Speed of words over the data from stored scores and verdicts."""

import json

import numpy as np
from scipy import stats

from core.bench.clock import clocked
from core.evaluation.studies.known_words import known_texts
from core.evaluation.studies.word_lines import RESAMPLES, WordLine, lines_by_word
from core.evaluation.studies.word_scores import by_word
from core.evaluation.study import Rows

_WORDS = 8_000


def words_speed(texts: int = 5_000, compared: int = 40) -> dict[str, float]:
    """Time the words of made-up texts, as frequent as in prose, against SciPy's bootstrap of each word.

    Args:
        compared: words that SciPy is timed on; their time is scaled up to all.
    Returns:
        ratio: time of SciPy's intervals over that of the whole answer, higher is better.
        words: how many lines there are; seconds: their time.
    """
    scored, judged = _made_up(texts)

    def ours() -> list[WordLine]:
        return lines_by_word(("first", "second", "third"), known_texts(scored, judged), np.ones(texts), ("bad", "good"))

    lines, seconds = clocked(ours)
    chosen, rng = lines[:: max(1, len(lines) // compared)], np.random.default_rng(0)

    def theirs() -> None:
        for one in chosen:
            stats.bootstrap((rng.normal(size=one.texts),), np.mean, n_resamples=RESAMPLES, rng=rng)

    ratio = clocked(theirs)[1] * len(lines) / len(chosen) / seconds
    return {"ratio": ratio, "words": len(lines), "seconds": seconds}


def _made_up(texts: int) -> tuple[Rows, Rows]:
    """Scores and verdicts of texts of 8 to 31 words by three measures, all better than random on most texts."""
    rng, rows = np.random.default_rng(0), []
    shares = 1 / np.arange(1, _WORDS + 1)
    for _ in range(texts):
        F = int(rng.integers(8, 32))
        words = [f"w{i}" for i in rng.choice(_WORDS, F, p=shares / shares.sum())]
        found = by_word(words, rng.random(F) < 0.1, list(rng.normal(size=(3, F))))
        rows.append(json.dumps({"class": int(rng.integers(2))} | found))
    there, p = np.ones(texts, dtype=bool), 0.6 * rng.random((texts, 3))
    scored = Rows(there, {}, there, {"words": np.arange(texts)}, tuple(rows), {})
    return scored, Rows(there, {}, there, {"word": np.zeros((texts, 3)), "p": p, "worse": 1.01 - p}, (), {})
