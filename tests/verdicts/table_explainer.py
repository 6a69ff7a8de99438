"""An explainer whose model is a table of 2^F probabilities and whose measures are written down."""

from types import SimpleNamespace

import numpy as np

from core.explanation.explainer import Attribution
from core.network.features import Encoded
from core.network.scheduler import Counters
from core.validity.mask_tests import MaskTest
from tests.table import Table


class TableOracle:
    """Class 1 of two has the probability that the table says; `passes` counts distinct inputs."""

    def __init__(self, encoded, values, p):
        self.encoded, self.F, self.table, self._p = encoded, encoded.F, Table(np.clip(values, 1e-9, 1 - 1e-9)), p
        self.seen = set()

    @property
    def count(self):
        return len(self.seen)

    @property
    def oracle(self):
        return self

    def logits(self, masks, *, progress=None, cancelled=None):
        self.seen |= {row.tobytes() for row in masks}
        v = self.table.value(masks)
        return np.log(np.stack([1 - v, v], axis=1))

    def judge(self, masks, ratios=None, *, progress=None, cancelled=None):
        p = {} if self._p is None else {form: np.full(len(masks), self._p) for form in ("calibrated", "literal")}
        return MaskTest(self.logits(masks), p, {})

    def known(self, masks):
        return np.array([row.tobytes() in self.seen for row in masks])

    def flush(self):
        pass


class TableExplainer:
    """values: float[2^F]; scores: {measure: {variant: float[F]}}, or an error to raise; p: of every input, None where
    there is no reference; others: {erasure: values}.
    """

    reference = store = None

    def __init__(self, values, scores, p=None, others=None):
        self.F = len(values).bit_length() - 1
        self.encoded = SimpleNamespace(
            F=self.F,
            T=self.F + 2,
            premasked=np.zeros(self.F, dtype=bool),
            digest="0123456789abcdef",
            unit="word",
            features=[SimpleNamespace(text=f"w{i}") for i in range(self.F)],
        )
        self.scores, self.model = scores, SimpleNamespace(scheduler=SimpleNamespace(counters=Counters()))
        self._oracles = {
            name: TableOracle(self.encoded, one, p) for name, one in {"mask token": values, **(others or {})}.items()
        }
        self.oracles = SimpleNamespace(of=self.tested)

    def tested(self, encoded: Encoded, erasure: str = "mask token") -> TableOracle:
        return self._oracles[erasure]

    def searching(self, encoded: Encoded, erasure: str = "mask token") -> None:
        """A table has no half precision."""

    def attribute(self, encoded, name, target, masked=None, seed=0, **more):
        found = self.scores[name]
        if isinstance(found, Exception):
            raise found
        found = found(masked, seed) if callable(found) else found
        return Attribution(name, target, {key: np.array(one, dtype=float) for key, one in found.items()}, 0, 0.0)
