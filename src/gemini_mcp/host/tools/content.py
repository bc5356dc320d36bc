"""A tool's result as the model gets it and as the user sees it. Pure.

Everything that reads a `CallToolResult` for one of them belongs here.
"""

import re
from dataclasses import dataclass, replace

from gemini_mcp.host.rules.javascript import UNDEFINED, cut_units, length, stringify, template, truthy
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, items, list_of, object_of, table

UNREADABLE = "[Error: Could not parse tool response]"
SUCCEEDED = "Tool execution succeeded."
STRIPPED = "[SYSTEM: Binary content ({}) stripped from response due to protocol limitations.]"

OUTPUT_FILE = "<a file below ~/.gemini/tmp>"
"""Gemini CLI writes the whole output to a file whose name holds the call's id. The reference writes none."""

TOO_LARGE = (
    "Output too large. Showing first {head:,} and last {tail:,} characters. For full output see: {file}\n|"
    "\n\n... [{omitted:,} characters omitted] ...\n\n"
)


@dataclass(frozen=True)
class Rendered:
    """The result of a call: for the model, for the user, and whether it is an error."""

    llm_content: Json
    display: str
    is_error: bool = False


def render(tool: str, arguments: Json, result: JsonObject, rules: Rules) -> Rendered:
    """Read a `CallToolResult`; the tool is named by its server's own name for it."""
    is_error = _is_set(result.get("isError"))
    # Beside the `isError` of MCP, Gemini CLI reads an older one inside `error`.
    if rules.reports_tool_errors and truthy(result.get("error")):
        is_error = is_error or _is_set(table(result["error"]).get("isError"))
    is_reported = is_error and rules.reports_tool_errors
    response = {"error": result} if is_error and not is_reported else result
    raw: list[JsonObject] = [{"functionResponse": {"name": tool, "response": response}}]
    if is_reported:
        return _tool_error(tool, arguments, raw)
    blocks = list_of(response.get("content"))
    # Gemini CLI 0.1 wraps an error so that it has no `content`; the model sees only this of it.
    if blocks is None:
        return Rendered([{"text": UNREADABLE}], f"```json\n{stringify(raw, 2)}\n```", is_error)
    # Only here: Gemini CLI reports an error under the name as it is, empty or not.
    named = tool or "unknown tool"
    parts = [part for block in blocks for part in _block_parts(object_of(block) or {}, named, rules)]
    return Rendered(parts, "\n".join(_shown(object_of(block) or {}) for block in blocks))


def render_failure(tool: str, arguments: Json, message: str, rules: Rules) -> Rendered:
    """Read a JSON-RPC error, by its message."""
    if not rules.reports_tool_errors:
        return Rendered(message, message, is_error=True)
    # Gemini CLI 0.61.0 puts a JSON-RPC error into the older form of a tool's error.
    failure = {"error": {"message": message, "isError": True}}
    return _tool_error(tool, arguments, [{"functionResponse": {"name": tool, "response": failure}}])


def truncated(rendered: Rendered, rules: Rules) -> Rendered:
    """The result with the middle of its only text left out, when that is too long for the model."""
    parts, most = list_of(rendered.llm_content), rules.output_threshold
    text = table(parts[0]).get("text") if parts is not None and len(parts) == 1 else None
    if most is None or not isinstance(text, str) or length(text) <= most:
        return rendered
    head = most // 5
    begin, end = cut_units(text, 0, head), cut_units(text, length(text) - (most - head), length(text))
    said = TOO_LARGE.format(head=head, tail=most - head, file=OUTPUT_FILE, omitted=length(text) - most)
    first, _, last = said.partition("|")
    return replace(rendered, llm_content=[{"text": f"{first}{begin}{last}{end}"}])


def refusal_parts(name: str, call_id: str, message: str) -> Json:
    """What the model gets for a call that did not reach a server."""
    return [_response(name, call_id, {"error": message})]


def model_parts(name: str, call_id: str, rendered: Rendered, rules: Rules, is_nesting: bool = False) -> Json:
    """The parts of the function response; `is_nesting` is for models that take binary parts inside it."""
    return _MODEL_PARTS[rules.model_parts](name, call_id, rendered, is_nesting)


def contents_to_parts(contents: Json) -> list[JsonObject]:
    """The parts of a `resources/read` result."""
    return [part for item in items(contents) if (part := _resource_part(object_of(item) or {})) is not None]


def _is_set(flag: Json) -> bool:
    """Whether the flag of an error is up; a text counts too."""
    return flag is True or flag == "true"


def _tool_error(tool: str, arguments: Json, raw: Json) -> Rendered:
    call = stringify({"name": tool, "args": arguments})
    message = f"MCP tool '{tool}' reported tool error for function call: {call} with response: {stringify(raw)}"
    return Rendered(message, f"Error: MCP tool '{tool}' reported an error.", is_error=True)


def _block_parts(block: JsonObject, tool: str, rules: Rules) -> list[JsonObject]:
    kind = block.get("type")
    if kind == "text":
        return [{"text": _guarded(block.get("text", ""), rules)}]
    if kind in ("image", "audio"):
        mime = block.get("mimeType", UNDEFINED)
        note = f"[Tool '{tool}' provided the following {kind} data with mime-type: {template(mime)}]"
        return [{"text": note}, {"inlineData": {key: block[key] for key in ("mimeType", "data") if key in block}}]
    if kind == "resource":
        return _embedded_parts(object_of(block.get("resource")) or {}, tool, rules)
    if kind == "resource_link":
        return [{"text": f"Resource Link: {_title(block)} at {template(block.get('uri', UNDEFINED))}"}]
    return []


def _embedded_parts(resource: JsonObject, tool: str, rules: Rules) -> list[JsonObject]:
    if truthy(resource.get("text")):
        return [{"text": _guarded(resource["text"], rules)}]
    if not truthy(resource.get("blob")):
        return []
    # A text wins over a blob, but an empty text counts as none.
    mime = resource.get("mimeType") or "application/octet-stream"
    note = f"[Tool '{tool}' provided the following embedded resource with mime-type: {template(mime)}]"
    return [{"text": note}, {"inlineData": {"mimeType": mime, "data": resource["blob"]}}]


def _shown(block: JsonObject) -> str:
    kind = block.get("type", UNDEFINED)
    if kind == "text":
        return template(block.get("text", ""))
    if kind in ("image", "audio"):
        return f"[{kind.capitalize()}: {template(block.get('mimeType', UNDEFINED))}]"
    if kind == "resource_link":
        return f"[Link to {_title(block)}: {template(block.get('uri', UNDEFINED))}]"
    if kind == "resource":
        resource = object_of(block.get("resource")) or {}
        if truthy(resource.get("text")):
            return template(resource["text"])
        return f"[Embedded Resource: {template(resource.get('mimeType') or 'unknown type')}]"
    return f"[Unknown content type: {template(kind)}]"


def _title(block: JsonObject) -> str:
    return template(block["title"] if truthy(block.get("title")) else block.get("name", UNDEFINED))


def _guarded(text: Json, rules: Rules) -> str:
    plain = template(text)
    for tag, escaped in rules.tool_text_escapes.items():
        plain = plain.replace(tag, escaped)
    return rules.tool_text.format(text=plain)


def _joined_parts(name: str, call_id: str, rendered: Rendered, is_nesting: bool) -> Json:
    """The server's texts as one output, and every binary part after it."""
    if isinstance(rendered.llm_content, str):
        return _response(name, call_id, {"error": rendered.llm_content})
    parts: list[JsonObject] = list(rendered.llm_content)
    if len(parts) == 1 and "text" in parts[0]:
        return _response(name, call_id, {"output": parts[0]["text"]})
    # The text before a binary part only announces it; the server's own texts are the others.
    announced = {index - 1 for index, part in enumerate(parts) if "inlineData" in part}
    texts = [part["text"] for index, part in enumerate(parts) if "text" in part and index not in announced]
    if not texts:
        return [_response(name, call_id, {"output": SUCCEEDED}), *parts]
    binary = [part for part in parts if "inlineData" in part]
    return [_response(name, call_id, {"output": "\n".join(texts)}), *binary]


def _split_parts(name: str, call_id: str, rendered: Rendered, is_nesting: bool) -> Json:
    """All texts as one output, and the binary parts that the protocol takes inside it or after it."""
    content = rendered.llm_content
    if rendered.is_error:
        return [_response(name, call_id, {"error": content})]
    texts = [part["text"] for part in content if "text" in part]
    binary = [part for part in content if "inlineData" in part]
    refused = [part for part in binary if str(part["inlineData"].get("mimeType", "")).startswith(("audio/", "video/"))]
    kept = [part for part in binary if part not in refused]
    if refused:
        kinds = dict.fromkeys(part["inlineData"]["mimeType"] for part in refused)
        texts = [STRIPPED.format(", ".join(kinds)), *texts]
    response = _response(name, call_id, {"output": "\n".join(texts)} if texts else {})
    if not is_nesting:
        return [response, *kept]
    if kept:
        response["functionResponse"]["parts"] = kept
    return [response]


_MODEL_PARTS = {"joined": _joined_parts, "split": _split_parts}


def _response(name: str, call_id: str, response: JsonObject) -> JsonObject:
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def _resource_part(item: JsonObject) -> JsonObject | None:
    # Contents may stand in a `resource` of their own, as they do in a tool's result.
    read = table(item.get("resource")) or item
    if truthy(read.get("text")):
        return {"text": read["text"]}
    blob = read.get("blob")
    if not truthy(blob):
        return None
    mime = "application/octet-stream" if read.get("mimeType") is None else template(read["mimeType"])
    return {"text": f"[Binary resource content {mime}, {_size_of(template(blob))} bytes]"}


def _size_of(blob: str) -> int:
    """How many bytes Node makes of the text: it ends at padding and passes over what is no base64."""
    return len(re.findall(r"[A-Za-z0-9+/_-]", blob.partition("=")[0])) * 3 // 4
