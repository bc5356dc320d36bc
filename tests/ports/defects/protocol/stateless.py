"""Defects in the era without a handshake."""

from typing import Any

from defects.life.cancelling import cancelled_answered
from defects.record import defect
from port import META
from speaking import Message, RpcError
from steps import Change, Step, always, gives, notes, on, only, takes, without


def with_meta(change: Change) -> Step:
    """Takes the `_meta` of a request for another one."""
    return takes(lambda params: {**params, "_meta": change(params["_meta"])})


def stateless(change: Change) -> Step:
    """Changes the results of this era."""
    return lambda port, real, first, stateless: change(real(first, stateless)) if stateless else real(first, stateless)


def demands_handshake(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Any:
    if "handshake" not in port.memory:
        raise RpcError(-32002, "The server is not initialized.")
    return real(identity, params, stateless)


def without_server(result: Message) -> Message:
    return {**result, "_meta": {name: value for name, value in result["_meta"].items() if not name.startswith(META)}}


defect(
    "discover-names-no-versions",
    "Names one version in `server/discover` where a list should be.",
    "stateless:discover",
)(discover=gives(lambda answer: {**answer, "supportedVersions": answer["supportedVersions"][0]}))
defect("discover-without-capabilities", "Names no capabilities in `server/discover`.", "stateless:discover")(
    discover=gives(without("capabilities"))
)
defect("handshake-demanded", "Serves no call before `initialize`.", "stateless:no-handshake")(
    initialize=notes("handshake"), new_call=demands_handshake
)
defect("result-type-for-calls-only", "Leaves the type out of the results that are no calls.", "stateless:result-type")(
    finished=stateless(lambda result: result if "content" in result else without("resultType")(result))
)
defect("errors-without-result-type", "Leaves the type out of the results that are errors.", "stateless:result-type")(
    finished=stateless(lambda result: without("resultType")(result) if "isError" in result else result)
)
defect("meta-unchecked", "Serves a request whose `_meta` lacks the client's capabilities.", "stateless:meta")(
    check_stateless=with_meta(lambda meta: {f"{META}clientCapabilities": {}, **meta})
)
defect("any-version-served", "Serves a request of a version that it does not support.", "stateless:version")(
    check_stateless=with_meta(lambda meta: {**meta, f"{META}protocolVersion": "2026-07-28"})
)
defect(
    "supported-versions-unnamed",
    "Does not say which versions it supports when it supports another.",
    "stateless:version",
)(check_stateless=on(RpcError, lambda port, error: RpcError(error.error["code"], error.error["message"])))
defect("server-unnamed", "Leaves its name out of its results.", "stateless:server-info")(
    finished=stateless(without_server)
)
defect("caching-unsaid", "Says nothing of how long its list of tools is good.", "stateless:caching")(caching=always({}))
defect("caching-for-ever", "Says with a negative number that its list of tools is good for ever.", "stateless:caching")(
    caching=always({"ttlMs": -1, "cacheScope": "public"})
)
defect("stateless-cancel-answered", "Answers a cancelled call in this era.", "stateless:cancelled")(
    serve_call=cancelled_answered(stateless=True)
)
defect(
    "stateless-session-overwritten",
    "Replaces the `_meta` of a call by its own name, and the session with it.",
    "result:session-id",
)(finished=lambda port, real, result, stateless: real({**result, "_meta": {}} if stateless else result, stateless))
defect("stateless-uncancellable", "Ignores cancellations in this era.", "cancel:child")(
    cancel=only(lambda call: not call.stateless)
)
defect("stateless-list-short", "Lists `chat` alone in this era.", "tools:chat-reply")(
    list_tools=stateless(lambda result: {**result, "tools": result["tools"][:1]})
)
defect("stateless-warnings-lost", "Leaves warnings out in this era.", "result:warnings")(
    finished=stateless(lambda result: {**result, "_meta": without("warnings")(result["_meta"])})
)
