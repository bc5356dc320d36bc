"""Where a specification is read from: a directory, a git ref or a wheel in, its files out. Effects: files and git.

Another kind of place is one more reader here; what the files mean is decided elsewhere.
"""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

from gemini_mcp_spec.files.spec_files import SpecFiles

_WHEEL_FOLDER = "gemini_mcp/_spec/"
_GIT_SECONDS = 30


class UnreadableSpec(Exception):
    """A specification that cannot be read: whoever named it has to name another."""


def read(name: str) -> SpecFiles:
    """The specification that `name` means: an existing directory or wheel, or else a git ref."""
    path = Path(name)
    if path.is_dir():
        return read_directory(path)
    if path.suffix == ".whl":
        return read_wheel(path)
    return read_git(name)


def read_directory(path: Path) -> SpecFiles:
    """The specification in a directory, or in the `spec` below it."""
    root = path / "spec" if not (path / "manifest.json").exists() and (path / "spec").is_dir() else path
    files = {
        file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(root.rglob("*.json")) if file.is_file()
    }
    if not files:
        raise UnreadableSpec(f"{str(path)!r} holds no specification: it has no JSON file. Name the directory `spec`.")
    prefix = "" if root == Path() else root.as_posix() + "/"
    return SpecFiles(str(path), prefix, files)


def read_wheel(path: Path) -> SpecFiles:
    """The specification that a wheel of this distribution carries."""
    try:
        with zipfile.ZipFile(path) as wheel:
            names = sorted(name for name in wheel.namelist() if name.startswith(_WHEEL_FOLDER))
            files = {name.removeprefix(_WHEEL_FOLDER): wheel.read(name) for name in names if name.endswith(".json")}
    except (OSError, zipfile.BadZipFile) as error:
        raise UnreadableSpec(f"The wheel {str(path)!r} cannot be read: {error}.") from None
    if not files:
        raise UnreadableSpec(f"The wheel {str(path)!r} holds no {_WHEEL_FOLDER}. Name a wheel of `gemini-mcp-server`.")
    return SpecFiles(str(path), "spec/", files)


def read_git(ref: str) -> SpecFiles:
    """The specification below `spec/` at a ref, or at `REF:FOLDER`, of the repository around the working directory."""
    tree = ref if ":" in ref else f"{ref}:spec"
    found = None if ref.startswith("-") else _git("rev-parse", "--verify", "--quiet", tree)
    if found is None:
        raise UnreadableSpec(f"{ref!r} is no directory, no wheel and no git ref that holds `spec`. Name one of these.")
    archive = _git("archive", "--format=tar", found.decode("ascii").strip())
    if archive is None:
        raise UnreadableSpec(f"git could not read {ref!r}. Fetch the commit first.")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        held = {member.name: tar.extractfile(member) for member in tar if member.name.endswith(".json")}
        files = {name: file.read() for name, file in held.items() if file}
    return SpecFiles(ref, "spec/", files)


def _git(*arguments: str) -> bytes | None:
    try:
        top = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, timeout=_GIT_SECONDS)
        folder = top.stdout.decode("utf-8").strip()
        command = ["git", *arguments]
        run = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, cwd=folder or None)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnreadableSpec(f"git could not be run: {error}.") from None
    return run.stdout if run.returncode == 0 else None
