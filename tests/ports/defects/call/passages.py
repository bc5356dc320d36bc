"""Defects in what a call or the environment hands on: numbers, dashes, paths, blanks, variables."""

import os
import re
import unicodedata
from typing import Any

from conditions import path_shown, stdin_open, without_variables
from defects.record import defect
from planning import Refusal
from steps import before, gives, takes

PATH = re.compile(r"(?<!\S)@(\S+)")
COMMAND = re.compile(r"^(/\S+)[ \t]+")
MINUS = "\u2212"
SHOWN = 30


def refuses_any_dash(port: Any, name: str, text: str) -> None:
    if text and (unicodedata.category(text[0]) == "Pd" or text[0] == MINUS):
        raise Refusal(f"`{name}` starts with a dash, which gemini would read as an option.")


def tabs_are_blanks(port: Any, real: Any, name: str, text: str) -> None:
    real(name, text.replace("\t", " ") if name == "sessionId" else text)


def normal_paths(prompt: str) -> str:
    return PATH.sub(lambda found: f"@{os.path.normpath(found[1])}", prompt)


def one_blank_behind_command(prompt: str) -> str:
    return COMMAND.sub(r"\1 ", prompt)


def ends_of_path(cwd: str) -> str:
    return repr(cwd if len(cwd) <= 2 * SHOWN else f"{cwd[:SHOWN]}…{cwd[-SHOWN:]}")


def with_filled_values(variables: dict[str, str]) -> dict[str, str]:
    return {name: os.path.expandvars(value) for name, value in variables.items()}


def appends_prompt(argv: tuple[str, ...]) -> bool:
    """gemini appends its prompt to what stands on stdin."""
    return "-r" in argv and any(word.startswith("--prompt=") for word in argv)


defect(
    "any-dash-is-option-like",
    "Refuses a model or a session that starts with a dash beyond ASCII.",
    "command:chat:model",
    "command:chat-reply:session-id",
)(check_word=before(refuses_any_dash))
defect("tab-in-session-passed", "Passes a session with a tab.", "arguments:control")(check_word=tabs_are_blanks)
defect(
    "paths-behind-at-normalised",
    "Shortens a path behind @ in a prompt: `@./a` becomes `@a`, and `@a/` too.",
    "prompt:verbatim:at-sign",
)(prompt_form=takes(normal_paths))
defect(
    "blanks-behind-slash-command-joined",
    "Makes one blank of those behind the first word of a prompt that starts with a slash.",
    "prompt:verbatim:slash",
)(prompt_form=takes(one_blank_behind_command))
defect(
    "middle-of-long-directory-unnamed",
    "Leaves the middle of a path of more than sixty characters out when it refuses the directory.",
    "cwd:reason",
)(check_cwd=path_shown(ends_of_path))
defect(
    "variables-filled-into-variables",
    "Fills variables into the values of others that write `$NAME`.",
    "process:environment",
)(environment=gives(with_filled_values))
defect(
    "variables-with-mcp-withheld",
    "Hands no variable on in whose name `MCP_` stands, wherever that is.",
    "process:environment",
)(environment=without_variables(lambda name, value: "MCP_" in name))
defect(
    "stdin-open-behind-flag-in-reply",
    "Gives gemini an open pipe as stdin in a reply whose prompt follows `--prompt=`.",
    "process:stdin:ended",
)(spawn=stdin_open(appends_prompt))
