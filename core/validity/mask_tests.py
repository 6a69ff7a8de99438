"""Test masked inputs of one example: logits and p-values of the same forward pass, each computed once."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.mathematics.masking import nearest_ratio
from core.network.features import with_premasked
from core.network.model import Model
from core.network.scheduler import NonFinite
from core.oracle.oracle import SEGMENT_ROWS, Oracle
from core.storage.content import ROWS, Content, Numbers
from core.storage.store import Store, canonical_key
from core.validity.masf import PValues, at_ratio, p_values
from core.validity.references import FORMS, Reference


@dataclass(frozen=True, eq=False)
class MaskTest:
    """M masked inputs: logits float32[M, C]; p {form: float64[M]} and layers {form: float64[M, L]}, both {} without a
    reference.
    """

    logits: np.ndarray
    p: dict[str, np.ndarray]
    layers: dict[str, np.ndarray]

    def one(self, i: int) -> "MaskTest":
        """The i-th of them alone, with M = 1."""
        return MaskTest(
            self.logits[i : i + 1],
            {form: p[i : i + 1] for form, p in self.p.items()},
            {form: layers[i : i + 1] for form, layers in self.layers.items()},
        )


class MasfTest:
    """MaSF of a reference, asked about pooled hidden states of whatever input they come from."""

    forms: tuple[str, ...] = FORMS

    def __init__(self, reference: Reference, model: Model):
        self.reference, self.pooling, self._model = reference, reference.pooling, model

    def __call__(self, states: np.ndarray, masked: np.ndarray) -> dict[str, np.ndarray]:
        """p-values {form: float64[B]} of float[B, L, H]; masked: float[B] in [0, 1], share of the features that each
        input has lost, by which it is compared. NonFinite where a state is no number.
        """
        ratios = nearest_ratio(masked, 1)
        return {form: found.at(ratios) for form, found in self.tested(states).items()}

    def tested(self, states: np.ndarray) -> dict[str, PValues]:
        """What each form says of float[B, L, H] at all ratios; raises as a call does."""
        if not np.isfinite(states).all():
            raise NonFinite(f"The model's hidden states hold NaN or infinity. {self._model.advice}")
        return p_values(self.reference.forms, states)


class MaskTests:
    """One example under one model and its reference; p-values are kept in memory and, in segments, in the store.

    An input's row holds its p-value against every ratio of the reference, {form: R}, then those of its layers, {form:
    L}: which ratio counts is said when it is asked for. Losing the last segment costs its forward passes and nothing
    else. Threads may share it.
    """

    def __init__(self, oracle: Callable[[], Oracle], reference: Reference | None, store: Store | None = None):
        # Asked for each time: the one that attributions use may have been forgotten and made anew.
        self._oracle, self.reference, self.store = oracle, reference, store
        self._known: dict[bytes, np.ndarray] = {}
        self._unsaved: list[bytes] = []
        self._guard = threading.Lock()
        if reference is not None:
            self.key = canonical_key("masf", 2, forward=oracle().key, reference=reference.digest)
            forms = [reference.forms[form] for form in FORMS]
            self._widths = [*(form.R for form in forms), *(form.L for form in forms)]
            masks = Numbers("uint8", (ROWS, -(-oracle().F // 8)))
            self.content = Content({"masks": masks, "p": Numbers("float64", (ROWS, sum(self._widths)), 0, 1)})
            for segment in store.segments(self.key, self.content) if store is not None else ():
                self._known.update(zip((row.tobytes() for row in segment.arrays["masks"]), segment.arrays["p"]))

    @property
    def oracle(self) -> Oracle:
        """The example's masking oracle."""
        return self._oracle()

    def judge(
        self, masks: np.ndarray, ratios: np.ndarray | None = None, *, cancelled: Callable[[], bool] | None = None
    ) -> MaskTest:
        """Logits and p-values of bool[M, F] masks, M at least 1; what is known already costs no forward pass.

        Args:
            ratios: int[M], places in RATIOS of steps of a path over ratios (`path_ratios`); other inputs are compared
                at the ratio nearest to their share of masked features.
        Raises:
            Cancelled, OutOfMemory, NonFinite: as the oracle; what was computed before stays known.
        """
        if self.reference is None:
            return MaskTest(self.oracle.logits(masks, cancelled=cancelled), {}, {})
        whole = with_premasked(self.oracle.encoded, masks)
        keys = [row.tobytes() for row in np.packbits(whole, axis=1)]
        # One pass gives both; logits alone that are known do not save it.
        missing = {key: i for i, key in enumerate(keys) if key not in self._known}
        if missing:
            _, states = self.oracle.logits_and_states(
                np.asarray(masks)[list(missing.values())], self.reference.pooling, cancelled=cancelled
            )
            found = MasfTest(self.reference, self.oracle.model).tested(states)
            parts = [found[form].by_ratio for form in FORMS] + [found[form].layers for form in FORMS]
            with self._guard:
                self._known.update(zip(missing, np.concatenate(parts, axis=1)))
                self._unsaved += missing
            if len(self._unsaved) >= SEGMENT_ROWS:
                self.flush()
        ratios = nearest_ratio(whole.sum(axis=1), self.oracle.F) if ratios is None else ratios
        parts = np.split(np.stack([self._known[key] for key in keys]), np.cumsum(self._widths)[:-1], axis=1)
        return MaskTest(
            self.oracle.logits(masks, cancelled=cancelled),
            {form: at_ratio(part, ratios) for form, part in zip(FORMS, parts)},
            dict(zip(FORMS, parts[len(FORMS) :])),
        )

    def known(self, masks: np.ndarray) -> bool:
        """Whether all of these masks cost nothing any more."""
        rows = np.packbits(with_premasked(self.oracle.encoded, masks), axis=1) if self.reference is not None else ()
        return all(row.tobytes() in self._known for row in rows) and bool(self.oracle.known(masks).all())

    def flush(self) -> None:
        """Write what the store does not hold yet, logits too."""
        self.oracle.flush()
        self.flush_p()

    def flush_p(self) -> None:
        """Write the p-values that the store does not hold yet."""
        with self._guard:
            unsaved, self._unsaved = self._unsaved, []
        if self.store is not None and unsaved:
            masks = np.frombuffer(b"".join(unsaved), dtype=np.uint8).reshape(len(unsaved), -1)
            p = np.stack([self._known[key] for key in unsaved])
            self.store.append(self.key, {"masks": masks, "p": p}, {}, self.content)
