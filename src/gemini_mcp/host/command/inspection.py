"""What Gemini CLI will make of a server, as remarks for its author. Pure.

A remark has a kind, what it is about, a sentence, and whether something that the server offers is lost.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gemini_mcp.host.command.remark import (
    Remark,
    budget_remarks,
    hidden_remarks,
    likeness_remarks,
    limit_remarks,
    merged,
)
from gemini_mcp.host.rules import messages
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.messages import leaves
from gemini_mcp.host.servers import scripted
from gemini_mcp.host.servers.discovery import (
    METHOD_NOT_FOUND,
    Ask,
    Conclusion,
    Found,
    Refusal,
    Reply,
    Status,
    cause_of,
    conclude,
    interview,
)
from gemini_mcp.host.servers.environment import withheld
from gemini_mcp.host.servers.failure import Failure, endless, told
from gemini_mcp.host.servers.handshake import Greeting
from gemini_mcp.host.servers.status import STARTED_TWICE
from gemini_mcp.host.settings.loading import Origin, ServerConfig
from gemini_mcp.host.tools import names, registry, schema
from gemini_mcp.host.tools.budget import Cost, cost, total
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, objects_of, table, without_none

WAITING = "add-wait-for-previous"
"""The step that gives every schema the same member."""


@dataclass(frozen=True)
class Subject:
    """A server as it answered: its name, how it introduced itself, and its lists page by page as they came."""

    name: str
    greeting: Greeting
    pages: Mapping[str, Sequence[Json]]
    config: JsonObject
    failures: Mapping[str, Refusal]
    origin: Origin | None = None

    @property
    def unlisted(self) -> Mapping[str, Failure]:
        """Why lists of it are not known whole, by kind."""
        config = ServerConfig(self.name, self.config)
        refused = {kind: one for kind, one in self.failures.items() if one.code != METHOD_NOT_FOUND}
        return {kind: cause_of(f"{kind}/list", refusal, config) for kind, refusal in refused.items()}

    def reply_to(self, ask: Ask) -> Reply:
        """The answer to a list request, asked again."""
        kind = ask.method.partition("/")[0]
        pages = self.pages.get(kind, ())
        cursors = [None, *(table(page).get("nextCursor") for page in pages)]
        if ask.cursor in cursors[: len(pages)]:
            return pages[cursors.index(ask.cursor)]
        return self.failures.get(kind) or Refusal(f"MCP error {METHOD_NOT_FOUND}: Method not found", METHOD_NOT_FOUND)


@dataclass(frozen=True)
class InspectedTool:
    """A tool before and after: its names and its schemas; `own` is the schema without what every tool gets."""

    original: str
    registered: str | None
    before: Json
    after: Json
    own: Json
    cost: Cost = field(default_factory=Cost)
    description: str = ""

    @property
    def diff(self) -> str:
        """What happens to the schema of this tool, as a unified diff; empty when nothing does."""
        before, after = stringify(self.before, 2).splitlines(), stringify(self.own, 2).splitlines()
        return "\n".join(difflib.unified_diff(before, after, "offered", "declared", lineterm="", n=2))

    def to_json(self) -> JsonObject:
        names = without_none(original=self.original, registered=self.registered)
        schemas = {"before": self.before, "after": self.after}
        return {**names, "description": self.description, **schemas, "cost": self.cost.to_json()}


@dataclass(frozen=True)
class Inspection:
    """What one profile makes of a server."""

    server: str
    profile: str
    status: str
    tools: tuple[InspectedTool, ...]
    remarks: tuple[Remark, ...]
    messages: tuple[str, ...]
    cost: Cost = field(default_factory=Cost)
    all_costs: Cost = field(default_factory=Cost)
    instructions: str | None = None

    def to_json(self) -> JsonObject:
        return {
            "server": self.server,
            "profile": self.profile,
            "status": self.status,
            "tools": [tool.to_json() for tool in self.tools],
            "findings": [remark.to_json() for remark in self.remarks],
            "messages": list(self.messages),
            "cost": self.cost.to_json(),
            "costOfAllServers": self.all_costs.to_json(),
            **without_none(instructions=self.instructions),
        }


def failed(server: str, message: str, why: Failure, rules: Rules) -> Inspection:
    """The inspection of a server that the profile's host cannot use."""
    remark = Remark(why.cause, (server,), str(why), is_loss=True)
    return Inspection(server, rules.name, Status.DISCONNECTED.name, (), (remark,), (message,))


def inspect(
    subject: Subject,
    others: Sequence[registry.OfferedTool],
    environment: Mapping[str, str],
    rules: Rules,
    budget: int | None = None,
) -> Inspection:
    """What the profile makes of the server, after the tools of the other configured servers."""
    config = ServerConfig(subject.name, subject.config)
    found, _ = scripted.drive(interview(config, subject.greeting.capabilities, rules), subject.reply_to)
    ended = conclude(subject.name, found, rules)
    built = registry.build(rules.builtin_tools, (*others, *found.tools), rules)
    # By identity: two tools of one server may be equal in everything.
    kept = {id(tool.offer): tool.name for tool in built.tools if tool.offer is not None}
    tools = tuple(_tool(offer, kept.get(id(offer)), rules) for offer in found.tools)
    sentence = "it is left out by includeTools or excludeTools."
    remarks = (
        *_list_remarks(subject, rules),
        *_reading_remarks(subject, rules),
        *_twice_remarks(subject, found),
        *(Remark("filtered", (name,), sentence, is_loss=True) for name in found.dropped),
        *(remark for tool in tools for remark in _tool_remarks(tool, subject, others, rules)),
        *_waiting_remarks(tools, rules),
        *limit_remarks(subject.name, [(tool.original, tool.registered or "", tool.own) for tool in tools], rules),
        *likeness_remarks(found.tools, others),
        *hidden_remarks(subject.name, subject.greeting.instructions or "", found, rules),
        *_server_remarks(subject, found, ended, environment, rules),
    )
    own = total(tool.cost for tool in tools if tool.registered is not None)
    everything = total(cost(tool.offer, tool.name, rules) for tool in built.tools if tool.offer is not None)
    said = (*merged(remarks), *budget_remarks(subject.name, everything, len(rules.builtin_tools), budget))
    ended_as, greeted = ended.status.name, subject.greeting.instructions
    return Inspection(subject.name, rules.name, ended_as, tools, said, ended.messages, own, everything, greeted)


def _tool(offer: registry.OfferedTool, registered: str | None, rules: Rules) -> InspectedTool:
    own = replace(rules, schema_steps=tuple(step for step in rules.schema_steps if step != WAITING))
    after = schema.parameters(offer.schema, rules)
    spent = cost(offer, registered or offer.name, rules)
    before, own_schema = offer.schema, schema.parameters(offer.schema, own)
    return InspectedTool(offer.name, registered, before, after, own_schema, spent, offer.description)


def _reading_remarks(subject: Subject, rules: Rules) -> Iterator[Remark]:
    """What of the schemas is gone once the list is read, as a property named `__proto__` is."""
    for page in subject.pages.get("tools", ()):
        reading = messages.read("tools/list", page, rules)
        read = () if reading.issues else items(inside(reading.value, "tools"))
        for offered, kept in zip(items(inside(page, "tools")), read, strict=False):
            before, after = (set(_paths(inside(tool, "inputSchema"))) for tool in (offered, kept))
            if lost := sorted(before - after):
                sentence = f"the schema loses {', '.join(f'`{path}`' for path in lost)}."
                yield Remark("schema", (str(kept["name"]),), sentence, is_loss=True)


def _list_remarks(subject: Subject, rules: Rules) -> Iterator[Remark]:
    for kind, pages in subject.pages.items():
        issues = [told(issue) for page in pages for issue in leaves(messages.read(f"{kind}/list", page, rules).issues)]
        if issues:
            lost = "everything it has" if rules.refused_list_ends_discovery else f"all its {kind}"
            sentence = f"Gemini CLI refuses its `{kind}/list`: {'; '.join(issues)}; the server loses {lost}."
            yield Remark("list-refused", (subject.name,), sentence, is_loss=True)
        if kind not in rules.paged_lists and len(pages) > 1:
            lost = [str(item.get("name")) for page in pages[1:] for item in objects_of(table(page).get(kind))]
            sentence = f"only the first page of {kind} is read; {len(lost)} later ones are ignored: {', '.join(lost)}."
            yield Remark("page-ignored", (subject.name,), sentence, is_loss=bool(lost))
        cursors = [cursor for page in pages if isinstance(cursor := table(page).get("nextCursor"), str)]
        if kind in rules.paged_lists and len({*cursors}) < len(cursors):
            why = endless(f"{kind}/list", cursors[-1])
            yield Remark(why.cause, (subject.name,), str(why), is_loss=True)
    if (
        rules.tools_need_capability
        and subject.pages.get("tools")
        and subject.greeting.capabilities.get("tools") is None
    ):
        sentence = "the server does not declare the tools capability, so its tools are never asked for."
        yield Remark("capability", (subject.name,), sentence, is_loss=True)
    for kind, cause in subject.unlisted.items():
        yield Remark("list-failed", (subject.name,), f"{kind}/list failed: {cause}", is_loss=True)


def _twice_remarks(subject: Subject, found: Found) -> Iterator[Remark]:
    """A name that stands twice in a list, where that costs the list."""
    if found.why is not None and found.why.cause == "list-refused":
        yield Remark(found.why.cause, (subject.name,), str(found.why), is_loss=True)


def _tool_remarks(
    tool: InspectedTool, subject: Subject, others: Sequence[registry.OfferedTool], rules: Rules
) -> Iterator[Remark]:
    about = (tool.original,)
    if tool.registered is None:
        sentence = "a later tool takes the same registered name; this one cannot be called."
        yield Remark("overwritten", about, sentence, is_loss=True)
        return
    wanted = names.registered_name(subject.name, tool.original, rules)
    if tool.registered != wanted:
        same = (other for other in others if names.registered_name(other.server, other.name, rules) == wanted)
        rival = next((f"server {other.server!r}" for other in same), None)
        rival = rival or ("a built-in tool" if wanted in rules.builtin_tools else "another tool")
        yield Remark("collision", about, f"{wanted!r} belongs to {rival}; it becomes {tool.registered!r}.")
    yield from _name_remarks(tool, subject, rules)
    removed = sorted(set(_paths(tool.before)) - set(_paths(tool.own)))
    if removed:
        yield Remark("schema", about, f"the schema loses {', '.join(f'`{path}`' for path in removed)}.")


def _name_remarks(tool: InspectedTool, subject: Subject, rules: Rules) -> Iterator[Remark]:
    registered, about = str(tool.registered), (tool.original,)
    whole = rules.tool_name.format(server=subject.name, tool=tool.original)
    if ("___" in registered and "___" not in whole) or ("..." in registered and "..." not in whole):
        yield Remark("name-cut", about, f"the name is cut to {registered!r}.")
    elif not rules.name_prefix and registered == names.normalise(tool.original, rules) != tool.original:
        yield Remark("name-changed", about, f"the name becomes {registered!r}.")
    # In the documented profile a prefixed name is neither cut nor cleaned.
    if len(registered) > rules.name_limit or names.normalise(registered, rules) != registered:
        yield Remark("name-invalid", about, f"{registered!r} is not a name the Gemini API accepts.", is_loss=True)
    parsed = names.parse(registered, rules)
    if parsed is not None and parsed[0] != subject.name:
        sentence = f"the registered name reads back as a tool of server {parsed[0]!r}; name the server without `_`."
        yield Remark("name-ambiguous", about, sentence)


def _waiting_remarks(tools: Sequence[InspectedTool], rules: Rules) -> Iterator[Remark]:
    if WAITING not in rules.schema_steps:
        return
    waiting = tuple(tool.original for tool in tools if tool.after != tool.own)
    if waiting:
        sentence = "the schema gets a boolean `wait_for_previous`; what the model sets for it reaches the server."
        yield Remark("wait-for-previous", waiting, sentence)
    strict = tuple(tool.original for tool in tools if inside(tool.before, "additionalProperties") is False)
    if strict:
        sentence = "the schema allows no other members, and a call may carry `wait_for_previous`: accept and ignore it."
        yield Remark("wait-for-previous", strict, sentence)


def _server_remarks(
    subject: Subject, found: Found, ended: Conclusion, environment: Mapping[str, str], rules: Rules
) -> Iterator[Remark]:
    hidden = withheld(environment, rules) if "command" in subject.config else ()
    if hidden:
        sentence = f"the server does not get {', '.join(hidden)}; name in `env` what it needs."
        yield Remark("environment", (subject.name,), sentence)
    if subject.origin is not None and subject.origin.is_shared:
        yield Remark("started-twice", (subject.name,), f"{STARTED_TWICE}.")
    if found.is_empty:
        sentence = f"nothing usable is left of it; it ends {ended.status.name}."
        yield Remark("empty", (subject.name,), sentence, is_loss=True)


def _paths(value: Json) -> Iterator[str]:
    """The place of every value inside the value."""
    waiting: list[tuple[Json, str]] = [(value, "")]
    while waiting:
        current, at = waiting.pop()
        inner = [(member, f"{at}.{key}".removeprefix(".")) for key, member in table(current).items()]
        inner += [(item, f"{at}[{index}]") for index, item in enumerate(items(current))]
        waiting += inner
        yield from (place for _, place in inner)
