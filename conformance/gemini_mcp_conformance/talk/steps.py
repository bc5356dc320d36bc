"""Steps: what the suite can do in a conversation, one frozen record for each kind; pure.

A new kind of step is a record with a `kind`, one entry in `STEPS`, and one method of the player. A JSON value can hold
`path("name")`, which the player replaces by the absolute path of that directory of the port.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from gemini_mcp.spec.values import Json, items, table
from gemini_mcp_conformance.spec.script import Script

Until = Literal["answered", "started", "listing", "sent", "held"]
"""How long the player waits after a request: until its answer, until gemini runs or lists sessions, or not at all.

One that is held is written together with the next message.
"""

Ending = Literal["stdin", "TERM", "INT", "HUP", "KILL"]

AUTO = "\0auto"
"""The id of a request whose number the player chooses."""

PATH = "$path"


@dataclass(frozen=True)
class Request:
    """A request. `scripts` are what gemini plays for it, in order; `name` is how later steps refer to it.

    `expected` is the result that a scenario of the specification gives. `bare` sends `params` without the metadata of a
    stateless request. `walks` is how often all pages of a list are asked for at once. `escaped` writes slashes and what
    is not ASCII in escapes.
    """

    kind: ClassVar[str] = "request"
    method: str
    params: Json = None
    scripts: tuple[Script, ...] = ()
    name: str = ""
    until: Until = "answered"
    id: Json = AUTO
    bare: bool = False
    walks: int = 0
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
    """Wait until the named request is answered, or the gemini of a cancelled one has ended."""

    kind: ClassVar[str] = "await"
    name: str


@dataclass(frozen=True)
class Cancel:
    """Cancel the named request, and wait until its gemini has ended, or not at all."""

    kind: ClassVar[str] = "cancel"
    name: str
    until: Literal["ended", "sent"] = "ended"


@dataclass(frozen=True)
class Release:
    """Let the scripts continue that wait for `name`."""

    kind: ClassVar[str] = "release"
    name: str


@dataclass(frozen=True)
class End:
    """Close the port's stdin or send it a signal, and wait until it and every gemini of it have ended.

    `then` is a signal that follows while the port ends.
    """

    kind: ClassVar[str] = "end"
    how: Ending
    then: Ending | None = None


@dataclass(frozen=True)
class Listen:
    """Stop reading what the port writes, or go on with it after `wait` seconds and when gemini had time to end.

    Who leaves closes the pipe, and reads nothing any more.
    """

    kind: ClassVar[str] = "listen"
    on: bool
    wait: float = 0.0
    leaves: bool = False


AUTHORITY, PORT, OTHER_SESSION = "{authority}", "{port}", "{other session}"


@dataclass(frozen=True)
class Http:
    """A plain HTTP request. `headers` replace those of a usual client; None removes one.

    In a header AUTHORITY stands for the port's host and number, PORT for its number, and OTHER_SESSION for the session
    begun last by such a request.

    `elsewhere` sends it to another address of the port's machine. Nobody waits for the answer to what is only sent.
    A `body` is sent as it is in the place of a message.
    """

    kind: ClassVar[str] = "http"
    verb: str = "POST"
    message: Json = None
    body: bytes = b""
    headers: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    elsewhere: bool = False
    until: Literal["answered", "sent"] = "answered"


@dataclass(frozen=True)
class Arrange:
    """Remove what lies at `gone` below the port's working directory, then make `files` there; None is a directory.

    `links` are made last, each with the path that it leads to. `gemini` is taken away or put back.
    """

    kind: ClassVar[str] = "arrange"
    files: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    gone: tuple[str, ...] = ()
    gemini: Literal["", "absent", "present"] = ""


@dataclass(frozen=True)
class Neighbour:
    """Another port of the same command comes and goes, in the same directories: another program of the user has it."""

    kind: ClassVar[str] = "neighbour"


Step = Request | Notify | Raw | Await | Cancel | Release | End | Listen | Http | Arrange | Neighbour
STEPS: Mapping[str, type[Step]] = {
    kind.kind: kind for kind in (Request, Notify, Raw, Await, Cancel, Release, End, Listen, Http, Arrange, Neighbour)
}


def call(tool: str, arguments: Json, *scripts: Script, **more: Json) -> Request:
    """A request that calls a tool; `more` are the other fields of Request."""
    return Request("tools/call", {"name": tool, "arguments": arguments}, scripts, **more)


def told(asked: Request, token: Json) -> Request:
    """The request, whose progress is told under this token."""
    return replace(asked, params={**table(asked.params), "_meta": {"progressToken": token}})


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
