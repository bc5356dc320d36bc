"""The settings files on disk: where they are, what is in them, and how one is replaced whole. Effect."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp.host.settings.extensions import Installed, Shelf, installed
from gemini_mcp.host.settings.jsonc import BrokenJson, read
from gemini_mcp.host.settings.loading import Layer
from gemini_mcp.host.settings.standing import Circumstances, disabled_in
from gemini_mcp.host.settings.trust import is_trusted
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class Places:
    """The user's home and the project the host runs in."""

    home: Path
    project: Path

    @property
    def files(self) -> Mapping[str, Path]:
        """The settings file of each scope; the project's counts only where it is not the user's own."""
        user, project = (base / ".gemini" / "settings.json" for base in (self.home, self.project))
        # In the home directory both are one file. Gemini CLI reads it once, as the user's.
        return {"user": user} if user == project else {"user": user, "project": project}

    @property
    def tokens(self) -> Path:
        return self.home / ".gemini" / "mcp-oauth-tokens.json"

    @property
    def enablement(self) -> Path:
        """Which servers `mcp disable` has disabled."""
        return self.home / ".gemini" / "mcp-server-enablement.json"

    def trusted_folders(self, environment: Mapping[str, str]) -> Path:
        """Which folders the user trusts."""
        named = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
        return Path(named) if named else self.home / ".gemini" / "trustedFolders.json"


def places(environment: Mapping[str, str]) -> Places:
    """The places of this process."""
    home = environment.get("HOME") or os.path.expanduser("~")
    return Places(Path(home).resolve(), Path.cwd().resolve())


def read_texts(where: Places) -> dict[str, str]:
    """The text of each settings file that is there."""
    return {scope: _text(file) for scope, file in where.files.items() if file.is_file()}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise OSError(f"{file} is no UTF-8 text: {error}. Correct the file; it was left as it is.") from error


def read_json(file: Path) -> Json:
    """What a file of Gemini CLI's own holds, comments allowed; nothing when it is not there or no JSON."""
    try:
        return read(_text(file)) if file.is_file() else None
    except BrokenJson:
        return None


def circumstances(where: Places, environment: Mapping[str, str]) -> Circumstances:
    """Whether this folder is trusted, and which servers are disabled."""
    user = read_json(where.files["user"])
    folders = read_json(where.trusted_folders(environment))
    trusts = is_trusted(str(where.project), folders, user, environment, real_path)
    return Circumstances(trusts, disabled_in(read_json(where.enablement)))


def extensions(where: Places, environment: Mapping[str, str], rules: Rules, is_trusted: bool) -> Installed:
    """The extensions that the user has installed, where the profile knows them."""
    if rules.extensions is None:
        return Installed()
    directory = where.home / rules.extensions.folder
    folders = [file.name for file in directory.iterdir() if file.is_dir()] if directory.is_dir() else []
    # Node's `readdir` sorts by bytes. Of two extensions that configure one server, the first counts.
    ordered = tuple(sorted(folders, key=os.fsencode))
    shelf = Shelf(str(directory), ordered, _text_or_none, str(where.project), is_trusted)
    return installed(shelf, environment, rules)


def policy_texts(where: Places, rules: Rules) -> dict[str, str]:
    """The texts of the user's policy files by their names, in order."""
    folder = where.home / rules.policy.folder if rules.policy is not None else None
    files = sorted(folder.glob("*.toml"), key=os.fsencode) if folder is not None and folder.is_dir() else []
    return {file.name: _text_or_none(str(file)) or "" for file in files if file.is_file()}


def _text_or_none(file: str) -> str | None:
    try:
        # Node replaces invalid UTF-8 without an error; the manifest or policy is then judged by what is left.
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def real_path(folder: str) -> str:
    """The path without links, of a folder that is there."""
    return os.path.realpath(folder) if os.path.exists(folder) else folder


def layers(where: Places) -> tuple[Layer, ...]:
    """The settings files that are there, the user's first."""
    return tuple(Layer(scope, str(where.files[scope]), text) for scope, text in read_texts(where).items())


def replace_text(file: Path, text: str, mode: int | None = None) -> None:
    """Write the file beside itself and put it in its place in one step; a new one gets the mode."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # Replacing a link would leave the file that it points to as it was.
    target = file.resolve()
    kept = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, kept if mode is None else mode)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
