"""Conversation: what the suite says to a port, step by step, as a value that JSON can hold; pure.

A new kind of step is a frozen record with a `kind`, one entry in `_STEPS`, and one method of the player. A JSON
value can hold `path("name")`, which the player replaces by the absolute path of that directory of the port.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import ClassVar, Literal, cast

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_conformance.spec.script import Script

Until = Literal["answered", "started", "listing", "sent"]
"""How long the player waits after a request: until its answer, until gemini runs or lists sessions, or not at all."""

Ending = Literal["stdin", "TERM", "INT", "HUP", "KILL"]

AUTO = "\0auto"
"""The id of a request whose number the player chooses."""

PATH = "$path"

LISTING = 10
"""Seconds that a port may wait for the list of sessions from gemini."""


@dataclass(frozen=True)
class Request:
    """A request. `scripts` are what gemini plays for it, in order; `name` is how later steps refer to it.

    `expected` is the result that a scenario of the specification gives. `bare` sends `params` without the metadata of a
    stateless request. `pages` asks for all pages of a list. `escaped` writes what is not ASCII in escapes.
    """

    kind: ClassVar[str] = "request"
    method: str
    params: Json = None
    scripts: tuple[Script, ...] = ()
    name: str = ""
    until: Until = "answered"
    id: Json = AUTO
    bare: bool = False
    pages: bool = False
    expected: Json = None
    escaped: bool = False


@dataclass(frozen=True)
class Notify:
    """A notification."""

    kind: ClassVar[str] = "notify"
    method: str
    params: Json = None


@dataclass(frozen=True)
class Raw:
    """Bytes that are sent as they are, in pieces that are cut before each offset of `cuts`, `pause` seconds apart.

    Bytes that are a request are treated as one; its id should be a string that no other request has.
    """

    kind: ClassVar[str] = "raw"
    data: bytes
    cuts: tuple[int, ...] = ()
    scripts: tuple[Script, ...] = ()
    name: str = ""
    until: Until = "sent"
    pause: float = 0.01


@dataclass(frozen=True)
class Await:
    """Wait until the named request is answered."""

    kind: ClassVar[str] = "await"
    name: str


@dataclass(frozen=True)
class Cancel:
    """Cancel the named request, and wait until its gemini has ended."""

    kind: ClassVar[str] = "cancel"
    name: str


@dataclass(frozen=True)
class Release:
    """Let the scripts continue that wait for `name`."""

    kind: ClassVar[str] = "release"
    name: str


@dataclass(frozen=True)
class End:
    """Close the port's stdin or send it a signal, and wait until it and every gemini of it have ended."""

    kind: ClassVar[str] = "end"
    how: Ending


@dataclass(frozen=True)
class Listen:
    """Stop reading what the port writes, or go on with it after `wait` seconds and when gemini had time to end."""

    kind: ClassVar[str] = "listen"
    on: bool
    wait: float = 0.0


@dataclass(frozen=True)
class Http:
    """A plain HTTP request. `headers` replace those of a usual client; None removes one.

    `elsewhere` sends it to another address of the port's machine.
    """

    kind: ClassVar[str] = "http"
    verb: str = "POST"
    message: Json = None
    headers: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    elsewhere: bool = False


@dataclass(frozen=True)
class Arrange:
    """Remove what lies at `gone` below the port's working directory, then make `files` there; None is a directory."""

    kind: ClassVar[str] = "arrange"
    files: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    gone: tuple[str, ...] = ()


BUSY = 1_000_000
"""Bytes that a slow port on a busy machine handles in a second."""

Step = Request | Notify | Raw | Await | Cancel | Release | End | Listen | Http | Arrange
_STEPS: Mapping[str, type[Step]] = {
    kind.kind: kind for kind in (Request, Notify, Raw, Await, Cancel, Release, End, Listen, Http, Arrange)
}


@dataclass(frozen=True)
class Conversation:
    """Steps, and the circumstances in which they are played.

    It is made to show `requirements`; checks judge all that they can. `aside` means that it waits, and so runs at the
    same time as others; `fresh` that it needs a new port. `revision` is the protocol revision to speak, `greet=False`
    leaves out the handshake, `stdio=True` demands pipes. `files` are written below the port's working directory; None
    is a directory. `gemini` may be absent from PATH, or a file that cannot be executed.
    """

    id: str
    title: str
    steps: tuple[Step, ...]
    phase: str = "examples"
    requirements: tuple[str, ...] = ()
    aside: bool = False
    fresh: bool = False
    revision: str | None = None
    greet: bool = True
    files: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdio: bool = False
    gemini: Literal["present", "absent", "not-executable"] = "present"

    @property
    def alone(self) -> bool:
        """Whether it is not played on the port that most conversations share."""
        return self.aside or self.needs_new_port or self.ends or not self.is_ordinary

    @property
    def only_waits(self) -> bool:
        """Whether waiting is the only reason why it does not use the shared port."""
        return self.alone and self.is_ordinary and not self.needs_new_port and not self.ends

    @property
    def needs_new_port(self) -> bool:
        """Whether it needs a port that has served nothing else."""
        return self.fresh or not self.greet

    @property
    def ends(self) -> bool:
        """Whether it ends its port or its session."""
        return any(isinstance(step, End) or (isinstance(step, Http) and step.verb == "DELETE") for step in self.steps)

    @property
    def circumstances(self) -> tuple[object, ...]:
        """How its port is started and greeted. Conversations with equal circumstances can share a port."""
        return (self.revision, self.gemini, *sorted(self.env.items()))

    @property
    def is_ordinary(self) -> bool:
        """Whether its circumstances are the usual ones."""
        return self.circumstances == Conversation("", "", ()).circumstances

    @property
    def seconds(self) -> float:
        """How long its scripts take at least. Long conversations are started early."""
        asked = [step for step in self.steps if isinstance(step, Request | Raw)]
        side_by_side = [seconds(step) for step in asked if step.until != "answered"]
        paused = sum(step.pause * len(step.cuts) for step in asked if isinstance(step, Raw))
        paused += sum(step.wait for step in self.steps if isinstance(step, Listen))
        return sum(seconds(step) for step in asked if step.until == "answered") + max(side_by_side, default=0) + paused

    @property
    def needs_stdio(self) -> bool:
        """Whether it needs a port that the suite starts and speaks to over pipes."""
        says = self.stdio or any(isinstance(step, Raw | End | Listen) for step in self.steps)
        return says or bool(self.env) or self.gemini != "present"

    @property
    def needs_handshake(self) -> bool:
        """Whether its raw lines hold requests that are valid only after a handshake."""
        return any(isinstance(step, Raw) and step.until == "answered" for step in self.steps)

    @property
    def needs_http(self) -> bool:
        return any(isinstance(step, Http) for step in self.steps)

    @property
    def needs_gemini(self) -> bool:
        """Whether gemini plays a script in it."""
        return any(step.scripts for step in self.steps if isinstance(step, Request | Raw))


def seconds(step: Request | Raw) -> float:
    """How long the scripts of a request take at least on a busy machine, with the time for their output."""
    return sum(map(takes, step.scripts))


def takes(script: Script) -> float:
    """How long a script takes at least. A list that never ends takes as long as a port waits for it."""
    written = sum(play.get("wait", 0) + play.get("fill", {}).get("bytes", 0) / BUSY for play in script.play)
    return written + LISTING * any("hang" in play for play in script.list_sessions or ())


def call(tool: str, arguments: Json, *scripts: Script, **more: Json) -> Request:
    """A request that calls a tool; `more` are the other fields of Request."""
    return Request("tools/call", {"name": tool, "arguments": arguments}, scripts, **more)


def path(name: str = "") -> Json:
    """The absolute path of `name` below the port's working directory, as a JSON value."""
    return {PATH: name}


def located(value: Json, root: str) -> Json:
    """`value` with every `path` put below `root`."""
    if isinstance(value, Mapping):
        if set(table(value)) == {PATH}:
            return f"{root}/{value[PATH]}" if value[PATH] else root
        return {key: located(item, root) for key, item in table(value).items()}
    if isinstance(value, list | tuple):
        return [located(item, root) for item in items(value)]
    return value


def with_ids(conversation: Conversation, ids: Iterable[Json]) -> Conversation:
    """The conversation with the ids that its requests were given, so that a replay sends the same bytes."""
    given = iter(ids)
    steps = [
        replace(step, id=next(given, step.id)) if isinstance(step, Request) else step for step in conversation.steps
    ]
    return replace(conversation, steps=tuple(steps))


def to_json(conversation: Conversation) -> Json:
    """The conversation as JSON; fields that have their default are left out."""
    steps = [{"kind": step.kind, **_fields(step)} for step in conversation.steps]
    return {**_fields(conversation), "steps": steps}


def from_json(document: Json) -> Conversation:
    """The conversation that `to_json` wrote; ValueError when the JSON is not one."""
    try:
        own: dict[str, Json] = {**document, "requirements": tuple(document.get("requirements", ()))}
        own["steps"] = tuple(_step(dict(step)) for step in document["steps"])
        return Conversation(**own)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is no conversation: {error}") from None


def _step(own: dict[str, Json]) -> Step:
    kind = _STEPS[own.pop("kind")]
    if kind is Raw:
        own = {**own, "data": base64.b64decode(own["data"]), "cuts": tuple(own.get("cuts", ()))}
    if "gone" in own:
        own["gone"] = tuple(own["gone"])
    if "scripts" in own:
        own["scripts"] = tuple(Script.from_json(script) for script in own["scripts"])
    return kind(**own)


def _fields(record: Conversation | Step) -> dict[str, Json]:
    values = ((entry, getattr(record, entry.name)) for entry in fields(record))
    return {entry.name: _value(value) for entry, value in values if not _is_default(entry, value)}


def _is_default(entry: Field[Json], value: Json) -> bool:
    return value == (entry.default if entry.default_factory is MISSING else entry.default_factory())


def _value(value: Json) -> Json:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, tuple):
        return [_script(item) if isinstance(item, Script) else item for item in cast("tuple[Json, ...]", value)]
    return value


def _script(script: Script) -> Json:
    listing = {} if script.list_sessions is None else {"listSessions": list(script.list_sessions)}
    return {"id": script.id, "play": list(script.play), **listing}
