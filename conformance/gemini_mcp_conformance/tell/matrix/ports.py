"""Ports: reads the text of PORTS.toml into frozen records; pure.

A new key of a port is added to Port and to KEYS.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell.report import Command, Url

KEYS = ("name", "command", "url", "fake", "env", "budget")
BUDGET = 300.0
"""Seconds for a run on a port without a budget."""
SPEC = "{spec}"
"""In a command, the directory of the specification by which the port is tested."""


@dataclass(frozen=True)
class Port:
    """One port of the list; `budget` is in seconds, and `fake` goes with a URL."""

    name: str
    target: Command | Url
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    budget: float = BUDGET
    fake: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why there is no report of a port."""

    reason: str


def parse(text: str, file: str, budget: float = BUDGET) -> tuple[Port, ...]:
    """The ports that the text of `file` lists; UsageError says which one is wrong, and how."""
    try:
        document: Mapping[str, Json] = tomllib.loads(text)
        return tuple(_ports(document, budget))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file!r} is no list of ports: {error}.") from None


def following(port: Port, spec: str) -> Port:
    """The port with the directory `spec` in place of `{spec}` in its command."""
    match port.target:
        case Command(argv):
            return replace(port, target=Command(tuple(word.replace(SPEC, spec) for word in argv)))
        case Url():
            return port


def _ports(document: Mapping[str, Json], budget: float) -> Iterator[Port]:
    tables = document.get("port")
    if set(document) != {"port"} or not isinstance(tables, list):
        raise ValueError("it should hold a table [[port]] for each port, and nothing else")
    names: set[str] = set()
    for number, table in enumerate(cast(list[Json], tables), 1):
        if not isinstance(table, dict):
            raise ValueError(f"port {number} is no table")
        port = _port(number, {"budget": budget, **cast(dict[str, Json], table)})
        if port.name in names:
            raise ValueError(f"it has two ports of the name {port.name!r}")
        names.add(port.name)
        yield port


def _port(number: int, table: Mapping[str, Json]) -> Port:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"port {number} has no `name`")
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise ValueError(f"port {name!r} has the key {unknown[0]!r}; the keys are {', '.join(KEYS)}")
    return Port(name, _target(name, table), _env(name, table), _budget(name, table), _fake(name, table))


def _target(name: str, table: Mapping[str, Json]) -> Command | Url:
    match table.get("command"), table.get("url"):
        case [_, *_] as command, None if all(isinstance(element, str) for element in command):
            return Command(tuple(command))
        case None, str(url) if url.startswith(("http://", "https://")):
            return Url(url)
        case _:
            raise ValueError(
                f"port {name!r} should have either `command`, a list of strings, or `url`, of http or https"
            )


def _env(name: str, table: Mapping[str, Json]) -> Mapping[str, str]:
    env: Json = table.get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in cast(dict[str, Json], env).values()):
        raise ValueError(f"`env` of port {name!r} should map names to strings")
    return cast(dict[str, str], env)


def _budget(name: str, table: Mapping[str, Json]) -> float:
    budget = table.get("budget")
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < float("inf"):
        raise ValueError(f"`budget` of port {name!r} is {budget!r}; it should be a number of seconds above 0")
    return float(budget)


def _fake(name: str, table: Mapping[str, Json]) -> str | None:
    fake = table.get("fake")
    if fake is not None and ("url" not in table or not isinstance(fake, str) or not fake):
        raise ValueError(f"`fake` of port {name!r} should be the directory of a fake gemini, and goes with `url` only")
    return fake
