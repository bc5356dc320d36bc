"""Every way in which a run of gemini can end, and every kind of text it can answer with, for both tools.

A fault may hide in one tool, or in the second call: the calls of one conversation follow each other on one port.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping

from gemini_mcp.spec.values import table
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation, Json, Request, call, path
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 15

SESSION = "3d3f1c0e-6f0a-4b53-9a43-5d1a0c5a7e11"

TEXTS: Mapping[str, str] = {
    "unicode": "naïve café – 서울, 東京, Ελλάδα, שלום",
    "emoji": "👩‍👩‍👧‍👦 🇰🇷 👍🏽 and 𝒳",
    "combining": "e\u0301 o\u0308 \u1100\u1161\u11a8 versus é ö 각",
    "newlines": "one\ntwo\r\nthree\rfour\n\nfive",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "blanks": " \t two before, three after \n\n ",
    "only-blanks": " \n\t ",
    "json-object": '{"session_id": "not-this", "response": "nor this"}',
    "json-answer": '{"response": "inner"}',
    "json-at-end": 'It prints: {"response": "inner", "session_id": "inner"}',
    "json-lines": '```json\n{\n  "response": "inner",\n  "error": null\n}\n```',
    "json-error": '{"error": {"message": "no error"}}',
    "json-array": '["a", {"response": 1}]',
    "json-text": '"quoted"',
    "looks-like-error": "Error executing gemini: this is what the model says\nStderr: nothing",
    "escapes": 'back\\slash \\n \\u0041 quote" tab\t nul\x00 esc\x1b[31m del\x7f',
    "html": "<b>&amp;</b> <!-- --> ]]> ${HOME} $(id) `id` %s {0} {{x}}",
    "markdown": "```python\nprint('{')\n```\n\n| a | b |\n|---|---|\n",
    "number": "42",
    "word": "null",
    "bom": "\ufeffafter a byte order mark\ufeff",
    "noncharacters": "\ufffd \ufffe \uffff \U0010ffff",
    "long-line": "x" * 70_000,
    "many-lines": "line\n" * 20_000,
}
"""Answers by what is odd in them."""

TEXT = (
    "stdio:encoding",
    "result:content",
    "result:success",
    "result:text",
    "result:text:unicode",
    "result:text:newline",
    "result:text:blanks",
    "result:text:json",
    "result:json:pretty",
    "result:json:compact",
    "result:session-id",
    "result:session-id:chat-reply",
    "fallback:unneeded",
)
"""What a text of any kind shows."""

ENDLESS = {"hang", "wait", "release", "child", "ignore"}
LARGE = "large-"
EXITS = (1, 2, 3, 7, 42, 64, 126, 127, 128, 137, 143, 199, 200, 254, 255)
NAMED = (41, 42, 44, 52, 53, 54, 55, 130, 144, 145, 147, 173, 244, 247)

FALLBACK = (
    *("fallback:list-sessions", "fallback:last", "fallback:brackets", "fallback:stderr", "fallback:cwd"),
    *("fallback:failure", "fallback:none", "fallback:by-id", "fallback:latest"),
)
FAILURE = (
    *("error:is-error", "error:content", "error:prefix", "error:exit", "error:signal", "error:session-id"),
    *("error:stderr", "error:stderr:empty", "error:stderr:tail", "error:json-on-stderr", "error:secrets"),
    *("error:quota", "error:session-gone", "concurrency:after-failure", "command:once"),
)
ANSWER = (
    *(
        "result:content",
        "result:success",
        "result:text",
        "result:stderr",
        "result:large-stdout",
        "result:large-stderr",
        "result:session-id:changed",
    ),
    *("result:json:notice-before", "result:json:notice-after", "result:json:braces", "result:json:last"),
    *("result:json:encoding", "result:plain-text", "result:empty", "result:warnings", "result:error-key"),
    *("result:no-output", "result:truncated", "result:no-response", "error:is-error", "error:session-id"),
)


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The texts, the scripts of the specification, and gemini that cannot be started."""
    for tool in ("chat", "chat-reply"):
        yield _texts(tool)
        yield _split(tool)
        for name, script in sources.scripts.items():
            if not _takes_time(script):
                yield _script(tool, name, script)
        yield from _not_started(tool)
        yield _endings(tool)
        yield _listings(tool)
        yield _noises(tool)
        yield _others(tool)


def answer(text: str, session: str | None = SESSION, ascii_only: bool = False, indent: int | None = None) -> Script:
    """A script that answers with `text` and ends."""
    document = {"session_id": session, "response": text} if session else {"response": text}
    return Script("answer", ({"stdout": json.dumps(document, ensure_ascii=ascii_only, indent=indent)},))


def ask(tool: str, prompt: str, *scripts: Script, **arguments: Json) -> Request:
    """A call of either tool with a prompt of its own."""
    return call(tool, {"prompt": prompt, **arguments}, *scripts)


def _texts(tool: str) -> Conversation:
    forms: tuple[Mapping[str, Json], ...] = ({}, {"ascii_only": True}, {"indent": 2})
    pairs = [(name, form) for name in TEXTS for form in forms]
    steps = [
        ask(tool, f"Answer with {name}, {number}", answer(TEXTS[name], f"{SESSION[:-2]}{number:02}", **form))
        for number, (name, form) in enumerate(pairs)
    ]
    title = f"Odd answers to {tool}, each in a session of its own, one after the other."
    return Conversation(f"texts-{tool}", title, tuple(steps), "outcomes", TEXT)


def _split(tool: str) -> Conversation:
    whole = json.dumps({"session_id": SESSION, "response": "서울 👍 é"}, ensure_ascii=False).encode("utf-8")
    start = whole.index("서".encode())
    cuts = range(start + 1, start + 10)
    steps = [ask(tool, f"Cut after byte {cut}", _pieces(whole[:cut], whole[cut:])) for cut in cuts]
    title = f"Answers to {tool} that arrive in two pieces, cut within a character."
    return Conversation(f"split-{tool}", title, tuple(steps), "outcomes", ("result:text:split",))


def _pieces(first: bytes, second: bytes) -> Script:
    pieces = [{"stdoutBase64": b64encode(piece).decode("ascii")} for piece in (first, second)]
    return Script("pieces", (pieces[0], {"wait": 0.02}, pieces[1]))


def _script(tool: str, name: str, script: Script) -> Conversation:
    steps = [ask(tool, f"What is the capital of France, says {name}?", script)]
    if not name.startswith(LARGE):
        steps.append(ask(tool, "And after that?", answer("Lyon is not.")))
    if tool == "chat-reply" and not name.startswith(LARGE):
        steps.append(ask(tool, f"And by id, says {name}?", script, sessionId=SESSION))
    return Conversation(f"outcome-{tool}-{name}", f"{tool}: {name}.", tuple(steps), "outcomes", _shown(script))


def _shown(script: Script) -> tuple[str, ...]:
    """The requirements that such an ending may show."""
    exits = [int(step["exit"]) for step in script.play if "exit" in step]
    if script.list_sessions is not None:
        return FALLBACK
    if exits == [0] or not (exits or any("signal" in step for step in script.play)):
        return ANSWER
    return (*FAILURE, *(f"error:exit:{code}" for code in exits if code in NAMED))


def _not_started(tool: str) -> Iterable[Conversation]:
    for state in ("absent", "not-executable"):
        yield Conversation(
            f"gemini-{state}-{tool}",
            f"{tool}, and gemini is {state.replace('-', ' ')}.",
            (ask(tool, "Is anybody there?"), Request("ping"), ask(tool, "And now?")),
            "outcomes",
            ("error:not-started", "error:not-started:remedy"),
            gemini=state,
        )


def _endings(tool: str) -> Conversation:
    """A full answer on stdout does not make a success of a run that failed."""
    whole = answer("This must not be taken for an answer.").play
    ends: list[Json] = [{"exit": code} for code in EXITS] + [
        {"signal": name} for name in ("KILL", "SEGV", "TERM", "INT", "HUP", "ABRT", "PIPE")
    ]
    steps = [ask(tool, f"End with {end}", Script("ends", (*whole, {"stderr": "It failed.\n"}, end))) for end in ends]
    title = f"{tool}, when gemini answers and fails all the same."
    return Conversation(f"endings-{tool}", title, tuple(steps), "outcomes", FAILURE)


def _listings(tool: str) -> Conversation:
    """The entry with the highest index is neither the first nor the last line, and ten is more than nine."""
    order = (3, 1, 12, 2, 10, 11, 9, 8, 7, 6, 5, 4)
    lines = [f"  {index}. Title [{index}] (of sorts) (3 hours ago) [{SESSION[:-2]}{index:02}]" for index in order]
    text = "\n".join(("", "Available sessions for this project (12):", *lines, ""))
    bare = answer("No session is named here.", session=None).play
    listed = {
        "both": Script("bare", bare, ({"stderr": "some noise [x]\n"}, {"stdout": text})),
        "stderr": Script("bare", bare, ({"stderr": text},)),
        "again": Script("bare", bare, ({"stdout": text.replace(SESSION[:8], "f00dcafe")},)),
        "nothing": Script("bare", bare, ({"stdout": "No previous sessions found for this project.\n"},)),
        "failure": Script("bare", bare, ({"stdout": text}, {"exit": 1})),
    }
    steps = [ask(tool, f"Which session, by {name}?", script) for name, script in listed.items()]
    if tool == "chat-reply":
        steps.append(ask(tool, "And by id?", listed["both"], sessionId="11111111-2222-3333-4444-555555555555"))
    steps.append(ask(tool, "Which session, elsewhere?", listed["both"], cwd=path("elsewhere")))
    steps.append(ask(tool, "Which session, elsewhere from here?", listed["both"], cwd="elsewhere"))
    title, files = f"{tool}, when the list must be asked.", {"elsewhere": None}
    return Conversation(f"listings-{tool}", title, tuple(steps), "outcomes", FALLBACK, files=files)


def _noises(tool: str) -> Conversation:
    """What stderr holds may be private, or too much."""
    prompt = "Summarise the plan that nobody else may read, please."
    key = "AIzaSyD-0123456789abcdefghijklmnopqrstuv"
    noises = {
        prompt: f"cannot read: {prompt}\nat line 1\n",
        "Which key?": f"request failed: https://example.org/?key={key}\n",
        "How much?": "".join(f"line {number} of much noise\n" for number in range(3000)) + "the very end\n",
        "How much of it?": "서울 👍 " * 4000 + "the very end\n",
        "Nothing?": "",
    }
    steps = [ask(tool, asked, Script("fails", ({"stderr": noise}, {"exit": 1}))) for asked, noise in noises.items()]
    title = f"{tool}, when gemini fails with something private or with very much on stderr."
    return Conversation(f"noises-{tool}", title, tuple(steps), "outcomes", (*FAILURE, "error:prompt"))


def _others(tool: str) -> Conversation:
    """JSON beside the answer's own, sessions that are no text, and errors without a message."""
    hook = {"session_id": "00000000-0000-4000-8000-000000000000", "hook_event_name": "BeforeAgent"}
    written: Mapping[str, tuple[Json, ...]] = {
        "another object before it": (hook, {"session_id": SESSION, "response": "Behind a hook."}),
        "no session": ({"session_id": None, "response": "Null."},),
        "a number for a session": ({"session_id": 7, "response": "Seven."},),
        "an error without a message": ({"session_id": SESSION, "response": "No.", "error": {"code": 1}},),
        "a text for an error": ({"session_id": SESSION, "response": "No.", "error": "It failed."},),
    }
    steps = [
        ask(
            tool,
            f"Answer with {kind}",
            Script("others", tuple({"stdout": json.dumps(each) + "\n"} for each in documents)),
        )
        for kind, documents in written.items()
    ]
    damaged = b64encode(b"caf\xe9 is damaged\n").decode("ascii")
    steps.append(ask(tool, "Damage stderr", Script("fails", ({"stderrBase64": damaged}, {"exit": 1}))))
    shows = ("result:session-id", "result:error-key", "fallback:none", "error:stderr", "result:text")
    return Conversation(f"others-{tool}", f"{tool}, answered in unusual ways.", tuple(steps), "outcomes", shows)


def _takes_time(script: Script) -> bool:
    return any(table(step).keys() & ENDLESS for step in (*script.play, *(script.list_sessions or ())))
