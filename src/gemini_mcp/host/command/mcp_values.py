"""What Gemini CLI makes of the values of a line of `gemini mcp`: the server, the scope, the name. Pure.

The values are those of `mcp_line`. What JavaScript cannot do with them raises Failed, where Gemini CLI ends with the
error.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.command.mcp_line import Line
from gemini_mcp.host.rules.javascript import in_key_order, template, trim, truthy
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, items, list_of, without_none


class Failed(Exception):
    """Gemini CLI ends with a JavaScript error; the message is that, and `said` what it had printed."""

    def __init__(self, message: str, said: str = "", kind: str = "TypeError") -> None:
        super().__init__(message)
        self.said = said + f"An unexpected critical error occurred:{kind}: {message}\n"


@dataclass(frozen=True)
class Given:
    """What a line says: the server's name and configuration, the scope and the transport as they are told."""

    name: str = ""
    scope: str = "project"
    transport: str = "stdio"
    config: JsonObject = field(default_factory=dict[str, Json])
    is_session: bool = False


def given_by(line: Line, rules: Rules) -> Given:
    """What the line says; raises Failed."""
    values = line.values
    if line.command == "add":
        said = (template(values[name]) for name in ("name", "scope", "transport"))
        return Given(*said, config=server_config(values, rules))
    name = values.get("name")
    if line.command in ("enable", "disable") and not isinstance(name, str):
        # A repeated `--name` is a list, which has no `toLowerCase`.
        raise Failed("serverId.toLowerCase is not a function")
    return Given(template(name), template(values.get("scope")), is_session=truthy(values.get("session")))


def server_config(values: Mapping[str, Json], rules: Rules) -> JsonObject:
    """The server that the values of `add` describe."""
    headers = _pairs(_texts(values.get("header"), "header"), ":")
    transport = values["transport"]
    if transport in ("sse", "http"):
        kind = {"type": transport} if rules.adds_type else {}
        address = {rules.add_keys[transport]: values.get("commandOrUrl"), **kind}
        return {**address, **without_none(headers=headers), **_common(values, rules)}
    arguments = [template(word) for word in values["args"]]
    # `env2` is what the bundler of Gemini CLI calls the variable, which its error names.
    variables = _variables(_texts(values.get("env"), "env2"), rules)
    return {**without_none(command=values.get("commandOrUrl"), args=arguments, env=variables), **_common(values, rules)}


def _texts(value: Json, name: str) -> Sequence[str] | None:
    listed = list_of(value)
    if value is not None and listed is None:
        raise Failed(f"{name}?.reduce is not a function")
    if not all(isinstance(one, str) for one in listed or ()):
        raise Failed("curr.split is not a function or its return value is not iterable")
    return listed


def _pairs(texts: Sequence[str] | None, separator: str) -> JsonObject | None:
    """Names and values; those without either are left out."""
    if texts is None:
        return None
    split = (text.partition(separator) for text in texts)
    pairs = {trim(name): trim(value) for name, _, value in split if trim(name) and trim(value)}
    return _ordered(pairs)


def _variables(texts: Sequence[str] | None, rules: Rules) -> JsonObject | None:
    """Names and values; of a value that is cut, what stands before its first `=`."""
    if texts is None:
        return None
    parted = (text.partition("=") for text in texts)
    split = ((name, rest.partition("=")[0] if rules.cuts_variables else rest) for name, _, rest in parted)
    return _ordered({name: value for name, value in split if name and value})


def _ordered(pairs: JsonObject) -> JsonObject:
    return {name: pairs[name] for name in in_key_order(pairs) if name != "__proto__"}


def _common(values: Mapping[str, Json], rules: Rules) -> JsonObject:
    timeout = values.get("timeout")
    given = without_none(
        trust=values.get("trust"),
        description=values.get("description"),
        includeTools=_tools(values.get("includeTools"), rules),
        excludeTools=_tools(values.get("excludeTools"), rules),
    )
    return {**({} if timeout is None else {"timeout": _finite(timeout)}), **given}


def _tools(given: Json, rules: Rules) -> Json:
    """The names of tools; where the profile asks for it, those between commas."""
    if given is None or not rules.splits_tools:
        return given
    return [name for text in items(given) for name in map(trim, text.split(",")) if name]


def _finite(value: Json) -> Json:
    """The number as JSON has it: none when it is none."""
    if list_of(value) is not None:
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
