"""Families of seeds: a folder of models that one recipe trained with different seeds, listed in its `family.json`."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from core.loading.model_files import ADAPTER, INDEX, WEIGHTS, parse_json
from core.network.architectures import UnsupportedModel
from core.storage.files import read_plain, write_whole
from core.wording import in_short

FAMILY = "family.json"
_MOST_FAMILY = 1_000_000
_NOT_CONVERGED, _LACKING = "{} did not converge: {}.", "{} lacks its files."


@dataclass(frozen=True)
class Member:
    """A model of a family: its folder's name, its seed, and why its training did not converge, "" where it did."""

    folder: str
    seed: int
    problem: str = ""


@dataclass(frozen=True)
class Seeds:
    """The models of a family that can be used, in the order of training, and why others cannot, a sentence each.

    plan: digest of the recipe and data that all were trained by; trained: all of them, as `family.json` lists them.
    """

    folder: Path
    plan: str
    trained: tuple[Member, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(one for one in self.trained if not one.problem and self._there(one))

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(f"Left out: {why}" for why in map(self._why, self.trained) if why)

    def _why(self, one: Member) -> str:
        if one.problem:
            return _NOT_CONVERGED.format(f"{self.folder.name}/{one.folder}", one.problem)
        return "" if self._there(one) else _LACKING.format(f"{self.folder.name}/{one.folder}")

    def _there(self, one: Member) -> bool:
        return any((self.folder / one.folder / name).is_file() for name in (WEIGHTS, INDEX, ADAPTER))

    def write(self) -> None:
        """Write its list; models that were there stay."""
        listed = {"plan": self.plan, "members": [asdict(one) for one in self.trained]}
        write_whole(self.folder / FAMILY, f"{json.dumps(listed, indent=1)}\n".encode(), replaces=True)


def read_seeds(folder: Path) -> Seeds | None:
    """The family in a folder; None where it is none. UnsupportedModel where its list is damaged."""
    if not os.path.lexists(folder / FAMILY):
        return None
    try:
        found = parse_json(read_plain(folder / FAMILY, _MOST_FAMILY))
        trained = tuple(Member(**one) for one in found["members"])
        if not all(map(_sound, trained)) or not isinstance(found["plan"], str):
            raise ValueError("it lists no models")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnsupportedModel(
            f"{FAMILY} of {folder.name!r} cannot be read ({in_short(error)}). Choose a member, or train again."
        ) from error
    return Seeds(folder, found["plan"], trained)


def _sound(one: Member) -> bool:
    plain = (
        isinstance(one.folder, str) and one.folder not in ("", ".", "..") and not {"/", "\\", "\0"} & set(one.folder)
    )
    return plain and type(one.seed) is int and isinstance(one.problem, str)


def first_member(folder: Path) -> Path:
    """Of a family the folder of its first model, else the folder itself. UnsupportedModel where none can be used."""
    family = read_seeds(folder)
    if family is None:
        return folder
    if not family.members:
        raise UnsupportedModel(f"No model of the family {folder.name!r} can be used. Train it again.")
    return folder / family.members[0].folder
