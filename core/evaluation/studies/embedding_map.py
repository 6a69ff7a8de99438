"""A map of embeddings in the plane by UMAP: which masked texts a model sees alike; distances on it mean little."""

import hashlib
import importlib.util
import threading
from dataclasses import dataclass

import numpy as np

from core.evaluation.studies.behaviour import Walked
from core.mathematics.masking import RATIOS
from core.network.memory import IMPORTING
from core.storage.content import Content, Numbers
from core.storage.store import Store, canonical_key

# Ratios that are shown, as places in RATIOS, and how many examples at most: about a thousand points.
SHOWN = (0, 2, 5, 8, 10)
MOST = 200
# Fewer points have no neighbourhoods to keep.
FEWEST = 20
NEIGHBOURS, NEAREST, SEED = 15, 0.1, 0
# Measured on one core: importing and compiling for the first time, then each thousand points.
_START_SECONDS, _SECONDS = 6.0, 2.0
# Numba's own threads do not bear two callers at once.
_ONE = threading.Lock()


@dataclass(frozen=True, eq=False)
class Points:
    """P embeddings: states float32[P, H]; example int64[P], place in the sample; ratio int64[P], place in RATIOS."""

    states: np.ndarray
    example: np.ndarray
    ratio: np.ndarray

    def __len__(self) -> int:
        return len(self.example)

    @property
    def key(self) -> str:
        """Of their map: hash of the embeddings and everything else it depends on."""
        content = hashlib.sha256(np.ascontiguousarray(self.states).tobytes()).hexdigest()
        return canonical_key(
            "embedding map",
            1,
            states=content,
            shape=list(self.states.shape),
            neighbours=NEIGHBOURS,
            nearest=NEAREST,
            metric="cosine",
            seed=SEED,
        )

    @property
    def content(self) -> Content:
        """What the store holds of their map."""
        return Content({"places": Numbers("float32", (len(self), 2))})

    @property
    def seconds(self) -> float:
        """About how long the map takes."""
        return _START_SECONDS + _SECONDS * len(self) / 1000


def points_of(walked: Walked) -> Points:
    """The embeddings of the first examples that are there, at each of the ratios that are shown."""
    places = np.flatnonzero(walked.there)[:MOST]
    states = walked.states[places][:, list(SHOWN)].astype(np.float32)
    return Points(states.reshape(-1, states.shape[-1]), np.repeat(places, len(SHOWN)), np.tile(SHOWN, len(places)))


def can_map() -> bool:
    """Whether UMAP is installed; nothing is imported."""
    return importlib.util.find_spec("umap") is not None


def read_map(points: Points, store: Store) -> np.ndarray | None:
    """The map if the store has it, float32[P, 2], else None."""
    entry = store.get(points.key, points.content)
    return None if entry is None else entry.arrays["places"]


def draw_map(points: Points, store: Store | None = None) -> np.ndarray:
    """Places of the embeddings, float32[P, 2], from the store or computed: UMAP by cosine, 15 neighbours, a fixed seed.

    Distances, sizes and axes mean nothing, and two maps do not compare. ValueError: fewer than 20 points.
    Source: RobustInf §5, Figs. of embeddings; McInnes, Healy, Melville (2018), UMAP, arXiv 1802.03426.
    """
    if len(points) < FEWEST:
        raise ValueError(f"a map needs at least {FEWEST} embeddings, there are {len(points)}")
    found = None if store is None else read_map(points, store)
    if found is None:
        found = _umap(points.states)
        if store is not None:
            store.put(points.key, {"places": found}, {"ratios": [RATIOS[k] for k in SHOWN]}, points.content)
    return found


def _umap(states: np.ndarray) -> np.ndarray:
    with _ONE:
        # Imported here: it takes seconds, and only this needs it.
        with IMPORTING:
            import umap

        reducer = umap.UMAP(
            n_neighbors=min(NEIGHBOURS, len(states) - 1), min_dist=NEAREST, metric="cosine", random_state=SEED, n_jobs=1
        )
        return np.asarray(reducer.fit_transform(states), dtype=np.float32)
