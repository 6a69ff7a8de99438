"""How long work takes, and will still take, by how fast it went of late."""

import math
from collections import deque

# Seconds of work after which a pace counts for a third: what the first few took, or a moment in which the machine stood
# still, is forgotten.
_MEMORY = 20.0
# What was expected counts as so many seconds of work at that pace.
_TRUSTED = 2.0


class Pace:
    """Seconds a piece, smoothed over the newest reports; what was there at the first report is no work.

    The first pieces count until others are there; before them counts what was expected: seconds for all, 0 if unknown.
    """

    def __init__(self):
        self.expected = 0.0
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._seconds = self._pieces = self._newest = 0.0
        self._warm = False

    def report(self, done: float, seconds: float) -> None:
        """Take that so many pieces were done after so many seconds of work, both never less than before."""
        if self._last is None:
            self._first = self._last = (done, seconds)
            return
        before, at = self._last
        if done <= before:
            # Told again what is known: the seconds count for the next piece.
            return
        if self._pieces and not self._warm:
            self._seconds, self._pieces, self._warm = 0.0, 0.0, True
        kept = math.exp(-(seconds - at) / _MEMORY)
        self._seconds = kept * self._seconds + seconds - at
        self._pieces = kept * self._pieces + done - before
        self._newest, self._last = done - before, (done, seconds)

    def left(self, total: float, seconds: float) -> float | None:
        """Expected seconds of work from now to `total` pieces; None where nobody can tell. A piece that takes longer
        than those before slows the pace while it lasts.
        """
        if self._last is None or self._first is None:
            return self._before(seconds)
        done, at = self._last
        since, pieces = max(0.0, seconds - at), total - self._first[0]
        # Seconds a piece as it was expected; None where nobody said.
        thought = self.expected / pieces if pieces > 0 and self.expected > 0 else None
        if not self._pieces:
            return None if thought is None else self._before(since)
        spent, pieces = self._seconds, self._pieces
        if thought is not None:
            spent, pieces = spent + _TRUSTED, pieces + _TRUSTED / thought
        pace = max(spent / pieces, (spent + since) / (pieces + self._newest))
        return max(0.0, pace * (total - done) - min(since, pace * self._newest))

    def worked(self, total: float) -> tuple[float, float] | None:
        """The share done of what there was to do at the first report, and the seconds since; None before it."""
        if self._first is None or self._last is None or not self._pieces:
            return None
        (start, began), (done, at) = self._first, self._last
        return (done - start) / (total - start), at - began

    def _before(self, since: float) -> float | None:
        """What is left of what was expected; what lasts longer than that is thought to last half as long again."""
        return max(self.expected - since, since / 2) if self.expected > 0 else None


class Speed:
    """Seconds for each token of work, by the newest few pieces of it."""

    def __init__(self, newest: int = 16):
        self._done: deque[tuple[float, float]] = deque(maxlen=newest)

    def add(self, tokens: float, seconds: float) -> None:
        """So many tokens, more than 0, took so long."""
        self._done.append((tokens, seconds))

    @property
    def pace(self) -> float | None:
        """The median over tokens of seconds a token; None before there is any."""
        paces = sorted((seconds / tokens, tokens) for tokens, seconds in tuple(self._done))
        half, so_far = sum(tokens for _, tokens in paces) / 2, 0.0
        for pace, tokens in paces:
            so_far += tokens
            if so_far >= half:
                return pace
        return None


def between(own: float, turns: int | None, rest: float, others: int | None, spent: float, first: bool) -> float:
    """Expected seconds that the equal of a job takes before that job, with `own` seconds to go, ends.

    turns, others: turns begun of the job and of its equal, 0 of what keeps its turn to the end, None of what has not
    begun; rest, spent: seconds of the equal to come and so far; first: whether its turn comes before the job's next.
    """
    if turns == 0:
        # It keeps its turn; of what shares one comes before, as long as those so far.
        return min(rest, spent / others if others else rest) if first else 0.0
    return rest if others == 0 else min(own, rest)
