"""Odd ways to describe tools and to word results."""

from __future__ import annotations

from answering import Answer, Failure
from odd.record import odd
from port import Port
from speaking import Message


@odd
class ManyWords(Port):
    """Describes itself and its tools at length, in schemas that say more than they must."""

    def server_info(self) -> Message:
        return {
            "title": "제미니",
            **super().server_info(),
            "version": "2.7.1-beta",
            "websiteUrl": "https://example.com",
        }

    def tool(self, name: str) -> Message:
        tool = super().tool(name)
        properties = {key: self.described(key, schema) for key, schema in tool["inputSchema"]["properties"].items()}
        extra = {"$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": False}
        return {
            **tool,
            "description": "제미니에게 묻습니다.",
            "inputSchema": {**extra, **tool["inputSchema"], "properties": properties},
            "annotations": {"title": name, "readOnlyHint": False},
            "_meta": {"example.com/kind": "chat"},
        }

    def described(self, name: str, schema: Message) -> Message:
        limit = {"minLength": 1} if name == "prompt" else {}
        return {**schema, **limit, "title": name.title(), "description": f"The {name}.", "examples": ["x"]}


@odd
class TypesByReference(Port):
    """Says of every property by a reference what type it has."""

    def tool(self, name: str) -> Message:
        tool = super().tool(name)
        schema = tool["inputSchema"]
        properties = {key: {"$ref": "#/$defs/some~1text", "description": key} for key in schema["properties"]}
        return {**tool, "inputSchema": {**schema, "properties": properties, "$defs": {"some/text": {"type": "string"}}}}


@odd
class FailuresInKorean(Port):
    """Says in Korean why gemini failed."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        was_started = failure.stderr is not None
        sentence = "gemini가 실패했습니다. 다시 시도해 주세요." if was_started else failure.sentence
        return super().error(Failure(sentence, failure.stderr, failure.said), private)


@odd
class MoreInResults(Port):
    """Adds keys, further texts and structured content to its results, and says isError: false."""

    def success(self, answer: Answer) -> Message:
        result = super().success(answer)
        return {
            **result,
            "isError": False,
            "structuredContent": {"text": answer.text, "sessionId": answer.session},
            "_meta": {**result.get("_meta", {}), "example.com/model": "gemini", "stats": {"turns": 1}},
        }

    def content(self, text: str) -> list[Message]:
        more = {"type": "text", "text": "(from gemini)", "annotations": {"audience": ["user"], "priority": 0.1}}
        return [*super().content(text), more]


@odd
class StructuredErrors(Port):
    """Adds structured content and `_meta` to its errors."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        kind = "refused" if failure.stderr is None else "failed"
        return {**super().error(failure, private), "structuredContent": {"kind": kind}, "_meta": {"kind": kind}}
