"""Who looks at which work, and whose page is being drawn."""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

# A page that is drawn for longer than this waits for something itself, and holds nobody up any more.
_DRAWN_SECONDS = 10.0
# What stands aside waits until somebody has looked at a page for so long: who turns pages does not wait for it.
_STAYS_SECONDS = 1.5


@dataclass
class _View:
    """A page: keys of the work on it and of what stands aside, since when it is drawn, and whether it still is."""

    draws: Callable[[], bool] = lambda: False
    began: float = 0.0
    keys: set[str] = field(default_factory=set)
    aside: set[str] = field(default_factory=set)


class Viewers:
    """Who looks at what; not safe for threads, its owner has a lock.

    Args:
        there: viewers that have not gone, None where nobody can tell; asked at most once a second.
    """

    def __init__(self, there: Callable[[], Collection[str] | None]):
        self._views: dict[str, _View] = {}
        self._there, self._asked = there, 0.0

    def arrives(self, viewer: str, draws: Callable[[], bool]) -> None:
        """A viewer's page begins to be drawn, and is while `draws` says so: nothing is on it yet."""
        self._views[viewer] = _View(draws, time.monotonic())

    def looks(self, viewer: str, keys: Iterable[str], aside: bool = False) -> None:
        """The work of these keys is on the viewer's page; aside: it is not what the page is for."""
        view = self._views.setdefault(viewer, _View())
        (view.aside if aside else view.keys).update(keys)

    def looked_at(self, viewer: str) -> frozenset[str]:
        """Keys of what is on the viewer's page, as far as it is drawn."""
        view = self._views.get(viewer, _View())
        return frozenset(view.keys | view.aside)

    def anybody(self, key: str, aside: bool = False) -> bool:
        """Whether somebody looks at the work of this key; aside: or has it aside."""
        return any(key in view.keys or (aside and key in view.aside) for view in self._views.values())

    def drawing_without(self, key: str) -> bool:
        """Whether a page is being drawn on which the work of this key is not, as far as it is drawn."""
        since = time.monotonic() - _DRAWN_SECONDS
        return any(view.began >= since and key not in view.keys and view.draws() for view in self._views.values())

    def passes_by(self, key: str) -> bool:
        """Whether the work of this key only stands aside, on pages that nobody has looked at for long."""
        beside = [view for view in self._views.values() if key in view.aside]
        since = time.monotonic() - _STAYS_SECONDS
        return bool(beside) and not self.anybody(key) and all(view.began > since for view in beside)

    def settle(self) -> None:
        """Forget who has gone."""
        now = time.monotonic()
        if now - self._asked >= 1.0:
            self._asked, there = now, self._there()
            self._views = {one: view for one, view in self._views.items() if there is None or one in there}
