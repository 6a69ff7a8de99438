"""Settings from the environment, read in one place.

FAITHSCOPE_DEVICE      auto (default), cuda, cuda:N, mps or cpu
FAITHSCOPE_PRECISION   float32 (default), bfloat16 or float16
FAITHSCOPE_MODEL       the models on offer, separated by ";", that of the first view first: bundled names, folders, hub
ids or adapters
FAITHSCOPE_DATA        the data on offer, separated by ";", that of the first view first: files, hub ids (owner/name or
                       owner/name:config:split) or names of tasks (default none)
FAITHSCOPE_CACHE       folder of the store (default: cache/ beside app.py)
FAITHSCOPE_CACHE_MB    size cap of the store in megabytes (default 2000)
FAITHSCOPE_EXACT       scores that exact limits may cost unasked, 2 to the power of the features (default 4096 on a CPU,
131072 on a GPU)
FAITHSCOPE_HOSTS       further names or addresses by which the app may be asked for, separated by ";", without port
(default none: localhost, 127.0.0.1 and [::1] always hold)
"""

import functools
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "core" / "bundled"
PRECISIONS = ("float32", "bfloat16", "float16")


class SettingError(ValueError):
    """A setting cannot be used; the message names it and what to write instead."""


@dataclass(frozen=True)
class Settings:
    """What the environment asks for; that models and data are there is not checked."""

    device: str
    precision: str
    models: tuple[str, ...]
    data: tuple[str, ...]
    cache: Path
    cache_bytes: int
    exact_scores: int | None = None
    hosts: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The model of the first view."""
        return self.models[0]


@functools.cache
def project() -> tuple[str, str]:
    """The project's name and version, as `pyproject.toml` has them."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return about["name"], about["version"]


def read(environment: dict[str, str] | None = None) -> Settings:
    """Read and check the settings; unset means the default.

    Raises:
        SettingError: an unknown precision, or a number that is none.
    """
    env = os.environ if environment is None else environment
    precision = env.get("FAITHSCOPE_PRECISION") or "float32"
    if precision not in PRECISIONS:
        raise SettingError(f"FAITHSCOPE_PRECISION is {precision!r}; write one of {', '.join(PRECISIONS)}.")
    megabytes = _whole(env, "FAITHSCOPE_CACHE_MB", "megabytes") or 2000
    exact = _whole(env, "FAITHSCOPE_EXACT", "scores")
    return Settings(
        env.get("FAITHSCOPE_DEVICE") or "auto",
        precision,
        _listed(env.get("FAITHSCOPE_MODEL")) or ("sst2-fmm",),
        _listed(env.get("FAITHSCOPE_DATA")),
        Path(env.get("FAITHSCOPE_CACHE") or ROOT / "cache"),
        megabytes * 1_000_000,
        exact,
        hosts(env),
    )


def hosts(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Further names by which the app may be asked for, in lower case; an IPv6 address stands in brackets.

    Raises:
        SettingError: what is no name or address, or has a port.
    """
    env = os.environ if environment is None else environment
    found = _listed((env.get("FAITHSCOPE_HOSTS") or "").lower())
    if not all(re.fullmatch(r"[\w.-]+|\[[\da-f:.]+\]", name, re.ASCII) for name in found):
        raise SettingError(
            f"FAITHSCOPE_HOSTS is {env['FAITHSCOPE_HOSTS']!r}; write names or addresses as a browser shows them, "
            f"without port, separated by semicolons."
        )
    return found


def _whole(env, name: str, unit: str) -> int | None:
    """A whole number above 0; None where it is unset."""
    written = env.get(name)
    if not written:
        return None
    if not written.isascii() or not written.isdigit() or int(written) == 0:
        raise SettingError(f"{name} is {written!r}; write a whole number of {unit} above 0.")
    return int(written)


def _listed(text: str | None) -> tuple[str, ...]:
    """The parts between semicolons, without blanks around them, empty ones and repetitions."""
    return tuple(dict.fromkeys(part.strip() for part in (text or "").split(";") if part.strip()))
