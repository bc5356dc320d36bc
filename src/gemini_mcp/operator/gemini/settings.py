"""The settings files of Gemini CLI, read and merged as it does it. Effect: reads files.

What a setting means belongs to whoever asks for it.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp.host.settings.expansion import expand_everywhere
from gemini_mcp.host.settings.files import real_path
from gemini_mcp.host.settings.jsonc import read
from gemini_mcp.spec import load_profiles
from gemini_mcp.spec.values import Json, object_of

PROFILE = "current"
"""The profile of hosts whose settings are those of the gemini that runs here."""

MARK = "\ufeff"

WRITABLE_BY_OTHERS = 0o022


@dataclass(frozen=True)
class Layers:
    """The settings files, from the weakest to the strongest."""

    system_defaults: Json
    user: Json
    own: Json
    system: Json

    def merged(self, with_own: bool) -> Json:
        """What gemini goes by; the directory's own settings count only where gemini trusts it."""
        settings = _merged(self.system_defaults, self.user)
        return _merged(_merged(settings, self.own) if with_own else settings, self.system)


@dataclass(frozen=True)
class Content:
    """What a file holds, or why gemini cannot read it."""

    value: Json
    problem: str | None = None


class Files:
    """Reads files as gemini does, and notes those that it refuses."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.faults: dict[Path, str] = {}
        self._environ = environ
        self._rules = load_profiles()[PROFILE]

    def json(self, path: Path) -> Content:
        """What a file holds; an empty object without one."""
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            if text.startswith(MARK):
                return Content({}, "it begins with a byte order mark")
            return Content(read(text, allow_trailing_commas=False))
        except (FileNotFoundError, NotADirectoryError):
            return Content({})
        except (OSError, ValueError) as error:
            return Content({}, getattr(error, "strerror", None) or str(error))

    def layers(self, home: Path, directory: str) -> Layers:
        """All settings for one directory; the home has no settings of its own besides the user's."""
        is_home = real_path(directory) == real_path(str(home))
        return Layers(
            self.system(_system_defaults(self._environ)),
            self.settings(home / ".gemini/settings.json"),
            {} if is_home else self.settings(Path(directory, ".gemini/settings.json")),
            self.system(_system_settings(self._environ)),
        )

    def settings(self, path: Path) -> Json:
        """Settings with their variables put in."""
        content = self.json(path)
        if problem := content.problem or (None if object_of(content.value) is not None else "it is no JSON object"):
            self.faults[path] = problem
            return {}
        return expand_everywhere(content.value, self._environ, self._rules)

    def system(self, path: Path) -> Json:
        """Settings of the system, which count only where nobody but root can have written them."""
        return self.settings(path) if path.exists() and all(map(_is_roots, _with_parents(path))) else {}


def _system_settings(environ: Mapping[str, str]) -> Path:
    folder = {"darwin": "/Library/Application Support/GeminiCli"}.get(sys.platform, "/etc/gemini-cli")
    return Path(environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or f"{folder}/settings.json")


def _system_defaults(environ: Mapping[str, str]) -> Path:
    named = environ.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
    return Path(named) if named else _system_settings(environ).parent / "system-defaults.json"


def _with_parents(path: Path) -> Iterator[Path]:
    for way in (path.absolute(), path.resolve()):
        yield from (way, *way.parents)


def _is_roots(path: Path) -> bool:
    status = path.stat()
    return status.st_uid == 0 and path.lstat().st_uid == 0 and not status.st_mode & WRITABLE_BY_OTHERS


def _merged(below: Json, above: Json) -> Json:
    """Both settings, those above winning; lists are joined, as the one list that matters here is."""
    upper, lower = object_of(above), object_of(below)
    if upper is None or lower is None:
        return [*below, *above] if isinstance(below, list) and isinstance(above, list) else above
    return {**lower, **{key: _merged(lower.get(key), value) for key, value in upper.items()}}
