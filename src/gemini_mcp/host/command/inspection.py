"""What Gemini CLI will make of a server, as remarks for its author. Pure.

A remark has a kind, the server or tool that it is about, a sentence, and whether a tool is lost.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.servers import scripted
from gemini_mcp.host.servers.environment import withheld
from gemini_mcp.host.servers.tool_list import first_fault
from gemini_mcp.host.tools import names, registry, schema
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, items, objects_of, table, without_none


@dataclass(frozen=True)
class Subject:
    """A server as it answered: its name, its capabilities, and its lists page by page."""

    name: str
    capabilities: JsonObject
    pages: Mapping[str, Sequence[Sequence[Json]]]
    config: JsonObject
    failures: Mapping[str, tuple[int, str]]

    def spec(self) -> JsonObject:
        """The same as a scripted server, to be interviewed again."""
        lists = {scripted.PAGES[kind]: [list(page) for page in pages] for kind, pages in self.pages.items() if pages}
        errors = {f"{kind}Error": list(failure) for kind, failure in self.failures.items()}
        return {"capabilities": self.capabilities, **lists, **errors}


@dataclass(frozen=True)
class Remark:
    """One thing the author should know."""

    kind: str
    subject: str
    sentence: str
    loses_tool: bool = False

    def to_json(self) -> JsonObject:
        return {"kind": self.kind, "subject": self.subject, "sentence": self.sentence, "losesTool": self.loses_tool}


@dataclass(frozen=True)
class InspectedTool:
    """A tool before and after: its names and its schemas."""

    original: str
    registered: str | None
    before: Json
    after: Json

    @property
    def diff(self) -> str:
        """What happens to the schema, as a unified diff; empty when nothing does."""
        before, after = stringify(self.before, 2).splitlines(), stringify(self.after, 2).splitlines()
        return "\n".join(difflib.unified_diff(before, after, "offered", "declared", lineterm="", n=2))

    def to_json(self) -> JsonObject:
        return without_none(original=self.original, registered=self.registered, before=self.before, after=self.after)


@dataclass(frozen=True)
class Inspection:
    """What one profile makes of a server."""

    profile: str
    status: str
    tools: tuple[InspectedTool, ...]
    remarks: tuple[Remark, ...]
    messages: tuple[str, ...]

    def to_json(self) -> JsonObject:
        return {
            "profile": self.profile,
            "status": self.status,
            "tools": [tool.to_json() for tool in self.tools],
            "findings": [remark.to_json() for remark in self.remarks],
            "messages": list(self.messages),
        }


def inspect(
    subject: Subject, others: Sequence[registry.OfferedTool], environment: Mapping[str, str], rules: Rules
) -> Inspection:
    """What the profile makes of the server, after the tools of the other configured servers."""
    lists = {key: subject.config[key] for key in ("includeTools", "excludeTools") if key in subject.config}
    played = scripted.play(subject.name, subject.spec(), lists, rules)
    offers = played.found.tools
    built = registry.build(rules.builtin_tools, (*others, *offers), rules)
    kept = {id(tool.offer): tool.name for tool in built.tools if tool.offer is not None}
    tools = tuple(
        InspectedTool(offer.name, kept.get(id(offer)), offer.schema, schema.parameters(offer.schema, rules))
        for offer in offers
    )
    sentence = "it is left out by includeTools or excludeTools."
    remarks = (
        *_list_remarks(subject, rules),
        *(Remark("filtered", name, sentence, loses_tool=True) for name in played.found.dropped),
        *(remark for tool in tools for remark in _tool_remarks(tool, subject, others, rules)),
        *_server_remarks(subject, played, environment, rules),
    )
    return Inspection(rules.name, played.conclusion.status.name, tools, remarks, played.conclusion.messages)


def _list_remarks(subject: Subject, rules: Rules) -> Iterator[Remark]:
    pages = subject.pages.get("tools", ())
    fault = next((fault for page in pages if (fault := first_fault(page, rules)) is not None), None)
    if fault is not None:
        where = ".".join(str(step) for step in fault.path)
        sentence = f"`{where}` is {fault.received}, it should be {fault.expected}; the server loses all its tools."
        yield Remark("root-schema", subject.name, sentence, loses_tool=True)
    if "tools" not in rules.paged_lists and len(pages) > 1:
        lost = [str(tool.get("name")) for page in pages[1:] for tool in objects_of(list(page))]
        sentence = f"only the first page of tools is read; {len(lost)} later ones are ignored: {', '.join(lost)}."
        yield Remark("page-ignored", subject.name, sentence, loses_tool=bool(lost))
    if rules.tools_need_capability and pages and subject.capabilities.get("tools") is None:
        sentence = "the server does not declare the tools capability, so its tools are never asked for."
        yield Remark("capability", subject.name, sentence, loses_tool=True)
    for kind, (code, message) in subject.failures.items():
        if code != -32601:
            yield Remark("list-failed", subject.name, f"{kind}/list failed: {message}.", loses_tool=kind == "tools")


def _tool_remarks(
    tool: InspectedTool, subject: Subject, others: Sequence[registry.OfferedTool], rules: Rules
) -> Iterator[Remark]:
    if tool.registered is None:
        sentence = "a later tool takes the same registered name; this one cannot be called."
        yield Remark("overwritten", tool.original, sentence, loses_tool=True)
        return
    wanted = names.registered_name(subject.name, tool.original, rules)
    if tool.registered != wanted:
        same = (other for other in others if names.registered_name(other.server, other.name, rules) == wanted)
        rival = next((f"server {other.server!r}" for other in same), None)
        rival = rival or ("a built-in tool" if wanted in rules.builtin_tools else "another tool")
        yield Remark("collision", tool.original, f"{wanted!r} belongs to {rival}; it becomes {tool.registered!r}.")
    yield from _name_remarks(tool, subject, rules)
    removed = sorted(set(_paths(tool.before)) - set(_paths(tool.after)))
    if removed:
        yield Remark("schema", tool.original, f"its schema loses {', '.join(f'`{path}`' for path in removed)}.")


def _name_remarks(tool: InspectedTool, subject: Subject, rules: Rules) -> Iterator[Remark]:
    registered = str(tool.registered)
    whole = rules.tool_name.format(server=subject.name, tool=tool.original)
    if ("___" in registered and "___" not in whole) or ("..." in registered and "..." not in whole):
        yield Remark("name-cut", tool.original, f"its name is cut to {registered!r}.")
    elif not rules.name_prefix and registered == names.normalise(tool.original, rules) != tool.original:
        yield Remark("name-changed", tool.original, f"its name becomes {registered!r}.")
    if len(registered) > rules.name_limit or names.normalise(registered, rules) != registered:
        yield Remark("name-invalid", tool.original, f"{registered!r} is not a name the Gemini API accepts.", True)
    parsed = names.parse(registered, rules)
    if parsed is not None and parsed[0] != subject.name:
        sentence = (
            f"{registered!r} reads back as server {parsed[0]!r}, since a server's name should have no underscore."
        )
        yield Remark("name-ambiguous", tool.original, sentence)


def _server_remarks(
    subject: Subject, played: scripted.Played, environment: Mapping[str, str], rules: Rules
) -> Iterator[Remark]:
    hidden = withheld(environment, rules) if "command" in subject.config else ()
    if hidden:
        sentence = f"the server does not get {', '.join(hidden)}; name in `env` what it needs."
        yield Remark("environment", subject.name, sentence)
    if played.found.is_empty:
        sentence = "nothing usable is left of it; the connection is of no use."
        yield Remark("empty", played.conclusion.status.name, sentence, loses_tool=True)


def _paths(value: Json) -> Iterator[str]:
    """The place of every value inside the value."""
    waiting: list[tuple[Json, str]] = [(value, "")]
    while waiting:
        current, at = waiting.pop()
        inner = [(member, f"{at}.{key}".removeprefix(".")) for key, member in table(current).items()]
        inner += [(item, f"{at}[{index}]") for index, item in enumerate(items(current))]
        waiting += inner
        yield from (place for _, place in inner)
