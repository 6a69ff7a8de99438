"""Data sets of the hub: which files one holds, and fetching one of them."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.storage.hub import HubError, quietly
from core.wording import in_short

_SECONDS = 5
_MIRROR = "refs/convert/parquet"
_KINDS = (".parquet", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".arrow")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_NOT_DATA = (
    "dataset_infos.json dataset_info.json dataset_dict.json config.json state.json requirements.txt license.txt"
).split()
_COPY = "Its loading script was not run; the hub's Parquet copy was read."
_PART = "The hub's copy is partial."
_BEFORE = "The hub gave no answer; only splits fetched before are offered."
INSTEAD = "Choose another set, or give a local file."
NO_HUB_ID = "is no hub id. Give one such as nyu-mll/glue."
_AGAIN = "Try again, or give a local file."


@dataclass(frozen=True)
class Listing:
    """What the hub, or the copy fetched before, holds: file names with sizes, and two parts of the card."""

    id: str
    revision: str
    sizes: dict[str, int]
    card: dict
    notes: tuple[str, ...] = ()
    fetched: Path | None = None


def list_data_set(id: str) -> Listing:
    """Which files a data set holds, by the hub or else by what was fetched before; HubError is a sentence."""
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    try:
        revision, sizes = _asked(id)
    except GatedRepoError as error:
        raise HubError(_closed(id)) from error
    except HFValidationError as error:
        raise HubError(f"{id[:80]!r} {NO_HUB_ID}") from error
    except RepositoryNotFoundError as error:
        raise HubError(f"{id!r} was not found on the hub. Check its spelling, or run `hf auth login`.") from error
    except Exception as error:
        return _fetched_before(id, error)
    if f"{id.rpartition('/')[2]}.py" in sizes:
        return _mirror(id)
    card = _card(fetch_data_file(id, "README.md", None)) if "README.md" in sizes else {}
    return Listing(id, revision, _data_files(sizes), card)


def _asked(id: str, revision: str | None = None) -> tuple[str, dict[str, int]]:
    """The commit of a data set on the hub, and the bytes of its files by their names."""
    from huggingface_hub import HfApi

    found = HfApi().dataset_info(id, revision=revision, timeout=_SECONDS, files_metadata=True)
    return found.sha or "", {file.rfilename: file.size or 0 for file in found.siblings or []}


def _mirror(id: str) -> Listing:
    """The hub's own Parquet copy of a set that a script defines; its files are configuration/split/number."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        revision, every = _asked(id, _MIRROR)
    except HfHubHTTPError:
        revision, every = "", {}
    except Exception as error:
        raise HubError(_unreached(id, error)) from error
    parts = {name: size for name, size in every.items() if name.count("/") == 2 and name.endswith(".parquet")}
    sizes = _data_files(parts)
    if not sizes:
        raise HubError(f"{id!r} needs a loading script, which is not run. {INSTEAD}")
    configs: dict[str, dict[str, list[str]]] = {}
    for name in sorted(sizes):
        config, folder, _ = name.split("/")
        configs.setdefault(config, {}).setdefault(folder.removeprefix("partial-"), []).append(name)
    card = {
        "configs": [
            {"config_name": config, "data_files": [{"split": split, "path": names} for split, names in splits.items()]}
            for config, splits in configs.items()
        ]
    }
    notes = [_COPY, _PART] if any("/partial-" in name for name in sizes) else [_COPY]
    return Listing(id, revision, sizes, card, tuple(notes))


def _fetched_before(id: str, error: Exception) -> Listing:
    from huggingface_hub import try_to_load_from_cache

    readme = try_to_load_from_cache(id, "README.md", repo_type="dataset")
    folder = Path(readme).parent if isinstance(readme, str) else None
    sizes = {}
    if folder is not None:
        files = filter(Path.is_file, folder.rglob("*"))
        sizes = _data_files({path.relative_to(folder).as_posix(): path.stat().st_size for path in files})
    if folder is None or not sizes:
        raise HubError(_unreached(id, error)) from error
    return Listing(id, folder.name, sizes, _card(folder / "README.md"), (_BEFORE,), folder)


def _data_files(sizes: dict[str, int]) -> dict[str, int]:
    """The files that hold tables; what else a set holds is never fetched."""

    def is_data(name: str) -> bool:
        path = PurePosixPath(name.lower())
        kind = PurePosixPath(path.stem).suffix if path.suffix in _PACKED else path.suffix
        return kind in _KINDS and path.name not in _NOT_DATA

    return {
        name: size
        for name, size in sizes.items()
        if is_data(name) and not leads_out(name) and {"", "."}.isdisjoint(name.split("/"))
    }


def leads_out(name: str) -> bool:
    """Whether a file's name, or a pattern or folder on a card, may mean a place outside the data set, on any system."""
    return name.startswith(("/", "~")) or ".." in name.split("/") or any(sign in name for sign in ("\\", ":", "\0"))


def _card(path: Path) -> dict:
    """The parts of a data set's card that say which file is what; {} where it has none or is damaged."""
    from huggingface_hub import DatasetCard

    try:
        found = DatasetCard.load(path).data.to_dict()
    except Exception:
        return {}
    return {part: found[part] for part in ("configs", "dataset_info") if part in found}


def fetch_data_file(id: str, name: str, revision: str | None) -> Path:
    """Fetch one file of a data set into the hub's cache; HubError with a sentence where that cannot be."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError

    try:
        with quietly():
            return Path(hf_hub_download(id, name, repo_type="dataset", revision=revision, etag_timeout=_SECONDS))
    except GatedRepoError as error:
        raise HubError(_closed(id)) from error
    except LocalEntryNotFoundError as error:
        raise HubError(_unreached(id, error)) from error
    except Exception as error:
        raise HubError(f"{name!r} of {id!r} could not be fetched ({in_short(error)}). {_AGAIN}") from error


def _unreached(id: str, error: Exception) -> str:
    return f"The hub could not be reached for {id!r} ({in_short(error)}). {_AGAIN}"


def _closed(id: str) -> str:
    return f"{id!r} is gated. Request access on the hub, then run `hf auth login`."
