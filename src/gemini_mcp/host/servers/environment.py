"""The environment that a stdio server is started with. Pure.

The names and patterns are data of the profile; a profile without them passes everything on.
"""

import re
from collections.abc import Mapping

from gemini_mcp.host.rules.javascript import PROTOTYPE, template, truthy
from gemini_mcp.host.settings.expansion import Unexpandable, expand_late
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json

SECRET_FLAGS = re.IGNORECASE | re.ASCII


NOT_TEXT = "value.replace is not a function"


class UnusableConfig(Exception):
    """The configuration gives no transport; the message is the one of Gemini CLI, and the remedy ours."""

    def __init__(self, message: str, remedy: str = "Give it one of `command`, `url` and `httpUrl`, correctly.") -> None:
        super().__init__(message)
        self.remedy = remedy


def expanded(value: Json, visible: Mapping[str, str]) -> Json:
    """A value of `env` or a header with its variables put in at connection; raises UnusableConfig."""
    if not truthy(value):
        return value
    if not isinstance(value, str):
        raise UnusableConfig(NOT_TEXT)
    try:
        return expand_late(value, visible)
    except Unexpandable as error:
        raise UnusableConfig(str(error), f"Take the variable {error.name!r} out of `env` and `headers`.") from error


def is_inherited(name: str, value: str, rules: Rules, is_strict: bool = False) -> bool:
    """Whether a variable of the host reaches the servers that it starts; strict is the rule on GitHub runners."""
    guard, upper = rules.environment, name.upper()
    if guard is None or upper.startswith(guard.always_prefix):
        return True
    # Secret-looking values are withheld whatever their name, but for Gemini CLI's own variables.
    if any(re.search(pattern, value.upper(), SECRET_FLAGS) for pattern in guard.secret_values):
        return False
    if upper.startswith(guard.passed_prefix) or upper in guard.passed:
        return True
    # On a GitHub runner nothing but the listed names passes.
    return upper not in guard.withheld and not is_strict and not re.search(guard.secret_name, upper)


def inherited(host: Mapping[str, str], rules: Rules) -> dict[str, str]:
    """The host's variables that reach the servers that it starts."""
    strict_when = rules.environment.strict_when if rules.environment else dict[str, str | None]()
    is_strict = any(host.get(name) and value in (None, host[name]) for name, value in strict_when.items())
    return {name: value for name, value in host.items() if is_inherited(name, value, rules, is_strict)}


def server_environment(
    configured: Mapping[str, Json], host: Mapping[str, str], rules: Rules, own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a stdio server: its configured `env`, the host's, and its extension's own variables.

    Raises UnusableConfig.
    """
    guard = rules.environment
    if guard is None:
        return {**host, **(own or {}), **_texts(configured)}
    # Of NODE_OPTIONS, LD_PRELOAD and their like, Gemini CLI 0.61 drops what `env` says and keeps what the host has.
    given, allowed = (
        {name: value for name, value in variables.items() if name.upper() not in guard.not_configurable}
        for variables in (own or {}, configured)
    )
    visible = inherited({**host, **given}, rules)
    # Against what the server may see: a name in `env` that is withheld from it becomes empty.
    filled = {name: expanded(value, visible) for name, value in allowed.items() if name != PROTOTYPE}
    # What is set for an extension reaches its servers, secret-looking names too, so `given` is not only in `visible`.
    return {**guard.identification, **given, **visible, **_texts(filled)}


def _texts(variables: Mapping[str, Json]) -> dict[str, str]:
    """The values as Node hands them to a process."""
    return {name: template(value) for name, value in variables.items()}


def withheld(host: Mapping[str, str], rules: Rules) -> tuple[str, ...]:
    """The names of the host's variables that its servers do not get."""
    return tuple(sorted(set(host) - set(inherited(host, rules))))
