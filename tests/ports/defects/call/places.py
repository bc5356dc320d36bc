"""Defects in where gemini runs and what it inherits: odd directories, links to nowhere, variables of a locale."""

import os
import stat
from collections.abc import Mapping
from typing import Any

from conditions import without_variables
from defects.record import defect
from planning import Refusal
from steps import Change, Step, before, gives


def refuses_directory(test: Change, words: str) -> Step:
    """Of `check_cwd`: refuses a directory like this."""

    def check(port: Any, cwd: str) -> None:
        if test(cwd):
            raise Refusal(f"`cwd` {cwd!r} {words}.")

    return before(check)


def own_instead(test: Change) -> Step:
    """Of `cwd`: runs in its own directory in the place of such a one."""

    def cwd(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
        path = texts.get("cwd")
        return None if path and test(path) else real(tool, texts)

    return cwd


def is_special(path: str) -> bool:
    return os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)


def beside_file(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    path = texts.get("cwd", "")
    is_meant = path.endswith("/") and os.path.isfile(path.rstrip("/"))
    return os.path.dirname(path.rstrip("/")) if is_meant else real(tool, texts)


def with_variables(**variables: str) -> Step:
    return gives(lambda environ: {**environ, **variables})


defect("hidden-directory-refused", "Refuses a directory whose name begins with a point.", "cwd:used")(
    check_cwd=refuses_directory(lambda cwd: os.path.basename(cwd.rstrip("/")).startswith("."), "is hidden")
)
defect(
    "link-to-nothing-ignored",
    "Runs in its own directory when the one it is given is a link that leads nowhere.",
    "cwd:missing",
)(cwd=own_instead(lambda path: os.path.islink(path) and not os.path.exists(path)))
defect("device-ignored", "Runs in its own directory when the one it is given is a device or a pipe.", "cwd:file")(
    cwd=own_instead(is_special)
)
defect("file-with-slash-taken", "Runs beside a file that `cwd` names with a slash behind it.", "cwd:missing")(
    cwd=beside_file
)
defect("file-in-path-ignored", "Runs in its own directory when the path goes through a file.", "cwd:missing")(
    cwd=own_instead(lambda path: os.path.isfile(os.path.dirname(path.rstrip("/"))))
)
defect("language-of-gemini-set", "Gives gemini the language C.", "process:environment")(
    environment=with_variables(LANG="C", LC_ALL="C")
)
defect("node-variables-lost", "Hands no variable on that begins with `NODE_` or `npm_`.", "process:environment")(
    environment=without_variables(lambda name, value: name.startswith(("NODE_", "npm_")))
)
defect("secrets-lost", "Hands no variable on whose name speaks of a secret.", "process:environment")(
    environment=without_variables(lambda name, value: "SECRET" in name or "TOKEN" in name)
)
