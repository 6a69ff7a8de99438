"""Read, write and delete files that other processes may be reading, writing or deleting at the same time."""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Generator
from io import BufferedReader
from pathlib import Path

from filelock import FileLock, Timeout
from safetensors import SafetensorError


class InUse(RuntimeError):
    """Another run writes the same output; the message says which and what to do."""


def open_plain(path: str | os.PathLike) -> BufferedReader:
    """Open a plain file, or a link to one, for reading.

    Raises:
        OSError: it is not there, or is something else: a pipe would be waited for, and a device never ends.
    """
    # Without waiting, since who looks first may find another file than who opens.
    file = open(path, "rb", opener=lambda name, how: os.open(name, how | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{os.path.basename(path)} is no plain file")
    return file


def read_plain(path: str | os.PathLike, most: int) -> bytes:
    """A plain file's content, of at most so many bytes; OSError where there is none, as `open_plain`, or more."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(f"{os.path.basename(path)} is longer than {most:,} bytes")
        return file.read(size)


@contextlib.contextmanager
def only_writer(out: Path) -> Generator[Path]:
    """Hold an output, a file or a folder, so that no other run writes it; gives the path that it leads to.

    The lock is a hidden file, inside a folder that is there and beside anything else. It ends with its process,
    however that ends.

    Raises:
        InUse: another run holds it.
        ValueError: it is a pipe or a device, which nothing can take the place of.
        OSError: no permission, no room, or no folder.
    """
    out = out.resolve()
    if out.exists() and not (out.is_file() or out.is_dir()):
        raise ValueError(f"{out} is neither a file nor a folder; name another place to write to.")
    out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out / ".lock" if out.is_dir() else out.with_name(f".{out.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise InUse(f"Another run is writing {out}. Wait until it has ended, or choose another --out.") from error
    try:
        yield out
    finally:
        # While it is held: whoever opened it before sees that it is gone, and makes another.
        with contextlib.suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


@contextlib.contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """A path to write to; what lies there takes the place of `path` when the block ends, whole or not at all.

    Missing folders are made.

    Raises:
        OSError: no permission, no room, or a folder in the way; nothing is left behind.
    """
    temporary = path.parent / f".{os.getpid()}-{secrets.token_hex(8)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except SafetensorError as error:
        # The library says in words which number the system gave.
        number = re.search(r"os error (\d+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, attempts: int = 3, replaces: bool = False) -> None:
    """Write a file that appears whole or not at all, at `path`; as `whole_file`.

    Args:
        replaces: the file that is there may hold something else, so that not getting rid of it is an error.
    """
    try:
        with whole_file(path) as temporary:
            temporary.write_bytes(data)
    except PermissionError:
        # Windows refuses while a reader holds the file that is there, which has the same content.
        if replaces or not os.path.isfile(path):
            raise
    except (FileNotFoundError, FileExistsError):
        # Another process emptied the folder and removed it while this one made it or wrote.
        if attempts == 1:
            raise
        write_whole(path, data, attempts - 1, replaces)


def delete(path: str | os.PathLike) -> bool:
    """Delete a file, and its folder if that was the last one; False if it is still there."""
    with contextlib.suppress(OSError):
        os.unlink(path)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))
    return not os.path.lexists(path)
