"""Write and delete files that other processes may be reading, writing or deleting at the same time."""

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes, attempts: int = 3, replaces: bool = False) -> None:
    """Write a file that appears whole or not at all, at `path`; missing folders are made.

    Args:
        replaces: the file that is there may hold something else, so that not getting rid of it is an error.
    Raises:
        OSError: no permission, no room, or a folder in the way; nothing is left behind.
    """
    temporary = path.parent / f".{os.getpid()}-{secrets.token_hex(8)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except PermissionError:
        # Windows refuses while a reader holds the file that is there, which has the same content.
        if replaces or not os.path.isfile(path):
            raise
    except (FileNotFoundError, FileExistsError):
        # Another process emptied the folder and removed it while this one made it or wrote.
        if attempts == 1:
            raise
        write_whole(path, data, attempts - 1, replaces)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def delete(path: str | os.PathLike) -> bool:
    """Delete a file, and its folder if that was the last one; False if it is still there."""
    with contextlib.suppress(OSError):
        os.unlink(path)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))
    return not os.path.lexists(path)
