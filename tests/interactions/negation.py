"""`python -m tests.interactions.negation`: in how many bundled negations the pair that a reader wrote down beforehand, and
a second one agreed on, is the strongest of all pairs of words, and in how many a random pair would be.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.interactions.finding import find_interactions
from core.interactions.pairs import every_pair
from core.loading.loading import load
from core.mathematics.stepwise import finish
from core.network.features import Encoded
from core.storage.store import Store

WRITTEN = json.loads((Path(__file__).parent / "negation.json").read_text(encoding="utf-8"))["pairs"]


def places_of(words: list[str], encoded: Encoded) -> tuple[int, ...]:
    """Where two words stand, as they are written down: "groan#2" is the second groan."""
    texts, found = [feature.text for feature in encoded.features], []
    for word in words:
        text, _, which = word.partition("#")
        found.append([i for i, one in enumerate(texts) if one == text][int(which or 1) - 1])
    return tuple(sorted(found))


def main() -> None:
    """Print a line for each sentence, then the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="sst2-fmm")
    parser.add_argument("--exact-up-to", type=int, default=12, help="words of which every set is asked; others sampled")
    parser.add_argument("--store", type=Path, help="folder in which scores are kept, so that a run can go on")
    parser.add_argument("--agreed", action="store_true", help="only sentences of which two readers wrote the same")
    options = parser.parse_args()
    explainer = Explainer(load(options.model, "cpu"), options.store and Store(options.store))
    ranks, chances, noted, right, agreed = [], [], [], [], []
    for example in read_bundled("reviews"):
        written = WRITTEN.get(example.id)
        if written is None or (options.agreed and not written["agreed"]):
            continue
        encoded = explainer.encode(example.text, example.second, "word")
        logits = explainer.logits(encoded)
        target, exact = int(logits.argmax()), encoded.F <= options.exact_up_to
        pairs = every_pair(finish(find_interactions(explainer, encoded, target, exact)))
        order = [(pair.first, pair.second) for pair in pairs]
        rank = order.index(places_of(written["pair"], encoded)) + 1
        first = " + ".join(encoded.features[i].text for i in order[0])
        ranks.append(rank)
        chances.append(2 / (encoded.F * (encoded.F - 1)))
        noted.append(written["noted"])
        agreed.append(written["agreed"])
        right.append(explainer.model.labels[target] == example.label)
        print(
            f"{example.id} F={encoded.F:2d} {'exact' if exact else 'sampled':7s} {' + '.join(written['pair']):22s} "
            f"place {rank:4d} of {len(order):4d}; strongest: {first} ({pairs[0].value:+.2f} logits)"
            f"{'' if right[-1] else '; predicted wrongly'}",
            flush=True,
        )
        explainer.forget(encoded)
    told = np.array(ranks), np.array(chances), np.array(noted), np.array(right), np.array(agreed)
    groups = (("all", slice(None)), ("noted", told[2]), ("predicted rightly", told[3]), ("two readers agree", told[4]))
    for name, rows in groups:
        rank, chance = told[0][rows], told[1][rows]
        print(
            f"{name}: strongest in {int((rank == 1).sum())} of {len(rank)}, among the first five in "
            f"{int((rank <= 5).sum())}; by a random pair {chance.sum():.2f} and {5 * chance.sum():.2f} expected; "
            f"median place {np.median(rank):g}"
        )


if __name__ == "__main__":
    main()
