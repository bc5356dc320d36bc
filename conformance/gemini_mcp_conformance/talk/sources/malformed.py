"""Messages that no client should send, and messages in pieces; after each, requests that show that the port lives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json, table
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import notification, request
from gemini_mcp_conformance.talk.plays import SESSION, fails, hangs, session
from gemini_mcp_conformance.talk.sources import Maker, Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, Notify, Raw, Release, Request, Step, Until, call
from gemini_mcp_conformance.talk.texts import SURROGATE

ORDER = 30
LONG = 10 << 20
MOMENT, HALF = 0.4, 3.0
"""Seconds after which a call ends between two halves of a line, and those between the halves."""
UNICODE = "prompt:verbatim:unicode"
SIZES = (4 << 10, 8 << 10, 64 << 10)
"""Bytes of buffers that programs like to read into."""

NO_JSON = (
    b"This is no JSON.",
    b"{",
    b'{"jsonrpc":"2.0","id":"cut","method":"tools/li',
    b'{"jsonrpc":"2.0","id":"quotes","method":\'ping\'}',
    b"}{",
    b'{"jsonrpc":"2.0",}',
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","method":"\xc3\x28"}',
    b'{"jsonrpc":"2.0","id":"parted","method":"\xea\xb0',
    b"Content-Length: 2",
    b'{"jsonrpc":"2.0","id":"first","method":"ping"} and more',
    b'{"jsonrpc":"2.0","id":"one","method":"ping"}{"jsonrpc":"2.0","id":"other","method":"ping"}',
    b'x{"jsonrpc":"2.0","id":"behind","method":"ping"}',
    b"[" * 100_000,
)
"""Among others a header of the Language Server Protocol, the mark of UTF-16, broken UTF-8, and what a recursive parser
cannot follow."""
NO_REQUEST = (b"42", b'"text"', b"true", b"null", b"[]", b"[1,2]", b"{}", b'{"jsonrpc":"2.0"}', b'{"id":null}',
              b'{"jsonrpc":"2.0","method":7}', b'{"jsonrpc":"2.0","id":"no-method"}',
              b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
              b'{"jsonrpc":"2.0","id":["list"],"method":"ping"}', b'{"jsonrpc":"1.0","id":"older","method":"ping"}',
              b'{"id":"bare","method":"ping"}')  # fmt: skip
UNKNOWN = ("notifications/no-such", "no/such/notification", "$/cancelRequest", "tools/call", "tools/list", "ping",
           "notifications/progress", "notifications/roots/list_changed", "notifications/message")  # fmt: skip
"""Methods that no port waits for in a notification; some are those of requests, which are not answered without an id,
and some those of notifications that others send."""
UNNEEDED: tuple[Json, ...] = (None, {"a": [1]}, {}, {"_meta": {"progressToken": "none"}})
"""Parameters of notifications."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Lines of one kind in each, so that what the port says of them can be told apart."""
    made = Malformed(sources)
    yield made.lines("no-json", "Lines that are no JSON.", NO_JSON, "rpc:error:parse", "rpc:alive:malformed")
    yield made.lines("no-request", "JSON that is no request.", NO_REQUEST, "rpc:error:request", "rpc:alive:malformed")
    yield made.meanwhile()
    yield made.unheard()
    yield made.wrong_params()
    yield made.pieces()
    yield made.pauses()
    yield made.halves()
    yield made.together()
    yield made.full_lines()
    yield from made.long_lines()
    yield made.surrogates()
    yield made.surrogates_in_answers()
    yield made.ids()
    yield made.layouts()
    yield made.private()


def line(message: Json, end: bytes = b"\n") -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + end


IDS: tuple[Json, ...] = (0, "", -1, -2_147_483_649, 4_294_967_296, 2**53 - 1, "7", 7, "0", "-1", "null", "true",
                         "1.0", "id with blanks ", "질문 🙂", 'quotes " and \\', "i" * 500,
                         "nul \0 inside")  # fmt: skip
"""Ids beyond 32 bits, up to the last that JavaScript can tell apart, and texts that look like other values."""


IN_A_ROW = 6
"""How often lines come again: more in a row than some ports bear."""


class Malformed(Maker):
    """Broken and unusual messages to a port of one specification."""

    phase, prefix = "malformed", "malformed-"

    def alive(self, words: str, tool: str | None = None) -> tuple[Step, ...]:
        """Requests that show that the port lives: a call, and the list of tools."""
        words = f"Alive after {words}, é 서울 🙂"
        return (self.ask(tool or self.first, words, self.answers(f"{words}.")), Request("tools/list"))

    def meanwhile(self) -> Conversation:
        """Lines that are no message while calls run: one of each tool is cancelled behind them, another answered."""
        steps: list[Step] = []
        for tool in self.names:
            gone, kept = f"cancelled behind lines, {tool}", f"answered behind lines, {tool}"
            script = self.answers("Answered behind lines.", session(kept), kept)
            for name, plays in ((gone, hangs()), (kept, script)):
                words, own = f"The question of what is {name}?", session(name)
                steps.append(self.ask(tool, words, plays, session=own, name=name, until="started"))
            steps += [Raw(each + b"\n") for each in (*NO_JSON[:3] * IN_A_ROW, *NO_REQUEST[:3] * IN_A_ROW)]
            steps += [Cancel(gone), Release(kept), Await(kept)]
        title = "Lines that are no message, while calls run."
        shows = ("rpc:alive:malformed", "cancel:child", "cancel:unanswered")
        return self.conversation("meanwhile", title, (*steps, *self.alive("calls")), *shows)

    def lines(self, id: str, title: str, lines: Sequence[bytes], *shows: str) -> Conversation:
        """Each line with a sign of life behind it, the first one twice in a row."""
        first = Raw(lines[0] + b"\n")
        steps: list[Step] = [first, first, Request("no/such/method"), *self.alive("two")]
        for data in lines[1:]:
            steps += [Raw(data + b"\n"), Request("tools/list")]
        return self.conversation(id, title, (*steps, *self.alive("all", self.last)), *shows)

    def unheard(self) -> Conversation:
        """Unknown notifications, responses without a request, and blank lines."""
        replies: tuple[Json, ...] = ({"result": {}}, {"error": {"code": -32603, "message": "No."}})
        lines = [line({"jsonrpc": "2.0", "id": id, **reply}) for reply in replies for id in ("nobody", 99_000_001)]
        steps: list[Step] = [Notify(*each) for each in product(UNKNOWN, UNNEEDED)]
        steps += [Request("tools/list"), *map(Raw, lines), Raw(b"\n"), Raw(b"\r\n"), Raw(b"   \n")]
        shows = ("rpc:notification:unanswered", "rpc:alive:malformed")
        title = "Notifications and answers that nobody asked for."
        return self.conversation("unheard", title, (*steps, *self.alive("nothing")), *shows)

    def wrong_params(self) -> Conversation:
        every: list[Json] = [{}, {"name": 7}, {"arguments": self.arguments(self.first, "No name")}]
        values: tuple[Json, ...] = (["prompt"], "prompt", 7, True, [], "", 0, False)
        every += [{"name": tool, "arguments": value} for tool in self.names for value in values]
        spelt = {tool: json.dumps(self.arguments(tool, "In another form")) for tool in self.names}
        every += [{"name": tool, "arguments": text} for tool, text in spelt.items()]
        steps = [*(Request("tools/call", params) for params in every), *self.alive("wrong parameters")]
        return self.conversation("params", "Calls whose parameters are wrong.", steps, "rpc:error:params")

    def pieces(self) -> Conversation:
        """One request in pieces of one byte, in halves, and cut inside a character and before its newline."""
        data = line(request("bytes", "tools/list", {}))
        steps: list[Step] = [Raw(data, tuple(range(1, len(data))), until="answered")]
        for tool in self.names:
            arguments = {**self.arguments(tool, f"In pieces for {tool}: 서울 🙂"), "x-서울": "🙂"}
            data = line(request(f"pieces-{tool}", "tools/call", {"name": tool, "arguments": arguments}))
            inside, last = data.index("울".encode()) + 1, len(data) - 1
            for cuts in ((len(data) // 2,), (inside,), (last,), (1, inside, data.index("🙂".encode()) + 2, last)):
                # Each request needs an id of its own. The longer id moves the cuts behind it.
                named = data.replace(b"pieces-", f"pieces-{len(steps)}-".encode(), 1)
                shift = len(named) - len(data)
                moved = tuple(cut + shift if cut > len(b'{"jsonrpc": "2.0", "id": "pieces-') else cut for cut in cuts)
                steps.append(Raw(named, moved, (self.answers("Whole."),), until="answered"))
        steps += [Raw(b'{"jsonrpc":"2.0","method":"notifications/no', (10,)), Raw(b'-such"}\n')]
        shows = ("rpc:alive:chunks", "concurrency:crossed", UNICODE)
        return self.conversation("pieces", "Messages in pieces.", (*steps, *self.alive("pieces")), *shows)

    def pauses(self) -> Conversation:
        """Requests whose rest comes later."""
        steps: list[Step] = []
        for number, pause in enumerate((0.1, 5.2)):
            tool = self.names[number % len(self.names)]
            params = {"name": tool, "arguments": self.arguments(tool, "Late")}
            data = line(request(f"paused-{number}", "tools/call", params))
            cuts, answer = (len(data) // 2,), self.answers("Whole.")
            steps.append(Raw(data, cuts, (answer,), until="answered", pause=pause))
        title = "Messages whose rest comes later."
        return self.conversation("pauses", title, (*steps, *self.alive("pauses")), "rpc:alive:chunks", aside=True)

    def halves(self) -> Conversation:
        """Half a line, while one call ends and another is cancelled; then the rest, of a message or of a request."""
        steps: list[Step] = []
        unheard = line(notification("notifications/no-such"))
        asked = line(request("in halves", "tools/list", {}))
        lines: tuple[tuple[str, bytes, Until], ...] = (("unheard", unheard, "sent"), ("asked", asked, "answered"))
        for name, data, until in lines:
            ended, gone = f"ended beside what is {name}", f"gone beside what is {name}"
            brief = self.answers("Ended.", wait=MOMENT)
            steps += [self.ask(self.last, f"No end, {gone}", hangs(stubborn=True), session=session(gone), name=gone,
                               until="started"),
                      self.ask(self.first, f"Who is {ended}?", brief, name=ended, until="started"),
                      Cancel(gone, "sent"), Raw(data, (len(data) // 2,), until=until, pause=HALF),
                      Await(gone), Await(ended)]  # fmt: skip
        shows = ("rpc:alive:chunks", "cancel:ignored-term")
        return self.conversation("halves", "Halves of lines beside calls.", steps, *shows, aside=True)

    def together(self) -> Conversation:
        """Several messages in one write, the last of which comes in two; and lines that end as on Windows."""
        many = b"".join(line(request(f"many-{number}", "tools/list", {})) for number in range(5))
        mixed = line(request("mixed-1", "tools/list", {})) + line(notification("notifications/no-such"))
        mixed += line(request("mixed-2", "tools/list", {}))
        windows = line(request("windows", "tools/list", {}), b"\r\n")
        steps: list[Step] = [Raw(many), Request("tools/list"), Raw(mixed, (len(mixed) - 20,)), Request("tools/list")]
        steps += [Raw(windows, until="answered"), Raw(b"\n" + line(request("blank", "tools/list", {})))]
        # A piece that begins with the end of a line, and ends within a character of the next one.
        asked = {"name": self.first, "arguments": self.arguments(self.first, "Behind a blank line: 서울")}
        behind = b"\n" + line(request("behind a blank line", "tools/call", asked))
        cuts, answer = (behind.index("울".encode()) + 1,), self.answers("Whole.")
        steps.append(Raw(behind, cuts, (answer,), until="answered", pause=HALF))
        for bad in (b"[7]\n", b'{"id": "together"}\n'):
            steps += [Raw(bad, until="held"), Request("tools/list")]
        # Software that takes lines from text knows more ends of a line than there are.
        separated = self.ask(self.last, "Which\u2028lines\u2029are\x85these?", self.answers("One."))
        steps += [Raw(line(request("separated", "tools/list", {})), until="held"), separated]
        title = "Several messages at once."
        shows = ("rpc:alive:chunks", "rpc:alive:malformed", UNICODE)
        return self.conversation("together", title, (*steps, *self.alive("many")), *shows)

    def long_lines(self) -> Iterable[Conversation]:
        """Twice in a row: a line without sense, and one that is a message; at first a call runs."""
        junk = b"x" * LONG + b"\n"
        message = line(notification("notifications/no-such", {"x": "y" * LONG}))
        shows = "rpc:alive:long-line"
        answer = self.answers("Still here.", release="long line")
        held = self.ask(self.first, "Who runs beside a long line?", answer, name="beside", until="started")
        steps: list[Step] = [held, Raw(junk), *self.alive("one long line"), Release("long line"), Await("beside")]
        steps += [Raw(junk), Raw(junk), *self.alive("two more", self.last)]
        steps += [Raw(message), Raw(message), *self.alive("long notifications")]
        answered = ("result:session-id", "result:success", "cancel:others")
        yield self.conversation("long-lines", "Lines of 10 MB.", steps, shows, UNICODE, *answered, aside=True)
        one = call(self.first, {**self.arguments(self.first, self.first), "no-such": "z" * LONG})
        file = dict.fromkeys(self.spec.files(self.last) or ("no-such",), "z" * LONG)
        other = call(self.last, {**self.arguments(self.last, self.last), **file}, self.answers("Long, and read."))
        steps = [one, *self.alive("a long call"), other, *self.alive("another", self.last)]
        read = [f"system:{kebab(self.last)}"] if self.spec.files(self.last) else []
        yield self.conversation("long-call", "Calls of 10 MB.", steps, shows, UNICODE, *read, aside=True)

    def full_lines(self) -> Conversation:
        """Requests whose lines fill a buffer just to its end, or by a byte more or less."""
        steps: list[Step] = []
        for number, (size, more) in enumerate(product(SIZES, (-1, 0, 1))):
            tool = self.names[number % len(self.names)]
            arguments = self.arguments(tool, f"Who fills {size + more} bytes of a line, and why?")
            params = {"name": tool, "arguments": arguments, "_meta": {"example.org/filler": ""}}
            data = line(request(f"full-{number}", "tools/call", params))
            filled = data.replace(
                b'"example.org/filler": "', b'"example.org/filler": "' + b"x" * (size + more - len(data))
            )
            steps.append(Raw(filled, (), (self.answers("Full."),), until="answered"))
        title, shows = "Requests that fill buffers.", ("rpc:response:id", "rpc:alive:chunks", "rpc:alive:long-line")
        return self.conversation("full", title, (*steps, *self.alive("full lines")), *shows)

    def surrogates(self) -> Conversation:
        """A lone surrogate wherever a request can hold one; the port may refuse it, but must answer."""
        steps: list[Step] = []
        for tool in self.names:
            usual = self.arguments(tool, f"A surrogate for {tool}")
            for name in self.spec.tools[tool].properties:
                steps += [call(tool, {**usual, name: f"a{SURROGATE}b"}, self.answers("Half."))]
            steps += [call(tool, {**usual, f"x{SURROGATE}": "y"}, self.answers("Half a key."))]
        usual = self.arguments(self.first, "A surrogate elsewhere")
        steps += [call(f"no-such-{SURROGATE}", usual), Request("tools/list", {"cursor": SURROGATE})]
        steps += [Request(f"no/such/{SURROGATE}", {}), Request("tools/list", id=f"half-{SURROGATE}")]
        token = {"name": self.first, "arguments": usual, "_meta": {"progressToken": f"half-{SURROGATE}"}}
        steps += [Request("tools/call", token, (self.answers("Told by half."),)), *self.alive("halves")]
        low = self.arguments(self.first, "\udc00")
        steps += [call(self.first, low, self.answers("Another half."), id=f"other-{SURROGATE}")]
        shows = ("rpc:alive:surrogate", "rpc:response:id", "stdio:encoding")
        title = "Requests with a lone surrogate."
        return self.conversation("surrogates", title, (*steps, *self.alive("more halves")), *shows)

    def surrogates_in_answers(self) -> Conversation:
        """What gemini prints may hold a lone surrogate as well."""
        steps: list[Step] = []
        for tool in self.names:
            everything: dict[str, Json] = {"option": "a-model", "file": "You are half.", "directory": "."}
            for name, words in (
                ("answer", f"Half of what {SURROGATE} nobody else may read"),
                ("other", "\udc00"),
                ("row", f"{SURROGATE}{SURROGATE} in a row"),
                ("whole", "🙂"),
            ):
                script = self.answers(words, SESSION if name != "other" else f"{SESSION}{SURROGATE}")
                asked = f"Half an answer of {tool}: {name}"
                steps += [self.ask(tool, asked, script, **everything if name == "answer" else {})]
                steps.append(Request("tools/list"))
            warned = self.sources.document("Warned by half.", SESSION, warnings=[f"a{SURROGATE}b"])
            steps.append(self.ask(tool, f"Half a warning of {tool}", _prints(warned)))
        error = {self.spec.outcome.answer["error"]: {"message": SURROGATE}}
        steps += [self.ask(tool, f"Half an error of {tool}", _prints(error, 1)) for tool in self.names]
        title = "Answers with a lone surrogate."
        shows = ("stdio:encoding", "result:success", "result:warnings", "result:text:surrogate", "stdio:stderr:private")
        return self.conversation("half-answers", title, (*steps, *self.alive("half answers")), *shows)

    def ids(self) -> Conversation:
        """Ids of every type, in requests that are answered at once, in every tool, and in what fails."""
        asked = [Request("tools/list", id=id) for id in IDS]
        for number, id in enumerate(IDS):
            # A digit more: what looks like a number still does.
            again, wrong = (
                f"{id}{digit}" if isinstance(id, str) else id - less for digit, less in ((1, 1_000), (2, 2_000))
            )
            unknown = call("no-such-tool", self.arguments(self.first, "x"), id=wrong)
            failing = (Request("no/such/method", {}, id=wrong), unknown)
            tool = self.names[number % len(self.names)]
            asked += [self.ask(tool, f"Id number {number}", self.answers("Yes."), id=again)]
            asked += [failing[number % 2]]
        # What looks like an id that a failure has had is another one.
        alike: tuple[Json, ...] = (880_001, "880001", "880001.0", " 880001", "880001 ", "0880001")
        for number, id in enumerate(alike):
            tool = self.names[number % len(self.names)]
            asked += [self.ask(tool, f"Failing id number {number}", fails(), id=id)]
        shows = ("rpc:response:id", "rpc:response:error")
        return self.conversation("ids", "Ids of every type.", asked, *shows, aside=True)

    def layouts(self) -> Conversation:
        """Requests as JSON may be laid out: blanks around and within, and keys in any order.

        Keys of the request occur once more among its arguments, which no tool declares and which come first.
        """
        steps: list[Step] = []
        for tool in self.names:
            inner: dict[str, Json] = {"id": "inner", "method": "ping", "jsonrpc": "1.0", "params": {}}
            strange = {key: value for key, value in inner.items() if key not in self.spec.tools[tool].properties}
            for number, layout in enumerate(LAYOUTS):
                arguments = {**strange, **self.arguments(tool, f"Laid out in way {number}")}
                params = {"arguments": arguments, "name": tool}
                message = request(f"layout-{number}-{tool}", "tools/call", params)
                steps.append(Raw(layout(table(message)), (), (self.answers("Laid out."),), until="answered"))
        title, shows = "Requests in unusual layouts.", ("rpc:response:id", "rpc:alive:chunks")
        shows = (*shows, "arguments:unknown", *(f"command:{kebab(tool)}" for tool in self.names))
        return self.conversation("layouts", title, (*steps, *self.alive("layouts")), *shows)

    def private(self) -> Conversation:
        """What is wrong with a message or an answer is no reason to log it."""
        words = "The plan of a broken message that nobody else may read"
        arguments = self.arguments(self.first, words)
        whole = line(request("broken", "tools/call", {"name": self.first, "arguments": arguments}))
        steps: list[Step] = [Raw(whole[:-2] + b"\n"), Raw(whole.replace(b'"tools/call"', b"7")), Request("tools/list")]
        steps += [call("no-such-tool", arguments), Request("no/such/method", {"arguments": arguments})]
        steps += [Request("tools/call", {"arguments": arguments}), call(self.first, arguments, self.answers("Read."))]
        wrong: tuple[Json, ...] = ([words], json.dumps(arguments), words)
        steps += [Request("tools/call", {"name": self.first, "arguments": value}) for value in wrong]
        bare = Script("bare", ({"stdout": "The answer that nobody else may read, without JSON.\n"},))
        steps.append(self.ask(self.first, "What is the plan?", bare))
        whole = json.dumps(self.sources.document("The answer that nobody else may read, and which breaks off."))
        steps.append(self.ask(self.first, "What is the rest?", Script("broken", ({"stdout": whole[:-4]},))))
        odd = (f"--{words}", f"/{words}", f"@{words}", f"\n{words}\0")
        steps += [self.ask(self.last, text, self.answers("Read.")) for text in odd]
        title = "Wrong messages with a prompt in them, odd prompts, an answer without JSON, and one that breaks off."
        return self.conversation("private", title, steps, "stdio:stderr:private")


def _prints(document: Json, exit: int = 0) -> Script:
    return Script("prints", ({"stdout": json.dumps(document)}, {"exit": exit}))


def _reversed(message: Mapping[str, Json]) -> bytes:
    return line({key: message[key] for key in reversed(list(message))})


def _spaced(message: Mapping[str, Json]) -> bytes:
    return json.dumps(message, separators=(" ,\t", "  : ")).encode() + b"\n"


MEMBER = re.compile(rb'([{,]\s*")([a-z])(?=[a-z_]*"\s*:)', re.IGNORECASE)
"""The first letter of the name of a member."""

LAYOUTS: tuple[Callable[[Mapping[str, Json]], bytes], ...] = (
    lambda message: b" \t" + line(message),
    lambda message: line(message, b" \t \r\n"),
    _reversed,
    lambda message: _reversed({"id": message["id"], **message}),
    _spaced,
    lambda message: json.dumps(message, separators=(" , ", " : ")).encode() + b"\n",
    lambda message: MEMBER.sub(lambda name: b"%s\\u%04x" % (name[1], ord(name[2])), line(message)),
)
"""Ways to write a message on one line."""
