"""The temporary files of one run: names and texts in, a private directory while the run lasts. Effect.

Every directory holds a lock for as long as its server lives, so that a later server can tell what was left behind
by one that was killed, and take it away.
"""

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gemini_mcp.spec.templates import Temporary

MARKER = ".gemini-mcp-server"


@contextmanager
def files(texts: Mapping[str, str], spec: Temporary) -> Generator[str | None]:
    """A directory that holds `texts` and that is gone afterwards; None when there is nothing to hold."""
    if not texts:
        yield None
        return
    directory, lock = _create(spec)
    try:
        for name, text in texts.items():
            _write(directory / name, text, spec.file_mode)
        yield str(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def sweep(spec: Temporary) -> None:
    """Take away what servers of this user left behind when they were killed."""
    for directory in Path(tempfile.gettempdir()).glob(spec.prefix + "?" * spec.random):
        with suppress(OSError):
            if _is_ours(directory):
                _remove_if_abandoned(directory)


def _create(spec: Temporary) -> tuple[Path, int]:
    """A directory and its lock; another one when a sweep took the first between its making and its locking."""
    while True:
        directory = Path(tempfile.gettempdir(), spec.prefix + secrets.token_hex(spec.random)[: spec.random])
        try:
            directory.mkdir(mode=spec.directory_mode)
        except FileExistsError:
            continue
        with suppress(FileNotFoundError, BlockingIOError):
            return directory, _lock(directory / MARKER, os.O_CREAT | os.O_EXCL)


def _lock(marker: Path, flags: int) -> int:
    lock = os.open(marker, flags | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _write(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _is_ours(directory: Path) -> bool:
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _remove_if_abandoned(directory: Path) -> None:
    lock = _lock(directory / MARKER, 0)
    try:
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(lock)
