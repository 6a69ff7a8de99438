"""Width of limits against the number of scores they take: beams and insertion searches on the same texts."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from core.explanation.explainer import Explainer
from core.explanation.limiting import default_exact, find_exact, left_over, value_by_mask
from core.mathematics.search.insertion import BUDGET, insertion_search, insertion_sets
from core.mathematics.search.limits import Search, beam_search
from core.mathematics.stepwise import finish
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.wording import amount, text_table

# Widths of the beams, and of those from which insertion searches start.
WIDTHS, STARTS = (1, 2, 5, 50), (1, 2)
# The beam whose number of scores is the measure of price, and shares of that number that an insertion search may spend.
PRICE, SHARES = "beam 5", (0.5, 0.75, 1.0)
WIDEST = "beam 50"
DEFAULT = "insertion search as limits take it"
# Limits that lie so near count as equally wide, in units of the score.
EQUAL = 1e-3
# Of a row: raised when what stands in it changes.
_VERSION = 3


def compare_searches(
    explainer: Explainer, texts: Sequence[str], kept: Path | None = None, told: Callable[[str], None] = lambda _: None
) -> list[dict]:
    """Search the limits of every text in every way, a row each; texts without limits are left out.

    A search asks in half precision where that is faster, and is scored anew in the model's own; each counts its own
    scores. kept: a file of JSON lines that is resumed. Rows: features; searches: {name: {"scores", "lower", "upper"}};
    exact: [lower, upper], or None where they are slow.
    """
    rows, known, model = [], {} if kept is None else _read(kept), explainer.model
    for i, text in enumerate(texts):
        about = [_VERSION, model.digest, model.precision, model.device, text]
        key = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        before = known.get(key)
        try:
            row = _row(explainer, explainer.encode(text, None, "word"), before)
        except (NoFeatures, NonFinite) as error:
            told(f"{i + 1} of {len(texts)}: {error}")
            continue
        if kept is not None and row != before:
            with kept.open("a") as file:
                file.write(json.dumps({"key": key} | row) + "\n")
        known[key] = row
        rows.append(row)
        told(f"{i + 1} of {len(texts)} texts, {row['features']} words")
    return rows


def chosen_texts(explainer: Explainer, texts: Sequence[str], count: int, fewest: int = 8, most: int = 40) -> list[str]:
    """So many of the texts that have `fewest` to `most` words to mask, drawn by a fixed seed."""
    drawn = (texts[i] for i in np.random.default_rng(0).permutation(len(texts)))
    return list(islice((text for text in drawn if fewest <= _words(explainer, text) <= most), count))


def search_lines(rows: Sequence[dict]) -> list[str]:
    """The figures as lines of text: means over all texts, and how far short of exact limits where these are known."""
    if not rows:
        return []
    features = [row["features"] for row in rows]
    known = [row for row in rows if row["exact"] is not None]
    of = f"{amount(len(rows), 'text')} of {min(features)} to {max(features)} words, {len(known)} with exact limits"
    body = [[name, *_figures(rows, known, name)] for name in rows[0]["searches"]]
    return [f"searches of {of}", *text_table(_HEADER, body).split("\n")]


# Wider or narrower than the widest beam, by more than EQUAL; short of exact limits on average and at most.
_HEADER = ["search", "mean scores ↓", "mean width ↑", "wider ↑", "as wide", "narrower ↓", "short ↓", "at most ↓"]


def _figures(rows: Sequence[dict], known: Sequence[dict], name: str) -> list[str]:
    found = [row["searches"][name] for row in rows]
    widths = np.array([_width(one) for one in found])
    apart = widths - [_width(row["searches"][WIDEST]) for row in rows]
    wider, narrower = int((apart > EQUAL).sum()), int((apart < -EQUAL).sum())
    scores = f"{np.mean([one['scores'] for one in found]):,.0f}"
    compared = [scores, f"{widths.mean():.4f}", f"{wider}", f"{len(rows) - wider - narrower}", f"{narrower}"]
    if not known:
        return [*compared, "", ""]
    short = [row["exact"][1] - row["exact"][0] - _width(row["searches"][name]) for row in known]
    return [*compared, f"{np.mean(short):.4f}", f"{max(short):.4f}"]


def _words(explainer: Explainer, text: str) -> int:
    try:
        return left_over(explainer.encode(text, None, "word"))
    except NoFeatures:
        return 0


def _width(limits: dict) -> float:
    return limits["upper"] - limits["lower"]


def _row(explainer: Explainer, encoded: Encoded, before: dict | None) -> dict:
    """One text, searched in every way; before: what an earlier run found, whose searches are not made again."""
    searches: dict[str, dict] = {} if before is None else dict(before["searches"])
    asked = _searches(lambda: searches[PRICE]["scores"], left_over(encoded))
    if before is not None and set(asked) <= set(searches):
        return before
    if left_over(encoded) == 0:
        raise NoFeatures("Every word of the text is masked already.")
    target = int(explainer.logits(encoded).argmax())
    full = explainer.oracles.of(encoded)
    own = value_by_mask(full, target)
    rough = explainer.searching(encoded)
    searching = own if rough is None else value_by_mask(rough, target)
    try:
        for name, search in asked.items():
            if name in searches:
                continue
            rescore = None if rough is None else own
            found = finish(search()(searching, encoded.F, masked=encoded.premasked, rescore=rescore))
            searches[name] = {"scores": found.scores, "lower": found.lower, "upper": found.upper}
        exact = None
        if 1 << left_over(encoded) <= default_exact(explainer.model.device):
            limits = finish(find_exact(explainer, encoded, target)).limits
            exact = [limits.lower, limits.upper]
    finally:
        explainer.forget(encoded)
    return {"features": left_over(encoded), "searches": searches, "exact": exact}


def _searches(price: Callable[[], int], F: int) -> dict[str, Callable[[], Callable[..., Search]]]:
    """Every search of F features by its name; price: the scores that the beam of that name took."""
    found: dict[str, Callable[[], Callable[..., Search]]] = {
        f"beam {width}": lambda width=width: partial(beam_search, width=width) for width in WIDTHS
    }
    for start in STARTS:
        for share in SHARES:
            name = f"insertion from beam {start}, at {share:.0%} of the scores of {PRICE}"
            found[name] = lambda start=start, share=share: partial(
                insertion_search, width=start, most=round(share * price())
            )
    # Named by its price, so that a row knows which it had.
    found[f"{DEFAULT} (at most {BUDGET:g} F² scores)"] = lambda: partial(insertion_search, most=insertion_sets(F))
    return found


def _read(kept: Path) -> dict[str, dict]:
    """Rows by key; a line that was cut off is left out, and ended, so that the next stands by itself."""
    rows: dict[str, dict] = {}
    text = kept.read_text() if kept.is_file() else ""
    if text and not text.endswith("\n"):
        with kept.open("a") as file:
            file.write("\n")
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows[row.pop("key")] = row
    return rows
