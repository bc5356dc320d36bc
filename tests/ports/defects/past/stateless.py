"""Stateless requests that depend on earlier ones: ports that break `stateless`."""

import time
from collections.abc import Mapping
from typing import Any

from defects.record import defect
from port import META, STATELESS, UNSUPPORTED_VERSION
from speaking import INVALID_REQUEST, Message, RpcError
from steps import after, before, notes

LASTS = 15.0


def caching_while_busy(port: Any, real: Any) -> Message:
    return {} if port.calls else real()


def refuses_second(port: Any) -> None:
    if port.memory.get("discovered"):
        raise RpcError(INVALID_REQUEST, "The server has been discovered.")
    port.memory["discovered"] = True


def when_idle(port: Any) -> None:
    end = time.monotonic() + 60
    while port.calls and time.monotonic() < end:
        time.sleep(0.01)


def in_era_of_latest(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, stateless and port.memory["era"])


def serves_known_version(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        version = params["_meta"].get(f"{META}protocolVersion")
        known = port.memory.setdefault("versions", list[object]())
        if error.error["code"] != UNSUPPORTED_VERSION or version not in known:
            known.append(version)
            raise


def refused_are_supported(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    """The list that the error shows is the one to which the version is added."""
    try:
        real(params)
    except RpcError as error:
        if data := error.error.get("data"):
            known = port.memory.setdefault("known", list(STATELESS))
            data["supported"] = list(known)
            known.append(data["requested"])
        raise


def notes_call(port: Any, identity: Any, params: Any, stateless: bool) -> None:
    port.memory["served"] = port.memory.get("served") or stateless


def version_checked_once(port: Any, real: Any, params: Any) -> None:
    try:
        real(params)
    except RpcError as error:
        if error.error["code"] != UNSUPPORTED_VERSION or not port.memory.get("served"):
            raise


def time_left(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    result = real(params, stateless)
    expires = port.memory.setdefault("expires", time.monotonic() + LASTS)
    return {**result, "ttlMs": int((expires - time.monotonic()) * 1000)} if stateless else result


defect(
    "caching-lost-while-busy",
    "Says nothing of how long its list of tools is good while a call runs.",
    "stateless:caching",
)(caching=caching_while_busy)
defect(
    "discovered-once",
    "Answers `server/discover` once, as if it were a handshake.",
    "stateless:discover",
)(discover=before(refuses_second))
defect(
    "discovered-when-idle",
    "Answers `server/discover` when no call runs.",
    "stateless:discover",
)(discover=before(when_idle))
defect(
    "result-in-era-of-latest-request",
    "Answers a stateless call without `resultType` when a request of the older era came while it ran.",
    "stateless:result-type",
    "stateless:server-info",
)(is_stateless=notes("era"), finished=in_era_of_latest)
defect(
    "unsupported-version-served-later",
    "Serves a request of an unsupported version when it has refused one of that version before.",
    "stateless:version",
)(check_stateless=serves_known_version)
defect(
    "refused-versions-join-supported",
    "Adds each version that it has refused to those that it says it supports.",
    "stateless:version",
)(check_stateless=refused_are_supported)
defect(
    "version-unchecked-after-call",
    "Serves requests that name an unsupported protocol version once a call of 2026-07-28 has been served.",
    "stateless:version",
)(new_call=after(notes_call), check_stateless=version_checked_once)
defect(
    "list-of-tools-expires",
    "Says how long the list of tools lasts from the first list on, which comes to less than nothing.",
    "stateless:caching",
)(list_tools=time_left)
