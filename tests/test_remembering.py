"""A network that is asked only for what is new answers as the network does."""

import numpy as np
import pytest

from tests import tiny
from tests.remembering import Remembering


@pytest.mark.parametrize("hidden", [False, "max", "mean"])
def test_rows_that_were_read_before_are_not_read_again(hidden, tiny_model, monkeypatch):
    model, read = tiny_model("bert"), []
    rows = [model.encode(text) for text in tiny.SENTENCES[:4]]
    lengths = np.array([row.T for row in rows])
    ids, types = np.zeros((2, len(rows), lengths.max()), dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : row.T], types[i, : row.T] = row.ids, row.type_ids
    network = Remembering(lambda ids, *more: read.append(len(ids)) or model.run(ids, *more))
    monkeypatch.setattr(Remembering, "on", True)
    for places, new in (([0, 1], 2), ([3, 1, 0, 3], 1), ([2, 3], 1), ([0, 1, 2, 3], 0)):
        logits, states = network(ids[places], lengths[places], types[places], hidden)
        told, others = model.run(ids[places], lengths[places], types[places], hidden)
        np.testing.assert_allclose(logits, told, atol=1e-5)
        assert (states is None) == (others is None) == (not hidden)
        if hidden:
            np.testing.assert_allclose(states, others, atol=1e-5)
        assert read == [new] * (new > 0)
        read.clear()
    monkeypatch.setattr(Remembering, "on", False)
    network(ids, lengths, types, hidden)
    assert read == [len(rows)], "where it is off, the network is asked"
