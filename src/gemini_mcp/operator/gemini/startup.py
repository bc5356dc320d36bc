"""What Gemini CLI reads when it starts: a directory and variables in, a `Startup` out. Effect: reads files.

The order is gemini's. The settings without the directory's own decide whether it is trusted. If it is, its own settings
count too. All of them decide which `.env` file is read, and the variables with that file decide about trust once more.
Nothing is written here.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp.host.settings import dotenv, trust
from gemini_mcp.host.settings.files import real_path
from gemini_mcp.operator.gemini.settings import Files
from gemini_mcp.operator.gemini.sign_in import Kept, SignIn, sign_in
from gemini_mcp.operator.gemini.variables import taken
from gemini_mcp.spec.values import Json, inside, texts_of


@dataclass(frozen=True)
class Startup:
    """What gemini will find. `faults` are files that it refuses, each with the reason; then nothing else counts."""

    home: Path
    settings: Json
    environ: Mapping[str, str]
    env_file: Path | None
    needs_trust: bool
    is_trusted: bool
    faults: Mapping[Path, str]

    @property
    def folder(self) -> Path:
        """Where gemini keeps what is the user's."""
        return self.home / ".gemini"

    @property
    def settings_file(self) -> Path:
        """The user's settings."""
        return self.folder / "settings.json"

    @property
    def sign_in(self) -> SignIn:
        """How gemini will sign in."""
        kept = Kept((self.folder / "oauth_creds.json").is_file(), (self.folder / "gemini-credentials.json").is_file())
        return sign_in(self.settings, self.environ, kept)

    def setting(self, path: str) -> Json:
        """One setting, such as `general.sessionRetention.enabled`; None when it is not set."""
        return inside(self.settings, *path.split("."))


def look(directory: str, environ: Mapping[str, str]) -> Startup:
    """What a gemini finds that starts there with these variables."""
    directory = os.path.realpath(directory)
    home = Path(environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or os.path.expanduser("~"))
    files = Files(environ)
    layers = files.layers(home, directory)
    folders_file = Path(environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH") or home / ".gemini/trustedFolders.json")
    folders = files.json(folders_file)

    def is_trusted(settings: Json, variables: Mapping[str, str]) -> bool:
        is_asked = trust.said_by(variables) is None and trust.is_enabled(settings)
        if is_asked and (problem := folders.problem or trust.problem(folders.value)):
            files.faults[folders_file] = problem
        return trust.is_trusted(directory, folders.value, settings, variables, real_path)

    settings = layers.merged(with_own=is_trusted(layers.merged(with_own=False), environ))
    may_read = is_trusted(settings, environ)
    env_file = _env_file(directory, home, may_read, inside(settings, "advanced", "ignoreLocalEnv") is True)
    variables = {**_variables(env_file, may_read, settings), **environ}
    will_trust = is_trusted(settings, variables)
    return Startup(home, settings, variables, env_file, trust.is_enabled(settings), will_trust, files.faults)


def _env_file(directory: str, home: Path, is_trusted: bool, only_home: bool) -> Path | None:
    """The one `.env` file that gemini reads: the first on the way up, or one of the home."""
    start = Path(os.path.normpath(directory))
    for folder in (start, *start.parents):
        # Without trust gemini passes over every `.gemini/.env`, that of the home too.
        if is_trusted and (file := folder / ".gemini/.env").exists():
            return file
        if (file := folder / ".env").exists() and (not only_home or folder == home):
            return file
    homes = (*((home / ".gemini/.env",) if is_trusted else ()), home / ".env")
    return next((file for file in homes if file.exists()), None)


def _variables(file: Path | None, is_trusted: bool, settings: Json) -> Mapping[str, str]:
    if file is None:
        return {}
    try:
        variables = dotenv.variables(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return {}
    of_project = () if ".gemini" in str(file) else texts_of(inside(settings, "advanced", "excludedEnvVars")) or ()
    return taken(variables, is_trusted, of_project)
