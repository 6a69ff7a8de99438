"""Wait for what another thread does."""

import time


def until(condition, seconds=5):
    """Wait for a condition; it must come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)


def ended(job):
    until(lambda: not job.active)
    return job.state
