"""The answer to `tools/call` as Gemini CLI's transport and SDK read it: completed, then checked by shapes. Pure.

What the model and the user get of it is in `content`.
"""

import json

from gemini_mcp.host.rules.ajv import complaint
from gemini_mcp.host.servers import discovery
from gemini_mcp.host.servers.discovery import Refusal
from gemini_mcp.host.tools.registry import OfferedTool
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, table

_NO_STRUCTURE = "MCP error -32600: Tool {name} has an output schema but did not return structured content"
_WRONG_STRUCTURE = "MCP error -32602: Structured content does not match the tool's output schema: {fault}"


def read_result(answer: Json, tool: OfferedTool, rules: Rules) -> JsonObject:
    """The result as it is handed on; raises Refusal, whose message is that of the error."""
    result = discovery.read("tools/call", _completed(answer) if rules.completes_structure else answer, rules)
    if rules.completes_structure and tool.output_schema is not None:
        _judge(result, tool.name, tool.output_schema)
    return result


def _completed(answer: Json) -> Json:
    """The answer with the JSON of its first text as structured content, unless it has some.

    Gemini CLI does it for servers that forget `structuredContent`. It takes any JSON, a bare number too, and then the
    shapes refuse what is no object.
    """
    members, content = object_of(answer), list_of(table(answer).get("content"))
    if members is None or not content or members.get("structuredContent"):
        return answer
    first = table(content[0])
    if first.get("type") != "text" or not isinstance(first.get("text"), str):
        return answer
    try:
        # `JSON.parse` knows no NaN and no Infinity.
        return {**members, "structuredContent": json.loads(first["text"], parse_constant=_refuse)}
    except (ValueError, RecursionError):
        return answer


def _refuse(constant: str) -> Json:
    raise ValueError(constant)


def _judge(result: JsonObject, name: str, schema: Json) -> None:
    """Hold the structured content against the tool's output schema; raises Refusal."""
    structure = result.get("structuredContent")
    if structure is None:
        # MCP: a tool with an output schema must give structured content. The SDK excuses errors.
        if result.get("isError") is not True:
            raise Refusal(_NO_STRUCTURE.format(name=name), -32600)
        return
    fault = complaint(schema, structure, "data", has_all=True)
    if fault is not None:
        raise Refusal(_WRONG_STRUCTURE.format(fault=fault), -32602)
