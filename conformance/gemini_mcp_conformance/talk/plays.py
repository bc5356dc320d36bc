"""Plays: scripts for gemini that conversations make themselves, with the keys of the specification; pure."""

from __future__ import annotations

import json
import re
import uuid
from base64 import b64encode
from collections.abc import Mapping, Set
from dataclasses import dataclass

from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.reading import newest
from gemini_mcp_conformance.spec.schema import matching
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification

SESSION = "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc"
TAKES_TIME = {"hang", "until", "wait", "release", "unread", "child", "ignore"}


def session(name: str) -> str:
    """A session id that belongs to a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def fails(exit: int = 1, release: str | None = None, stderr: str = "Something went wrong.\n") -> Script:
    """A failure, after a release if one is named."""
    held: list[Json] = [{"release": release}] if release else []
    return Script("fails", (*held, {"stderr": stderr}, {"exit": exit}))


def says(text: str, exit: int) -> Script:
    """A failure for which stderr gives a reason."""
    return Script("says", ({"stderr": f"{text}\n"}, {"exit": exit}))


def ends(end: Json, stderr: str) -> Script:
    """An exit or a signal, with nothing on stdout."""
    return Script("ends", ({"stderr": stderr}, end))


DEAF: dict[str, Json] = {"ignore": ["TERM", "INT", "HUP"]}
"""A step behind which gemini ignores signals."""


CHILD: Json = {"child": {"seconds": 30, "holds": "stdout", "ignore": ["TERM"], "orphan": True}}
"""A step that starts a process, which ignores SIGTERM and whose parent has ended."""


HELD = 300
"""Seconds that output is held open: longer than anybody waits for an answer, or for the end of a port."""


def holder(stream: str) -> Json:
    """A step that starts a process which holds a stream of gemini open."""
    return {"child": {"seconds": HELD, "holds": stream}}


BEGUN: Json = {"stderr": "A run that has no end has begun.\n"}
"""What a run says that will not end: nobody is to hear of it."""


def hangs(child: bool = False, stubborn: bool = False) -> Script:
    """A script that does not end; with a child that ignores SIGTERM, or ignoring signals itself."""
    ignored: list[Json] = [DEAF] if stubborn else []
    started: list[Json] = [CHILD] if child else []
    return Script("hangs", (*ignored, *started, BEGUN, {"hang": True}))


def pieces(*parts: bytes | Mapping[str, Json], stream: str = "stdout") -> Script:
    """Bytes on a stream, or other steps among them, with a pause between the parts."""
    first, *others = (
        {f"{stream}Base64": b64encode(part).decode("ascii")} if isinstance(part, bytes) else part for part in parts
    )
    # Without the pause the port would find both parts in its pipe at once.
    return Script("pieces", (first, *(step for other in others for step in ({"wait": 0.02}, other))))


def does(script: Script, kinds: Set[str]) -> bool:
    """Whether a step of the script, or of its list of sessions, is of one of these kinds."""
    return any(step.keys() & kinds for step in script.steps)


def takes_time(script: Script) -> bool:
    """Whether it waits, or has something done meanwhile."""
    return does(script, TAKES_TIME)


@dataclass(frozen=True)
class Plays:
    """Writes answers and lists as gemini writes them by one specification."""

    spec: Specification

    def document(self, text: Json, session: Json = None, **more: Json) -> dict[str, Json]:
        """The JSON of an answer; a session that is None is left out."""
        keys = self.spec.outcome.answer
        named = {} if session is None else {keys["session"]: session}
        return {**named, keys["text"]: text, **{keys.get(key, key): value for key, value in more.items()}}

    @property
    def unasked(self) -> Mapping[str, Json]:
        """What the JSON of a gemini holds that has asked no model."""
        return self.counts(len(self.spec.outcome.asked), {})

    def counts(self, depth: int, held: Json) -> Mapping[str, Json]:
        """What the JSON of a gemini holds that goes so far on the way to its models, and what it says there."""
        for key in reversed(self.spec.outcome.asked[:depth]):
            held = {key: held}
        return table(held)

    def answers(
        self, text: str, session: str | None = SESSION, release: str | None = None, wait: float = 0, **dump: Json
    ) -> Script:
        """An answer, after a release or a wait if there is one; `dump` are options of `json.dumps`."""
        held: list[Json] = [{"release": release}] if release else [{"wait": wait}] if wait else []
        document = json.dumps(self.document(text, session, stats={}), **dump)
        return Script("answers", (*held, {"stdout": document}))

    def ends_behind_answer(self, end: Json, stderr: str, session: str) -> Script:
        """A failure behind a whole answer."""
        whole = self.answers("This must not be taken for an answer.", session).play
        return Script("ends", (*whole, *ends(end, stderr).play))

    def unnamed(self, text: str, *listing: Json, id: str = "bare", **more: Json) -> Script:
        """An answer that names no session, with `more` keys, and what the list of sessions does."""
        document = json.dumps(self.document(text, stats={}, **more))
        return Script(id, ({"stdout": document},), listing)

    def listed(self, text: str, session: str, *first: Json) -> Script:
        """An answer whose session only the list of sessions names, behind these steps of the list."""
        return self.unnamed(text, *first, {"stdout": f"{self.entry(1, session)}\n"})

    def entry(self, index: int, session: str) -> str:
        """A line of the list of sessions: as gemini prints it, or as the pattern of the specification asks for."""
        pattern = self.spec.invocation.listing.entry
        usual = f"  {index}. Title [{index}] (of sorts) (3 hours ago) [{session}]"
        made = None if newest(usual, pattern) == session else re.match(pattern, matching(pattern) or "")
        if made is None:
            return usual
        (start, end), (begin, stop) = made.span(1), made.span(2)
        return f"{made.string[:start]}{index}{made.string[end:begin]}{session}{made.string[stop:]}"
