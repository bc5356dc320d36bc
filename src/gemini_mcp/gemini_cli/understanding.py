"""Understanding: what Gemini CLI makes of a command line and of stdin. Reads files: its options, once.

Checks compare what gemini understands, so a port may write `--model=x` or `-m x`, in any order. What differs between
versions of the program belongs in `gemini-cli.json`, how its parser works in `yargs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from gemini_mcp.gemini_cli.yargs import Option, Parsed, Value, number, number_text, parse
from gemini_mcp.spec.values import Json

JS_BLANKS = "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `trim` takes away."""

PROGRAM: Json = json.loads(resources.files("gemini_mcp.gemini_cli").joinpath("gemini-cli.json").read_bytes())
FACTS: Mapping[str, Json] = {entry["name"]: entry for entry in PROGRAM["options"]}
"""The options of gemini by their long names."""

OPTIONS = tuple(Option(name, entry["kind"], entry.get("letter")) for name, entry in FACTS.items())
GLOBAL_OPTIONS = tuple(option for option in OPTIONS if "global" in FACTS[option.name])
SUBCOMMANDS = frozenset(PROGRAM["subcommands"])
COMMAND_WORDS = (*sorted(SUBCOMMANDS), PROGRAM["help"], PROGRAM["default"])
"""Words that gemini does not take for a prompt when they stand alone."""
PROMPT, QUERY = PROGRAM["prompt"], PROGRAM["query"]


@dataclass(frozen=True)
class Understood:
    """A prompt for the model. `values` holds every option that was given or has a default, by its long name."""

    prompt: str | None
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True)
class UsageError:
    """gemini refuses the argv: usage on stderr, nothing on stdout, exit 1 or 42."""

    reason: str


@dataclass(frozen=True)
class Other:
    """gemini does not ask the model, because of this subcommand or option."""

    kind: str


def understand(argv: Sequence[str | bytes], more: Sequence[Option] = ()) -> Understood | UsageError | Other:
    """What gemini makes of `argv`, without the program's name, when stdin is no terminal.

    `more` are options that a newer gemini is said to have.
    """
    arguments = [_decoded(argument) for argument in argv]
    # yargs parses twice: the first pass, with the options of all commands, only chooses the command.
    first = parse(arguments, GLOBAL_OPTIONS)
    names_command = first.positionals[:1] == [PROGRAM["default"]]
    return _elsewhere(first) or _asked(parse(arguments, (*OPTIONS, *more)), names_command)


def effective_prompt(understood: Understood, stdin: bytes | None) -> str | None:
    """The text that reaches the model; None when there is none, and gemini exits 42."""
    # Gemini CLI puts stdin before the prompt, cuts it at 8 MiB, and goes on.
    piped = (stdin or b"")[: PROGRAM["stdinLimit"]].decode("utf-8", "replace")
    return "\n\n".join(filter(None, (piped, understood.prompt))) or None


def unknown_options(argv: Sequence[str]) -> tuple[Option, ...]:
    """The options of a command line that gemini does not know; one has a value if no other option follows it."""
    known = {spelling for option in OPTIONS for spelling in option.spellings()}
    found: list[Option] = []
    for element, following in zip(argv, (*argv[1:], "-"), strict=True):
        match = re.match(r"--?([^=-][^=]*)(=?)", element)
        if match and match[1] not in known:
            has_value = bool(match[2]) or not following.startswith("-")
            found.append(Option(match[1], "one" if has_value else "boolean"))
    return tuple(dict.fromkeys(found))


def _elsewhere(parsed: Parsed) -> Other | None:
    """A subcommand, `help` or `version`, which yargs looks for before it knows the options."""
    if parsed.positionals and parsed.positionals[-1] == PROGRAM["help"]:
        return Other(PROGRAM["help"])
    if parsed.positionals and parsed.positionals[0] in SUBCOMMANDS:
        return Other("subcommand")
    return next((Other(kind) for kind in ("help", "version") if parsed.values.get(kind)), None)


def _asked(parsed: Parsed, names_command: bool) -> Understood | UsageError | Other:
    values = parsed.values
    if parsed.positionals and parsed.positionals[-1] == PROGRAM["help"]:
        return Other(PROGRAM["help"])
    query = [*_strings(values.pop(QUERY, [])), *_query(_without_command(parsed.positionals, names_command))]
    if reason := _complaint(parsed, query):
        return UsageError(reason)
    for name, facts in FACTS.items():
        if "mode" in facts and values.get(name):
            return Other(facts["mode"])
    prompt = values.pop(PROMPT, None)
    settled = {name: _settled(FACTS.get(name, {}), value) for name, value in values.items()}
    defaults = {name: facts["default"] for name, facts in FACTS.items() if "default" in facts}
    known = {name: value for name, value in {**defaults, **settled}.items() if value != ""}
    return Understood(_string(prompt) or " ".join(query) or None, known)


def _settled(facts: Mapping[str, Json], value: Value) -> Value:
    """The value as gemini uses it."""
    if "trimmed" not in facts:
        # Gemini CLI compares with each choice, so `-o json -o json` is neither, and it prints text.
        return facts.get("default", value) if isinstance(value, list) and "choices" in facts else value
    return _trimmed(value) or facts.get("empty", "")


def _complaint(parsed: Parsed, query: Sequence[str]) -> str | None:
    """Why yargs, or gemini's own check behind it, refuses."""
    values = parsed.values
    if parsed.error is not None:
        return parsed.error
    # Given twice, the option is a list; without a value after another, true. Gemini CLI calls `trim` on either.
    if any("needs" in facts and isinstance(values.get(name), list | bool) for name, facts in FACTS.items()):
        return "value.trim is not a function"
    for name, facts in FACTS.items():
        if "pattern" in facts and name in values and not re.match(facts["pattern"], _trimmed(values[name])):
            return str(facts["complaint"]).format(_trimmed(values[name]))
    if parsed.unknown:
        named = [name if name.strip(JS_BLANKS) else f'"{name}"' for name in parsed.unknown]
        return f"Unknown argument{'s' if len(named) > 1 else ''}: {', '.join(named)}"
    for name, facts in FACTS.items():
        given = _strings(values.get(name, []))
        if "choices" in facts and any(value not in facts["choices"] for value in given):
            return f"Invalid values: {name}: {', '.join(given)}"
    return _conflict(values, query)


def _conflict(values: Mapping[str, Value], query: Sequence[str]) -> str | None:
    if values.get(PROMPT) and query:
        return "Cannot use both a positional prompt and the --prompt (-p) flag together"
    if isinstance(values.get(PROMPT), list):
        return "The --prompt (-p) flag is given twice"
    for rule in PROGRAM["exclusive"]:
        if sum(bool(values.get(name)) or values.get(name) == "" for name in rule["options"]) > 1:
            return str(rule["complaint"])
    return next((str(why) for name, why in PROGRAM["impossible"].items() if name in values), None)


def _without_command(positionals: Sequence[str], names_command: bool) -> Sequence[str]:
    """The first word goes where the first pass saw the name of the default command, even if it is another one now."""
    return positionals[1:] if names_command else positionals


def _query(positionals: Sequence[str]) -> list[str]:
    """Positionals pass the parser again, which drops dashes and reads numbers."""
    return [_as_number(text) for text in positionals if not text.startswith("-") or number(text) is not None]


def _as_number(text: str) -> str:
    value = number(text)
    return text if value is None else number_text(value)


def _strings(value: Value) -> list[str]:
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _string(value: Value | None) -> str:
    return value if isinstance(value, str) else ""


def _trimmed(value: Value | None) -> str:
    """The value without blanks around it; of several, the last one counts."""
    last = value[-1] if isinstance(value, list) and value else value
    return last.strip(JS_BLANKS) if isinstance(last, str) else ""


def _decoded(argument: str | bytes) -> str:
    # Node decodes the command line as UTF-8, and puts U+FFFD for bytes that are none.
    raw = argument if isinstance(argument, bytes) else argument.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "replace")
