"""The options and words with which several subcommands name a server. Pure.

What they mean together is decided in `inspecting`.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field

from gemini_mcp.spec.values import Json, without_none

SUBCOMMANDS = ("inspect", "lock", "diff")
"""Those that take a command line after `--`."""


class UsageError(Exception):
    """The command line does not say what to do."""


@dataclass(frozen=True)
class Asked:
    """What is inspected: the words after the options, the name, and what the options set.

    `is_command` says that words stood after `--`; without them the one word is an address or a configured name.
    """

    words: tuple[str, ...]
    name: str | None = None
    values: Mapping[str, Json] = field(default_factory=dict[str, object])
    transport: str | None = None
    page: str | None = None
    is_alone: bool = False
    is_command: bool = False
    budget: int | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that shape a server, and its words."""
    parser.add_argument("--name", help="the name it would be configured under")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="send it with a URL")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set it for a command")
    parser.add_argument("--cwd", metavar="DIRECTORY", help="start a command there")
    parser.add_argument("--timeout", type=int, metavar="MS", help="30000 is the default")
    parser.add_argument("--transport", choices=("http", "sse"), help="the transport of a URL")
    parser.add_argument("--sse", action="store_true", help="the same as --transport sse")
    parser.add_argument("server", nargs="*", help="a URL, the name of a configured server, or a command after `--`")


def asked(given: argparse.Namespace) -> Asked:
    """The server that was asked for; raises UsageError."""
    words = (*given.server, *given.after)
    command = given.command
    if not words:
        raise UsageError(f"`{command}` needs a command after `--`, a URL, or the name of a configured server.")
    if len(given.server) > 1:
        raise UsageError(
            f"`{command}` takes one word before `--`. Write the command after it: -- {' '.join(given.server)}"
        )
    values = {
        **without_none(cwd=given.cwd, timeout=given.timeout),
        **({"env": dict(_pair(one, "=", "--env") for one in given.env)} if given.env else {}),
        **({"headers": dict(_pair(one, ":", "--header") for one in given.header)} if given.header else {}),
    }
    return Asked(
        words, given.name, values, "sse" if given.sse else given.transport, is_alone=True, is_command=bool(given.after)
    )


def _pair(text: str, mark: str, flag: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"`{flag}` is {text!r}, it should be NAME{mark}VALUE.")
    # RFC 9110, 5.5: blanks around a header's value do not belong to it. Those of a variable do.
    return name.strip(), value.strip() if mark == ":" else value
