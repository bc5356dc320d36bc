"""Observation: everything that was seen while a conversation was played, as frozen records; pure.

What the player records is a field; what follows from the fields is a property. Nothing here says what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, cast

from gemini_mcp.gemini_cli.understanding import Other, Understood, UsageError
from gemini_mcp.spec import Manifest
from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_conformance.see.call import Call
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation

Silence = Literal["", "timeout", "died", "closed", "cancelled", "ended"]
"""Why a request has no answer; empty when it has one, or when nobody waited for it.

`closed`: the response over HTTP has ended, and held none.
"""

Directory = Literal["none", "absolute", "relative", "missing", "file", "nowhere", "unknown"]
"""What the argument for the working directory names; `none` is no argument, `missing` a path that does not exist.

`nowhere` is below a file, or what a broken link leads to: missing too, but a port may say that it is no directory.
"""


@dataclass(frozen=True)
class Place:
    """The throw-away directories of a port."""

    root: str
    work: str
    home: str
    tmp: str


@dataclass(frozen=True)
class Line:
    """A line in either direction, without its newline. `at` counts seconds since the port was started.

    `message` is None when the line is no JSON; `ended` is False for bytes that no newline followed.
    """

    order: int
    at: float
    sent: bool
    data: bytes
    message: Json = None
    ended: bool = True

    @cached_property
    def table(self) -> Mapping[str, Json]:
        """The message when it is an object, else an empty one."""
        return table(self.message)

    @cached_property
    def is_response(self) -> bool:
        return "method" not in self.table and ("result" in self.table or "error" in self.table)


@dataclass(frozen=True)
class Run:
    """A run of gemini: what it was given, what it understood, and which of its processes still lived afterwards."""

    call: Call
    understood: Understood | UsageError | Other
    prompt: str | None
    survivors: frozenset[int] = frozenset()


# Without `eq=False` it would be compared by its fields and have no hash.
@dataclass(frozen=True, eq=False)
class Exchange:
    """A request, its answers, and the runs of gemini between them.

    `alone` says that no other request was open at the same time. `leftovers` are new directories in the temporary one,
    `canaries` files that only a shell makes. `answers` has more than one line when the port answered twice. `cwd` is
    what the argument for the working directory named when it was sent, and `directory` the path of that without links.
    `expected` is the result in a scenario.
    `delay` is how many seconds the machine was late for the suite, and so perhaps for the port. `waited` is for how
    many seconds the answer was waited for in vain.
    """

    spec: Specification
    conversation: str
    step: int
    request: Mapping[str, Json]
    scripts: tuple[Script, ...]
    sent: Line
    place: Place
    revision: str
    transport: str
    answers: tuple[Line, ...] = ()
    progress: tuple[Line, ...] = ()
    runs: tuple[Run, ...] = ()
    listings: tuple[Run, ...] = ()
    leftovers: tuple[str, ...] = ()
    alone: bool = True
    silence: Silence = ""
    gemini: str = "present"
    cwd: Directory = "none"
    directory: str = ""
    canaries: tuple[str, ...] = ()
    expected: Json = None
    delay: float = 0.0
    waited: float = 0.0

    @property
    def method(self) -> str:
        return self.request["method"]

    @cached_property
    def params(self) -> Mapping[str, Json]:
        return table(self.request.get("params"))

    @cached_property
    def tool(self) -> str:
        """The name of the tool that is called, whether it exists or not; empty for none."""
        name = self.params.get("name")
        return name if self.method == "tools/call" and isinstance(name, str) else ""

    @cached_property
    def arguments(self) -> Mapping[str, Json]:
        return table(self.params.get("arguments"))

    @cached_property
    def answer(self) -> Mapping[str, Json] | None:
        return self.answers[0].table if self.answers else None

    @cached_property
    def result(self) -> Mapping[str, Json] | None:
        return _table(self.answer, "result")

    @property
    def error(self) -> Mapping[str, Json] | None:
        return _table(self.answer, "error")

    @property
    def is_unanswered(self) -> bool:
        """Whether an answer was due, and did not come."""
        return self.silence in ("timeout", "died", "closed")

    @property
    def is_error(self) -> bool:
        """Whether the answer says that the call failed: MCP has JSON-RPC errors and results with `isError` for that."""
        return self.answer is not None and (self.result is None or self.result.get("isError") is True)

    @property
    def is_success(self) -> bool:
        return self.result is not None and not self.is_error

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the result's content."""
        texts = [table(item).get("text") for item in items(inside(self.result, "content"))]
        return tuple(text for text in texts if isinstance(text, str))

    @property
    def text(self) -> str | None:
        return self.texts[0] if self.texts else None

    @cached_property
    def meta(self) -> Mapping[str, Json]:
        return table(inside(self.result, "_meta"))

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """The runs of gemini for the call itself, and those for the list of sessions."""
        return (*self.runs, *self.listings)

    @property
    def runs_on(self) -> bool:
        """Whether it was cancelled, and a process of its gemini lives on."""
        return self.silence == "cancelled" and any(run.survivors for run in self.all_runs)

    @property
    def label(self) -> str:
        """The name of the call in messages."""
        return f"{self.conversation}, step {self.step + 1}"


@dataclass(frozen=True)
class Exit:
    """How the port ended, and how many seconds after it was asked to; `code` is None when it had to be killed."""

    asked: str
    code: int | None
    seconds: float


UNKNOWN = Manifest("", "", "", (), ())
"""Stands for the manifest until the player fills it in."""


@dataclass(frozen=True)
class Web:
    """A request over HTTP with its message, and the answer; `status` is None when the port took no connection."""

    verb: str
    headers: Mapping[str, str]
    message: Json = None
    status: int | None = None
    answered: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    elsewhere: bool = False
    manifest: Manifest = UNKNOWN

    @property
    def is_stream(self) -> bool:
        return self.answered.get("content-type", "").lower().startswith("text/event-stream")

    @property
    def ends_session(self) -> bool:
        """Whether it has ended the session that it names."""
        is_accepted = self.status is not None and 200 <= self.status < 300
        return self.verb == "DELETE" and is_accepted and "mcp-session-id" in self.headers


@dataclass(frozen=True)
class Observation:
    """A conversation as it was played.

    `greeting` is the request that began the session, in this conversation or an earlier one. `declined` says why the
    port cannot be judged by it, such as a revision that it does not speak; `died` how the port ended unasked. `web`
    are the requests over HTTP; `twin` is the same conversation over stdio; `delay` is that of its exchanges.
    """

    conversation: Conversation
    spec: Specification
    place: Place
    transport: str
    lines: tuple[Line, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    greeting: Exchange | None = None
    unclaimed: tuple[Run, ...] = ()
    exit: Exit | None = None
    leftovers: tuple[str, ...] = ()
    stderr: bytes = b""
    declined: str | None = None
    died: str | None = None
    ids: tuple[Json, ...] = field(default=())
    web: tuple[Web, ...] = ()
    twin: Observation | None = None
    delay: float = 0.0

    @property
    def received(self) -> Iterator[Line]:
        return (line for line in self.lines if not line.sent)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run of gemini, whichever exchange it belongs to."""
        return (*(run for exchange in self.exchanges for run in exchange.runs), *self.unclaimed)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        return tuple(exchange for exchange in self.exchanges if exchange.method == "tools/call")


def _table(owner: Mapping[str, Json] | None, key: str) -> Mapping[str, Json] | None:
    value = (owner or {}).get(key)
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else None
