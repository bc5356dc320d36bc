"""What no client should send, and what pipes do to what it sends; each time followed by proofs of life."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation, Json, Notify, Raw, Request, Step, call
from gemini_mcp_conformance.talk.plays import SESSION, answers
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 30
PHASE = "malformed"
LONG = 10 << 20
HALF = "\ud83d"

NO_JSON = (
    b"This is no JSON.",
    b"{",
    b'{"jsonrpc":"2.0","id":"cut","method":"tools/li',
    b'{"jsonrpc":"2.0","id":"quotes","method":\'ping\'}',
    b"}{",
    b'{"jsonrpc":"2.0",}',
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","method":"\xc3\x28"}',
    b"Content-Length: 2",
    b"[" * 100_000,
)
NO_REQUEST = (b"42", b'"text"', b"true", b"null", b"[]", b"[1,2]", b"{}", b'{"jsonrpc":"2.0"}', b'{"id":null}',
              b'{"jsonrpc":"2.0","method":7}', b'{"jsonrpc":"2.0","id":"no-method"}')  # fmt: skip
UNKNOWN = ("notifications/no-such", "no/such/notification", "$/cancelRequest", "tools/call")
TOOLS = ("chat", "chat-reply")


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Lines of one kind in each, so that what the port says of them can be told apart."""
    yield _lines("no-json", "Lines that are no JSON.", NO_JSON, "rpc:error:parse", "rpc:alive:malformed")
    yield _lines("no-request", "JSON that is no request.", NO_REQUEST, "rpc:error:request", "rpc:alive:malformed")
    yield _unheard()
    yield _wrong_params()
    yield _pieces()
    yield _together()
    yield from _long_lines()
    yield _half_characters()
    yield _half_answers()
    yield _ids()


def alive(words: str, tool: str = "chat") -> tuple[Step, ...]:
    """Proofs of life: the list of tools, and a call."""
    return (Request("tools/list"), call(tool, {"prompt": f"Alive after {words}"}, answers(f"Alive after {words}.")))


def line(message: Json, end: bytes = b"\n") -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + end


def request(id: Json, method: str, params: Json = None) -> Json:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def _conversation(id: str, title: str, steps: Sequence[Step], *shows: str, **more: Json) -> Conversation:
    return Conversation(f"malformed-{id}", title, tuple(steps), PHASE, shows, **more)


def _lines(id: str, title: str, lines: Sequence[bytes], *shows: str) -> Conversation:
    """Each line with a sign of life behind it, the first one twice in a row."""
    steps: list[Step] = [Raw(lines[0] + b"\n"), Raw(lines[0] + b"\n"), *alive("two")]
    for data in lines[1:]:
        steps += [Raw(data + b"\n"), Request("tools/list")]
    return _conversation(id, title, (*steps, *alive("all", "chat-reply")), *shows)


def _unheard() -> Conversation:
    """Notifications that nobody knows, answers that nobody asked for, and blank lines."""
    replies: tuple[Json, ...] = ({"result": {}}, {"error": {"code": -32603, "message": "No."}})
    lines = [line({"jsonrpc": "2.0", "id": id, **reply}) for reply in replies for id in ("nobody", 99_000_001)]
    steps: list[Step] = [step for method in UNKNOWN for step in (Notify(method), Notify(method, {"a": [1]}))]
    steps += [Request("tools/list"), *map(Raw, lines), Raw(b"\n"), Raw(b"\r\n"), Raw(b"   \n"), *alive("nothing")]
    shows = ("rpc:notification:unanswered", "rpc:alive:malformed")
    return _conversation("unheard", "Notifications and answers that nobody asked for.", steps, *shows)


def _wrong_params() -> Conversation:
    every = [{}, {"name": 7}, {"arguments": {"prompt": "No name"}}]
    every += [{"name": tool, "arguments": value} for tool in TOOLS for value in (["prompt"], "prompt", 7, True)]
    steps = [*(Request("tools/call", params) for params in every), *alive("wrong parameters")]
    return _conversation("params", "Calls whose parameters are wrong.", steps, "rpc:error:params")


def _pieces() -> Conversation:
    """One request in pieces of one byte, in halves, and cut inside a character and before its newline."""
    steps: list[Step] = []
    data = line(request("bytes", "tools/list", {}))
    steps.append(Raw(data, tuple(range(1, len(data))), until="answered"))
    for tool in TOOLS:
        prompt = f"In pieces for {tool}: 서울 🙂"
        data = line(request(f"pieces-{tool}", "tools/call", _call(tool, prompt)))
        inside, last = data.index("울".encode()) + 1, len(data) - 1
        for cuts in ((len(data) // 2,), (inside,), (last,), (1, inside, data.index("🙂".encode()) + 2, last)):
            named = data.replace(b"pieces-", f"pieces-{len(steps)}-".encode())
            shift = len(named) - len(data)
            moved = tuple(cut + shift if cut > len(b'{"jsonrpc": "2.0", "id": "pieces-') else cut for cut in cuts)
            steps.append(Raw(named, moved, (answers("Whole."),), until="answered"))
    steps += [Raw(b'{"jsonrpc":"2.0","method":"notifications/no', (10,)), Raw(b'-such"}\n')]
    return _conversation("pieces", "Messages in pieces.", (*steps, *alive("pieces")), "rpc:alive:chunks")


def _together() -> Conversation:
    """Several messages in one write, the last of which comes in two; and lines that end as on Windows."""
    many = b"".join(line(request(f"many-{number}", "tools/list", {})) for number in range(5))
    mixed = line(request("mixed-1", "tools/list", {})) + line({"jsonrpc": "2.0", "method": "notifications/no-such"})
    mixed += line(request("mixed-2", "tools/list", {}))
    windows = line(request("windows", "tools/list", {}), b"\r\n")
    steps: list[Step] = [Raw(many), Request("tools/list"), Raw(mixed, (len(mixed) - 20,)), Request("tools/list")]
    steps += [Raw(windows, until="answered"), Raw(b"\n" + line(request("blank", "tools/list", {})))]
    return _conversation("together", "Several messages at once.", (*steps, *alive("many")), "rpc:alive:chunks")


def _long_lines() -> Iterable[Conversation]:
    """Twice in a row: a line without sense, and one that is a message."""
    junk = b"x" * LONG + b"\n"
    message = line({"jsonrpc": "2.0", "method": "notifications/no-such", "params": {"x": "y" * LONG}})
    shows = ("rpc:alive:long-line",)
    steps: list[Step] = [Raw(junk), *alive("one long line"), Raw(junk), Raw(junk), *alive("two more", "chat-reply")]
    steps += [Raw(message), Raw(message), *alive("long notifications")]
    yield _conversation("long-lines", "Lines of 10 MB.", steps, *shows, aside=True)
    one, other = (call(tool, {"prompt": f"{tool} " + "z" * LONG}) for tool in TOOLS)
    steps = [one, *alive("a long call"), other, *alive("another", "chat-reply")]
    yield _conversation("long-call", "Calls of 10 MB.", steps, *shows, aside=True)


def _half_characters() -> Conversation:
    """A lone surrogate wherever a request can hold one; the port may refuse it, but must answer."""
    steps: list[Step] = []
    for tool in TOOLS:
        for name in ("prompt", "model", "systemPrompt", "cwd", *(("sessionId",) if tool == "chat-reply" else ())):
            arguments = {"prompt": f"Half of {name} for {tool}", name: f"a{HALF}b"}
            steps += [call(tool, arguments, answers("Half."))]
        steps += [call(tool, {"prompt": "Half a key", f"x{HALF}": "y"}, answers("Half a key."))]
    steps += [call(f"no-such-{HALF}", {"prompt": "Half a tool"}), Request("tools/list", {"cursor": HALF})]
    steps += [Request(f"no/such/{HALF}", {}), Request("tools/list", id=f"half-{HALF}"), *alive("halves")]
    steps += [call("chat", {"prompt": "\udc00"}, answers("Another half."), id=f"other-{HALF}"), *alive("more halves")]
    shows = ("rpc:alive:surrogate", "rpc:response:id", "stdio:encoding")
    return _conversation("surrogates", "Requests with half a character.", steps, *shows)


def _half_answers() -> Conversation:
    """What gemini prints may hold half a character as well."""
    steps: list[Step] = []
    for tool in TOOLS:
        for name, words in (("answer", f"a{HALF}b"), ("other", "\udc00"), ("whole", "🙂")):
            script = answers(words, SESSION if name != "other" else f"{SESSION}{HALF}")
            steps += [call(tool, {"prompt": f"Half an answer of {tool}: {name}"}, script), Request("tools/list")]
        errors = Script("half an error", ({"stdout": json.dumps({"error": {"message": HALF}})}, {"exit": 1}))
        steps += [call(tool, {"prompt": f"Half an error of {tool}"}, errors)]
    shows = ("stdio:encoding",)
    return _conversation("half-answers", "Answers with half a character.", (*steps, *alive("half answers")), *shows)


IDS: tuple[Json, ...] = (0, "", -1, -2_147_483_649, 4_294_967_296, 2**53 - 1, "7", 7, "0", "-1", "null", "true",
                         "1.0", "id with blanks ", "질문 🙂", 'quotes " and \\', "i" * 500)  # fmt: skip


def _ids() -> Conversation:
    """Ids of every type, in requests that are answered at once, in both tools, and in what fails."""
    asked = [Request("tools/list", id=id) for id in IDS]
    for number, id in enumerate(IDS[:8]):
        again, wrong = (
            f"{id}{mark}" if isinstance(id, str) else id - less for mark, less in (("+", 1_000), ("-", 2_000))
        )
        failing = (Request("no/such/method", {}, id=wrong), call("no-such-tool", {"prompt": "x"}, id=wrong))
        tool = TOOLS[number % 2]
        asked += [call(tool, {"prompt": f"Id number {number}"}, answers("Yes."), id=again), failing[number % 2]]
    shows = ("rpc:response:id", "rpc:response:error")
    return _conversation("ids", "Ids of every type.", asked, *shows, aside=True)


def _call(tool: str, prompt: str) -> Json:
    return {"name": tool, "arguments": {"prompt": prompt}}
