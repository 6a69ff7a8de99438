"""Read, write and delete files that other processes may be reading, writing or deleting at the same time."""

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Generator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:
    # Windows has none; there, no process deletes a file that another one holds open.
    fcntl = None

# What a system says where there is no room: the disk is full, or this person's share of it, or files may be no longer.
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
# What a loader could take for the weights of a model, or for what belongs to them.
_WEIGHTS = ("model*.safetensors", "model*.safetensors.index.json", "adapter_model.safetensors", "masf.safetensors")
_TEMPORARY = re.compile(r"\.\d+-[0-9a-f]{16}\.tmp")
# What is half-written and cannot be claimed is left for so long.
_STALE_SECONDS = 3600


class InUse(RuntimeError):
    """Another run writes the same output; the message says which and what to do."""


def open_plain(path: str | os.PathLike) -> BufferedReader:
    """Open a plain file, or a link to one, for reading; OSError for anything else, such as a pipe or device."""
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
def only_writer(out: Path, folder: bool = False) -> Generator[Path]:
    """Hold an output, a file or a folder, so that no other run writes it; gives the path that it leads to.

    The lock is a hidden file beside a file or in a folder. It ends with its process, however that ends. What a killed
    run left half-written there goes.

    Args:
        folder: it is a folder, which is made where it is missing; its parent otherwise.
    Raises:
        InUse: another run holds it.
        ValueError: there is something else, such as a folder where a file is to be written.
        OSError: no permission, or no room.
    """
    out, kind = out.resolve(), "folder" if folder else "file"
    if out.exists() and not (out.is_dir() if folder else out.is_file()):
        raise ValueError(f"{out} is {'a folder' if out.is_dir() else f'no {kind}'}; name the {kind} to write.")
    (out if folder else out.parent).mkdir(parents=True, exist_ok=True)
    lock = FileLock(out / ".lock" if folder else out.with_name(f".{out.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise InUse(f"Another run is writing {out}. Wait, or choose another --out.") from error
    try:
        for left in Path(lock.lock_file).parent.glob(".*.tmp"):
            # It may be anybody's folder: another program's file stays, however old.
            if _TEMPORARY.fullmatch(left.name):
                delete_abandoned(left)
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
    temporary = _fresh_name(path)
    try:
        with _room_named(path), contextlib.ExitStack() as claimed:
            path.parent.mkdir(parents=True, exist_ok=True)
            for attempt in range(0 if fcntl is None else 10):
                # Until it has its name; who clears away what is abandoned may take it before it is held.
                file = claimed.enter_context(temporary.open("xb"))
                try:
                    _claim(file)
                    break
                except FileNotFoundError:
                    if attempt == 9:
                        raise
                    temporary = _fresh_name(path)
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _fresh_name(path: Path) -> Path:
    return path.parent / f".{os.getpid()}-{secrets.token_hex(8)}.tmp"


def no_room(error: BaseException) -> bool:
    """Whether an error says that there is no room on the disk."""
    return _number(error) in _FULL


def cannot_write(folder: Path, error: OSError) -> str:
    """The sentence about a folder that nothing could be written to."""
    return f"{folder} cannot be written ({error.strerror or error}). Free some space, or change FAITHSCOPE_CACHE."


def _number(error: BaseException) -> int | None:
    """The system's number of an error; None where it is none of the system's."""
    if isinstance(error, OSError):
        return error.errno
    # Libraries of Rust say it in words.
    said = re.search(r"os error (\d+)", str(error))
    return int(said[1]) if said else None


@contextlib.contextmanager
def _room_named(path: Path) -> Generator[None]:
    """Raise what says that there is no room as the system's own error, with the name of what was asked for."""
    try:
        yield
    except Exception as error:
        number = errno.ENOSPC if no_room(error) else _number(error)
        if number is None or (isinstance(error, OSError) and number != errno.ENOSPC):
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextlib.contextmanager
def whole_folder(folder: Path) -> Generator[Path]:
    """A model's folder to write to; when the block ends, its files take their places in `folder`, others there stay.

    Weights, without which no other file is read, go first where they are there and come last where they are new: a run
    that is killed between leaves none of them, and never old ones beside what is new.

    Raises:
        OSError: as `whole_file`; until everything is written what was there stays.
    """
    made = folder / ".written"
    shutil.rmtree(made, ignore_errors=True)
    try:
        with _room_named(folder):
            made.mkdir(parents=True)
            yield made
            paths = sorted(filter(Path.is_file, made.rglob("*")), key=lambda path: path.match("*.safetensors*"))
            for path in paths:
                _sync(path)
            for old in (path for pattern in _WEIGHTS for path in folder.glob(pattern)):
                old.unlink()
            for path in paths:
                place = folder / path.relative_to(made)
                place.parent.mkdir(exist_ok=True)
                os.replace(path, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_whole(path: Path, data: bytes, attempts: int = 10, replaces: bool = False) -> None:
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


def delete_abandoned(path: str | os.PathLike) -> bool:
    """Delete a half-written file (*.tmp) whose writer is gone, or unknown for an hour; False if still there."""
    with contextlib.suppress(OSError):
        about = os.lstat(path)
        if stat.S_ISREG(about.st_mode) and _TEMPORARY.fullmatch(os.path.basename(path)):
            with open(path, "r+b") as file:
                if _claim(file, waits=False):
                    # Held meanwhile, so that a writer that has just made it makes another.
                    return delete(path)
            if fcntl is None:
                return delete(path)
        if about.st_mtime < time.time() - _STALE_SECONDS:
            return delete(path)
    return False


def clear_abandoned(folder: Path) -> bool:
    """Delete what killed writers left anywhere in a folder; whether there was any."""
    names = (os.path.join(top, name) for top, _, files in os.walk(folder) for name in files if name.endswith(".tmp"))
    return sum(map(delete_abandoned, names)) > 0


def _claim(file: BinaryIO, waits: bool = True) -> bool:
    """Hold a half-written file until it is closed or its process ends, however that ends; False where files cannot be
    held, or another process holds it.

    Raises:
        FileNotFoundError: it was deleted before it could be held.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except OSError:
        return False
    if not os.path.lexists(file.name):
        raise FileNotFoundError(file.name)
    return True
