"""Finds the program and the working directory of a run. Effect: reads the file system.

Whatever prevents a run is returned as `NotStarted`, never raised.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from gemini_mcp.call.outcome import NotStarted

OPEN_FILES = "/proc/self/fd"
"""Where Linux shows which files a process has open; a directory there can be entered."""

PLACE = getattr(os, "O_PATH", os.O_RDONLY)
"""How a directory is opened to be entered: on Linux without the permission to list it."""

GET_PATH, MAX_PATH = 50, 1024
"""F_GETPATH and PATH_MAX of macOS."""


def native(text: str) -> str:
    """A text of the caller as this system's functions take it: as UTF-8, whatever the locale says."""
    return os.fsdecode(text.encode("utf-8"))


def find_program(program: str, environ: Mapping[str, str]) -> str | NotStarted:
    """The absolute path of the program. Relative entries of PATH are skipped, since a caller chooses `cwd`."""
    if os.path.dirname(program):
        path = os.path.abspath(program)
        return path if _is_program(path) else _no_program(f"at {path!r}", path)
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which(program, path=os.pathsep.join(folders)) if folders else None
    candidates = (os.path.join(folder, program) for folder in folders)
    return found or _no_program("on PATH", next(filter(os.path.isfile, candidates), ""))


def find_directory(cwd: str | None, roots: Sequence[str]) -> str | NotStarted:
    """The absolute path of the working directory, which must lie below one of `roots`, if any; by default the first."""
    place = roots[0] if cwd is None and roots else native(cwd or "")
    try:
        directory = place if os.path.isabs(place) else os.path.join(os.getcwd(), place)
    except FileNotFoundError:  # the directory in which the server was started is gone
        return NotStarted("cwd-missing", {"cwd": repr(cwd or os.curdir)})
    if cwd is None and not roots:
        return directory
    fields = {"cwd": repr(directory if cwd is None else cwd)}
    if roots:
        # Links are resolved first, so that none leads out of the roots.
        directory = real_path(directory)
        if not _is_below(directory, roots):
            return NotStarted("cwd-not-allowed", fields)
    return _enterable(directory, fields)


def real_path(directory: str) -> str:
    """The path of a directory without links, which is the same for every way to it."""
    try:
        return os.path.realpath(directory)
    except OSError:  # a link that cannot be read, or that was replaced just now; Python 3.11 and 3.12 raise that
        return directory


def is_place(text: str) -> bool:
    """Whether a text is the path of something that is there, and so no secret, whatever its variable is called."""
    return os.path.isabs(text) and os.path.lexists(text)


@contextmanager
def held(directory: str, roots: Sequence[str]) -> Generator[str | int | NotStarted]:
    """The directory, open for as long as the body runs; without roots its path, as it need not be held.

    A directory can be replaced by a link after it was checked. What was opened cannot, and is checked once more.
    """
    if not roots:
        yield directory
        return
    fields = {"cwd": repr(directory)}
    try:
        descriptor = os.open(directory, PLACE | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        yield NotStarted("not-started", {"reason": error.strerror or str(error)})
        return
    try:
        yield descriptor if _is_below(_path_of(descriptor), roots) else NotStarted("cwd-not-allowed", fields)
    finally:
        os.close(descriptor)


def _is_below(directory: str, roots: Sequence[str]) -> bool:
    return any(os.path.commonpath((directory, root)) == root for root in map(real_path, roots))


def _path_of(descriptor: int) -> str:
    """Where an open directory is now."""
    if os.path.isdir(OPEN_FILES):
        return os.readlink(f"{OPEN_FILES}/{descriptor}")
    path = fcntl.fcntl(descriptor, GET_PATH, bytes(MAX_PATH))
    return os.fsdecode(path.rstrip(b"\0"))


def _enterable(directory: str, fields: Mapping[str, str]) -> str | NotStarted:
    try:
        # To stat `directory/.` takes the permission to enter the directory; to stat the directory itself does not.
        os.stat(os.path.join(directory, "."))
    except NotADirectoryError:
        return NotStarted("cwd-not-a-directory", fields)
    except PermissionError:
        return NotStarted("cwd-not-permitted", fields)
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENAMETOOLONG, errno.ELOOP)
        reason = {"reason": os.strerror(error.errno or 0)}
        return NotStarted("cwd-missing", fields) if missing else NotStarted("not-started", reason)
    return directory


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _no_program(where: str, path: str) -> NotStarted:
    if not os.path.exists(path):
        return NotStarted("not-found", {"where": where})
    reason = os.strerror(errno.EACCES) if os.path.isfile(path) else "it is not a file"
    return NotStarted("not-executable", {"program": repr(path), "reason": reason})
