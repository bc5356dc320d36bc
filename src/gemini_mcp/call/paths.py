"""Finds the program and the working directory of a run. Effect: reads the file system.

Whatever prevents a run is returned as `NotStarted`, never raised.
"""

import errno
import os
import shutil
from collections.abc import Iterable, Mapping

from gemini_mcp.call.outcome import NotStarted


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


def find_directory(cwd: str | None, roots: Iterable[str]) -> str | NotStarted:
    """The absolute path of the working directory. One that the caller chose must lie below one of `roots`, if any."""
    directory = os.path.join(os.getcwd(), native(cwd or ""))
    if cwd is None:
        return directory
    fields = {"cwd": repr(cwd)}
    allowed = [os.path.realpath(root) for root in roots]
    if allowed:
        # Links are resolved first, so that none leads out of the roots.
        directory = os.path.realpath(directory)
        if not any(os.path.commonpath((directory, root)) == root for root in allowed):
            return NotStarted("cwd-not-allowed", fields)
    return _enterable(directory, fields)


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
