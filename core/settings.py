"""Settings from the environment, read in one place.

FAITHSCOPE_DEVICE      auto (default), cuda, cuda:N, mps or cpu
FAITHSCOPE_PRECISION   float32 (default), bfloat16 or float16
FAITHSCOPE_MODEL       the models on offer, separated by ";", that of the first view first: bundled names, folders, hub
ids or adapters
FAITHSCOPE_DATA        the data on offer, separated by ";", that of the first view first: bundled names, files, hub ids
                       (owner/name or owner/name:config:split) or names of tasks (default none)
FAITHSCOPE_CACHE       folder of the store (default: cache/ beside app.py)
FAITHSCOPE_CACHE_MB    size cap of the store in megabytes (default 2000)
FAITHSCOPE_EXACT       scores that exact limits may cost unasked, 2 to the power of the features (default 4096 on a CPU,
131072 on a GPU)
FAITHSCOPE_HOSTS       further names or addresses by which the app may be asked for, separated by ";", without port
(default none: localhost, 127.0.0.1, [::1] and what --server.address and --browser.serverAddress name always hold)
FAITHSCOPE_SHIPPED     yes (default): results that ship with the project are shown; no: they are computed here
"""

import functools
import os
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.wording import quoted

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "core" / "bundled"
PRECISIONS = ("float32", "bfloat16", "float16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:[0-9]{1,3})?")
# What no machine has, nor anybody waits for; what the shortest limits of systems on paths leave for files of a folder.
_MOST_MEGABYTES, _MOST_SCORES = 1_000_000_000, 1_000_000_000
_LONGEST_NAME, _MOST_NAMES, _LONGEST_FOLDER, _LONGEST_PART = 1_000, 100, 700, 255


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
    shipped: bool = True

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
        SettingError: an unknown device or precision, neither yes nor no, a number that is none or far too large, names
            or a folder that are no text or far too long.
    """
    env = os.environ if environment is None else environment
    device, precision = env.get("FAITHSCOPE_DEVICE") or "auto", env.get("FAITHSCOPE_PRECISION") or "float32"
    if not _DEVICE.fullmatch(device):
        raise SettingError(f"FAITHSCOPE_DEVICE is {quoted(device)}; write auto, cpu, mps, cuda or cuda:N.")
    if precision not in PRECISIONS:
        raise SettingError(f"FAITHSCOPE_PRECISION is {quoted(precision)}; write one of {', '.join(PRECISIONS)}.")
    shipped = env.get("FAITHSCOPE_SHIPPED") or "yes"
    if shipped not in ("yes", "no"):
        raise SettingError(f"FAITHSCOPE_SHIPPED is {quoted(shipped)}; write yes or no.")
    megabytes = _whole(env, "FAITHSCOPE_CACHE_MB", "megabytes", _MOST_MEGABYTES) or 2000
    exact = _whole(env, "FAITHSCOPE_EXACT", "scores", _MOST_SCORES)
    return Settings(
        device,
        precision,
        _listed(env, "FAITHSCOPE_MODEL") or ("sst2-fmm",),
        _listed(env, "FAITHSCOPE_DATA"),
        _folder(env, "FAITHSCOPE_CACHE") or ROOT / "cache",
        megabytes * 1_000_000,
        exact,
        hosts(env),
        shipped != "no",
    )


def hosts(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Further names by which the app may be asked for, as `as_sent`; an IPv6 address stands in brackets.

    Raises:
        SettingError: what is no name or address, or has a port.
    """
    env = os.environ if environment is None else environment
    found = tuple(dict.fromkeys(map(as_sent, _listed(env, "FAITHSCOPE_HOSTS"))))
    if not all(re.fullmatch(r"[\w.-]+|\[[\da-f:.]+\]", name, re.ASCII) for name in found):
        raise SettingError(
            f"FAITHSCOPE_HOSTS is {quoted(env['FAITHSCOPE_HOSTS'])}; write names or addresses as a browser sends them, "
            f"without port, separated by semicolons."
        )
    return found


def as_sent(name: str) -> str:
    """A name as a browser sends it: in lower case, and a part with other letters than English ones in Punycode."""
    # Python's codec "idna" is older than browsers: it makes "ss" of "ß", which is another name by now.
    parts = unicodedata.normalize("NFKC", name.lower()).split(".")
    return ".".join(part if part.isascii() else f"xn--{part.encode('punycode').decode()}" for part in parts)


def _whole(env, name: str, unit: str, most: int) -> int | None:
    """A whole number from 1 to `most`; None where it is unset."""
    written = env.get(name)
    if not written:
        return None
    digits = written.lstrip("0")
    # A number of thousands of digits cannot even be read.
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(most)) and int(digits) <= most):
        raise SettingError(f"{name} is {quoted(written)}; write a whole number of {unit} above 0, at most {most:,}.")
    return int(digits)


def _text(env, name: str) -> str:
    """A setting as it is written, "" where it is unset; never with what no file and no page can hold."""
    written = env.get(name) or ""
    if re.search("[\ud800-\udfff\0]", written):
        raise SettingError(f"{name} is {quoted(written)}, which is no text; write it in UTF-8.")
    return written


def _folder(env, name: str) -> Path | None:
    written = _text(env, name)
    if not written:
        return None
    parts = os.fsencode(os.path.abspath(written)), *(os.fsencode(part) for part in Path(written).parts)
    if len(parts[0]) > _LONGEST_FOLDER or any(len(part) > _LONGEST_PART for part in parts[1:]):
        raise SettingError(
            f"{name} is {quoted(written)}, too long a path for the files in it; write one of at most "
            f"{_LONGEST_FOLDER} bytes, and of {_LONGEST_PART} between two slashes."
        )
    return Path(written)


def _listed(env, name: str) -> tuple[str, ...]:
    """The parts between semicolons, without blanks around them, empty ones and repetitions."""
    found = tuple(dict.fromkeys(part.strip() for part in _text(env, name).split(";") if part.strip()))
    long = next((part for part in found if len(part) > _LONGEST_NAME), None)
    if long is not None:
        raise SettingError(f"{name} is {quoted(long)}; write names of at most {_LONGEST_NAME:,} characters.")
    if len(found) > _MOST_NAMES:
        raise SettingError(f"{name} is a list of {len(found):,} names; write at most {_MOST_NAMES}.")
    return found
