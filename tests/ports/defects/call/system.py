"""Defects in handing the system prompt over."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from answering import Outcome
from defects.record import defect
from running import Call, Environment
from steps import Step, always, before, for_tool, gives, latest_repeated, takes


def below_its_own(port: Any, real: Any) -> str:
    path = os.path.join(os.getcwd(), f"gemini-mcp-{os.urandom(3).hex()}")
    os.mkdir(path, 0o700)
    return path


def unnamed(port: Any, real: Any) -> str:
    named = real()
    path = named.replace("gemini-mcp-", "tmp")
    os.rename(named, path)
    return path


def readable(path: str) -> str:
    os.chmod(path, 0o644)
    os.chmod(os.path.dirname(path), 0o755)
    return path


def removed_early(port: Any, real: Any, text: str) -> str:
    path = real(text)
    timer = threading.Timer(0.3, shutil.rmtree, (os.path.dirname(path), True))
    timer.daemon = True
    timer.start()
    return path


def shared_file(port: Any, real: Any, text: str) -> str:
    directory = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{os.getpid() % 1_000_000:06}")
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb") as file:
        file.write(port.system_bytes(text))
    time.sleep(0.1)
    return path


def path_shared(port: Any, real: Any, path: str | None) -> Environment:
    if path is None:
        return real(None)
    os.environ["GEMINI_SYSTEM_MD"] = path
    time.sleep(0.1)
    return real(os.environ.pop("GEMINI_SYSTEM_MD", path))


def keeps(test: Callable[[Any, Call, Outcome | None], bool]) -> Step:
    """Keeps the file of the calls of which `test` holds."""

    def remove_system(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
        if not test(port, call, outcome):
            real(path, call, outcome)

    return remove_system


defect("system-prompt-stripped", "Strips the system prompt.", "system:content")(system_bytes=takes(str.strip))
defect("system-prompt-ends-line", "Ends the system prompt with a newline of its own.", "system:content")(
    system_bytes=takes(lambda text: text if text.endswith("\n") else f"{text}\n")
)
defect("system-prompt-with-mark", "Writes a byte order mark before the system prompt.", "system:content")(
    system_bytes=takes(lambda text: f"\ufeff{text}")
)
defect("system-prompt-in-latin1", "Writes the system prompt in Latin-1 where that is possible.", "system:content")(
    system_bytes=lambda port, real, text: text.encode("latin-1") if max(text) < "\u0100" else real(text)
)
defect("reply-ignores-system-prompt", "Ignores the system prompt of a reply.", "system:chat-reply")(
    system=for_tool("chat-reply", always(None))
)
defect("system-file-lower-case", "Names the file `system.md`.", "system:file-name")(system_name=always("system.md"))
defect(
    "system-file-in-working-directory", "Writes the system prompt into a directory below its own.", "system:directory"
)(new_directory=below_its_own)
defect("system-directory-unnamed", "Names the temporary directory without `gemini-mcp-`.", "system:directory")(
    new_directory=unnamed
)
defect("system-file-for-everybody", "Lets everybody read the system prompt.", "system:mode")(
    write_system=gives(readable)
)
defect("system-file-removed-early", "Removes the system prompt while gemini runs.", "system:life")(
    write_system=removed_early
)
defect("system-always-set", "Sets GEMINI_SYSTEM_MD in every call.", "system:absent")(
    environment=takes(lambda path: path or "false")
)
defect(
    "system-path-stays", "Sets GEMINI_SYSTEM_MD in its own environment, where it stays.", "system:leak", "system:absent"
)(environment=before(lambda port, path: path and os.environ.update(GEMINI_SYSTEM_MD=path)))
defect(
    "system-prompt-remembered",
    "Hands the system prompt of an earlier call over again in a reply without one.",
    "system:leak",
)(system=latest_repeated("chat-reply"))
defect("system-path-shared", "Sets GEMINI_SYSTEM_MD in its own environment while a call starts.", "system:isolation")(
    environment=path_shared
)
defect(
    "system-file-shared",
    "Writes the system prompt of every call to the same file.",
    "system:isolation",
    "system:life",
)(write_system=shared_file)
defect("kept-after-success", "Keeps the system prompt after a success.", "system:removed:success")(
    remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit == 0)
)
defect("directory-kept", "Removes the system prompt but not its directory.", "system:removed:success")(
    remove_system=lambda port, real, path, call, outcome: os.unlink(path)
)
defect("kept-after-failure", "Keeps the system prompt after a failure.", "system:removed:failure")(
    remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit != 0)
)
defect("kept-when-not-started", "Keeps the system prompt when gemini could not be started.", "system:removed:failure")(
    remove_system=keeps(lambda port, call, outcome: outcome is None and not call.is_cancelled)
)
defect("kept-after-cancel", "Keeps the system prompt of a call that was cancelled.", "system:removed:cancel")(
    remove_system=keeps(lambda port, call, outcome: call.is_cancelled and not port.is_ending)
)
defect(
    "kept-after-end-of-input",
    "Keeps the system prompt when the end of input stops a call.",
    "system:removed:stdin-end",
)(remove_system=keeps(lambda port, call, outcome: port.is_ending and not port.ended_by_signal))
defect("kept-after-signal", "Keeps the system prompt when a signal stops a call.", "system:removed:sigterm")(
    remove_system=keeps(lambda port, call, outcome: port.is_ending and port.ended_by_signal)
)
defect(
    "system-prompt-lost-at-latest-by-name",
    "Hands over no system prompt to a reply whose session is `latest` by that word.",
    "system:chat-reply",
)(
    system=lambda port, real, tool, texts: None if texts.get("sessionId") == "latest" else real(tool, texts),
)
