"""Names that are no tool and are served, or refused in another way: ports that break `tools:unknown`."""

import re
from collections.abc import Mapping
from typing import Any

from conditions import REVISION, speaks
from defects.record import defect
from planning import PROPERTIES
from running import Call
from speaking import UNKNOWN_METHOD, RpcError
from steps import on, refuses


def name_without_namespace(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    name = params.get("name")
    if isinstance(name, str):
        params = {**params, "name": re.sub(r"^.*(?:__|[./:])", "", name)}
    return real(identity, params, stateless)


def tool_by_beginning(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    name = params.get("name")
    known = [tool for tool in PROPERTIES if isinstance(name, str) and name.startswith(tool)]
    return real(identity, {**params, "name": max(known, key=len)} if known else params, stateless)


def underscores_read(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    name = params.get("name")
    return real(identity, {**params, "name": name.replace("_", "-")} if isinstance(name, str) else params, stateless)


def unknown_as_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    is_unknown = isinstance(params.get("name"), str) and params["name"] not in PROPERTIES
    if is_unknown and not stateless and speaks(port, "2024-11-05"):
        raise RpcError(UNKNOWN_METHOD, f"The tool {params['name']!r} is unknown.")
    return real(identity, params, stateless)


def unknown_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    if stateless and isinstance(params.get("name"), str) and params["name"] not in PROPERTIES:
        raise RpcError(UNKNOWN_METHOD, f"The tool {params['name']!r} is unknown.")
    return real(identity, params, stateless)


def empty_is_no_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    if params.get("name") == "":
        raise RpcError(UNKNOWN_METHOD, "The tool '' is unknown.")
    return real(identity, params, stateless)


defect("namespace-of-tool-dropped", "Serves a tool whose name stands behind a namespace.", "tools:unknown")(
    begin_call=name_without_namespace
)
defect("tools-by-beginning", "Serves a tool whose name begins like one that it has.", "tools:unknown")(
    new_call=tool_by_beginning
)
defect("underscores-of-tools-read", "Serves `chat_reply` as `chat-reply`.", "tools:unknown")(new_call=underscores_read)
defect("unknown-tool-succeeds", "Says that a tool is unknown in a result that is no error.", "tools:unknown")(
    begin_call=on(RpcError, lambda port, error: {"content": port.content(error.error["message"])})
)
defect("tools-in-any-case", "Finds a tool whatever the case of its name and the blanks around it.", "tools:unknown")(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, {**params, "name": str(params.get("name")).strip().lower()}, stateless
    )
)
defect(
    "unknown-tool-is-unknown-method-in-2024-11-05",
    "Answers a call of an unknown tool as an unknown method for clients of 2024-11-05.",
    "tools:unknown:code",
)(initialize=REVISION, new_call=unknown_as_method)
defect(
    "stateless-unknown-tool-is-unknown-method",
    "Answers a call of an unknown tool as an unknown method in this era.",
    "tools:unknown:code",
)(new_call=unknown_method)
defect(
    "empty-tool-is-unknown-method",
    "Answers a call of a tool with an empty name as an unknown method.",
    "tools:unknown:code",
)(new_call=empty_is_no_method)
defect(
    "unknown-tool-is-unknown-method", "Answers a call of an unknown tool as an unknown method.", "tools:unknown:code"
)(
    new_call=refuses(
        RpcError(-32601, "The tool is unknown."),
        lambda identity, params, stateless: params.get("name") not in PROPERTIES,
    )
)
