"""MCP prompts as slash commands: reads a command line, fills the arguments, reads the answer. Pure.

Everything between `/name …` and the text that is sent to the model belongs here, but not the request itself.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.host.rules.javascript import (
    INHERITED,
    LINE_ENDS,
    SPACES,
    UNDEFINED,
    in_key_order,
    locale_key,
    stringify,
    template,
    trim,
    truthy,
)
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, objects_of, table, without_none

EMPTY_ANSWER = "Received an empty or invalid prompt response from the server."

Filled: TypeAlias = dict[str, str]
"""The arguments of a prompt, by name."""

_WORD = re.compile(rf'"((?:\\[^{LINE_ENDS}]|[^"\\])*)"|([^ ]+)')
_ESCAPE = re.compile(rf"\\([^{LINE_ENDS}])")
_SPACES = re.compile(rf"[{SPACES}]+")


@dataclass(frozen=True)
class PromptArgument:
    """An argument a prompt declares."""

    name: str
    is_required: bool = False
    description: str = ""


_Filling: TypeAlias = tuple[Filled, Sequence[PromptArgument]]
"""The filled arguments, and those that no word was left for."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as its server offers it."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    server: str = ""


@dataclass(frozen=True)
class Submit:
    """The text that is sent to the model; an answer without one submits nothing."""

    content: str | None

    def to_json(self) -> JsonObject:
        return {"type": "submit_prompt", **without_none(content=self.content)}


@dataclass(frozen=True)
class Message:
    """What is shown to the user in place of a prompt."""

    content: str
    kind: str = "error"

    def to_json(self) -> JsonObject:
        return {"type": "message", "messageType": self.kind, "content": self.content}


def prompt_of(value: JsonObject, server: str = "") -> Prompt:
    """The prompt a server lists."""
    arguments = tuple(
        PromptArgument(str(item.get("name", "")), truthy(item.get("required")), str(item.get("description") or ""))
        for item in objects_of(value.get("arguments"))
    )
    return Prompt(str(value.get("name", "")), str(value.get("description") or ""), arguments, server)


def prompts_by_name(prompts: Iterable[Prompt]) -> dict[str, Prompt]:
    """The prompts by the name that they are stored under; one whose name is taken gets its server's before it."""
    stored: dict[str, Prompt] = {}
    for prompt in prompts:
        # With one underscore, and no third name: a later prompt of that name overwrites it.
        stored[f"{prompt.server}_{prompt.name}" if prompt.name in stored else prompt.name] = prompt
    return dict(sorted(stored.items(), key=lambda named: locale_key(named[0])))


def command_name(prompt: Prompt, rules: Rules) -> str:
    """The name of the slash command."""
    return _SPACES.sub("-", trim(prompt.name)) if rules.hyphenates_prompt_names else prompt.name


def command_description(prompt: Prompt) -> str:
    """What the list of slash commands says of the prompt."""
    return prompt.description or f"Invoke prompt {prompt.name}"


def split_command(line: str) -> tuple[str, str]:
    """The command's name and its arguments, of `/name arguments`."""
    name, _, rest = trim(line).removeprefix("/").partition(" ")
    return name, rest


def fill(line: str, declared: Sequence[PromptArgument], rules: Rules) -> dict[str, str] | Message:
    """The arguments a command line gives to a prompt, or what is said when required ones are missing."""
    named, words = _read(line, rules)
    given = {argument.name: named[argument.name] for argument in declared if named.get(argument.name)}
    # A name that every object has a member for is never missing, and no word fills it.
    open_ = [argument for argument in declared if argument.name in given or argument.name not in INHERITED]
    filled, unfilled = _FILLINGS[rules.fills_prompts](given, words, open_)
    missing = [f"--{argument.name}" for argument in unfilled if argument.is_required]
    return (
        Message(f"Missing required argument(s): {', '.join(missing)}")
        if missing
        else {name: filled[name] for name in in_key_order(filled)}
    )


def format_arguments(arguments: Mapping[str, str]) -> str:
    """The command line that gives these arguments by name; a profile that unescapes reads it back to the same."""
    escaped = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in arguments.items()}
    return " ".join(f'--{name}="{value}"' for name, value in escaped.items())


def help_text(prompt: Prompt) -> str:
    """What `/name help` answers."""
    if not prompt.arguments:
        return f'Prompt "{prompt.name}" has no arguments.'
    positional = ",".join('"foo"' for _ in prompt.arguments)
    named = ",".join(f'--{argument.name}="foo"' for argument in prompt.arguments)
    text = (
        f'Arguments for "{prompt.name}":\n\n'
        'You can provide arguments by name (e.g., --argName="value") or by position.\n\n'
        f"e.g., {prompt.name} {positional} is equivalent to {prompt.name} {named}\n\n"
    )
    for argument in prompt.arguments:
        description = f"    {argument.description}\n" if argument.description else ""
        text += f"  --{argument.name}\n{description}    (required: {'yes' if argument.is_required else 'no'})\n\n"
    return text


def read_answer(answer: Json, rules: Rules) -> Submit | Message:
    """What becomes of a `prompts/get` result: only the text of its first message counts."""
    if answer is None:
        return Message("Error: Cannot read properties of null (reading 'error')")
    members = table(answer)
    if truthy(members.get("error")):
        return Message(f"Error invoking prompt: {template(members['error'])}")
    return _ANSWERS[rules.prompt_answer](_first_content(members.get("messages")), rules)


def _first_content(messages: Json) -> Json:
    """`messages?.[0]?.content`."""
    listed = list_of(messages)
    first = (listed or [None])[0] if listed is not None else table(messages).get("0")
    return table(first).get("content", UNDEFINED)


def _checked(content: Json, rules: Rules) -> Submit | Message:
    text = table(content).get("text")
    is_text = table(content).get("type") == "text" and isinstance(text, str)
    if not is_text or (rules.refuses_empty_prompt and not text):
        return Message(EMPTY_ANSWER)
    # Gemini CLI submits the text as JSON, with its quotes.
    return Submit(stringify(text) if rules.quotes_prompt else text)


def _trusted(content: Json, rules: Rules) -> Submit | Message:
    if content is None or content is UNDEFINED:
        return Message(f"Error: Cannot read properties of {template(content)} (reading 'type')")
    if table(content).get("type") != "text":
        return Message(EMPTY_ANSWER)
    return Submit(stringify(content["text"]) if "text" in content else None)


_ANSWERS = {"checked": _checked, "trusted": _trusted}


def _read(line: str, rules: Rules) -> tuple[dict[str, str], list[str]]:
    """The arguments that a command line names, and the words between them."""
    named: dict[str, str] = {}
    between: list[str] = []
    end = 0
    for match in re.finditer(rules.named_argument, line):
        value = match.group(2) if match.group(2) is not None else match.group(3)
        named[match.group(1)] = _ESCAPE.sub(r"\1", value) if rules.unescapes_named_arguments else value
        between.append(line[end : match.start()])
        end = match.end()
    rest = trim("".join([*between, line[end:]]))
    # Words are separated by spaces alone; a tab or a line break belongs to its word.
    words = (match[2] if match[1] is None else match[1] for match in _WORD.finditer(rest))
    named.pop("__proto__", None)
    return named, [_ESCAPE.sub(r"\1", word) for word in words]


def _fill_in_order(given: Filled, words: Sequence[str], declared: Sequence[PromptArgument]) -> _Filling:
    """Words fill what is not named, optional arguments too."""
    unfilled = [argument for argument in declared if argument.name not in given]
    names = (argument.name for argument in unfilled)
    return {**given, **dict(zip(names, words, strict=False))}, unfilled[len(words) :]


def _fill_required(given: Filled, words: Sequence[str], declared: Sequence[PromptArgument]) -> _Filling:
    """Words fill what is required and not named; when that is one argument, it gets all of them."""
    unfilled = [argument for argument in declared if argument.is_required and argument.name not in given]
    # Also where there are no words: Gemini CLI since 0.21 then fills it with an empty text, and shows no error.
    if len(unfilled) == 1:
        return {**given, unfilled[0].name: " ".join(words)}, []
    names = (argument.name for argument in unfilled)
    return {**given, **dict(zip(names, words, strict=False))}, unfilled[len(words) :]


_FILLINGS = {"in-order": _fill_in_order, "required": _fill_required}


def find_prompt(prompts: Mapping[str, Prompt], name: str, rules: Rules) -> Prompt | None:
    """The prompt of that command name."""
    return next((prompt for stored, prompt in prompts.items() if name in (stored, command_name(prompt, rules))), None)
