"""Defects in handing an answer and its session on."""

import json
from dataclasses import replace
from typing import Any

from conditions import REVISION
from defects.record import defect
from speaking import as_object
from steps import Change, Step, for_tool, gives, takes


def text(change: Change) -> Step:
    """Changes the text of an answer."""
    return takes(lambda answer: replace(answer, text=change(answer.text)))


def unwrapped(text: str) -> str:
    try:
        inner = as_object(json.loads(text))
    except ValueError:
        return text
    return text if inner is None else str(inner.get("response", json.dumps(inner)))


def innermost(text: str) -> str:
    try:
        return json.loads(text[text.rindex('{"response"') :])["response"]
    except (ValueError, KeyError, TypeError):
        return text


defect("content-is-text", "Returns the text where the array of content should be.", "result:content")(
    success=gives(lambda result: {**result, "content": result["content"][0]["text"]})
)
defect("content-is-markdown", "Calls the type of its content `markdown`.", "result:content")(
    success=gives(lambda result: {**result, "content": [{**result["content"][0], "type": "markdown"}]})
)


def structured(port: Any, real: Any, answer: Any) -> Any:
    is_new = port.memory.get("revision", "") >= "2025-06-18"
    return {**real(answer), "content": [], "structuredContent": {"text": answer.text}} if is_new else real(answer)


defect(
    "structured-only",
    "Leaves the content empty for clients of newer revisions, which get structured content.",
    "result:content",
    "result:text",
)(initialize=REVISION, success=structured)
defect("whole-stdout", "Returns all of stdout.", "result:text")(
    read_stdout=lambda port, real, stdout, stderr: replace(real(stdout, stderr), text=stdout)
)
defect("session-appended", "Adds the session to the text of an answer.", "result:text")(
    success=takes(lambda answer: replace(answer, text=f"{answer.text}\n\n[sessionId: {answer.session}]"))
)
defect("long-answers-cut", "Cuts an answer after 25,000 characters.", "result:text", "result:large-stdout")(
    success=text(lambda text: text if len(text) <= 25_000 else f"{text[:25_000]}\n[cut]")
)
defect("answer-escaped", "Escapes what is not ASCII.", "result:text:unicode")(
    success=text(lambda text: text.encode("ascii", "backslashreplace").decode())
)
defect("emoji-of-answer-lost", "Replaces characters beyond the basic plane.", "result:text:unicode")(
    success=text(lambda text: "".join(letter if letter <= "\uffff" else "\ufffd" for letter in text))
)
defect("newlines-translated", "Makes one kind of line end of all.", "result:text:newline")(
    success=text(lambda text: text.replace("\r\n", "\n").replace("\r", "\n"))
)
defect("answer-stripped", "Strips the answer.", "result:text:blanks")(success=text(str.strip))
defect("last-newline-of-answer-lost", "Takes one newline off the end of an answer.", "result:text:blanks")(
    success=text(lambda text: text.removesuffix("\n"))
)
defect("json-answer-unwrapped", "Looks for a response inside an answer that is JSON itself.", "result:text:json")(
    success=text(unwrapped)
)
defect(
    "innermost-json-taken",
    "Looks for the last brace that begins an object with a response, inside of texts too.",
    "result:text:json",
)(read_json=gives(lambda answer: replace(answer, text=innermost(answer.text))))
defect("chat-without-session", "Returns no session from `chat`.", "result:session-id")(
    ask=for_tool("chat", gives(lambda answer: replace(answer, session=None)))
)


def under_cli_name(result: Any) -> Any:
    meta = result.get("_meta", {})
    return {**result, "_meta": {{"sessionId": "session_id"}.get(name, name): value for name, value in meta.items()}}


defect(
    "session-under-cli-name",
    "Names the session `session_id`, as gemini does.",
    "result:session-id",
    "result:session-id:chat-reply",
)(success=gives(under_cli_name))
defect("reply-without-session", "Returns no session from `chat-reply`.", "result:session-id:chat-reply")(
    ask=for_tool("chat-reply", gives(lambda answer: replace(answer, session=None)))
)


def echoing(port: Any, real: Any, call: Any, plan: Any) -> Any:
    answer = real(call, plan)
    return answer if plan.session in (None, "latest") else replace(answer, session=plan.session)


defect(
    "reply-echoes-session",
    "Returns the session that a reply asked for, not the one it got.",
    "result:session-id:changed",
)(ask=echoing)
