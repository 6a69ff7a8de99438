"""Fetch a model's files from the hub; from its cache where no network answers."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from pathlib import Path

from core.storage.files import no_room

UNREACHED = "is not here, and the hub could not be reached. Connect, or give a folder."
_SMALL = ["*.json", "*.txt", "*.model", "*.md"]
_WEIGHTS = ["*.safetensors"]
_COMMIT = re.compile("[0-9a-f]{40}")
_PATIENCE, _SILENCE = 5.0, 20.0
_silent_since = -float("inf")


class HubError(ValueError):
    """The hub does not give what was asked for; the message is a sentence."""


def fetch(name: str, weights: bool) -> Path:
    """Fetch a model's files in the folder of the hub's cache that holds its newest commit.

    Args:
        name: a hub id; weights: the weights too, not only configuration and tokenizer.
    Returns:
        The folder. Without a network that of the cache, which may lack weights that were never fetched.
    Raises:
        HubError: a sentence on whether the hub does not know the model, refuses it or did not answer.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    try:
        return Path(
            snapshot_download(
                name,
                allow_patterns=[*_SMALL, *(_WEIGHTS if weights else [])],
                ignore_patterns=["*/*"],
                etag_timeout=5,
                local_files_only=not answers(name),
            )
        )
    except GatedRepoError as error:
        raise HubError(f"{name!r} is gated. Accept its terms on the hub, then run `hf auth login`.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise HubError(f"{name!r} was not found, here or on the hub. If private, run `hf auth login`.") from error
    except Exception as error:
        if no_room(error):
            raise HubError(f"{name!r} cannot be fetched: the disk is full. Free space, or change HF_HOME.") from error
        raise HubError(f"{name!r} {UNREACHED}") from error


def tensor_shapes(name: str, folder: Path, adapter: bool) -> dict[str, tuple[str, tuple[int, ...]]] | None:
    """Ask the hub for dtypes and shapes of a model's tensors, without fetching their values.

    Args:
        name: the hub id; folder: what `fetch` returned, whose commit is asked about; adapter: its adapter's weights.
    Returns:
        {tensor's name: (dtype, shape)}; {} where the hub lacks weights; None where it does not tell in time.
    """
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError, NotASafetensorsRepoError

    revision = folder.name if _COMMIT.fullmatch(folder.name) else None

    def ask() -> list:
        try:
            if adapter:
                return [
                    huggingface_hub.parse_safetensors_file_metadata(
                        name, "adapter_model.safetensors", revision=revision
                    )
                ]
            return list(huggingface_hub.get_safetensors_metadata(name, revision=revision).files_metadata.values())
        except (NotASafetensorsRepoError, EntryNotFoundError):
            return []

    with contextlib.suppress(Exception):
        if answers(name):
            return {
                key: (str(info.dtype), tuple(info.shape))
                for file in _within(2 * _PATIENCE, ask)
                for key, info in file.tensors.items()
            }
    return None


def answers(name: str) -> bool:
    """Whether the hub says anything about a name, in a few seconds; after a silence it is left alone for a while."""
    global _silent_since  # noqa: PLW0603 (one moment that the whole process shares)
    if time.monotonic() - _silent_since < _SILENCE:
        return False
    try:
        _within(_PATIENCE, lambda: _ask_about(name))
    except Exception:
        _silent_since = time.monotonic()
        return False
    return True


def _ask_about(name: str) -> None:
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    # A refusal is an answer too; what it means is found out when the files are asked for.
    with contextlib.suppress(HfHubHTTPError, HFValidationError):
        huggingface_hub.model_info(name, timeout=_PATIENCE)


def _within(seconds: float, function: Callable):
    """The function's result; TimeoutError if it takes longer, since looking up a host's address knows no time limit."""
    outcome: Future = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except Exception as error:
            outcome.set_exception(error)

    # A daemon, so that Python does not wait for it when it ends.
    threading.Thread(target=run, daemon=True).start()
    return outcome.result(seconds)


@contextlib.contextmanager
def quietly() -> Generator[None]:
    """Keep progress bars and log lines off the terminal; problems become sentences."""
    from datasets.utils import logging
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    level, bars = logging.get_verbosity(), not are_progress_bars_disabled()
    logging.set_verbosity_error()
    disable_progress_bars()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            enable_progress_bars()
