"""Reads the operator's options from flags and environment variables. Pure.

A new option is a new row of the table and a field of `Options`. Each can be set by a flag or by a variable; the flag
wins.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, NoReturn

from gemini_mcp.errors import OperatorError
from gemini_mcp.operator.options import Options, is_loopback
from gemini_mcp.operator.variables import OWN
from gemini_mcp.spec.values import SURROGATE
from gemini_mcp.standard_streams import Parser

CLIENTS = ("claude", "claude-code", "cursor", "vscode", "gemini", "codex", "inspector")
"""The names in the table of `clients.py`, which only `--print-config` imports."""

DOCTOR = {
    "json": "print JSON",
    "probe": "ask gemini itself, with one prompt and for a minute at most",
    "fix": "stop gemini from deleting sessions; it asks before it changes a file",
}
"""The flags of `doctor`, which have no variable."""


ON, OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
SWITCHES: Mapping[str, bool] = dict.fromkeys(ON, True) | dict.fromkeys(OFF, False)


@dataclass(frozen=True)
class Kind:
    """How the text of an option is read, which values are allowed, and what to say of the others."""

    read: Callable[[str], Any]
    allows: Callable[[Any], bool]
    expected: str
    is_secret: bool = False


TEXT = Kind(str, lambda text: text != "" and "\0" not in text, "a text that is not empty")
PATH = Kind(os.path.expanduser, TEXT.allows, TEXT.expected)
WORD = Kind(
    str,
    lambda text: TEXT.allows(text) and text[0] != "-" and SURROGATE.search(text) is None,
    "a text that does not start with `-`",
)
ADDRESS = Kind(
    lambda text: re.sub(r"^\[(.*:.*)\]$", r"\1", text),
    lambda text: re.fullmatch(r"[^\s/:]+|[^\s/:]*:[^\s/:]*:[^\s/]*", text) is not None,
    "an address or a name, without a scheme and a port",
)
HOST = Kind(str, lambda text: re.fullmatch(r"[!-.0-~]+", text) is not None, "a name as in an address")
BEARER = Kind(
    str,
    lambda text: re.fullmatch("[!-~]+", text) is not None,
    "a text of ASCII characters without blanks, as clients can send it",
    is_secret=True,
)
ORIGIN = Kind(
    str,
    lambda text: re.fullmatch(r"(?i)null|[a-z][a-z0-9+.-]*://[!-.0-~]+", text) is not None,
    "an origin without a path, such as https://app.example",
)
COUNT = Kind(int, lambda number: number >= 1, "a whole number of at least 1")
SECONDS = Kind(float, lambda number: 0 < number < inf, "a number of seconds above 0")
PORT = Kind(int, lambda number: 0 <= number <= 65535, "a number from 0 to 65535")
SWITCH = Kind(lambda text: SWITCHES.get(text.lower()), lambda value: value is not None, "true or false")


@dataclass(frozen=True)
class Option:
    """One row: the name of an option, its kind, and its help."""

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    is_repeatable: bool = False
    separator: str = os.pathsep

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        return OWN + self.field.upper()

    def value(self, text: str, where: str) -> Any:
        """Read one value; `OperatorError` names where it came from."""
        with suppress(ValueError):
            value = self.kind.read(text)
            if (value in self.choices) if self.choices else self.kind.allows(value):
                return value
        expected = f"one of {', '.join(self.choices)}" if self.choices else self.kind.expected
        shown = "" if self.kind.is_secret else f" is {text!r}, but"
        raise OperatorError(f"{where}{shown} should be {expected}.")

    def value_of_variable(self, text: str) -> Any:
        """Read the option's environment variable, where a separator stands between several values."""
        if self.is_repeatable:
            return tuple(self.value(part, self.variable) for part in text.split(self.separator))
        return self.value(text, self.variable)


def _choice(name: str, choices: tuple[str, ...], help: str) -> Option:
    return Option(name, TEXT, help, "|".join(choices), choices)


def _repeatable(name: str, help: str, metavar: str, separator: str = os.pathsep, kind: Kind = TEXT) -> Option:
    return Option(name, kind, f"{help} (repeatable)", metavar, is_repeatable=True, separator=separator)


TABLE: Mapping[str, tuple[Option, ...]] = {
    "Gemini CLI": (
        Option("gemini", PATH, "the gemini program (default: found on PATH)", "PATH"),
        Option("timeout", SECONDS, "how long a call may run (default: 600)", "SECONDS"),
        Option("kill-grace", SECONDS, "how long gemini gets to end before it is killed (default: 2)", "SECONDS"),
        Option("max-concurrency", COUNT, "how many calls run at once; the others wait (default: 16)", "N"),
        Option("default-model", WORD, "the model for calls that name none", "MODEL"),
        _choice("approval-mode", ("default", "auto_edit", "yolo", "plan"), "which tools gemini may use without asking"),
        Option("sandbox", SWITCH, "run gemini's tools in its sandbox"),
        _repeatable("include-directories", "one more directory gemini may read", "DIR", kind=PATH),
        Option("trust-workspace", SWITCH, "trust every working directory: its settings take effect, even a stranger's"),
        _repeatable("withhold", "variables that gemini does not inherit, such as AWS_*", "PATTERN"),
        Option("no-fast-start", SWITCH, "start gemini in its usual, slower way, with its own heap-size argument"),
        Option("allow-nested", SWITCH, "serve also a gemini that such a server runs (default: it gets no server)"),
    ),
    "Calls": (
        _repeatable(
            "allow-cwd", "run calls only below this directory, and without `cwd` in the first", "ROOT", kind=PATH
        ),
        Option("max-output-bytes", COUNT, "end a gemini that prints more (default: 67108864)", "N"),
        Option("max-response-chars", COUNT, "cut answers that are longer (default: never)", "N"),
        Option("live", SWITCH, "tell in progress messages which tools gemini uses and what it says"),
        _choice("expose-session", ("meta", "text", "structured"), "where a result shows the session (default: meta)"),
    ),
    "Specification": (
        Option("locale", TEXT, "language of the descriptions, such as ko (default: English)", "LOCALE"),
        Option("spec", PATH, "directory of another specification (default: the built-in one)", "DIR"),
    ),
    "Transport": (
        _choice("transport", ("stdio", "http", "sse"), "how clients reach the server (default: stdio)"),
        Option("host", ADDRESS, "address to listen on (default: 127.0.0.1); all but loopback need a token", "HOST"),
        Option("port", PORT, "port to listen on (default: 8765)", "PORT"),
        Option("token", BEARER, f"bearer token that clients must send; safer in {OWN}TOKEN", "TOKEN"),
        _repeatable(
            "allowed-host", "one more name by which clients reach the server, such as mcp.example", "NAME", ",", HOST
        ),
        _repeatable("allowed-origin", "one more origin whose web pages may use the server", "ORIGIN", ",", ORIGIN),
        Option("max-sessions", COUNT, "how many sessions may be open; the next is refused (default: 1000)", "N"),
        Option("session-timeout", SECONDS, "when a session that nobody uses ends (default: 1800)", "SECONDS"),
        Option("max-connections", COUNT, "how many connections may be open; the others wait (default: 500)", "N"),
        Option("request-timeout", SECONDS, "how long clients may take to send a request (default: 60)", "SECONDS"),
        Option("max-pending-bytes", COUNT, "size of all requests at work together (default: 268435456)", "N"),
    ),
    "Log": (
        _choice("log-level", ("debug", "info", "warning", "error"), "what is logged on stderr (default: warning)"),
        Option("log-file", PATH, "log into this file instead", "FILE"),
    ),
}

ONLY_HTTP = tuple(option.field for option in TABLE["Transport"] if option.name != "transport")
"""The options that mean nothing on stdio."""


def parse(arguments: Sequence[str], environ: Mapping[str, str], version: str) -> Options:
    """Read the command line and the environment; `OperatorError` for the first thing that is wrong."""
    named = _named(arguments, version)
    given = dict(named)
    for option in (option for group in TABLE.values() for option in group):
        if option.field not in given and (text := environ.get(option.variable)):
            given[option.field] = option.value_of_variable(text)
        elif option.is_repeatable and option.field in given:
            given[option.field] = tuple(given[option.field])
    options = Options(**given)
    if options.command is None and (alone := next((name for name in DOCTOR if name in named), None)):
        raise OperatorError(f"--{alone} goes with a command: `gemini-mcp-server doctor --{alone}`.")
    if options.command is not None and options.print_config is not None:
        raise OperatorError("`doctor` and --print-config do different things. Leave one out.")
    if options.transport == "stdio" and (useless := next((name for name in ONLY_HTTP if name in named), None)):
        raise OperatorError(f"--{useless.replace('_', '-')} needs --transport http: on stdio nobody connects.")
    if options.transport != "stdio" and not options.token and not is_loopback(options.host):
        token = f"{OWN}TOKEN"
        raise OperatorError(f"--host {options.host} is open to other machines. Set {token}, or listen on 127.0.0.1.")
    return options


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A sentence about each variable that looks like an option and is none."""
    known = [option.variable for group in TABLE.values() for option in group]
    unknown = sorted(name for name in environ if name.startswith(OWN) and name not in known)
    return [f"{name} is no variable of this server.{_suggestion(name, known, OWN)}" for name in unknown]


def _named(arguments: Sequence[str], version: str) -> dict[str, Any]:
    """What the command line names."""
    parser = _parser(version)
    flags = [flag for action in parser._actions for flag in action.option_strings]
    named = (argument.split("=")[0] for argument in arguments if argument.startswith("--"))
    # Before it is parsed: argparse would speak of the value that follows an unknown flag.
    if unknown := next((flag for flag in named if flag not in flags), None):
        parser.error(f"{unknown} is not known.{_suggestion(unknown, flags, '--')}")
    found = parser.parse_args(arguments)
    return {name: value for name, value in vars(found).items() if value is not None}


def _suggestion(word: str, known: Sequence[str], prefix: str) -> str:
    """The known word that is spelled nearly like this one, whatever their common prefix."""
    from difflib import get_close_matches  # Importing it takes time, and a server that starts needs it not.

    near = get_close_matches(word.removeprefix(prefix), [each.removeprefix(prefix) for each in known], n=1)
    return f" Did you mean {prefix}{near[0]}?" if near else ""


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith((".", "?")) else "."
        raise OperatorError(f"{message[:1].upper()}{message[1:]}{end} See `{self.prog} --help`.")


def _parser(version: str) -> _Parser:
    parser = _Parser(
        prog="gemini-mcp-server",
        usage="%(prog)s [OPTIONS]\n"
        "       %(prog)s doctor [--json] [--probe] [--fix] [OPTIONS]\n"
        "       %(prog)s --print-config CLIENT [OPTIONS]",
        description="An MCP server whose tools `chat` and `chat-reply` drive the gemini command line.",
        epilog=f"Every option can be set in the environment too: --kill-grace is {OWN}KILL_GRACE.",
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?", choices=["doctor"], help="doctor: check that a call can succeed")
    for name, does in DOCTOR.items():
        parser.add_argument(f"--{name}", action="store_true", default=None, help=f"doctor: {does}")
    parser.add_argument(
        "--print-config", choices=CLIENTS, metavar="CLIENT", help=f"print a snippet for {', '.join(CLIENTS)}"
    )
    parser.add_argument("--version", action="version", version=f"gemini-mcp-server {version}")
    for title, options in TABLE.items():
        group = parser.add_argument_group(title)
        for option in options:
            _add(group.add_argument, option)
    return parser


def _add(add: Callable[..., Any], option: Option) -> None:
    name, help = f"--{option.name}", option.help.replace("%", "%%")  # argparse formats help texts with `%`
    if option.kind is SWITCH:
        add(name, action="store_true", default=None, help=help)
        return
    action = "append" if option.is_repeatable else "store"
    add(name, action=action, type=partial(option.value, where=name), metavar=option.metavar, help=help)
