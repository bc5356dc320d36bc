"""Directories whose names are read as something else: ports that break `cwd`."""

import glob
import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from conditions import replacing
from defects.record import defect
from defects.text.shared import TextChange, composed, in_directory, normalized, without_category
from planning import Refusal
from steps import Step, before, for_tool, gives, on, takes


def cwd_of_url(port: Any, real: Any, tool: str, texts: dict[str, str]) -> str | None:
    return real(tool, {**texts, "cwd": unquote(texts["cwd"])} if "cwd" in texts else texts)


def of_named_directory(change: Callable[[str], str]) -> Step:
    """Of `cwd`: another path."""

    def cwd(port: Any, real: Any, tool: str, texts: Any) -> str | None:
        return real(tool, {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts)

    return cwd


def refuses_dash(port: Any, cwd: str) -> None:
    if cwd.startswith("-"):
        raise Refusal(f"`cwd` {cwd!r} starts with `-`.")


def relative_to_variable(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    if "cwd" not in texts:
        return real(tool, texts)
    return real(tool, {**texts, "cwd": os.path.join(os.environ.get("PWD", ""), texts["cwd"])})


def slashes_for_backslashes(text: str) -> str:
    return text.replace("\\", "/")


def refuses_double_slash(port: Any, cwd: str) -> None:
    if "//" in cwd:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def of_directory(change: TextChange) -> Step:
    return gives(lambda cwd: change(cwd) if cwd else cwd)


def as_pattern(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    found = sorted(glob.glob(texts["cwd"])) if glob.has_magic(texts.get("cwd", "")) else []
    return real(tool, {**texts, "cwd": found[0]} if found else texts)


def refuses_pattern(port: Any, cwd: str) -> None:
    if re.search(r"[\[\]*?]", cwd):
        raise Refusal(f"`cwd` {cwd!r} is a pattern and no directory.")


def refuses_point(port: Any, cwd: str) -> None:
    if re.search(r"/\.(/|$)", cwd):
        raise Refusal(f"`cwd` {cwd!r} is no plain path.")


def globbed(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    cwd = real(tool, texts)
    if cwd is None or os.path.isabs(cwd):
        return cwd
    return next((path for path in sorted(glob.glob(cwd)) if os.path.isdir(path)), cwd)


defect(
    "percent-in-reply-path",
    "Decodes percent signs in the path in which a reply runs.",
    "cwd:chat-reply",
    "cwd:used",
)(cwd=for_tool("chat-reply", cwd_of_url))
defect("file-addresses-read", "Takes a directory for the path in an address `file://`.", "cwd:missing")(
    cwd=takes(lambda texts: {**texts, "cwd": texts["cwd"].removeprefix("file://")} if "cwd" in texts else texts)
)
defect("refused-path-composed", "Names a refused directory with its characters composed.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, refusal: Refusal(composed(str(refusal))))
)
defect("home-expanded", "Takes a directory that begins with a tilde for the home directory.", "cwd:relative")(
    cwd=in_directory(os.path.expanduser)
)
defect("blank-before-directory-lost", "Takes blanks off the beginning of a directory.", "cwd:relative")(
    cwd=of_named_directory(lambda path: path.lstrip(" ") or path)
)
defect("directory-like-option-refused", "Refuses a directory that begins with a dash.", "cwd:relative")(
    check_cwd=before(refuses_dash)
)
defect(
    "relative-to-variable",
    "Resolves a relative directory against PWD, which need not be where the server runs.",
    "cwd:relative",
)(cwd=relative_to_variable)
defect("directory-composed", "Composes the characters of a directory.", "cwd:used")(cwd=in_directory(normalized("NFC")))
defect("directory-trimmed", "Takes blanks off the end of a directory.", "cwd:used")(cwd=in_directory(str.rstrip))
defect("directory-unquoted", "Reads %20 in a directory as a blank.", "cwd:used")(cwd=in_directory(unquote))
defect("backslashes-of-directory-turned", "Makes slashes of the backslashes of a directory.", "cwd:used")(
    cwd=in_directory(slashes_for_backslashes)
)
defect("directory-ends-at-question-mark", "Cuts a directory at a question mark or a number sign.", "cwd:used")(
    cwd=of_named_directory(lambda path: re.split("[?#]", path)[0] or path)
)
defect("percents-of-directory-escaped", "Looks for a directory with its percent signs escaped.", "cwd:used")(
    cwd=of_named_directory(lambda path: path.replace("%", "%25"))
)
defect("double-slash-refused", "Refuses a directory with two slashes in a row.", "cwd:used")(
    check_cwd=before(refuses_double_slash)
)
defect("directory-ends-at-semicolon", "Cuts a directory at a semicolon or a comma.", "cwd:used")(
    cwd=of_directory(replacing("(?s)[;,].*"))
)
defect("invisibles-of-directory-lost", "Drops joiners, selectors and tags of a directory.", "cwd:used")(
    cwd=of_directory(without_category("Cf"))
)
defect(
    "directory-is-a-glob",
    "Takes the first directory that a `cwd` with brackets, stars or question marks matches as a pattern.",
    "cwd:used",
)(cwd=as_pattern)
defect("bracketed-directory-refused", "Refuses a directory with brackets in its name.", "cwd:used")(
    check_cwd=before(refuses_pattern)
)
defect("pointed-directory-refused", "Refuses a directory with a single point in its path.", "cwd:used")(
    check_cwd=before(refuses_point)
)
defect(
    "relative-directory-globbed",
    "Expands wildcards in a relative `cwd`, so `x[1]` is `x1` where that exists.",
    "cwd:relative",
    "cwd:used",
)(cwd=globbed)
