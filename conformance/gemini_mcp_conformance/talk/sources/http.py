"""What only HTTP can show: requests of other origins, other addresses, wrong headers, and sessions that end."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.talk.clients import of_another
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import SESSION, handshake, notification, request, stateless_params
from gemini_mcp_conformance.talk.plays import hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources, sequences
from gemini_mcp_conformance.talk.steps import (
    AUTHORITY,
    OTHER_SESSION,
    PORT,
    Await,
    Cancel,
    Http,
    Listen,
    Notify,
    Release,
    Request,
    Step,
    told,
)

ORDER = 20
STRANGERS = ("http://evil.example", "https://localhost.evil.example", "http://127.0.0.1.evil.example:80",
             "http://127.0.0.1:1.evil.example", "http://evil-localhost", "http://evil.example:8080",
             f"http://evil{AUTHORITY}", f"http://evillocalhost:{PORT}", f"http://{AUTHORITY}.evil.example",
             "null")  # fmt: skip
"""Origins of pages that the port has not served. Some only begin like an allowed one: the pattern `127.0.0.1:*` of the
Python SDK lets in what only has that prefix."""
REBOUND = f"evil.example:{PORT}"
MANY = 17
"""Sessions that end after another one, more than a table of 16 holds."""
SEVERAL = 8
"""Requests one after the other, within which a port gets on with something else."""
MOMENT, WHILE = 0.6, 3.2
"""Seconds in which a port notices that a client has left, and in which it may forget to look for that."""
EVENTS_FIRST = {"accept": "text/event-stream, application/json"}
EVENTS = {"accept": "text/event-stream"}
OTHER: Mapping[str, str | None] = {SESSION: OTHER_SESSION}
JOINED = Http(message=notification("notifications/initialized"), headers=OTHER)
"""Another client has begun its session."""
ID = "an id of two clients"
LONG, BETWEEN = 12.0, 5.6
"""Seconds of a call whose progress has to be told again, and until it may have been told so and will be once more."""
OFTEN, LATE = 160_000, 6.0
"""How often an answer says the same, which is more megabytes than connections hold, and seconds until it is read."""
THEIRS_ANSWERED = (Release("theirs"), Await("theirs"))
LATER = "2099-01-01"
"""A revision that nobody knows."""
NO_METHODS = ("no/such/method", "tools/no/such/method")
TOKEN = "a token of two clients"
LIST: Json = request("over HTTP", "tools/list", {})
PING: Json = request("ping over HTTP", "ping", {})
UNANSWERED: tuple[Json, ...] = (
    notification("notifications/no-such"),
    notification("notifications/cancelled", {"requestId": "no such call"}),
    {"jsonrpc": "2.0", "id": "nobody", "result": {}},
)
"""Messages that no port answers but by a status."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Both eras; the last one of the handshake era ends its session."""
    made = OverHttp(sources)
    yield made.requests()
    yield made.busy()
    yield made.streaming()
    yield made.unread()
    yield made.another()
    if sources.spec.resumes is not None:
        yield made.in_line(sources.spec.resumes)
    yield made.two_clients()
    yield made.ended()
    yield made.ended_busy()
    for revision in sources.spec.manifest.stateless_revisions:
        yield made.headers(revision)
        yield made.disconnect(revision)
        yield made.two_clients(revision)


class OverHttp(Maker):
    """Requests over HTTP to a port of one specification."""

    phase, prefix = "http", "http-"

    def requests(self) -> Conversation:
        shows = ("http:origin", "http:bind", "http:notification", "http:content-type", "http:get", "http:version")
        return self.conversation("requests", "Requests over HTTP.", (*self._strangers(), *self._others()), *shows)

    def busy(self) -> Conversation:
        """Streams that are asked for while a call runs."""
        held = self.ask(self.first, "The question beside streams", self.answers("Beside.", release="held"),
                        name="held", until="started")  # fmt: skip
        steps = (held, Http("GET", headers=EVENTS), Http("GET", elsewhere=True), Release("held"), Await("held"))
        return self.conversation("busy", "Streams over HTTP beside a call.", steps, "http:get")

    def streaming(self) -> Conversation:
        """A client that listens to a stream of its own all the time, as most do. No answer belongs there."""
        steps: list[Step] = [Http("GET", headers=EVENTS, until="sent"), Request("tools/list"), Request("ping")]
        for tool in self.names:
            name = f"{tool} beside a stream"
            steps += [self.held(tool, name, session=session(name)), Request("tools/list"), Release(name), Await(name)]
            asked = self.ask(tool, f"What is told of {name}?", self.answers("Told."), session=session(name))
            steps += [told(asked, name), Request("tools/call", {"name": tool, "arguments": self.wrong(tool)})]
        name = "cancelled beside a stream"
        steps.append(self.ask(self.last, "No end?", hangs(), session=session(name), name=name, until="started"))
        steps += [Cancel(name), Request("no/such/method"), Request("tools/list")]
        shows = ("http:get", "http:content-type", "result:text", "rpc:response:id", "progress:start", "cancel:child")
        shows = (*shows, "rpc:error:method", "arguments:refused:not-started")
        return self.conversation("streaming", "Requests beside an open stream.", steps, *shows)

    def _strangers(self) -> Iterable[Step]:
        """A page of another origin may neither begin a session nor use one."""
        first = request("stranger", "initialize", handshake(self.spec.manifest.handshake_revisions[-1]))
        for origin in STRANGERS:
            yield from (Http(message=each, headers={"origin": origin}) for each in (first, LIST))
        yield from (Http(message=each, headers={"origin": STRANGERS[0]}) for each in self._calls())
        yield from (Http(message=each, headers={"origin": STRANGERS[0]}) for each in UNANSWERED)
        yield from (Http(body=body, headers={"origin": STRANGERS[0]}) for body in (b"{", b"[]", b""))
        yield Http("GET", headers={"origin": STRANGERS[0], **EVENTS})
        # A name of the stranger may lead to this machine.
        yield Http(message=LIST, headers={"origin": f"http://{REBOUND}", "host": REBOUND})
        yield Request("tools/list")

    def _others(self) -> Iterable[Step]:
        newest = self.spec.manifest.handshake_revisions[-1]
        strange = ("1999-12-31", LATER, "latest", f"{newest[:-2]}00", f"{newest}.1")
        yield from (Http("GET", headers=EVENTS), Http("GET", elsewhere=True), Notify("notifications/no-such"))
        for version, message in product(strange, (LIST, PING, *self._calls())):
            yield Http(message=message, headers={"mcp-protocol-version": version})
        # What a client has asked for is not what its session speaks.
        yield Http(message=request("a newer client", "initialize", handshake(LATER)), headers={SESSION: None})
        yield Http(message=LIST, headers={**OTHER, "mcp-protocol-version": LATER})
        for kind in ("application/json; charset=utf-8", "application/json;charset=UTF-8"):
            yield Http(message=LIST, headers={"content-type": kind})
        for accepted in (EVENTS_FIRST["accept"], "application/json;q=0.9,text/event-stream;q=0.1"):
            yield Http(message=LIST, headers={"accept": accepted})
        yield from (Request("tools/list"), Request("ping"))

    def another(self) -> Conversation:
        """Another client begins a session and ends it, both while a call of ours runs whose id it uses too."""
        served = [self.ask(tool, f"The question of {tool} beside another client", self.answers("Served."))
                  for tool in self.names]  # fmt: skip
        held = self.ask(self.first, "The question with an id that two clients use", self.answers("Ours.", release="go"),
                        name="held", until="started", id=ID)  # fmt: skip
        theirs = Http(message=request(ID, "tools/call", {"name": self.first, "arguments": {}}), headers=OTHER)
        cancel = Http(message=notification("notifications/cancelled", {"requestId": ID}), headers=OTHER)
        end = Http("DELETE", headers=OTHER)
        steps = (
            self._beginning(),
            JOINED,
            Request("tools/list"),
            *self._same(),
            held,
            theirs,
            cancel,
            end,
            Release("go"),
            Await("held"),
            *served,
        )
        title = "A client beside which another one comes and goes."
        shows = (*sequences.shows(self.sources), "concurrency:crossed", "concurrency:lost", "result:session-id")
        shows = (*shows, "result:text")
        return self.conversation("another", title, (*steps, Request("tools/list")), *shows)

    def in_line(self, tool: str) -> Conversation:
        """A reply of another client has the id of ours and waits for it: it is cancelled, served, or left behind.

        What it runs begins while two of our calls run, and belongs to none of them.
        """
        meanwhile = [self.held(tool, name, session=session(name)) for name in ("beside", "along")]
        steps: list[Step] = [self._beginning(), *meanwhile]
        for name in ("cancelled", "served", "left behind"):
            own, id = session(f"a session for which two wait, {name}"), f"{ID}, {name}"
            given = {"name": tool, "arguments": self.arguments(tool, f"Anything from elsewhere, {name}?", session=own)}
            theirs = Http(message=request(id, "tools/call", given), headers=OTHER, until="sent")
            steps += [self.held(tool, name, session=own, id=id), theirs, Request("tools/list")]
            if name == "cancelled":
                cancel = notification("notifications/cancelled", {"requestId": id})
                steps.append(Http(message=cancel, headers=OTHER))
            elif name == "left behind":
                steps.append(Http("DELETE", headers=OTHER))
            steps += [Request("tools/list"), Release(name), Await(name)]
        steps.append(self.ask(self.first, "Who comes last?", self.answers("Nobody."), session=session("last")))
        steps += [step for each in meanwhile for step in (Release(each.name), Await(each.name))]
        shows = ("concurrency:crossed", "result:session-id", "cancel:others")
        return self.conversation("in-line", "Replies of two clients in one session.", steps, *shows)

    def unread(self) -> Conversation:
        """Long answers that nobody reads for a while, one of them a stream."""
        names = ("the unread answer", "the unread stream")
        steps: list[Step] = [Listen(False)]
        for tool, name in zip((self.first, self.last), names, strict=True):
            script = self.answers(f"{name}, and much more of it. " * OFTEN, session(name))
            asked = self.ask(tool, f"The question of {name}?", script, session=session(name), name=name, until="sent")
            steps.append(told(asked, name) if name == names[-1] else asked)
        steps += [Listen(True, LATE), *map(Await, names), Http(message=LIST)]
        shows = ("result:text", "result:large-stdout", "concurrency:crossed")
        return self.conversation("unread", "Long answers over HTTP that are read late.", steps, *shows)

    def two_clients(self, revision: str | None = None) -> Conversation:
        """Two clients choose the same ids and the same token, for calls that run at once; each gets what is its own."""
        steps: list[Step] = [] if revision else [self._beginning(), JOINED]
        steps += self._told_alike(revision)
        steps += self._same_at_once()
        steps += self._in_one_line(self.spec.resumes) if self.spec.resumes is not None else ()
        steps += chain.from_iterable(map(self._one_cancelled, ("ours", "theirs")))
        steps += [*self._both_cancelled(), *self._cancelled_last()]
        steps += self._of_older_era() if revision else ()
        steps += [Await("ours"), *(THEIRS_ANSWERED if revision else ())]
        shows = (
            *("concurrency:calls", "concurrency:crossed", "concurrency:same-session", "command:once", "cancel:child"),
            *("cancel:others", "progress:start", "progress:interval", "progress:increase", "progress:token"),
            *(("http:stateless:disconnect", "stateless:no-handshake", "stateless:result-type") if revision else ()),
        )
        id, title = f"two-clients-{revision}" if revision else "two-clients", "Two clients that choose the same ids."
        return self.conversation(id, title, steps, *shows, aside=True, revision=revision)

    def _told_alike(self, revision: str | None) -> Iterator[Step]:
        """Calls under one id and one token. In a session ours is told again when theirs is over."""
        long = self.answers("It took long.") if revision else self.answers("It took long.", wait=LONG)
        ours = self.ask(self.first, "Whose is the long one?", long, session=session("long"), id=ID, name="ours")
        theirs = self._of_another(self.held(self.last, "theirs", session=session("theirs"), id=ID))
        both = (told(replace(ours, until="started"), TOKEN), told(theirs, of_another(TOKEN)))
        # Who is told of its progress more than once is the one whom another has followed, or has been done beside.
        yield from reversed(both) if revision else both
        if not revision:
            meanwhile = self.answers("Both are told.", wait=BETWEEN)
            yield self.ask(self.last, "Who is told meanwhile?", meanwhile, session=session("between"))
            yield from THEIRS_ANSWERED

    def _in_one_line(self, tool: str) -> Iterator[Step]:
        """A reply of another client waits for ours, and for nothing else."""
        own = session("a line of two clients")
        waits = self.ask(tool, "Who waits for the other?", self.answers("No more."), session=own, name="behind")
        yield self.held(tool, "front", session=own)
        yield self._of_another(replace(waits, id="behind", until="sent"))
        yield from (self.ask(self.first, f"Beside it, {number}?", self.answers("Beside.")) for number in (1, 2))
        yield from (Release("front"), Await("front"), Await("behind"))

    def _same_at_once(self) -> Iterator[Step]:
        """The same call of both, which is none sent twice. Those in one session would wait for each other."""
        if self.spec.session(self.first) is None:
            script = self.answers("Alike.", release="alike")
            ours = self.ask(self.first, "Who asks alike?", script, name="alike", until="started", id=f"{ID}, alike")
            theirs = self._of_another(replace(ours, name="alike, theirs"))
            yield from (ours, theirs, Release(ours.name), Await(ours.name), Await(theirs.name))

    def _of_older_era(self) -> Iterator[Step]:
        """Another client shakes hands, and cancels and asks for something in its session."""
        older: dict[str, str | None] = {"mcp-protocol-version": None, "mcp-method": None}
        began = self._beginning()
        yield replace(began, headers={**older, **began.headers})
        cancel = notification("notifications/cancelled", {"requestId": ID})
        yield from (Http(message=each, headers={**older, **OTHER}) for each in (cancel, PING, LIST))

    def _same(self) -> Iterator[Step]:
        """The same call of both, one after the other, and gemini answers otherwise."""
        for number, answer in enumerate(("Once.", "Once more.")):
            asked = self.ask(self.first, "Who asks the same?", self.answers(answer), id=f"{ID}, the same")
            yield self._of_another(asked) if number else asked

    def _one_cancelled(self, cancelled: str) -> Iterator[Step]:
        """Two calls under one id, of which the one or the other is cancelled."""
        id, kept = f"{ID}, {cancelled} cancelled", f"kept beside {cancelled}"
        own = self.held(self.first, kept, session=session(kept), id=id)
        name, script = f"{cancelled} cancelled", hangs(child=True)
        how: dict[str, Json] = {"session": session(name), "name": name, "until": "started", "id": id}
        gone = self.ask(self.last, f"No end of {cancelled}", script, **how)
        yield from (own, self._of_another(gone)) if cancelled == "theirs" else (gone, self._of_another(own))
        yield from (Cancel(name), Request("tools/list"), Release(kept), Await(kept))

    def _both_cancelled(self) -> Iterator[Step]:
        """Two calls under one id, one after the other, each of which is cancelled."""
        for name, is_theirs in (("ours, gone", False), ("theirs, gone", True)):
            how: dict[str, Json] = {"session": session(name), "name": name, "until": "started", "id": f"{ID}, gone"}
            gone = self.ask(self.first, f"No end of {name}", hangs(child=True), **how)
            yield from (self._of_another(gone) if is_theirs else gone, Cancel(name))

    def _cancelled_last(self) -> Iterator[Step]:
        """A call under the id of another one that has ended before it is cancelled."""
        name = "cancelled last"
        how: dict[str, Json] = {"session": session(name), "name": name, "until": "started", "id": f"{ID}, {name}"}
        gone = self.ask(self.first, f"No end of what is {name}", hangs(), **how)
        ended = self.ask(self.last, "Who ends before it?", self.answers("Ended."), session=session("ended"), id=gone.id)
        yield from (gone, self._of_another(ended), Cancel(name))

    def _of_another(self, asked: Request) -> Request:
        return replace(asked, id=of_another(asked.id))

    def _beginning(self) -> Http:
        """Another client begins a session."""
        asked = request("another client", "initialize", handshake(self.spec.manifest.handshake_revisions[-1]))
        return Http(message=asked, headers={SESSION: None})

    def _calls(self) -> Iterator[Json]:
        """Calls that nobody may serve, told of their progress and not."""
        for number, tool in enumerate(self.names):
            given: dict[str, Json] = {"name": tool, "arguments": self.arguments(tool, "Is anybody there?")}
            meta: dict[str, Json] = {"_meta": {"progressToken": f"for {tool}"}} if number % 2 else {}
            yield request(f"in vain for {tool}", "tools/call", {**given, **meta})

    def ended(self) -> Conversation:
        stranger = Http("DELETE", headers={"origin": STRANGERS[0]})
        steps: list[Step] = [stranger, Request("tools/list"), self._beginning(), Http("DELETE"), Http(message=LIST)]
        steps += [Http(message=each) for each in (*UNANSWERED, *self._calls())]
        steps += [Http("DELETE", headers=OTHER), Http(message=LIST), Http("DELETE")]
        steps += [step for _ in range(MANY) for step in (self._beginning(), Http("DELETE", headers=OTHER))]
        # Whoever gives ids of ended sessions again has no other left by now.
        steps += [self._beginning(), self._beginning(), *(Http(message=each) for each in (LIST, *self._calls()))]
        shows = ("http:session:ended", "http:origin")
        return self.conversation("ended", "A session that has been ended.", steps, *shows, aside=True)

    def ended_busy(self) -> Conversation:
        """What becomes of the call is the port's own affair."""
        held = self.ask(self.first, "The question of a session that ends", self.answers("Too late.", release="late"),
                        name="held", until="started")  # fmt: skip
        late = Http(message=LIST)
        # The port may still be about to end the call when its gemini has ended.
        steps = (held, Http("DELETE"), late, Release("late"), Await("held"), *[late] * SEVERAL)
        title = "A session that has been ended while a call ran."
        return self.conversation("ended-busy", title, steps, "http:session:ended", aside=True)

    def headers(self, revision: str) -> Conversation:
        stranger = Http(message=_message(revision, "tools/list"), headers={"origin": STRANGERS[0]})
        steps = (Request("tools/list"), *self._contradictions(revision), stranger, Request("tools/list"))
        shows = ("http:stateless:header", "http:stateless:version", "http:stateless:method", "http:origin")
        shows = (*shows, "http:content-type")
        return self.conversation("headers", "Headers of the stateless era.", steps, *shows, revision=revision)

    def _contradictions(self, revision: str) -> Iterable[Step]:
        """Each header missing, with something else than the body says, and in capitals; then an unknown method."""
        called = {"name": "no-such-tool", "arguments": self.arguments(self.first, "x")}
        older = self.spec.manifest.handshake_revisions[0]
        for header, other in (("mcp-protocol-version", None), ("mcp-method", "tools/call")):
            yield Http(message=_message(revision, "tools/list"), headers={header: other})
        for name in (None, self.first, "NO-SUCH-TOOL", "no-such", "no-such-tools"):
            yield Http(message=_message(revision, "tools/call", called), headers={"mcp-name": name})
        encoded = b64encode(b"no-such").decode("ascii")
        for tool, other in product(self.names, ("no-such-tool", f"=?base64?{encoded}?=", None)):
            asked = {"name": tool, "arguments": self.arguments(tool, "Whose name is it?")}
            yield Http(message=_message(revision, "tools/call", asked), headers={"mcp-name": other})
        for method, params in (("tools/call", called), ("tools/list", None), ("server/discover", None)):
            for other in (None, method.upper(), "ping"):
                yield Http(message=_message(revision, method, params), headers={"mcp-method": other})
            yield Http(message=_message(revision, method, params), headers={"mcp-protocol-version": older})
        meta: dict[str, Json] = {"_meta": {"progressToken": "told of nothing"}}
        yield from (Http(message=_message(revision, method, more)) for method in NO_METHODS for more in (None, meta))
        yield Http(message=_message(revision, NO_METHODS[0]), headers=EVENTS_FIRST)
        # A client may send a call again that was served, and then it is compared again.
        yield Http(message=_message(revision, "tools/call", called))
        yield Http(message=_message(revision, "tools/call", called), headers={"mcp-name": "no-such"})
        called = {**called, "_meta": {"progressToken": "told of a mismatch"}}
        yield Http(message=_message(revision, "tools/call", called), headers={"mcp-name": "no-such"})

    def disconnect(self, revision: str) -> Conversation:
        script = self.answers("Beside it.", release="go")
        held = self.ask(self.first, "The question beside it", script, name="held", until="started")
        how: dict[str, Json] = {"name": "abandoned", "until": "started", "file": "You are abandoned."}
        abandoned = self.ask(self.first, "The abandoned question", hangs(stubborn=True), **how)
        others = (Http(message=_message(revision, "tools/list")), Release("go"), Await("held"))
        how = {"name": "abandoned at length", "until": "started", "session": session("at length")}
        long = self.ask(self.last, self.overlong("The abandoned question, at length. "), hangs(), **how)
        late = self.ask(
            self.last, "The question of a while", self.answers("Late.", wait=WHILE), session=session("late")
        )
        lists = self.sources.unnamed("Unlisted.", {"hang": True}, id="lists")
        how = {"name": "abandoned list", "until": "listing"}
        listed = self.ask(self.first, "The abandoned list", lists, session=session("listed"), **how)
        how = {"name": "abandoned stream", "until": "started", "session": session("streamed")}
        streamed = told(self.ask(self.last, "The abandoned stream", hangs(), **how), "of an abandoned stream")
        # When the list comes, no other call runs whose list it could be.
        own = (held, abandoned, Cancel("abandoned"), *others, listed, Cancel(listed.name))
        own = (*own, streamed, Cancel(streamed.name))
        steps = (long, late, Cancel(long.name), *own, *self._in_line())
        title = "A client that closes its connection."
        shows = ("http:stateless:disconnect", "system:removed:cancel")
        return self.conversation("disconnect", title, steps, *shows, revision=revision)

    def _in_line(self) -> Iterable[Step]:
        """A reply whose client has been gone for a moment when its turn comes."""
        tool, ask, answers = self.spec.resumes, self.ask, self.answers
        if tool is None:
            return
        line, own = {"session": session("the line")}, {"session": session("beside the line")}
        front = ask(tool, "The reply in front", answers("In front.", release="front"), name="front", **line)
        yield replace(front, until="started")
        yield ask(tool, "The abandoned reply", hangs(), name="gone", until="sent", **line)
        yield ask(self.first, "The question before it leaves", answers("Here."), **own)
        yield Cancel("gone")
        yield ask(self.first, "The question of a moment", answers("Gone.", wait=MOMENT), **own)
        yield from (Release("front"), Await("front"))
        yield ask(self.first, "The question behind the line", answers("Behind."), **own)
        yield Await("gone")


def _message(revision: str, method: str, params: Json = None) -> Json:
    return request(f"over HTTP: {method}", method, stateless_params(params, revision))
