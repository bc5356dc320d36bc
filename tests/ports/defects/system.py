"""Defects in handing the system prompt over."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping

from answering import Outcome
from defects.record import breaks, variant
from port import Port
from running import Call, Environment


@breaks("system:content")
class SystemPromptStripped(Port):
    """Strips the system prompt."""

    def system_bytes(self, text: str) -> bytes:
        return super().system_bytes(text.strip())


@breaks("system:content")
class SystemPromptEndsLine(Port):
    """Ends the system prompt with a newline of its own."""

    def system_bytes(self, text: str) -> bytes:
        return super().system_bytes(text if text.endswith("\n") else f"{text}\n")


@breaks("system:content")
class SystemPromptWithMark(Port):
    """Writes a byte order mark before the system prompt."""

    def system_bytes(self, text: str) -> bytes:
        return text.encode("utf-8-sig")


@breaks("system:content")
class SystemPromptInLatin1(Port):
    """Writes the system prompt in Latin-1 where that is possible."""

    def system_bytes(self, text: str) -> bytes:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            return super().system_bytes(text)


@breaks("system:chat-reply")
class ReplyIgnoresSystemPrompt(Port):
    """Ignores the system prompt of a reply."""

    def system(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return super().system(tool, texts) if tool == "chat" else None


@breaks("system:file-name")
class SystemFileLowerCase(Port):
    """Names the file `system.md`."""

    def system_name(self) -> str:
        return "system.md"


@breaks("system:directory")
class SystemFileInWorkingDirectory(Port):
    """Writes the system prompt into a directory below its own."""

    def new_directory(self) -> str:
        path = os.path.join(os.getcwd(), f"gemini-mcp-{os.urandom(3).hex()}")
        os.mkdir(path, 0o700)
        return path


@breaks("system:directory")
class SystemDirectoryUnnamed(Port):
    """Names the temporary directory without `gemini-mcp-`."""

    def new_directory(self) -> str:
        named = super().new_directory()
        path = named.replace("gemini-mcp-", "tmp")
        os.rename(named, path)
        return path


@breaks("system:mode")
class SystemFileForEverybody(Port):
    """Lets everybody read the system prompt."""

    def write_system(self, text: str) -> str:
        path = super().write_system(text)
        os.chmod(path, 0o644)
        os.chmod(os.path.dirname(path), 0o755)
        return path


@breaks("system:life")
class SystemFileRemovedEarly(Port):
    """Removes the system prompt while gemini runs."""

    def write_system(self, text: str) -> str:
        path = super().write_system(text)
        timer = threading.Timer(0.3, shutil.rmtree, (os.path.dirname(path), True))
        timer.daemon = True
        timer.start()
        return path


@breaks("system:absent")
class SystemAlwaysSet(Port):
    """Sets GEMINI_SYSTEM_MD in every call."""

    def environment(self, system_path: str | None) -> Environment:
        return super().environment(system_path or "false")


@breaks("system:leak", "system:absent")
class SystemPathStays(Port):
    """Sets GEMINI_SYSTEM_MD in its own environment, where it stays."""

    def environment(self, system_path: str | None) -> Environment:
        if system_path is not None:
            os.environ["GEMINI_SYSTEM_MD"] = system_path
        return super().environment(system_path)


@breaks("system:leak")
class SystemPromptRemembered(Port):
    """Hands the system prompt of an earlier call over again in a reply without one."""

    latest: str | None = None

    def system(self, tool: str, texts: Mapping[str, str]) -> str | None:
        given = super().system(tool, texts)
        self.latest = given or self.latest
        return given if tool == "chat" else self.latest


@breaks("system:isolation")
class SystemPathShared(Port):
    """Sets GEMINI_SYSTEM_MD in its own environment while a call starts."""

    def environment(self, system_path: str | None) -> Environment:
        if system_path is None:
            return super().environment(None)
        os.environ["GEMINI_SYSTEM_MD"] = system_path
        time.sleep(0.1)
        return super().environment(os.environ.pop("GEMINI_SYSTEM_MD", system_path))


@breaks("system:isolation", "system:life")
class SystemFileShared(Port):
    """Writes the system prompt of every call to the same file."""

    def write_system(self, text: str) -> str:
        directory = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{os.getpid() % 1_000_000:06}")
        os.makedirs(directory, 0o700, exist_ok=True)
        path = os.path.join(directory, self.system_name())
        with open(path, "wb") as file:
            file.write(self.system_bytes(text))
        time.sleep(0.1)
        return path


class Keeping(Port):
    """A port that keeps the file in some cases."""

    def remove_system(self, path: str, call: Call, outcome: Outcome | None) -> None:
        if not self.keeps(call, outcome):
            super().remove_system(path, call, outcome)

    def keeps(self, call: Call, outcome: Outcome | None) -> bool:
        return False


def keeps(name: str, sentence: str, *kills: str, by: Callable[[Keeping, Call, Outcome | None], bool]) -> None:
    """Register a port that keeps the file in such cases."""
    variant(Keeping, name, sentence, kills, keeps=by)


keeps(
    "kept-after-success",
    "Keeps the system prompt after a success.",
    "system:removed:success",
    by=lambda port, call, outcome: outcome is not None and outcome.exit == 0,
)


@breaks("system:removed:success")
class DirectoryKept(Port):
    """Removes the system prompt but not its directory."""

    def remove_system(self, path: str, call: Call, outcome: Outcome | None) -> None:
        os.unlink(path)


keeps(
    "kept-after-failure",
    "Keeps the system prompt after a failure.",
    "system:removed:failure",
    by=lambda port, call, outcome: outcome is not None and outcome.exit != 0,
)
keeps(
    "kept-when-not-started",
    "Keeps the system prompt when gemini could not be started.",
    "system:removed:failure",
    by=lambda port, call, outcome: outcome is None and not call.is_cancelled,
)
keeps(
    "kept-after-cancel",
    "Keeps the system prompt of a call that was cancelled.",
    "system:removed:cancel",
    by=lambda port, call, outcome: call.is_cancelled and not port.is_ending,
)
keeps(
    "kept-after-end-of-input",
    "Keeps the system prompt when the end of input stops a call.",
    "system:removed:stdin-end",
    by=lambda port, call, outcome: port.is_ending and not port.ended_by_signal,
)
keeps(
    "kept-after-signal",
    "Keeps the system prompt when a signal stops a call.",
    "system:removed:sigterm",
    by=lambda port, call, outcome: port.is_ending and port.ended_by_signal,
)
