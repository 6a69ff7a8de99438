"""Speed of everything but the network: masks a second, where a forward pass costs nothing."""

from dataclasses import replace

import numpy as np

from core.bench.clock import clocked
from core.network.model import Model
from core.oracle.oracle import Oracle

_TEXT = " ".join(["thriller", "romance", "lecture"] * 7)


def host_speed(model: Model, masks: int = 40_000, repeats: int = 7) -> float:
    """Masks a second from `Oracle.logits` to its memo, the fastest of several rounds; higher is better."""
    idle = replace(model)
    idle.scheduler.network = lambda ids, lengths, types, hidden: (np.zeros((len(ids), model.C), np.float32), None)
    encoded = model.encode(_TEXT)
    drawn = np.random.default_rng(0).random((masks, encoded.F)) < 0.5
    distinct = len(np.unique(drawn, axis=0))
    return distinct / min(clocked(lambda: Oracle(idle, encoded).logits(drawn))[1] for _ in range(repeats))
