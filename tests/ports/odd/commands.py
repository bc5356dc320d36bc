"""Odd ways to run gemini."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping

from answering import Outcome
from odd.record import odd
from port import Port
from running import Call, Environment
from speaking import JSON, Message

Form = tuple[tuple[str, ...], str | None]


@odd
class FlagsWithEquals(Port):
    """Writes every option in one argument, and so can pass a model or a session that starts with a dash."""

    def check_word(self, name: str, text: str) -> None:
        super().check_word(name, text.lstrip("-"))

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return (f"--model={texts['model']}",) if "model" in texts else ()

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return (f"--resume={self.resumed(texts)}",)

    def format_option(self, tool: str) -> tuple[str, ...]:
        return ("-o=json",)


@odd
class PromptAlwaysFlagged(Port):
    """Passes every prompt as `--prompt=`, and the other options by their short names."""

    def is_risky(self, prompt: str) -> bool:
        return True

    def format_option(self, tool: str) -> tuple[str, ...]:
        return ("-o", "json")


@odd
class PromptLast(Port):
    """Puts the prompt behind all options."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        resume = self.resume_option(texts) if tool == "chat-reply" else ()
        return ("gemini", *self.model_option(tool, texts), *resume, *self.format_option(tool), *form)


@odd
class HarmlessFlags(Port):
    """Adds options of gemini that change nothing a caller asked for."""

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        return (*super().argv(tool, texts, form), "--skip-trust", "--approval-mode", "default")


@odd
class PromptAlwaysOnStdin(Port):
    """Hands every prompt over on stdin, which gemini understands as well."""

    def prompt_form(self, prompt: str) -> Form:
        return (), prompt


@odd
class EmptyPromptPassed(Port):
    """Passes an empty prompt on as an empty argument and leaves it to gemini to refuse it."""

    def check_prompt(self, tool: str, prompt: str) -> None:
        super().check_prompt(tool, prompt or "x")

    def prompt_form(self, prompt: str) -> Form:
        return super().prompt_form(prompt) if prompt else (("",), None)


@odd
class EmptyLatest(Port):
    """Resumes the latest session by an empty name, which gemini takes for `latest`."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-r", texts.get("sessionId", ""))


@odd
class AsksForVersion(Port):
    """Asks gemini for its version before each call."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        quiet = {**options, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        super().spawn((argv[0], "--version"), **quiet).wait()
        return super().spawn(argv, **options)


@odd
class AbsoluteProgram(Port):
    """Looks gemini up on PATH by itself and runs it by its absolute path."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        found = shutil.which(argv[0])
        if found is None:
            raise FileNotFoundError
        return super().spawn((found, *argv[1:]), **options)


@odd
class AddedEnvironment(Port):
    """Adds variables of its own to gemini's environment."""

    def environment(self, system_path: str | None) -> Environment:
        return {**super().environment(system_path), "NO_COLOR": "1", "GEMINI_CLI_NO_RELAUNCH": "true"}


@odd
class LongDirectoryNames(Port):
    """Lets the library name and remove the temporary directory; its names are longer than six characters."""

    def __init__(self) -> None:
        super().__init__()
        self.directories: dict[str, tempfile.TemporaryDirectory[str]] = {}

    def new_directory(self) -> str:
        directory = tempfile.TemporaryDirectory(prefix="gemini-mcp-")
        self.directories[directory.name] = directory
        return directory.name

    def remove_system(self, path: str, call: Call, outcome: Outcome | None) -> None:
        self.directories.pop(path.rpartition("/")[0]).cleanup()


@odd
class OtherWords(Port):
    """Words its errors in another language."""

    def exit_sentence(self, exit: int, stderr: str) -> str:
        return f"명령이 실패했습니다 ({super().exit_sentence(exit, stderr)})"

    def refused(self, sentence: str) -> Message:
        return super().refused(f"잘못된 인수: {sentence}")
