"""Sentences that no result changes, by the page that shows them."""

import functools
import tomllib
from pathlib import Path

_FILE = Path(__file__).with_name("sentences.toml")


@functools.cache
def _all() -> dict[str, dict[str, str | list[str]]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def sentence(page: str, name: str) -> str:
    """One sentence of a page; KeyError if there is none."""
    return str(_all()[page][name])


def sentences(page: str, name: str) -> list[str]:
    """Several sentences of a page, in their order; KeyError if there are none."""
    return list(_all()[page][name])
