"""Reads a line of `gemini mcp`: the command and its values. Pure.

The options of each command are in the profile; how yargs takes a line apart is in `rules/yargs`. What a command does
with its values is in `mcp_commands`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.rules import yargs
from gemini_mcp.host.rules.javascript import in_key_order, stringify, template, trim, truthy
from gemini_mcp.host.rules.yargs_values import Options, maybe_number
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of

GROUP = "group"
NO_COMMAND = "You need at least one command before continuing."
_NO_OPTION = ("_", "--")
_KINDS = {"boolean": "booleans", "string": "strings", "number": "numbers"}


class Misused(Exception):
    """The words are no valid line of this command."""

    def __init__(self, command: str, complaint: str) -> None:
        super().__init__(complaint)
        self.command = command


@dataclass(frozen=True)
class Line:
    """A command with its values by name; None is a value that is undefined. `is_silent` does nothing.

    Where `goes_on`, no command was run.
    """

    command: str
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    is_help: bool = False
    is_silent: bool = False
    goes_on: bool = False


def read_line(arguments: Sequence[str], rules: Rules) -> Line:
    """What follows `gemini mcp`; raises Misused."""
    parsed = yargs.parse(["mcp", *arguments], _options(GROUP, rules))
    words, is_help = _without_help(parsed, 1)
    if words and words[0] in rules.command_options and words[0] != GROUP:
        return _read_command(words[0], arguments, rules)
    if is_help:
        return Line(GROUP, is_help=True, goes_on=not truthy(parsed.values.get("help")))
    if parsed.error is None and not words and "--" not in parsed.values:
        raise Misused(GROUP, NO_COMMAND)
    _validate(GROUP, parsed, words, {}, rules)
    return Line(GROUP, goes_on=True)


def _read_command(command: str, arguments: Sequence[str], rules: Rules) -> Line:
    options = _options(command, rules)
    if command == "add" and rules.add_words == "command-ends-flags":
        arguments = _with_command_ended(arguments, options)
    parsed = yargs.parse(["mcp", *arguments], options)
    words, is_help = _without_help(parsed, 2)
    if is_help:
        # Asked by the word, yargs shows help and runs no command, so Gemini CLI goes on and waits for a prompt.
        return Line(command, is_help=True, goes_on=not truthy(parsed.values.get("help")))
    given, rest = _placed(command, words, rules)
    placed = _read_again(command, given, options, rules)
    values = {**parsed.values, **_united(parsed.values, placed, options)}
    _validate(command, yargs.Parsed(values, parsed.aliases, parsed.new_aliases, parsed.error), rest, placed, rules)
    more = rules.command_options[command].get("more")
    if more is not None and "--" in values and rules.command_options[command].get("keepsRest"):
        values[more] = [*(values.get(more) or []), *map(maybe_number, values["--"])]
    return Line(
        command, values, is_silent=rules.command_options[GROUP]["silentVersion"] and truthy(values.get("version"))
    )


def _with_command_ended(arguments: Sequence[str], options: Options) -> list[str]:
    """The words with `--` behind the command of a stdio server, as the guide reads them: the rest is the server's."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given, behind = arguments[:end], arguments[end + 1 :]
    for place in range(3, len(given) + 1):
        parsed = yargs.parse(["mcp", *given[:place]], options)
        if len(parsed.values["_"]) == 4:
            is_remote = parsed.values["transport"] in ("sse", "http")
            return [*arguments] if is_remote else [*given[:place], "--", *given[place:], *behind]
    words = yargs.parse(["mcp", *given], options).values["_"]
    missing = 4 - len(words)
    return [*given, *behind[:missing], "--", *behind[missing:]]


def _without_help(parsed: yargs.Parsed, before: int) -> tuple[list[str], bool]:
    """The words behind the first few, and whether help is asked for, as a last word too."""
    words = [template(word) for word in parsed.values["_"]]
    # yargs takes `help` as the last word for `--help`.
    is_last = words[-1] == "help"
    return (words[:-1] if is_last else words)[before:], is_last or truthy(parsed.values.get("help"))


def _placed(command: str, words: Sequence[str], rules: Rules) -> tuple[dict[str, list[str]], list[str]]:
    """The words by the name of their place, and those that have none."""
    needed: list[str] = rules.command_options[command]["words"]
    if len(words) < len(needed):
        complaint = f"Not enough non-option arguments: got {len(words)}, need at least {len(needed)}"
        raise Misused(command, complaint)
    given = {name: [word] for name, word in zip(needed, words, strict=False)}
    rest = list(words[len(needed) :])
    more = rules.command_options[command].get("more")
    return ({**given, more: rest}, []) if more is not None else (given, rest)


def _read_again(command: str, given: Mapping[str, Sequence[str]], options: Options, rules: Rules) -> dict[str, Json]:
    """What yargs makes of words that it reads again, as values of options with the names of their places."""
    words = [word for name, values in given.items() for value in values for word in (f"--{name}", value)]
    if not words:
        return {}
    more = rules.command_options[command].get("more")
    lists = frozenset(() if more is None else (more,))
    again = replace(
        options,
        names=(*options.names, *(given if options.keeps_unknown else ())),
        aliases={**options.aliases, **{name: () for name in given if name not in options.aliases}},
        arrays=options.arrays | lists,
        defaults={**{name: [] for name in lists}, **options.defaults},
    )
    parsed = yargs.parse(words, again, reads_numbers=True)
    if parsed.error is not None:
        raise Misused(command, parsed.error)
    wanted = {name for place in given for name in (place, *parsed.aliases.get(place, ()))}
    return {name: value for name, value in parsed.values.items() if name in wanted}


def _united(values: Mapping[str, Json], placed: Mapping[str, Json], options: Options) -> dict[str, Json]:
    """The words' values, behind those that options of the same name gave when either is a list."""
    united: dict[str, Json] = {}
    for name, value in placed.items():
        is_list = list_of(value) is not None or list_of(values.get(name)) is not None
        # yargs puts the values of a positional behind those of an option of its name, unless that one has a default.
        if is_list and name in values and name not in options.defaults:
            united[name] = [*_as_list(values[name]), *_as_list(value)]
        else:
            united[name] = value
    return united


def _as_list(value: Json) -> Sequence[Json]:
    listed = list_of(value)
    return [value] if listed is None else listed


def _validate(
    command: str, parsed: yargs.Parsed, rest: Sequence[str], placed: Mapping[str, Json], rules: Rules
) -> None:
    if parsed.error is not None:
        raise Misused(command, parsed.error)
    needed = [name for name in _demanded(command, rules) if parsed.values.get(name) is None]
    if needed:
        complaint = f"Missing required argument{'s' if len(needed) > 1 else ''}: {', '.join(needed)}"
        raise Misused(command, complaint)
    names = in_key_order(parsed.values)
    unknown = [name for name in names if name not in _NO_OPTION and name not in placed and not _is_known(name, parsed)]
    unknown += [word for word in rest if command != GROUP or word not in rules.command_options]
    if unknown:
        listed = ", ".join(name if trim(name) else f'"{name}"' for name in unknown)
        raise Misused(command, f"Unknown argument{'s' if len(unknown) > 1 else ''}: {listed}")
    _check_choices(command, parsed.values, rules)


def _demanded(command: str, rules: Rules) -> Sequence[str]:
    return rules.command_options[command]["words"]


def _is_known(name: str, parsed: yargs.Parsed) -> bool:
    """Whether the name or another name of it was declared."""
    if name not in parsed.aliases:
        return False
    names = (name, *parsed.aliases[name])
    return name not in parsed.new_aliases or any(other not in parsed.new_aliases for other in names)


def _check_choices(command: str, values: Mapping[str, Json], rules: Rules) -> None:
    options: JsonObject = rules.command_options[command]["options"]
    complaint = ""
    for name, value in values.items():
        choices: Json = options.get(name, {}).get("choices")
        wrong = [one for one in _as_list(value) if one is not None and one not in choices] if choices else []
        if wrong:
            said, listed = (", ".join(stringify(one) for one in some) for some in (wrong, choices))
            complaint += f"\n  Argument: {name}, Given: {said}, Choices: {listed}"
    timeouts = _as_list(values.get("timeout")) if rules.checks_timeout else ()
    if any(isinstance(one, float) and not math.isfinite(one) for one in timeouts):
        complaint += "\n  Argument: timeout, Given: NaN, Choices: a number of milliseconds"
    if complaint:
        raise Misused(command, f"Invalid values:{complaint}")


def _options(command: str, rules: Rules) -> Options:
    """The options of a command, with those of all."""
    own = rules.command_options[command]
    options: dict[str, JsonObject] = {**rules.command_options[GROUP]["options"], **own["options"]}
    kinds: dict[str, set[str]] = {
        "booleans": set(),
        "strings": set(),
        "numbers": set(),
        "arrays": set(),
        "single": set(),
    }
    for name, option in options.items():
        spellings = {name, *option.get("aliases", ())}
        if "type" in option:
            kinds[_KINDS[option["type"]]] |= spellings
        if "takes" in option:
            kinds["arrays"] |= spellings
        if option.get("takes") == "one":
            kinds["single"].add(name)
    return Options(
        names=tuple(options),
        aliases={name: tuple(option.get("aliases", ())) for name, option in options.items()},
        defaults={name: option["default"] for name, option in options.items() if "default" in option},
        keeps_unknown=own.get("keepsUnknown", False),
        **{kind: frozenset(found) for kind, found in kinds.items()},
    )
