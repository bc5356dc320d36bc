"""Defects in how one kind of value of an argument is recognised: by a pattern, a type or a size that almost fits."""

import os
import re
from collections.abc import Mapping
from typing import Any

from defects.call.prompts import trusts
from defects.call.refusals import values
from defects.record import defect
from planning import ARGUMENT_LIMIT
from steps import gives, takes


def before_last_newline(port: Any, real: Any, name: str, text: str) -> None:
    """`$` of a pattern stands before a newline at the end, too."""
    real(name, text.removesuffix("\n") if name == "model" else text)


def fraction_is_text(name: str, value: Any) -> Any:
    return str(value) if isinstance(value, float) and name != "prompt" else value


def directory_of_list(name: str, value: Any) -> Any:
    match name, value:
        case "cwd", [str(directory)]:
            return directory
        case _:
            return value


def last_of_each_case(variables: Mapping[str, str]) -> dict[str, str]:
    names = {name.upper(): name for name in variables}
    return {name: variables[name] for name in names.values()}


def unchecked_beside_long_prompt(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    prompt, model = arguments.get("prompt"), arguments.get("model")
    if not (isinstance(prompt, str) and len(prompt) > ARGUMENT_LIMIT and isinstance(model, str) and model[:1] == "-"):
        return real(tool, arguments)
    return {**real(tool, {**arguments, "model": ""}), "model": model}


def flagged_cut(port: Any, real: Any, prompt: str) -> Any:
    """The whole argument is cut, and not the prompt in it."""
    form, stdin = real(prompt)
    return tuple(word.encode()[:ARGUMENT_LIMIT].decode("utf-8", "ignore") for word in form), stdin


def filled(text: str) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: os.environ.get(found[1], found[0]), text)


defect(
    "dash-prompt-of-lines-positional",
    "Passes a prompt of several lines that starts with a dash as it is.",
    "prompt:verbatim:dash",
)(is_risky=trusts(lambda text: text.startswith("-") and "\n" in text))
defect(
    "name-of-program-positional",
    "Passes the prompt `$0` as it is.",
    "prompt:verbatim:command-word",
)(is_risky=trusts(lambda text: text == "$0"))
defect(
    "two-slashes-are-one",
    "Takes one slash off a prompt that starts with two.",
    "prompt:verbatim:slash",
)(prompt_form=takes(lambda text: text[1:] if text.startswith("//") else text))
defect(
    "last-newline-of-model-passed",
    "Passes a model that ends with a newline.",
    "arguments:control",
)(check_word=before_last_newline)
defect(
    "fractions-are-text",
    "Makes text of a number in an optional argument when it is a fraction.",
    "arguments:optional:type",
)(text=values(fraction_is_text))
defect(
    "directory-in-list-taken",
    "Takes the directory out of an array that holds nothing else.",
    "arguments:optional:type",
)(text=values(directory_of_list))
defect(
    "variables-of-system-prompt-filled",
    "Fills variables of its environment into a system prompt that writes them in braces.",
    "system:content",
)(system_bytes=takes(filled))
defect(
    "variables-without-case",
    "Hands on one of several variables whose names differ in case alone.",
    "process:environment",
)(environment=gives(last_of_each_case))
defect(
    "model-unchecked-beside-long-prompt",
    "Passes a model that starts with a dash when the prompt goes to stdin.",
    "injection:option:model",
)(texts=unchecked_beside_long_prompt)
defect(
    "flagged-prompt-cut-at-limit",
    "Cuts a prompt behind `--prompt=` so that both together have no more than 128,000 bytes.",
    "prompt:verbatim:128000",
)(prompt_form=flagged_cut)
