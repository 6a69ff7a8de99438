"""One sentence masked step by step under two models, as it ships: drawn before any model is loaded."""

import functools
import json
from typing import NamedTuple

from core.settings import BUNDLED

STRIP = BUNDLED / "computed" / "strip.json"


class Strip(NamedTuple):
    """What is said above it, text, and what `pages.parts.components.player.player` draws."""

    said: str
    shown: dict


@functools.cache
def shipped_strip() -> Strip | None:
    """The strip that ships (`python -m tests.shipping` writes it); None where it cannot be read."""
    try:
        return Strip(**json.loads(STRIP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
