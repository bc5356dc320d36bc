"""What the lists of the settings do to a line of `gemini mcp`: whom they keep back, and where they end it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gemini_mcp.host.command.mcp_values import Failed
from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.host.settings.jsonc import read
from gemini_mcp.host.settings.standing import disabled_in, identifier
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, inside, items, list_of, object_of, table

SCOPES = ("user", "project")

ENABLEMENT = "enablement"
"""The scope of the file that names the disabled servers."""

NAMELESS = "Invalid policy rule: mcpName is required if specified (cannot be empty). Rule source: Settings ({source})"

_FROM_EXTENSION = "ext:"


@dataclass(frozen=True)
class Kept:
    """By server: the state in which it is kept back, what is said of it before, and the error that its lists end in."""

    states: Mapping[str, str] = field(default_factory=dict[str, str])
    said: Mapping[str, str] = field(default_factory=dict[str, str])
    failures: Mapping[str, str] = field(default_factory=dict[str, str])


def settings_of(text: str) -> Json:
    return read(text) if text.strip() else {}


def refuse(texts: Mapping[str, str], configured: Mapping[str, Json]) -> None:
    """Fail where Gemini CLI fails to make its policy of `mcp` and `mcpServers`, whatever the command. Raises Failed."""
    mcp = _merged([settings_of(texts.get(scope, "")) for scope in SCOPES])
    for key in ("excluded", "allowed"):
        if key == "allowed" and None in configured.values():
            raise Failed("Cannot read properties of null (reading 'trust')")
        if truthy(mcp.get(key)) and not isinstance(mcp[key], str | list):
            raise Failed(f"settings.mcp.{key} is not iterable")
    source = next(_nameless(mcp, configured), None)
    if source is not None:
        raise Failed(NAMELESS.format(source=source), kind="Error")


def _merged(settings: Sequence[Json]) -> Mapping[str, Json]:
    """The section `mcp` of all files: a later one wins member by member, or as a whole when it is no object."""
    merged: dict[str, Json] = {}
    for given in settings:
        if "mcp" in table(given):
            section = object_of(given["mcp"])
            merged = {} if section is None else {**merged, **section}
    return merged


def _nameless(mcp: Mapping[str, Json], configured: Mapping[str, Json]) -> Iterator[str]:
    """Where the rules without a server's name come from, the highest first."""
    is_trusted, allowed = truthy(inside(configured.get(""), "trust")), items(mcp.get("allowed"))
    if "" in items(mcp.get("excluded")):
        yield "MCP Excluded"
    if is_trusted:
        yield "MCP Trusted"
    if "" in allowed:
        yield "MCP Allowed"
    elif truthy(mcp.get("autoAllowInHeadless")) and "*" not in allowed and "" in configured and not is_trusted:
        yield "Headless MCP Auto-Allow"


def kept_back(servers: Sequence[str], texts: Mapping[str, str], rules: Rules) -> Kept:
    """The servers that the profile does not try, by the lists of the settings files. Raises Failed."""
    # `mcp list` of 0.1.19 tries every server, whatever the lists say.
    if not rules.unites_lists or not servers:
        return Kept()
    sections = [table(inside(settings_of(texts.get(scope, "")), "mcp")) for scope in SCOPES]
    excluded = [name for mcp in sections for name in items(mcp.get("excluded"))]
    allowed = [items(mcp["allowed"]) for mcp in sections if list_of(mcp.get("allowed")) is not None]
    if len(allowed) > 1:
        for name in (name for names in reversed(allowed) for name in names):
            _identifier(name, "item")
        others = {identifier(name) for name in allowed[1]}
        allowed = [[name for name in allowed[0] if identifier(name) in others]]
    lists = (*((names, False) for names in allowed), *([(excluded, True)] if excluded else ()))
    disabled = disabled_in(settings_of(texts.get(ENABLEMENT, "")))
    states, said, failures = dict[str, str](), dict[str, str](), dict[str, str]()
    for name in servers:
        try:
            state, said[name] = _judged(name, lists)
        except Failed as failure:
            failures[name] = str(failure)
            break
        if state is not None or identifier(name) in disabled:
            states[name] = state or "disabled"
    return Kept(states, said, failures)


def _judged(name: str, lists: Sequence[tuple[Sequence[Json], bool]]) -> tuple[str | None, str]:
    """Whether a list blocks the server, by being on it or not, and what is said. Raises Failed."""
    wanted, said = identifier(name), ""
    for names, blocks in lists:
        listed = {_identifier(one, "serverId") for one in names}
        is_listed = wanted in listed
        plain = wanted.rpartition(":")[2] if wanted.startswith(_FROM_EXTENSION) else ""
        if not is_listed and plain in listed - {""}:
            is_listed = True
            said += (
                f"Settings reference '{plain}' matches extension server '{wanted}'. "
                f"Update your settings to use the full identifier '{wanted}' instead.\n"
            )
        if is_listed == blocks:
            return "blocked", said
    return None, said


def _identifier(name: Json, known_as: str) -> str:
    if isinstance(name, str):
        return identifier(name)
    if name is None:
        raise Failed("Cannot read properties of null (reading 'toLowerCase')")
    raise Failed(f"{known_as}.toLowerCase is not a function")
