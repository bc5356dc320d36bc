"""Reads the operator's options: flags and environment in, `Options` out. Pure.

A new option is a new row of the table and a field of `Options`. Each can be set by a flag or by a variable; the flag
wins.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from gemini_mcp.errors import OperatorError
from gemini_mcp.operator.options import Options, is_loopback

VARIABLE_PREFIX = "GEMINI_MCP_"

CLIENTS = ("claude", "claude-code", "cursor", "vscode", "gemini", "codex", "inspector")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise ValueError
    return value


def _text(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError
    return text


def _value_of_a_flag(text: str) -> str:
    if text.startswith("-"):
        raise ValueError
    return _text(text)


def _switch(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}[
        text.lower()
    ]


@dataclass(frozen=True)
class Kind:
    """How the text of an option is read, and what it should be."""

    read: Callable[[str], Any]
    expected: str


TEXT = Kind(_text, "a text that is not empty")
WORD = Kind(_value_of_a_flag, "a text that does not start with `-`")
COUNT = Kind(_count, "a whole number of at least 1")
SECONDS = Kind(_seconds, "a number of seconds above 0")
PORT = Kind(_port, "a number from 0 to 65535")
SWITCH = Kind(_switch, "true or false")


@dataclass(frozen=True)
class Option:
    """One row: the name of an option, its kind, and its help."""

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    is_repeatable: bool = False

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        return VARIABLE_PREFIX + self.field.upper()

    def value(self, text: str, where: str) -> Any:
        """Read one value; `OperatorError` names where it came from."""
        if self.choices and text not in self.choices:
            raise OperatorError(f"{where} is {text!r}, but should be one of {', '.join(self.choices)}.")
        try:
            return self.kind.read(text)
        except (ValueError, KeyError):
            raise OperatorError(f"{where} is {text!r}, but should be {self.kind.expected}.") from None


def _choice(name: str, choices: tuple[str, ...], help: str) -> Option:
    return Option(name, TEXT, help, "|".join(choices), choices)


def _repeatable(name: str, help: str, metavar: str) -> Option:
    return Option(name, TEXT, f"{help} (repeatable)", metavar, is_repeatable=True)


TABLE: Mapping[str, tuple[Option, ...]] = {
    "Gemini CLI": (
        Option("gemini", TEXT, "the gemini program (default: found on PATH)", "PATH"),
        Option("timeout", SECONDS, "how long a call may run (default: 600)", "SECONDS"),
        Option("kill-grace", SECONDS, "how long gemini gets to end before it is killed (default: 2)", "SECONDS"),
        Option("max-concurrency", COUNT, "how many calls run at once; the others wait (default: 16)", "N"),
        Option("default-model", WORD, "the model for calls that name none", "MODEL"),
        _choice("approval-mode", ("default", "auto_edit", "yolo", "plan"), "which tools gemini may use without asking"),
        Option("sandbox", SWITCH, "run gemini's tools in its sandbox"),
        _repeatable("include-directories", "one more directory gemini may read", "DIR"),
        Option("trust-workspace", SWITCH, "trust every working directory: its settings take effect, even a stranger's"),
        Option("no-fast-start", SWITCH, "start gemini in its usual, slower way, with its own heap-size argument"),
    ),
    "Calls": (
        _repeatable("allow-cwd", "allow `cwd` only below this directory", "ROOT"),
        Option("max-response-chars", COUNT, "cut answers that are longer (default: never)", "N"),
        _choice("expose-session", ("meta", "text", "structured"), "where a result shows the session (default: meta)"),
    ),
    "Specification": (
        Option("locale", TEXT, "language of the descriptions, such as ko (default: English)", "LOCALE"),
        Option("spec", TEXT, "directory of another specification (default: the built-in one)", "DIR"),
    ),
    "Transport": (
        _choice("transport", ("stdio", "http", "sse"), "how clients reach the server (default: stdio)"),
        Option("host", TEXT, "address to listen on (default: 127.0.0.1); all but loopback need a token", "HOST"),
        Option("port", PORT, "port to listen on (default: 8765)", "PORT"),
        Option("token", TEXT, f"bearer token that clients must send; safer in {VARIABLE_PREFIX}TOKEN", "TOKEN"),
    ),
    "Log": (
        _choice("log-level", ("debug", "info", "warning", "error"), "what is logged on stderr (default: warning)"),
        Option("log-file", TEXT, "log into this file instead", "FILE"),
    ),
}


def parse(arguments: Sequence[str], environ: Mapping[str, str], version: str) -> Options:
    """Read the command line and the environment; `OperatorError` for the first thing that is wrong."""
    given = {name: value for name, value in vars(_parser(version).parse_args(arguments)).items() if value is not None}
    from_environment: dict[str, Any] = {}
    for option in _options():
        text = environ.get(option.variable)
        if text and option.field not in given:
            from_environment[option.field] = _from_variable(option, text)
    options = Options(**from_environment | given)
    _check_together(options)
    return options


def _options() -> list[Option]:
    return [option for group in TABLE.values() for option in group]


def _from_variable(option: Option, text: str) -> Any:
    if option.is_repeatable:
        return tuple(option.value(part, option.variable) for part in text.split(os.pathsep))
    return option.value(text, option.variable)


def _check_together(options: Options) -> None:
    if options.transport != "stdio" and not options.token and not is_loopback(options.host):
        token = f"{VARIABLE_PREFIX}TOKEN"
        raise OperatorError(f"--host {options.host} is open to other machines. Set {token}, or listen on 127.0.0.1.")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise OperatorError(f"{message[:1].upper()}{message[1:]}. See `{self.prog} --help`.")


class _Append(argparse.Action):
    # argparse's own "append" collects a list, and the options are frozen.
    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option_string: object = None
    ) -> None:
        setattr(namespace, self.dest, (*(getattr(namespace, self.dest) or ()), values))


def _parser(version: str) -> _Parser:
    parser = _Parser(
        prog="gemini-mcp-server",
        usage="%(prog)s [OPTIONS]\n       %(prog)s doctor [--json]\n       %(prog)s --print-config CLIENT [OPTIONS]",
        description="An MCP server whose tools `chat` and `chat-reply` drive the gemini command line.",
        epilog=f"Every option can be set in the environment too: --kill-grace is {VARIABLE_PREFIX}KILL_GRACE.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=["doctor"], help="doctor: check that a call can succeed")
    parser.add_argument("--json", action="store_true", default=None, help="doctor: print JSON")
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
    action = _Append if option.is_repeatable else "store"
    add(
        name,
        action=action,
        type=partial(option.value, where=name),
        metavar=option.metavar,
        help=help,
        dest=option.field,
    )
