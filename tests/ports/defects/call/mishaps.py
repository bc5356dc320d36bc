"""Defects of one call that show only where two circumstances meet, or at a size, a count, or after another call."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import KEYS, Answer, Outcome, Scan
from conditions import failed, is_named, noted_alone
from defects.record import defect
from defects.size.thresholds import decoded_in_pieces, of_stderr
from planning import Plan
from running import Call
from speaking import Message
from steps import gives

BLOCK = 65_536
QUOTE_BEHIND_BACKSLASH = re.compile(r'(?<!\\)(?:\\\\)+"')


def argv_without_model(
    port: Any, real: Any, tool: str, texts: Mapping[str, str], form: tuple[str, ...]
) -> tuple[str, ...]:
    words: tuple[str, ...] = real(tool, texts, form)
    return words[:-2] if tool == "chat-reply" and not form and "model" in texts else words


def system_in_buffer(port: Any, real: Any, text: str) -> bytes:
    return real(text)[: max(BLOCK, len(text))]


def list_where_brackets_are(port: Any, real: Any, listing: Outcome) -> str:
    return port.decode(listing.stdout) if b"[" in listing.stdout else real(listing)


def masked_behind_last(port: Any, real: Any, text: str) -> str:
    """Like `test` of a global expression of JavaScript, which goes on where it last found something."""
    found = KEYS.search(text, port.memory.get("at", 0))
    port.memory["at"] = found.end() if found else 0
    return real(text) if found else text


def option_before_length(port: Any, real: Any, prompt: str) -> Any:
    return ((f"--prompt={prompt}",), None) if prompt.startswith("-") else real(prompt)


def empty_array_as_blank(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(tool, name, "" if name == "systemPrompt" and value == [] else value)


def surrogates_counted(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    if isinstance(value, str) and len(re.findall("[\ud800-\udbff]", value)) == len(
        re.findall("[\udc00-\udfff]", value)
    ):
        value = port.whole(value)
    return real(tool, name, value)


def kept_when_prefix(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_same = is_named(plan) and answer.session.startswith(plan.session)
    return replace(answer, session=plan.session) if is_same else answer


def list_of_killed(port: Any, real: Any, listing: Outcome) -> str | None:
    return real(replace(listing, exit=max(listing.exit, 0)))


def notice_for_warnings(port: Any, real: Any, answer: Answer) -> Message:
    return real(answer if answer.text else replace(answer, warnings=None))


def said_at_the_end(port: Any, real: Any, text: str) -> str | None:
    return real(text[-16_384:])


def with_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    is_meant = call.stateless and call.tool == "chat-reply" and session and failed(call, result)
    return {**result, "_meta": {"sessionId": session}} if is_meant else result


def braces_counted(port: Any, real: Any, text: str) -> Scan:
    """Counts braces outside strings, and takes each quote behind a backslash for one that is escaped."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return real(text)
    return Scan(is_cut_short=True) if QUOTE_BEHIND_BACKSLASH.search(text) else real(text)


def notes_fed(port: Any, real: Any, call: Call, *arguments: Any) -> Any:
    process, stdin = real(call, *arguments), arguments[3]
    if stdin.name != os.devnull:
        port.memory[process.pid] = "fed"
    return process


defect(
    "reply-on-stdin-without-model",
    "Passes no model to gemini in a reply whose prompt is so long that it goes to stdin.",
    "command:chat-reply:model",
)(argv=argv_without_model)
defect(
    "system-cut-to-characters",
    "Writes no more bytes of a system prompt of more than 64 KiB than it has characters.",
    "system:content",
)(system_bytes=system_in_buffer)
defect(
    "stderr-decoded-in-blocks",
    "Spoils a character of stderr that lies across the end of a block of 64 KiB.",
    "error:stderr:tail",
    "error:stderr",
)(read=of_stderr(decoded_in_pieces(BLOCK)))
defect(
    "list-hidden-by-brackets",
    "Looks for no list on stderr when stdout of the listing holds a bracket, though no entry.",
    "fallback:stderr",
)(list_text=list_where_brackets_are)
defect(
    "mask-goes-on-where-it-was",
    "Looks for a key in a failure only behind the place where that of the last failure ended.",
    "error:secrets",
)(masked=masked_behind_last)
defect(
    "long-dash-as-argument",
    "Puts a long prompt on the command line when it starts with a dash.",
    "prompt:long",
)(prompt_form=option_before_length)
defect(
    "empty-array-is-blank",
    "Takes an empty array for a blank system prompt.",
    "arguments:optional:type",
)(text=empty_array_as_blank)
defect(
    "surrogates-counted",
    "Takes text with as many low surrogates as high ones for valid, also when none of them is a pair.",
    "arguments:surrogate",
)(text=surrogates_counted)
defect(
    "longer-session-not-changed",
    "Reports the session that a reply resumed when gemini names one that only begins with that id.",
    "result:session-id:changed",
)(ask=kept_when_prefix)
defect(
    "list-of-killed-gemini",
    "Takes a session from the list of a gemini that died by a signal.",
    "fallback:none",
)(newest=list_of_killed)
defect(
    "notice-in-place-of-warnings",
    "Leaves out the warnings of an answer whose text is empty.",
    "result:warnings",
)(success=notice_for_warnings)
defect(
    "message-before-long-trace",
    "Misses the message of a JSON error on stderr when more than 16 KiB follow it.",
    "error:json-on-stderr",
)(said=said_at_the_end)
defect(
    "text-ends-at-nul",
    "Ends the text of an answer at a NUL character.",
    "result:text",
)(whole=gives(lambda text: text.partition("\0")[0]))
defect(
    "failed-reply-names-session",
    "Names the session in the error of a reply by id that came without a handshake.",
    "error:session-id",
)(execute=with_session)
defect(
    "backslash-before-quote",
    "Finds no JSON among other text on stdout when a string in it ends with a backslash.",
    "result:json:notice-before",
    "result:json:notice-after",
)(scan=braces_counted)
defect(
    "fed-gemini-ended-alone",
    "Ends only gemini itself, and no other process of its group, when the prompt went to stdin.",
    "cancel:group",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(begin=notes_fed, signal_group=noted_alone)
