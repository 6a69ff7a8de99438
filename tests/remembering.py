"""A network that reads each input once in a session: pages are tested, not the model that they ask again and again."""

import numpy as np
from cachetools import LRUCache

# Logits and pooled states of one input, held in memory up to so many bytes.
_MOST = 400_000_000


class Remembering:
    """What `core.network.scheduler.Scheduler` asks for a batch; while `on`, `network` is asked for new rows alone."""

    on = False

    def __init__(self, network):
        self.network = network
        self._rows = LRUCache(_MOST, lambda row: 400 + (0 if row[1] is None else row[1].nbytes))

    def __call__(self, ids, lengths, type_ids=None, hidden=False):
        if not self.on:
            return self.network(ids, lengths, type_ids, hidden)
        keys = [
            (str(hidden), ids[i, :n].tobytes(), None if type_ids is None else type_ids[i, :n].tobytes())
            for i, n in enumerate(lengths)
        ]
        found = {key: self._rows[key] for key in dict.fromkeys(keys) if key in self._rows}
        new = list({key: i for i, key in enumerate(keys) if key not in found}.values())
        if new:
            T = lengths[new].max()
            types = None if type_ids is None else type_ids[new, :T]
            logits, states = self.network(ids[new, :T], lengths[new], types, hidden)
            for place, i in enumerate(new):
                row = logits[place].copy(), None if states is None else states[place].copy()
                found[keys[i]] = self._rows[keys[i]] = row
        rows = [found[key] for key in keys]
        states = None if rows[0][1] is None else np.stack([state for _, state in rows])
        return np.stack([logits for logits, _ in rows]), states
