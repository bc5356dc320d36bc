"""Defects in handing an answer and its session on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping

from answering import Answer
from defects.record import breaks, variant
from planning import Plan
from port import Port
from running import Call
from speaking import JSON, Message, as_object


@breaks("result:content")
class ContentIsText(Port):
    """Returns the text where the array of content should be."""

    def success(self, answer: Answer) -> Message:
        return {**super().success(answer), "content": answer.text}


@breaks("result:content")
class ContentIsMarkdown(Port):
    """Calls the type of its content `markdown`."""

    def success(self, answer: Answer) -> Message:
        return {**super().success(answer), "content": [{"type": "markdown", "text": answer.text}]}


@breaks("result:content", "result:text")
class StructuredOnly(Port):
    """Leaves the content empty for clients of newer revisions, which get structured content."""

    is_new = False

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        answer = super().initialize(params)
        self.is_new = answer["protocolVersion"] >= "2025-06-18"
        return answer

    def success(self, answer: Answer) -> Message:
        result = super().success(answer)
        return {**result, "content": [], "structuredContent": {"text": answer.text}} if self.is_new else result


class Retold(Port):
    """A port that alters the text of an answer."""

    def success(self, answer: Answer) -> Message:
        return super().success(dataclasses.replace(answer, text=self.retold(answer)))

    def retold(self, answer: Answer) -> str:
        return answer.text


def retells(name: str, sentence: str, *kills: str, by: Callable[[Answer], str]) -> None:
    """Register a port that makes such a text of an answer."""
    variant(Retold, name, sentence, kills, retold=staticmethod(by))


@breaks("result:text")
class WholeStdout(Port):
    """Returns all of stdout."""

    def read_stdout(self, stdout: str, stderr: str) -> Answer:
        return dataclasses.replace(super().read_stdout(stdout, stderr), text=stdout)


retells(
    "session-appended",
    "Adds the session to the text of an answer.",
    "result:text",
    by=lambda answer: f"{answer.text}\n\n[sessionId: {answer.session}]",
)
retells(
    "long-answers-cut",
    "Cuts an answer after 25,000 characters.",
    "result:text",
    "result:large-stdout",
    by=lambda answer: answer.text if len(answer.text) <= 25_000 else f"{answer.text[:25_000]}\n[cut]",
)
retells(
    "answer-escaped",
    "Escapes what is not ASCII.",
    "result:text:unicode",
    by=lambda answer: answer.text.encode("ascii", "backslashreplace").decode(),
)
retells(
    "emoji-of-answer-lost",
    "Replaces characters beyond the basic plane.",
    "result:text:unicode",
    by=lambda answer: "".join(letter if letter <= "\uffff" else "\ufffd" for letter in answer.text),
)
retells(
    "newlines-translated",
    "Makes one kind of line end of all.",
    "result:text:newline",
    by=lambda answer: answer.text.replace("\r\n", "\n").replace("\r", "\n"),
)
retells("answer-stripped", "Strips the answer.", "result:text:blanks", by=lambda answer: answer.text.strip())
retells(
    "last-newline-of-answer-lost",
    "Takes one newline off the end of an answer.",
    "result:text:blanks",
    by=lambda answer: answer.text.removesuffix("\n"),
)


@breaks("result:text:json")
class JsonAnswerUnwrapped(Retold):
    """Looks for a response inside an answer that is JSON itself."""

    def retold(self, answer: Answer) -> str:
        try:
            inner = as_object(json.loads(answer.text))
        except ValueError:
            return answer.text
        return answer.text if inner is None else str(inner.get("response", json.dumps(inner)))


@breaks("result:text:json")
class InnermostJsonTaken(Port):
    """Looks for the last brace that begins an object with a response, inside of texts too."""

    def read_json(self, value: Mapping[str, JSON], stderr: str) -> Answer:
        answer = super().read_json(value, stderr)
        start = answer.text.rfind('{"response"')
        try:
            return dataclasses.replace(
                answer, text=json.loads(answer.text[start:])["response"] if start >= 0 else answer.text
            )
        except (ValueError, KeyError, TypeError):
            return answer


@breaks("result:session-id")
class ChatWithoutSession(Port):
    """Returns no session from `chat`."""

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        return dataclasses.replace(answer, session=None) if call.tool == "chat" else answer


@breaks("result:session-id", "result:session-id:chat-reply")
class SessionUnderCliName(Port):
    """Names the session `session_id`, as gemini does."""

    def success(self, answer: Answer) -> Message:
        result = super().success(answer)
        meta = {
            ("session_id" if name == "sessionId" else name): value for name, value in result.get("_meta", {}).items()
        }
        return {**result, "_meta": meta}


@breaks("result:session-id:chat-reply")
class ReplyWithoutSession(Port):
    """Returns no session from `chat-reply`."""

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        return dataclasses.replace(answer, session=None) if call.tool == "chat-reply" else answer


@breaks("result:session-id:changed")
class ReplyEchoesSession(Port):
    """Returns the session that a reply asked for, not the one it got."""

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        return answer if plan.session in (None, "latest") else dataclasses.replace(answer, session=plan.session)
