"""The rules about calls, from settings and from the user's files, in the order in which they count. Pure.

What a rule does to a call is in `tools/policy`.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.json_schema import schema_faults
from gemini_mcp.host.rules.patterns import Uncompilable, compiled
from gemini_mcp.host.settings.loading import Settings
from gemini_mcp.host.tools.policy import ANY, Policy, PolicyRule
from gemini_mcp.spec import PolicyRules, Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, objects_of, table, texts_of

SUFFIX = ".toml"
"""How the names of policy files end; other files are not read."""

_LEGACY = re.compile(r"([a-zA-Z0-9_-]+)\([^\n\r\u2028\u2029]*\)")
_REPEATED = re.compile(r"\([^)]*[*+?{].*\)[*+?{]")
_LONGEST = 2048
"""Gemini CLI 0.61.0 leaves out longer patterns, and those with a repeated group that repeats something itself."""


@dataclass(frozen=True)
class Policies:
    """The policy of a session, and what is said of faulty files."""

    policy: Policy
    warnings: tuple[str, ...] = ()


def policies(
    settings: Settings, files: Mapping[str, str], rules: Rules, mode: str = "default", is_interactive: bool = True
) -> Policies | None:
    """The policy, where the profile has one; `files` has the texts by name, in their order."""
    known = rules.policy
    if known is None:
        return None
    warnings: list[str] = []
    own = (_rule(rule, str(rule["toolName"]), rule["priority"], "built in") for rule in known.own_rules)
    found = [
        *(rule for name in files if name.endswith(SUFFIX) for rule in _of_file(name, files[name], known, warnings)),
        *own,
        *(rule for entry in known.settings for rule in _of_setting(entry, settings)),
    ]
    # The sort keeps the order of rules with the same priority, as JavaScript's does.
    ordered = tuple(sorted(found, key=lambda rule: -rule.priority))
    return Policies(Policy(ordered, mode, is_interactive), tuple(warnings))


def _of_file(name: str, text: str, known: PolicyRules, warnings: list[str]) -> Iterator[PolicyRule]:
    """The rules of a file; a fault in any of them costs them all."""
    try:
        parsed: Json = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        warnings.append(f"Policy file {name} is skipped: {error}")
        return
    fault = next(schema_faults(known.file_schema, parsed), None)
    if fault is not None:
        place = ".".join(map(str, fault.path))
        warnings.append(f"Policy file {name} is skipped: `{place}` breaks `{fault.keyword}` of its form")
        return
    for rule in objects_of(inside(parsed, "rule")):
        # A rule with `subagent` is for calls by that agent; the host makes its calls for the main one.
        if rule.get("subagent") is None:
            yield from _of_table(rule, f"{known.folder}/{name}", known, warnings)


def _of_table(rule: JsonObject, source: str, known: PolicyRules, warnings: list[str]) -> Iterator[PolicyRule]:
    priority = known.tier + rule["priority"] / 1000
    server = rule.get("mcpName")
    for pattern in _patterns(rule):
        if pattern is not None and not _is_safe(pattern):
            warnings.append(f"{source}: a rule is left out, because its pattern cannot be used: {pattern}")
            continue
        for tool in texts_of(rule["toolName"]) or (rule["toolName"],):
            yield _rule({**rule, "argsPattern": pattern}, _qualified(server, tool), priority, source)


def _patterns(rule: JsonObject) -> Sequence[str | None]:
    """The patterns for arguments; a prefix or a pattern of a command is one for the member `command`."""
    prefixes = rule.get("commandPrefix")
    if prefixes:
        texts = texts_of(prefixes) or (prefixes,)
        # The text of the prefix is left open; a blank or a quote must end it, so that `git` does not cover `gitk`.
        return [rf'"command":{re.escape(stringify(text)[:-1])}(?:[\s"]|\\\\")' for text in texts]
    return [f'"command":"{rule["commandRegex"]}'] if rule.get("commandRegex") else [rule.get("argsPattern")]


def _is_safe(pattern: str) -> bool:
    try:
        compiled(pattern)
    except Uncompilable:
        return False
    return len(pattern) <= _LONGEST and _REPEATED.search(pattern) is None


def _qualified(server: str | None, tool: str) -> str:
    if not server:
        return tool
    return f"mcp_{ANY}" if server == tool == ANY else f"mcp_{server}_{tool}"


def _rule(given: JsonObject, tool: str, priority: float, source: str) -> PolicyRule:
    return PolicyRule(
        tool,
        given["decision"],
        priority,
        source,
        given.get("mcpName"),
        tuple(items(given.get("modes"))),
        given.get("interactive"),
        dict(table(given.get("toolAnnotations"))),
        given.get("argsPattern"),
        str(given.get("denyMessage", given.get("deny_message")) or ""),
    )


def _of_setting(entry: JsonObject, settings: Settings) -> Iterator[PolicyRule]:
    """The rules that one setting stands for."""
    for more in _NAMES[entry["names"]](entry, settings):
        yield _rule({**entry, **more}, more["toolName"], more.get("priority", entry["priority"]), entry["source"])


def _chosen(entry: JsonObject, settings: Settings) -> Sequence[str]:
    return texts_of(inside(settings.choices, *entry["setting"])) or ()


def _server(name: str) -> JsonObject:
    return {"mcpName": name, "toolName": _qualified(name, ANY)}


def _servers(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    return map(_server, _chosen(entry, settings))


def _trusted(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    # Unlike in lists, `*` is a server's name here.
    trusted = (server.name for server in settings.listed if server.origin is None and server.is_trusted)
    return ({"mcpName": name, "toolName": f"mcp_{name}_{ANY}"} for name in trusted)


def _configured(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    own = settings.listed if inside(settings.choices, *entry["setting"]) is True else ()
    return (_server(server.name) for server in own if server.origin is None)


def _tools(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    return ({"toolName": name} for name in _chosen(entry, settings))


def _called(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    """Tools that may be written as calls; what is between the brackets has no effect on tools of servers."""
    for name in _chosen(entry, settings):
        match = _LEGACY.fullmatch(name)
        yield {"toolName": match[1] if match else name}


def _only(entry: JsonObject, settings: Settings) -> Iterator[JsonObject]:
    """Tools as before, and a rule against all others."""
    if inside(settings.choices, *entry["setting"]) is not None:
        yield from _called(entry, settings)
        yield {"toolName": ANY, "decision": "deny", "priority": entry["otherwise"]}


_NAMES: Mapping[str, Callable[[JsonObject, Settings], Iterator[JsonObject]]] = {
    "servers": _servers,
    "trusted": _trusted,
    "configured": _configured,
    "tools": _tools,
    "calls": _called,
    "only": _only,
}
"""What a setting names, by the word of the profile."""
