"""Attack a text: once, then read from the store."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.attacks.catalogue import attack_named
from core.attacks.encoder import encoder_digest
from core.attacks.victim import AttackOutcome, Budget, Victim
from core.network.features import Encoded
from core.network.model import Model
from core.storage.content import Content, Numbers, is_count, is_text
from core.storage.store import Key, Store, canonical_key

OUTCOMES = tuple(AttackOutcome)


@dataclass(frozen=True)
class Attacked:
    """What an attack came to.

    text: the attacked text, the text itself where nothing was changed; changed: its features that differ; spans: the
    characters [start, end) of these in the attacked text; queries: inputs that the model read; similarity: cosine of
    the two sentence embeddings, 1 where nothing was changed.
    """

    text: str
    changed: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    queries: int
    similarity: float
    outcome: AttackOutcome

    @property
    def success(self) -> bool:
        """Whether another class is predicted within the budget."""
        return self.outcome is AttackOutcome.SUCCEEDED


def attack_text(
    model: Model,
    encoded: Encoded,
    label: int,
    name: str,
    budget: Budget | None = None,
    seed: int = 0,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Attacked:
    """Attack one text.

    Args:
        model: in evaluation; encoded: the text, by words; label: the class that the attack turns the model away from.
        name: a registered attack; budget: None takes the default.
        seed: of all that is drawn; with the text it decides the result.
        cancelled: asked before each batch.
    Raises:
        Cancelled, OutOfMemory, NonFinite: as the scheduler and the model.
        ValueError: there is no such attack, or the budget makes no sense.
    """
    attack, budget = attack_named(name), budget or Budget()
    budget.check()
    victim = Victim(model, encoded, label, budget, seed, cancelled)
    if not victim.free:
        return _as_it_was(victim, AttackOutcome.NO_ROOM)
    if victim.ask([victim.words]).flips[0]:
        return _as_it_was(victim, AttackOutcome.ALREADY_WRONG)
    words = attack.compute(victim)
    if words == victim.words:
        return _as_it_was(victim, AttackOutcome.FAILED)
    text, spans = victim.placed(words)
    similarity, flips = float(victim.similar([words])[0]), bool(victim.ask([words]).flips[0])
    fine = flips and similarity >= budget.similarity
    outcome = AttackOutcome.SUCCEEDED if fine else AttackOutcome.FAILED
    return Attacked(text, victim.changed(words), spans, victim.queries, similarity, outcome)


def attacked(
    model: Model,
    store: Store | None,
    encoded: Encoded,
    label: int,
    name: str,
    budget: Budget,
    seed: int = 0,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Attacked:
    """What an attack comes to, from the store where it was computed before; as `attack_text`."""
    key = attack_key(model, encoded, label, name, budget, seed)
    entry = None if store is None else store.get(key, _CONTENT)
    if entry is not None:
        changed, spans = entry.arrays["changed"].tolist(), entry.arrays["spans"].tolist()
        about = entry.meta["queries"], float(entry.arrays["similarity"]), OUTCOMES[int(entry.arrays["outcome"])]
        return Attacked(entry.meta["text"], tuple(changed), tuple((a, b) for a, b in spans), *about)
    found = attack_text(model, encoded, label, name, budget, seed, cancelled=cancelled)
    if store is not None:
        store.put(key, _arrays(found), {"text": found.text, "queries": found.queries}, _CONTENT)
    return found


def attack_key(model: Model, encoded: Encoded, label: int, name: str, budget: Budget, seed: int) -> Key:
    """Where an attack on a text is kept."""
    attack = attack_named(name)
    return canonical_key(
        f"attack/{attack.name}",
        attack.version,
        model=model.digest,
        precision=model.precision,
        example=encoded.digest,
        label=label,
        budget=asdict(budget),
        encoder=encoder_digest(),
        seed=seed,
    )


_CONTENT = Content(
    {
        "changed": Numbers("int64", ("words",), 0),
        "spans": Numbers("int64", ("words", 2), 0),
        "similarity": Numbers("float64", (), -1, 1),
        "outcome": Numbers("int64", (), 0, len(OUTCOMES) - 1),
    },
    {"text": is_text, "queries": is_count},
    agrees=lambda arrays, meta: bool((arrays["spans"] <= len(meta["text"])).all()),
)


def _arrays(found: Attacked) -> dict[str, Any]:
    return {
        "changed": np.array(found.changed, dtype=np.int64),
        "spans": np.array(found.spans, dtype=np.int64).reshape(-1, 2),
        "similarity": np.array(found.similarity),
        "outcome": np.array(OUTCOMES.index(found.outcome)),
    }


def _as_it_was(victim: Victim, outcome: AttackOutcome) -> Attacked:
    return Attacked(victim.encoded.text, (), (), victim.queries, 1.0, outcome)
