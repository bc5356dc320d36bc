"""Requests without a handshake that are served like others: ports that break `stateless`."""

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conditions import every, notes_method
from defects.protocol.shared import stateless
from defects.record import defect
from defects.shared import cancelled_answered, without_server
from http_port import HttpPort
from port import HANDSHAKE, META, STATELESS, Port
from running import Call
from speaking import INVALID_PARAMS, JSON, Message, RpcError
from steps import Change, Step, always, before, gives, notes, on, takes, without

GOOD_SECONDS = 4
BEGAN = time.monotonic()
TTL_SECONDS = 3.0
DATE = re.compile(r"(\d+)-(\d+)-(\d+)")
VERSION = f"{META}protocolVersion"
UNSUPPORTED_VERSION = -32022


def notes_failure(port: Any, failure: Any) -> None:
    port.memory["failed"] = True


def caching_until_failure(port: Any, real: Any) -> Message:
    return {} if port.memory.get("failed") else real()


def good_for_a_while(port: Any, real: Any) -> Message:
    return {**real(), "ttlMs": int((GOOD_SECONDS - (time.monotonic() - BEGAN)) * 1000)}


def rest_of_time(port: Any, real: Any) -> Message:
    until = port.memory.setdefault("until", time.monotonic() + TTL_SECONDS)
    return {**real(), "ttlMs": int((until - time.monotonic()) * 1000)}


def tells_cancelled(port: Any, real: Any, call: Call) -> None:
    waits = call.process is None
    real(call)
    if waits and call.stateless and call.token is not None and not call.is_answered:
        call.progress += 1
        port.send(port.progress(call))


def with_meta(change: Change) -> Step:
    """Takes the `_meta` of a request for another one."""
    return takes(lambda params: {**params, "_meta": change(params["_meta"])})


def unchecked_in_list(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    with suppress(*(RpcError,) if port.memory.get("method") == "tools/list" else ()):
        real(params)


def checked_once(what: str) -> Step:
    """Of `check_stateless`: does not look at this member again once it was right."""

    def check(port: Any, real: Any, params: Mapping[str, Any]) -> None:
        if "checked" in port.memory:
            params = {**params, "_meta": {**params["_meta"], what: port.memory["checked"]}}
        real(params)
        port.memory["checked"] = params["_meta"][what]

    return check


def lenient_at_discovery(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    if port.memory["method"] == "server/discover":
        params = {**params, "_meta": {f"{META}clientCapabilities": {}, **params["_meta"]}}
    real(params)


def unchecked_in_replies(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    if params.get("name") == "chat-reply":
        params = {**params, "_meta": {f"{META}clientCapabilities": {}, **params["_meta"]}}
    real(params)


def demands_handshake(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Any:
    if "handshake" not in port.memory:
        raise RpcError(-32002, "The server is not initialized.")
    return real(identity, params, stateless)


def needs_client_info(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    real(params)
    if f"{META}clientInfo" not in params["_meta"]:
        raise RpcError(INVALID_PARAMS, f"`_meta` lacks `{META}clientInfo`.")


def untyped_notice(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    return without("resultType")(finished) if "notice" in result.get("_meta", {}) else finished


def own_meta_kept(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    has_warnings = "warnings" in result.get("_meta", {})
    return {**finished, "_meta": result["_meta"]} if stateless and has_warnings else finished


def unnamed_beside_session(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    if "sessionId" not in result.get("_meta", {}):
        return finished
    return {**finished, "_meta": without(f"{META}serverInfo")(finished["_meta"])}


def date_of(version: JSON) -> tuple[int, ...] | None:
    date = DATE.fullmatch(version) if isinstance(version, str) else None
    return tuple(map(int, date.groups())) if date else None


def version_by_date(port: Any, real: Any, params: Any) -> None:
    name = f"{META}protocolVersion"
    version = params["_meta"].get(name)
    known = {date_of(each): each for each in STATELESS}
    real({**params, "_meta": {**params["_meta"], name: known.get(date_of(version), version)}})


def supports_handshakes(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if "data" in error.error:
            error.error["data"] = {**error.error["data"], "supported": list(HANDSHAKE)}
        raise


def version_by_beginning(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    named = params["_meta"][VERSION]
    if isinstance(named, str) and named.startswith(STATELESS):
        params = {**params, "_meta": {**params["_meta"], VERSION: STATELESS[-1]}}
    real(params)


def invalid_in_calls(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if "name" in params and error.error["code"] == UNSUPPORTED_VERSION:
            raise RpcError(INVALID_PARAMS, error.error["message"]) from None
        raise


def from_handshake_on(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    meta = params["_meta"]
    is_between = isinstance(meta[VERSION], str) and HANDSHAKE[-1] < meta[VERSION] < STATELESS[-1]
    real({**params, "_meta": {**meta, VERSION: STATELESS[-1]}} if is_between else params)


def cancelled_in_session(port: Any, real: Any, call: Call) -> None:
    session = port.current.post.session
    if session is not None and port.posts[call].session in (None, session):
        Port.cancel(port, call)


defect("caching-unsaid", "Says nothing of how long its list of tools is good.", "stateless:caching")(caching=always({}))
defect("caching-for-ever", "Says with a negative number that its list of tools is good for ever.", "stateless:caching")(
    caching=always({"ttlMs": -1, "cacheScope": "public"})
)
defect("caching-lost-after-failure", "Says nothing of caching once a call has failed.", "stateless:caching")(
    error=before(notes_failure), caching=caching_until_failure
)
defect(
    "caching-runs-out",
    "Says how long its list of tools is still good, which is less than nothing after some seconds.",
    "stateless:caching",
)(caching=good_for_a_while)
defect(
    "ttl-runs-out",
    "Counts the time for which its list of tools is good from the first one on, down below 0.",
    "stateless:caching",
)(caching=rest_of_time)
defect("stateless-cancel-answered", "Answers a cancelled call in this era.", "stateless:cancelled")(
    serve_call=cancelled_answered(stateless=True)
)
defect(
    "waiting-call-told-of-cancellation",
    "Tells progress once more of a call of 2026-07-28 that is cancelled before its gemini has started.",
    "stateless:cancelled",
    "progress:end",
)(cancel=tells_cancelled)
defect(
    "discover-names-no-versions",
    "Names one version in `server/discover` where a list should be.",
    "stateless:discover",
)(discover=gives(lambda answer: {**answer, "supportedVersions": answer["supportedVersions"][0]}))
defect("discover-without-capabilities", "Names no capabilities in `server/discover`.", "stateless:discover")(
    discover=gives(without("capabilities"))
)
defect("meta-unchecked", "Serves a request whose `_meta` lacks the client's capabilities.", "stateless:meta")(
    check_stateless=with_meta(lambda meta: {f"{META}clientCapabilities": {}, **meta})
)
defect("meta-of-list-unchecked", "Lists its tools whatever `_meta` lacks.", "stateless:meta")(
    requested=before(notes_method), check_stateless=unchecked_in_list
)
defect("meta-checked-once", "Looks for the client's capabilities in the first request alone.", "stateless:meta")(
    check_stateless=checked_once(f"{META}clientCapabilities")
)
defect(
    "discovery-lacks-capabilities",
    "Answers `server/discover` whose `_meta` lacks the client's capabilities.",
    "stateless:meta",
)(requested=before(notes_method), check_stateless=lenient_at_discovery)
defect(
    "meta-of-replies-unchecked",
    "Serves a reply whose `_meta` lacks the client's capabilities.",
    "stateless:meta",
)(check_stateless=unchecked_in_replies)
defect("handshake-demanded", "Serves no call before `initialize`.", "stateless:no-handshake")(
    initialize=notes("handshake"), new_call=demands_handshake
)
defect("client-info-needed", "Refuses a request that does not name its client.", "stateless:no-handshake")(
    check_stateless=needs_client_info
)
defect("result-type-for-calls-only", "Leaves the type out of the results that are no calls.", "stateless:result-type")(
    finished=stateless(lambda result: result if "content" in result else without("resultType")(result))
)
defect("errors-without-result-type", "Leaves the type out of the results that are errors.", "stateless:result-type")(
    finished=stateless(lambda result: without("resultType")(result) if "isError" in result else result)
)
defect("tenth-result-without-type", "Leaves the type out of every tenth result.", "stateless:result-type")(
    finished=every(10, lambda port, real, result, stateless: without("resultType")(real(result, stateless)))
)
defect("type-lost-beside-notice", "Leaves the type out of an empty answer.", "stateless:result-type")(
    finished=untyped_notice
)
defect("server-unnamed", "Leaves its name out of its results.", "stateless:server-info")(
    finished=stateless(without_server)
)
defect(
    "server-info-lost-with-warnings",
    "Does not tell the server's name and version in a result of 2026-07-28 that carries warnings.",
    "stateless:server-info",
)(finished=own_meta_kept)
defect("server-unnamed-beside-session", "Leaves its name out of an answer with a session.", "stateless:server-info")(
    finished=unnamed_beside_session
)
defect("any-version-served", "Serves a request of a version that it does not support.", "stateless:version")(
    check_stateless=with_meta(lambda meta: {**meta, f"{META}protocolVersion": "2026-07-28"})
)
defect(
    "supported-versions-unnamed",
    "Does not say which versions it supports when it supports another.",
    "stateless:version",
)(check_stateless=on(RpcError, lambda port, error: RpcError(error.error["code"], error.error["message"])))
defect(
    "versions-compared-as-dates",
    "Serves a request whose version is a date in another spelling, such as one in wide digits.",
    "stateless:version",
)(check_stateless=version_by_date)
defect(
    "handshakes-supported",
    "Lists the revisions with a handshake alone when it is asked for one that it does not support.",
    "stateless:version",
)(check_stateless=supports_handshakes)
defect("version-checked-once", "Looks at the version of the first request alone.", "stateless:version")(
    check_stateless=checked_once(f"{META}protocolVersion")
)
defect(
    "version-known-by-its-beginning",
    "Serves every protocol version that begins with one it knows, such as `2026-07-28-draft`.",
    "stateless:version",
)(check_stateless=version_by_beginning)
defect(
    "unsupported-version-of-calls-is-invalid",
    "Answers a call of a version that it does not support as parameters that are invalid.",
    "stateless:version",
)(check_stateless=invalid_in_calls)
defect(
    "versions-between-served",
    "Serves a request of any version behind those of the handshake, up to its own.",
    "stateless:version",
)(check_stateless=from_handshake_on)
defect(
    "cancelled-in-another-era",
    "Cancels a call without a session when a client that has one cancels its own of the same id.",
    "stateless:no-handshake",
    "cancel:others",
)(HttpPort, cancel=cancelled_in_session)
