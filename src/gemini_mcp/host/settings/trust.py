"""Whether Gemini CLI trusts a folder: by the environment, the settings, and the user's list of folders. Pure.

The file system is asked through `real`, which gives the path of a folder without links. What trust is needed for
belongs to whoever asks.
"""

import posixpath
import sys
from collections.abc import Callable, Mapping

from gemini_mcp.spec.values import Json, inside, object_of, table

LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")

EVERYWHERE: Mapping[str, str] = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
"""The variable with which every folder is trusted."""

Real = Callable[[str], str]


def is_trusted(folder: str, folders: Json, settings: Json, environment: Mapping[str, str], real: Real) -> bool:
    """Whether the folder is trusted: the environment decides, then `security.folderTrust`, then the longest rule.

    `folders` is what `trustedFolders.json` holds.
    """
    said = said_by(environment)
    if said is not None:
        return said
    return not is_enabled(settings) or _by_list(folder, folders, real)


def said_by(environment: Mapping[str, str]) -> bool | None:
    """What the environment says of every folder."""
    said = environment.get("GEMINI_CLI_TRUST_WORKSPACE")
    if environment.get("GEMINI_RESTRICTED_MODE") == "true" or said == "false":
        return False
    return True if said == "true" else None


def is_enabled(settings: Json) -> bool:
    """Whether folders need trust at all."""
    return inside(settings, "security", "folderTrust", "enabled") is not False


def problem(folders: Json) -> str | None:
    """Why Gemini CLI refuses the list of folders."""
    if object_of(folders) is None:
        return "it is no JSON object"
    wrong = next((path for path, level in table(folders).items() if level not in LEVELS), None)
    return None if wrong is None else f"{wrong!r} is {folders[wrong]!r}, but should be one of {', '.join(LEVELS)}"


def _by_list(folder: str, folders: Json, real: Real) -> bool:
    # Two spellings of one folder are one rule, as Gemini CLI normalises paths when it reads the file.
    rules = {posixpath.normpath(posixpath.join(folder, rule)): level for rule, level in table(folders).items()}
    covering = [rule for rule, level in rules.items() if _covers(rule, level, folder, real)]
    # The longest rule as it is written counts, even where TRUST_PARENT makes it cover less of the path.
    longest = max(covering, key=len, default=None)
    return longest is not None and rules[longest] != "DO_NOT_TRUST"


def _covers(rule: str, level: Json, folder: str, real: Real) -> bool:
    top, below = (
        _as_compared(real(path)) for path in (posixpath.dirname(rule) if level == LEVELS[1] else rule, folder)
    )
    return level in LEVELS and (below == top or below.startswith(top.rstrip("/") + "/"))


def _as_compared(path: str) -> str:
    """macOS takes upper and lower case for the same."""
    return path.lower() if sys.platform == "darwin" else path
