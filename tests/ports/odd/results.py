"""Odd ways to describe tools and to word results."""

from dataclasses import replace
from typing import Any

from answering import Answer, Failure
from odd.record import odd
from speaking import Message
from steps import adding, gives, takes


def described(name: str, schema: Message) -> Message:
    limit = {"minLength": 1} if name == "prompt" else {}
    return {**schema, **limit, "title": name.title(), "description": f"The {name}.", "examples": ["x"]}


def described_at_length(tool: Message) -> Message:
    properties = {key: described(key, schema) for key, schema in tool["inputSchema"]["properties"].items()}
    extra = {"$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": False}
    return {
        **tool,
        "description": "제미니에게 묻습니다.",
        "inputSchema": {**extra, **tool["inputSchema"], "properties": properties},
        "annotations": {"title": tool["name"], "readOnlyHint": False},
        "_meta": {"example.com/kind": "chat"},
    }


def typed_by_reference(tool: Message) -> Message:
    schema = tool["inputSchema"]
    properties = {key: {"$ref": "#/$defs/some~1text", "description": key} for key in schema["properties"]}
    return {**tool, "inputSchema": {**schema, "properties": properties, "$defs": {"some/text": {"type": "string"}}}}


def in_korean(failure: Failure) -> Failure:
    was_started = failure.stderr is not None
    return replace(failure, sentence="gemini가 실패했습니다. 다시 시도해 주세요.") if was_started else failure


def with_more(port: Any, real: Any, answer: Answer) -> Message:
    result = real(answer)
    return {
        **result,
        "isError": False,
        "structuredContent": {"text": answer.text, "sessionId": answer.session},
        "_meta": {**result.get("_meta", {}), "example.com/model": "gemini", "stats": {"turns": 1}},
    }


def with_kind(port: Any, real: Any, failure: Failure) -> Message:
    kind = {"kind": "refused" if failure.stderr is None else "failed"}
    return {**real(failure), "structuredContent": kind, "_meta": kind}


MORE = {"type": "text", "text": "(from gemini)", "annotations": {"audience": ["user"], "priority": 0.1}}


odd("many-words", "Describes itself and its tools at length, in schemas that say more than they must.")(
    server_info=gives(adding(title="제미니", version="2.7.1-beta", websiteUrl="https://example.com")),
    tool=gives(described_at_length),
)
odd("types-by-reference", "Says of every property by a reference what type it has.")(tool=gives(typed_by_reference))
odd("failures-in-korean", "Says in Korean why gemini failed.")(error=takes(in_korean))
odd("more-in-results", "Adds keys, further texts and structured content to its results, and says isError: false.")(
    success=with_more, content=gives(lambda content: [*content, MORE])
)
odd("structured-errors", "Adds structured content and `_meta` to its errors.")(error=with_kind)
