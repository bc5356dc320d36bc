"""Odd ways to run gemini."""

import os
import secrets
import shutil
import subprocess
import tempfile
from contextlib import suppress
from typing import Any

from odd.record import odd
from steps import adding, always, gives, takes


def prompt_last(port: Any, real: Any, tool: str, texts: Any, form: tuple[str, ...]) -> tuple[str, ...]:
    resume = port.resume_option(texts) if tool == "chat-reply" else ()
    return ("gemini", *port.model_option(tool, texts), *resume, *port.format_option(tool), *form)


def after_version(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    quiet = {**options, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    real((argv[0], "--version"), **quiet).wait()
    return real(argv, **options)


def by_absolute_path(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    found = shutil.which(argv[0])
    if found is None:
        raise FileNotFoundError
    return real((found, *argv[1:]), **options)


def of_the_library(port: Any, real: Any) -> str:
    directory = tempfile.TemporaryDirectory(prefix="gemini-mcp-")
    port.memory[directory.name] = directory
    return directory.name


def by_number(port: Any, real: Any) -> str:
    """As Go's `os.MkdirTemp`, which writes a random number without zeros before it."""
    while True:
        path = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{secrets.randbelow(1000)}")
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            return path


odd(
    "flags-with-equals",
    "Writes every option in one argument, and so can pass a model or a session that starts with a dash.",
)(
    check_word=takes(lambda text: text.lstrip("-")),
    model_option=lambda port, real, tool, texts: (f"--model={texts['model']}",) if "model" in texts else (),
    resume_option=lambda port, real, texts: (f"--resume={port.resumed(texts)}",),
    format_option=always(("-o=json",)),
)
odd("prompt-always-flagged", "Passes every prompt as `--prompt=`, and the other options by their short names.")(
    is_risky=always(True), format_option=always(("-o", "json"))
)
odd("prompt-last", "Puts the prompt behind all options.")(argv=prompt_last)
odd("harmless-flags", "Adds options of gemini that change nothing a caller asked for.")(
    argv=gives(lambda argv: (*argv, "--skip-trust", "--approval-mode", "default"))
)
odd("prompt-always-on-stdin", "Hands every prompt over on stdin, which gemini understands as well.")(
    prompt_form=lambda port, real, prompt: ((), prompt)
)
odd("empty-prompt-passed", "Passes an empty prompt on as an empty argument and leaves it to gemini to refuse it.")(
    check_prompt=takes(lambda prompt: prompt or "x"),
    prompt_form=lambda port, real, prompt: real(prompt) if prompt else (("",), None),
)
odd("empty-latest", "Resumes the latest session by an empty name, which gemini takes for `latest`.")(
    resume_option=lambda port, real, texts: ("-r", texts.get("sessionId", ""))
)
odd("asks-for-version", "Asks gemini for its version before each call.")(spawn=after_version)
odd("absolute-program", "Looks gemini up on PATH by itself and runs it by its absolute path.")(spawn=by_absolute_path)
odd("added-environment", "Adds variables of its own to gemini's environment.")(
    environment=gives(adding(NO_COLOR="1", GEMINI_CLI_NO_RELAUNCH="true"))
)
odd(
    "long-directory-names",
    "Lets the library name and remove the temporary directory; its names are longer than six characters.",
)(
    new_directory=of_the_library,
    remove_system=lambda port, real, path, call, outcome: port.memory.pop(path.rpartition("/")[0]).cleanup(),
)
odd("short-directory-names", "Names the temporary directory by a number of one to three digits.")(
    new_directory=by_number
)
odd("other-words", "Words its errors in another language.")(
    exit_sentence=gives(lambda sentence: f"명령이 실패했습니다 ({sentence})"),
    refused=takes(lambda sentence: f"잘못된 인수: {sentence}"),
)
