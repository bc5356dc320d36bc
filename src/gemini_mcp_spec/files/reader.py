"""Reads the files of a specification from a directory, a git ref or a wheel. Effects: files and git.

Another kind of place is one more reader here; what the files mean is decided elsewhere.
"""

import io
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Container
from pathlib import Path

from gemini_mcp_spec.files.documents import MOST_BYTES
from gemini_mcp_spec.files.kinds import NEEDED
from gemini_mcp_spec.files.spec_files import SpecFiles

_WHEEL_FOLDER = "gemini_mcp/_spec/"
_GIT_SECONDS = 30
_FEWEST = 2
"""How many of the files that every specification needs tell one from a folder that holds other JSON."""


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
    # Asked first, since any other folder may hold a whole disk.
    _demand(str(path), {needed for needed in NEEDED if (root / needed).is_file()})
    found = [file for file in sorted(root.rglob("*.json")) if file.is_file()]
    for file in found:
        # A pull request could otherwise have a report quote files of the machine that judges it.
        if not file.resolve().is_relative_to(root.resolve()):
            raise UnreadableSpec(f"{str(file)!r} is a link that leads out of the specification. Put the file there.")
    prefix = "" if root == Path() else root.as_posix() + "/"
    return SpecFiles(str(path), prefix, {file.relative_to(root).as_posix(): _content(file) for file in found})


def _content(file: Path) -> bytes:
    """The file, or as much of it as shows that it is too long."""
    with file.open("rb") as stream:
        return stream.read(MOST_BYTES + 1)


def _demand(name: str, held: Container[str]) -> None:
    """Raise UnreadableSpec where these are not the files of a specification."""
    if sum(needed in held for needed in NEEDED) < _FEWEST:
        raise UnreadableSpec(f"{name!r} holds no specification, which has {', '.join(NEEDED[:3])}. Name one that does.")


def read_wheel(path: Path) -> SpecFiles:
    """The specification that a wheel of this distribution carries."""
    try:
        with zipfile.ZipFile(path) as wheel:
            names = sorted(name for name in wheel.namelist() if name.startswith(_WHEEL_FOLDER))
            files: dict[str, bytes] = {}
            for name in (name for name in names if name.endswith(".json")):
                with wheel.open(name) as stream:
                    files[name.removeprefix(_WHEEL_FOLDER)] = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise UnreadableSpec(f"The wheel {str(path)!r} cannot be read: {error}.") from None
    _demand(str(path), files)
    return SpecFiles(str(path), "spec/", files)


def read_git(ref: str) -> SpecFiles:
    """The specification below `spec/` at a ref, or at `REF:FOLDER`, of the repository around the working directory."""
    tree = ref if ":" in ref else f"{ref}:spec"
    # git would take such a ref for an option.
    found = None if ref.startswith("-") else _git("rev-parse", "--verify", "--quiet", tree)
    if found is None:
        raise UnreadableSpec(_missing(ref))
    archive = _git("archive", "--format=tar", found.decode("ascii").strip())
    if archive is None:
        raise UnreadableSpec(f"git could not read {ref!r}. Fetch the commit first.")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [member for member in tar if member.name.endswith(".json") and not member.isdir()]
        links = [member.name for member in members if not member.isfile()]
        if links:
            raise UnreadableSpec(f"`spec/{links[0]}` of {ref!r} is a link. Put the file there.")
        held = {member.name: tar.extractfile(member) for member in members}
        files = {name: file.read(MOST_BYTES + 1) for name, file in held.items() if file}
    _demand(ref, files)
    return SpecFiles(ref, "spec/", files)


def _missing(ref: str) -> str:
    message = f"{ref!r} is no directory, no wheel and no git ref that holds `spec`."
    if (_git("rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        return f"{message} This clone is shallow: check out with `fetch-depth: 0`, or fetch {ref!r}."
    return f"{message} Name one of these."


def _git(*arguments: str) -> bytes | None:
    try:
        top = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, timeout=_GIT_SECONDS)
        folder = top.stdout.decode("utf-8").strip()
        command = ["git", *arguments]
        run = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, cwd=folder or None)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnreadableSpec(f"git could not be run: {error}.") from None
    return run.stdout if run.returncode == 0 else None
