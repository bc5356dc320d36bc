"""Directories that are not used, not found or used in place of others: ports that break `cwd`."""

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from conditions import path_shown
from defects.call.shared import also_absent, changed_directory, reads_argument
from defects.record import defect
from planning import Refusal
from steps import Change, Step, before, first_kept, for_tool, gives, on, takes

SHOWN = 30


def directory_percent_decoded(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {name: unquote(text) if name == "cwd" else text for name, text in texts.items()})


def composed(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {name: unicodedata.normalize("NFC", text) for name, text in texts.items()})


def parent_kept(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    """Works out the directory before it looks whether it is one."""
    if "cwd" not in texts:
        return port.memory.pop("parent", None) if tool == "chat" else None
    port.memory.pop("parent", None)
    try:
        return real(tool, texts)
    except Refusal:
        if os.path.isfile(texts["cwd"]):
            port.memory["parent"] = os.path.dirname(texts["cwd"]) or None
        raise


def beside_file(texts: Any) -> Any:
    cwd = texts.get("cwd", "")
    return {**texts, "cwd": os.path.dirname(cwd) or "."} if os.path.isfile(cwd) else texts


def own_instead(test: Change) -> Step:
    """Of `cwd`: runs in its own directory in the place of such a one."""

    def cwd(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
        path = texts.get("cwd")
        return None if path and test(path) else real(tool, texts)

    return cwd


def as_a_shell_goes(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    """`-` is where it came from, and a path that says not where it begins is looked for elsewhere first."""
    cwd = texts.get("cwd")
    if cwd is None:
        return real(tool, texts)
    elsewhere = [os.path.join(folder, cwd) for folder in os.environ.get("CDPATH", "").split(":") if folder]
    if cwd == "-":
        cwd = os.environ.get("OLDPWD", cwd)
    elif not re.match(r"/|\.\.?(/|\Z)", cwd):
        cwd = next(filter(os.path.isdir, elsewhere), cwd)
    return real(tool, {**texts, "cwd": cwd})


def is_special(path: str) -> bool:
    return os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)


def path_of_url(cwd: Any) -> Any:
    is_url = isinstance(cwd, str) and cwd.startswith("file:///")
    return unquote(cwd.removeprefix("file://")) if is_url else cwd


def beside_file_with_slash(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    path = texts.get("cwd", "")
    is_meant = path.endswith("/") and os.path.isfile(path.rstrip("/"))
    return os.path.dirname(path.rstrip("/")) if is_meant else real(tool, texts)


def ends_of_path(cwd: str) -> str:
    return repr(cwd if len(cwd) <= 2 * SHOWN else f"{cwd[:SHOWN]}…{cwd[-SHOWN:]}")


def refuses_directory(test: Change, words: str) -> Step:
    """Of `check_cwd`: refuses a directory like this."""

    def check(port: Any, cwd: str) -> None:
        if test(cwd):
            raise Refusal(f"`cwd` {cwd!r} {words}.")

    return before(check)


def refuses_slash_at_end(port: Any, real: Any, cwd: str) -> None:
    if len(cwd) > 1 and cwd.endswith("/"):
        raise Refusal(f"`cwd` {cwd!r} does not exist.")
    real(cwd)


defect(
    "reply-directory-percent-decoded",
    "Decodes `%20` and its like in the directory of a reply.",
    "cwd:chat-reply",
    "cwd:used",
)(cwd=for_tool("chat-reply", directory_percent_decoded))
defect("reply-ignores-cwd", "Ignores `cwd` in `chat-reply`.", "cwd:chat-reply")(
    cwd=for_tool("chat-reply", gives(lambda cwd: None))
)
defect(
    "reply-directory-composed",
    "Composes the accents in the `cwd` of a reply, so it does not find a directory whose name has them apart.",
    "cwd:chat-reply",
)(cwd=for_tool("chat-reply", composed))
defect("runs-at-root", "Runs in the root directory without `cwd`.", "cwd:default")(cwd=gives(lambda cwd: cwd or "/"))
defect("moves-into-cwd", "Changes its own directory to that of a call, and stays.", "cwd:default", "cwd:relative")(
    cwd=gives(lambda cwd: os.chdir(cwd) if cwd else None)
)
defect(
    "parent-of-refused-file-kept",
    "Runs a `chat` without `cwd` in the directory of the file that the call before was refused for.",
    "cwd:default",
)(cwd=parent_kept)
defect("file-is-its-directory", "Runs beside the file that `cwd` names.", "cwd:file")(cwd=takes(beside_file))
defect("device-ignored", "Runs in its own directory when the one it is given is a device or a pipe.", "cwd:file")(
    cwd=own_instead(is_special)
)
defect(
    "url-of-directory",
    "Takes a `cwd` that begins with `file:///` for a URL and runs gemini in the directory behind it.",
    "cwd:missing",
)(plan=reads_argument("cwd", path_of_url))
defect("missing-cwd-ignored", "Runs in its own directory when `cwd` does not exist.", "cwd:missing")(
    cwd=on(Refusal, lambda port, error: None if "does not exist" in str(error) else error)
)
defect(
    "link-to-nothing-ignored",
    "Runs in its own directory when the one it is given is a link that leads nowhere.",
    "cwd:missing",
)(cwd=own_instead(lambda path: os.path.islink(path) and not os.path.exists(path)))
defect("file-with-slash-taken", "Runs beside a file that `cwd` names with a slash behind it.", "cwd:missing")(
    cwd=beside_file_with_slash
)
defect("file-in-path-ignored", "Runs in its own directory when the path goes through a file.", "cwd:missing")(
    cwd=own_instead(lambda path: os.path.isfile(os.path.dirname(path.rstrip("/"))))
)
defect("blank-directory-is-absent", "Takes a directory of blanks for an absent one.", "cwd:missing")(
    is_absent=also_absent("cwd")
)
defect("cwd-reason-vague", "Refuses a directory without saying which or why.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, error: Refusal("`cwd` is not valid."))
)
defect("path-in-escapes", "Names a directory that does not exist with escapes for what is not ASCII.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, error: Refusal(ascii(str(error))))
)
defect(
    "middle-of-long-directory-unnamed",
    "Leaves the middle of a path of more than sixty characters out when it refuses the directory.",
    "cwd:reason",
)(check_cwd=path_shown(ends_of_path))
defect(
    "cwd-by-cd",
    "Goes to `cwd` as `cd` does: `-` is `OLDPWD`, and a relative path is looked for in `CDPATH`.",
    "cwd:relative",
)(cwd=as_a_shell_goes)
defect("relative-to-root", "Resolves a relative directory against the root.", "cwd:relative")(
    cwd=takes(lambda texts: {**texts, "cwd": f"/{texts['cwd']}"} if "cwd" in texts else texts)
)
defect(
    "dots-at-end-of-directory-dropped",
    "Drops the dots with which the name of a directory ends.",
    "cwd:used",
)(
    cwd=takes(
        lambda texts: {
            name: re.sub(r"(?<=[^./])\.+(?=/|\Z)", "", text) if name == "cwd" else text for name, text in texts.items()
        }
    )
)
defect("hidden-directory-refused", "Refuses a directory whose name begins with a point.", "cwd:used")(
    check_cwd=refuses_directory(lambda cwd: os.path.basename(cwd.rstrip("/")).startswith("."), "is hidden")
)
defect("chat-ignores-cwd", "Ignores `cwd` in `chat`.", "cwd:used")(cwd=for_tool("chat", gives(lambda cwd: None)))
defect("first-cwd-kept", "Stays in the directory of the first call that named one.", "cwd:used")(cwd=first_kept)
defect("directory-with-slash-refused", "Refuses a directory whose path ends in a slash.", "cwd:used")(
    check_cwd=refuses_slash_at_end
)
defect("directory-in-quotes-bared", "Takes the quotes off the path of a directory.", "cwd:used")(
    cwd=changed_directory(lambda cwd: cwd.strip("'\""))
)
defect("directory-ends-at-colon", "Cuts the path of a directory at a colon.", "cwd:used")(
    cwd=changed_directory(lambda cwd: cwd.split(":")[0])
)
