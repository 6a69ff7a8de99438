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
