"""How a client is to start or reach the server: the operator's flags and variables in, a `Launch` out. Pure.

No secret is in a `Launch`: what is secret it only names.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.operator.options import Options
from gemini_mcp.operator.variables import OWN, lost_in_clients

TOKEN = f"{OWN}TOKEN"

OF_DOCTOR_AND_SNIPPETS = ("--print-config", "--token")
"""Flags with a value that the server is not started with."""

MARGIN = 30
"""Seconds that a client should wait longer than gemini may run: for its end, and for the list of its sessions."""

_ADDRESS_WITH_USER = re.compile(r"://[^/\s]*@")


@dataclass(frozen=True)
class Launch:
    """The command line, the variables that it needs, and where the server is reached if it is not started.

    `env` are variables with their values, `secrets` the names of those whose values must not be written down.
    """

    command: str
    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: tuple[str, ...] = ()
    url: str | None = None
    transport: str = "stdio"
    patience: int = 600 + MARGIN

    @property
    def line(self) -> str:
        """The command line, as a shell reads it."""
        return shlex.join((self.command, *self.arguments))


def launch(
    command: str, arguments: Sequence[str], options: Options, environ: Mapping[str, str], path: str, secret_names: str
) -> Launch:
    """What the operator's flags and variables come to; names that fit `secret_names` are those of secrets."""
    # A server that runs already has its variables.
    names = () if options.url else lost_in_clients(environ)
    lost = {name: environ[name] for name in names if environ[name] and name != TOKEN}
    secrets = [name for name, value in lost.items() if _is_secret(name, value, secret_names)]
    plain = {name: value for name, value in lost.items() if name not in secrets}
    return Launch(
        command,
        tuple(_kept(arguments)),
        {"PATH": path, **plain},
        (*secrets, *([TOKEN] if options.url and options.token else [])),
        options.url,
        options.transport,
        int(options.timeout) + MARGIN,
    )


def _is_secret(name: str, value: str, names: str) -> bool:
    return re.search(names, name) is not None or _ADDRESS_WITH_USER.search(value) is not None


def _kept(arguments: Sequence[str]) -> list[str]:
    """The flags with which the server is started."""
    kept: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument in OF_DOCTOR_AND_SNIPPETS:
            del rest[:1]
        elif argument.split("=")[0] not in OF_DOCTOR_AND_SNIPPETS:
            kept.append(argument)
    return kept
