"""Plans: works out the run that the arguments of a call ask for, or a Refusal. Looks at directories, changes nothing.

Every step is a method of its own, so that a defective port can replace just that one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON = Any

TEXT = {"type": "string"}
OPTIONAL = {"model": TEXT, "systemPrompt": TEXT, "cwd": TEXT}
PROPERTIES: Mapping[str, dict[str, JSON]] = {
    "chat": {"prompt": TEXT, **OPTIONAL},
    "chat-reply": {"prompt": TEXT, "sessionId": TEXT, **OPTIONAL},
}
ARGUMENT_LIMIT = 128_000
"""Bytes of a prompt on the command line; Linux refuses an argument of 131,072."""
STDIN_LIMIT = 8 * 1024 * 1024
"""Bytes that gemini reads from stdin; it cuts off the rest."""
RISKY = re.compile(
    r"-[\s\S]*|mcp|extensions?|skills?|hooks?|gemma|help|\$0|0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?"
)
TYPES = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", list: "an array", dict: "an object"}


class Refusal(Exception):
    """The call cannot be run; the text says why."""


@dataclass(frozen=True)
class Plan:
    """One run of gemini; `turn` names the conversation in which runs go one after the other.

    No error may repeat what is `private`.
    """

    argv: tuple[str, ...]
    cwd: str | None
    system: str | None
    stdin: str | None
    session: str | None
    turn: str | None
    private: tuple[str, ...]


class Plans:
    """What a call asks for."""

    def plan(self, tool: str, arguments: Mapping[str, JSON]) -> Plan:
        texts = self.texts(tool, arguments)
        cwd = self.cwd(tool, texts)
        form, stdin = self.prompt_form(texts["prompt"])
        return Plan(
            argv=self.argv(tool, texts, form),
            cwd=cwd,
            system=self.system(tool, texts),
            stdin=stdin,
            session=self.resumed(texts) if tool == "chat-reply" else None,
            turn=self.turn(tool, texts),
            private=tuple(texts[name] for name in ("prompt", "systemPrompt") if name in texts),
        )

    def texts(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
        """The declared arguments that are present, each of them checked."""
        if "prompt" not in arguments:
            raise Refusal("`prompt` is missing, but should be a string.")
        checked = {name: self.text(tool, name, arguments[name]) for name in PROPERTIES[tool] if name in arguments}
        self.check_prompt(tool, checked["prompt"])
        return {name: text for name, text in checked.items() if not self.is_absent(name, text)}

    def text(self, tool: str, name: str, value: JSON) -> str:
        if not isinstance(value, str):
            raise Refusal(f"`{name}` is {TYPES[type(value)]}, but should be a string.")
        self.check_characters(name, value)
        if name in ("model", "sessionId"):
            self.check_word(name, value)
        return value

    def check_characters(self, name: str, text: str) -> None:
        if "\0" in text:
            raise Refusal(f"`{name}` holds a NUL character, which no command line can carry.")
        if re.search("[\ud800-\udfff]", text):
            raise Refusal(f"`{name}` holds a lone surrogate, which UTF-8 cannot encode.")

    def check_word(self, name: str, text: str) -> None:
        if text.startswith("-"):
            raise Refusal(f"`{name}` starts with `-`, which gemini would read as an option.")
        if re.search(r"[\x00-\x1f\x7f-\x9f]", text):
            raise Refusal(f"`{name}` holds a control character.")

    def check_prompt(self, tool: str, prompt: str) -> None:
        if not prompt:
            raise Refusal("`prompt` is empty, but should be the text for Gemini.")
        if len(prompt.encode()) > STDIN_LIMIT:
            raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")

    def is_absent(self, name: str, text: str) -> bool:
        blank = {"model": not text, "sessionId": not text, "cwd": not text, "systemPrompt": not text.strip()}
        return blank.get(name, False)

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = texts.get("cwd")
        if cwd is not None:
            self.check_cwd(cwd)
        return cwd

    def check_cwd(self, cwd: str) -> None:
        if not os.path.exists(cwd):
            raise Refusal(f"`cwd` {cwd!r} does not exist.")
        if not os.path.isdir(cwd):
            raise Refusal(f"`cwd` {cwd!r} is not a directory.")
        if not os.access(cwd, os.X_OK):
            raise Refusal(f"`cwd` {cwd!r} may not be entered: permission denied.")

    def argv(self, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
        resume = self.resume_option(texts) if tool == "chat-reply" else ()
        return ("gemini", *resume, *form, *self.format_option(tool), *self.model_option(tool, texts))

    def prompt_form(self, prompt: str) -> tuple[tuple[str, ...], str | None]:
        """The arguments that carry the prompt, and what goes to stdin instead."""
        if len(prompt.encode()) > ARGUMENT_LIMIT:
            return (), prompt
        return ((f"--prompt={prompt}",) if self.is_risky(prompt) else (prompt,)), None

    def is_risky(self, prompt: str) -> bool:
        """Whether gemini would take the prompt for an option, a command or a number."""
        return RISKY.fullmatch(prompt) is not None

    def resumed(self, texts: Mapping[str, str]) -> str:
        return texts.get("sessionId", "latest")

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-r", self.resumed(texts))

    def format_option(self, tool: str) -> tuple[str, ...]:
        return ("--output-format", "json")

    def model_option(self, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
        return ("-m", texts["model"]) if "model" in texts else ()

    def system(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return texts.get("systemPrompt")

    def turn(self, tool: str, texts: Mapping[str, str]) -> str | None:
        if tool != "chat-reply":
            return None
        session = self.resumed(texts)
        # Gemini CLI keeps the sessions of a directory by its path without links.
        return f"latest in {os.path.realpath(texts.get('cwd', '.'))}" if session == "latest" else session
