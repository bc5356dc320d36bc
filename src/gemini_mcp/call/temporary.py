"""Keeps the files of one run in a private directory, which is removed when the run ends. Effect.

Each directory holds a marker file that its server keeps locked. When the lock is free, the server was killed, and a
later server removes the directory.
"""

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gemini_mcp.spec.templates import Temporary

MARKER = ".gemini-mcp-server"


@contextmanager
def files(texts: Mapping[str, str], spec: Temporary) -> Generator[str | None]:
    """A directory with `texts` as files, removed afterwards; None when there are no texts."""
    if not texts:
        yield None
        return
    directory, lock = _create(spec)
    try:
        for name, text in texts.items():
            _write(directory / name, text, spec.file_mode)
        yield str(directory)
    finally:
        _remove(directory, (*texts, MARKER))
        os.close(lock)


def sweep(spec: Temporary) -> None:
    """Remove the directories that killed servers of this user left behind."""
    for directory in Path(tempfile.gettempdir()).glob(spec.prefix + "?" * spec.random):
        with suppress(OSError):
            if _is_ours(directory):
                _remove_if_abandoned(directory)


def _create(spec: Temporary) -> tuple[Path, int]:
    """A new directory and its lock. A sweep may remove a directory that is not locked yet; then another is made."""
    while True:
        directory = Path(tempfile.gettempdir(), spec.prefix + secrets.token_hex(spec.random)[: spec.random])
        try:
            directory.mkdir(mode=spec.directory_mode)
        except FileExistsError:
            continue
        try:
            return directory, _lock(directory / MARKER, os.O_CREAT | os.O_EXCL)
        except (FileNotFoundError, BlockingIOError):
            continue
        except OSError:
            _remove(directory, ())
            raise


def _remove(directory: Path, names: Iterable[str]) -> None:
    """Remove a directory with these files. It takes no descriptor, because none may be free."""
    for name in names:
        with suppress(OSError):
            (directory / name).unlink()
    try:
        directory.rmdir()
    except OSError:  # gemini has put something into it
        shutil.rmtree(directory, ignore_errors=True)


def _lock(marker: Path, flags: int) -> int:
    # O_NOFOLLOW: in a shared temporary directory, a stranger can plant a link under a name like ours.
    lock = os.open(marker, flags | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _write(path: Path, text: str, mode: int) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    # With `newline=""` nothing is translated, so `\r\n` stays as it is.
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
