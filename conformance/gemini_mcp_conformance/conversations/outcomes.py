"""Every way in which a run of gemini can end, and every kind of text it can answer with, for both tools.

A fault may hide in one tool, or in the second call: the calls of one conversation follow each other on one port.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping

from gemini_mcp_conformance.conversation import Conversation, Json, Request, call
from gemini_mcp_conformance.conversations import Sources
from gemini_mcp_conformance.fake import Script
from gemini_mcp_conformance.values import table

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

ENDLESS = {"hang", "wait", "release", "child", "ignore"}
LARGE = "large-"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The texts, the scripts of the specification, and gemini that cannot be started."""
    for tool in ("chat", "chat-reply"):
        yield _texts(tool)
        yield _split(tool)
        for name, script in sources.scripts.items():
            if not _takes_time(script):
                yield _script(tool, name, script)
        yield from _not_started(tool)


def answer(text: str, session: str | None = SESSION, ascii_only: bool = False, indent: int | None = None) -> Script:
    """A script that answers with `text` and ends."""
    document = {"session_id": session, "response": text} if session else {"response": text}
    return Script("answer", ({"stdout": json.dumps(document, ensure_ascii=ascii_only, indent=indent)},))


def ask(tool: str, prompt: str, *scripts: Script, **arguments: Json) -> Request:
    """A call of either tool with a prompt of its own."""
    return call(tool, {"prompt": prompt, **arguments}, *scripts)


def _texts(tool: str) -> Conversation:
    steps = [
        ask(
            tool,
            f"Answer with {name}, {form}",
            answer(text, ascii_only=form == "escaped", indent=2 if form == "pretty" else None),
        )
        for name, text in TEXTS.items()
        for form in ("raw", "escaped", "pretty")
    ]
    shown = ("result:text", "result:text:unicode", "result:text:newline", "result:text:blanks", "result:text:json")
    return Conversation(
        f"texts-{tool}", f"Odd answers to {tool}, one after the other.", tuple(steps), "outcomes", shown
    )


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
    shown = ("concurrency:after-failure", "result:text")
    return Conversation(f"outcome-{tool}-{name}", f"{tool}: {name}.", tuple(steps), "outcomes", shown)


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


def _takes_time(script: Script) -> bool:
    return any(table(step).keys() & ENDLESS for step in (*script.play, *(script.list_sessions or ())))
