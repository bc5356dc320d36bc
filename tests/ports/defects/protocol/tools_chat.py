"""A `chat` that declares itself wrongly: ports that break `tools:chat`."""

from collections.abc import Mapping
from typing import Any

from defects.protocol.shared import chat
from defects.record import defect
from port import META
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import Change, adding, always, for_tool, without


def list_with_params(port: Any, real: Any, request: Message, params: Mapping[str, Any], stateless: bool) -> Any:
    if request["method"] == "tools/list" and "params" not in request:
        raise RpcError(INVALID_PARAMS, "`params` is missing.")
    return real(request, params, stateless)


def params_of_list(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    if set(params) - {"cursor", *(("_meta",) if stateless else ())}:
        raise RpcError(INVALID_PARAMS, "`tools/list` takes a cursor and nothing else.")
    return real(params, stateless)


def is_of_namespace(port: Any, real: Any, params: Mapping[str, Any]) -> bool:
    return any(name.startswith(META) for name in as_object(params.get("_meta")) or {})


def versioned(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    if f"{META}protocolVersion" not in params["_meta"]:
        raise RpcError(INVALID_PARAMS, "`_meta` lacks the version.")
    real(params)


def renaming(old: str, new: str) -> Change:
    return lambda properties: {new if name == old else name: schema for name, schema in properties.items()}


defect("list-without-params-refused", "Refuses a list of tools without params.", "tools:chat")(result=list_with_params)
defect("chat-renamed", "Lists `chat` under another name.", "tools:chat")(tool=chat(adding(name="ask-gemini")))
defect("meta-of-list-refused", "Refuses a list of tools that comes with more than a cursor.", "tools:chat")(
    list_tools=params_of_list
)
defect(
    "namespace-taken-for-era",
    "Refuses requests whose `_meta` holds another name of MCP's own, as if they were of 2026-07-28.",
    "tools:chat",
)(is_stateless=is_of_namespace, check_stateless=versioned)
defect("chat-cwd-undeclared", "Does not declare `cwd` for `chat`.", "tools:chat:cwd")(properties=chat(without("cwd")))
defect("chat-model-untyped", "Declares `model` without a type.", "tools:chat:model")(
    properties=chat(adding(model={"description": "The model."}))
)
defect("chat-prompt-may-be-array", "Declares that the prompt of `chat` may be an array.", "tools:chat:prompt")(
    properties=chat(adding(prompt={"type": ["string", "array"]}))
)
defect("chat-requires-model", "Declares `model` as required by `chat`.", "tools:chat:required")(
    required=for_tool("chat", always(["prompt", "model"]))
)
defect("chat-requires-nothing", "Declares no property as required by `chat`.", "tools:chat:required")(
    required=for_tool("chat", always([]))
)
defect(
    "chat-system-prompt-snake-case", "Declares `system_prompt` in place of `systemPrompt`.", "tools:chat:system-prompt"
)(properties=chat(renaming("systemPrompt", "system_prompt")))
