"""Defects in handing an answer and its session on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from answering import Answer
from defects.record import breaks
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


@breaks("result:text")
class WholeStdout(Port):
    """Returns all of stdout."""

    def read_stdout(self, stdout: str, stderr: str) -> Answer:
        return dataclasses.replace(super().read_stdout(stdout, stderr), text=stdout)


@breaks("result:text")
class SessionAppended(Retold):
    """Adds the session to the text of an answer."""

    def retold(self, answer: Answer) -> str:
        return f"{answer.text}\n\n[sessionId: {answer.session}]"


@breaks("result:text", "result:large-stdout")
class LongAnswersCut(Retold):
    """Cuts an answer after 25,000 characters."""

    def retold(self, answer: Answer) -> str:
        return answer.text if len(answer.text) <= 25_000 else f"{answer.text[:25_000]}\n[cut]"


@breaks("result:text:unicode")
class AnswerEscaped(Retold):
    """Escapes what is not ASCII."""

    def retold(self, answer: Answer) -> str:
        return answer.text.encode("ascii", "backslashreplace").decode()


@breaks("result:text:unicode")
class EmojiOfAnswerLost(Retold):
    """Replaces characters beyond the basic plane."""

    def retold(self, answer: Answer) -> str:
        return "".join(letter if letter <= "\uffff" else "\ufffd" for letter in answer.text)


@breaks("result:text:newline")
class NewlinesTranslated(Retold):
    """Makes one kind of line end of all."""

    def retold(self, answer: Answer) -> str:
        return answer.text.replace("\r\n", "\n").replace("\r", "\n")


@breaks("result:text:blanks")
class AnswerStripped(Retold):
    """Strips the answer."""

    def retold(self, answer: Answer) -> str:
        return answer.text.strip()


@breaks("result:text:blanks")
class LastNewlineOfAnswerLost(Retold):
    """Takes one newline off the end of an answer."""

    def retold(self, answer: Answer) -> str:
        return answer.text.removesuffix("\n")


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
