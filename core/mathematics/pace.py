"""How long work will still take, by how fast it went of late."""

import math

# Seconds of work after which a pace counts for a third: what the first few took, or a moment in which the machine stood
# still, is forgotten.
_MEMORY = 20.0


class Pace:
    """Seconds a piece, smoothed over the newest reports; what was there at the first report is no work."""

    def __init__(self):
        self._last: tuple[float, float] | None = None
        self._seconds = self._pieces = 0.0

    def report(self, done: float, seconds: float) -> None:
        """Take that so many pieces were done after so many seconds of work, both never less than before."""
        if self._last is not None:
            before, at = self._last
            if done <= before:
                # Told again what is known: the seconds count for the next piece.
                return
            kept = math.exp(-(seconds - at) / _MEMORY)
            self._seconds = kept * self._seconds + seconds - at
            self._pieces = kept * self._pieces + done - before
        self._last = (done, seconds)

    def left(self, total: float, seconds: float) -> float | None:
        """Expected seconds from now (so many seconds of work) to `total` pieces; None before a second report.

        A piece that takes longer than those before slows the pace while it lasts, so that what is left does not
        run out before the work does.
        """
        if self._last is None or not self._pieces:
            return None
        done, at = self._last
        since, pace = max(0.0, seconds - at), self._seconds / self._pieces
        pace = max(pace, (self._seconds + since) / (self._pieces + 1))
        return max(0.0, pace * (total - done) - min(since, pace))


def between(own: float, turns: int | None, rest: float, others: int | None, spent: float, first: bool) -> float:
    """Expected seconds that the equal of a job takes before that job, with `own` seconds to go, ends.

    turns, others: turns begun of the job and of its equal, 0 of what keeps its turn to the end, None of what has not
    begun; rest, spent: seconds of the equal to come and so far; first: whether its turn comes before the job's next.
    """
    if turns == 0:
        # It keeps its turn; of what shares one comes before, as long as those so far.
        return min(rest, spent / others if others else rest) if first else 0.0
    return rest if others == 0 else min(own, rest)
