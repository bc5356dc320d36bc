"""Defects in the era without a handshake."""

from __future__ import annotations

from collections.abc import Mapping

from answering import Failure
from defects.record import breaks
from port import META, Port
from running import Call
from speaking import JSON, Message, RpcError


@breaks("stateless:discover")
class DiscoverNamesNoVersions(Port):
    """Names one version in `server/discover` where a list should be."""

    def discover(self) -> Message:
        answer = super().discover()
        return {**answer, "supportedVersions": answer["supportedVersions"][0]}


@breaks("stateless:discover")
class DiscoverWithoutCapabilities(Port):
    """Names no capabilities in `server/discover`."""

    def discover(self) -> Message:
        return {name: value for name, value in super().discover().items() if name != "capabilities"}


@breaks("stateless:no-handshake")
class HandshakeDemanded(Port):
    """Serves no call before `initialize`."""

    is_initialized = False

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        self.is_initialized = True
        return super().initialize(params)

    def new_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Call:
        if not self.is_initialized:
            raise RpcError(-32002, "The server is not initialized.")
        return super().new_call(identity, params, stateless)


@breaks("stateless:result-type")
class ResultTypeForCallsOnly(Port):
    """Leaves the type out of the results that are no calls."""

    def finished(self, result: Message, stateless: bool) -> Message:
        finished = super().finished(result, stateless)
        return finished if "content" in result else {k: v for k, v in finished.items() if k != "resultType"}


@breaks("stateless:result-type")
class ErrorsWithoutResultType(Port):
    """Leaves the type out of the results that are errors."""

    def finished(self, result: Message, stateless: bool) -> Message:
        finished = super().finished(result, stateless)
        return {k: v for k, v in finished.items() if k != "resultType"} if "isError" in result else finished


@breaks("stateless:meta")
class MetaUnchecked(Port):
    """Serves a request whose `_meta` lacks the client's capabilities."""

    def check_stateless(self, params: Mapping[str, JSON]) -> None:
        super().check_stateless({"_meta": {f"{META}clientCapabilities": {}, **params["_meta"]}})


@breaks("stateless:version")
class AnyVersionServed(Port):
    """Serves a request of a version that it does not support."""

    def check_stateless(self, params: Mapping[str, JSON]) -> None:
        super().check_stateless({"_meta": {**params["_meta"], f"{META}protocolVersion": "2026-07-28"}})


@breaks("stateless:version")
class SupportedVersionsUnnamed(Port):
    """Does not say which versions it supports when it supports another."""

    def check_stateless(self, params: Mapping[str, JSON]) -> None:
        try:
            super().check_stateless(params)
        except RpcError as error:
            raise RpcError(error.error["code"], error.error["message"]) from None


@breaks("stateless:server-info")
class ServerUnnamed(Port):
    """Leaves its name out of its results."""

    def finished(self, result: Message, stateless: bool) -> Message:
        finished = super().finished(result, stateless)
        meta = {name: value for name, value in finished.get("_meta", {}).items() if not name.startswith(META)}
        return {**finished, "_meta": meta} if stateless else finished


@breaks("stateless:caching")
class CachingUnsaid(Port):
    """Says nothing of how long its list of tools is good."""

    def caching(self) -> Message:
        return {}


@breaks("stateless:caching")
class CachingForEver(Port):
    """Says with a negative number that its list of tools is good for ever."""

    def caching(self) -> Message:
        return {"ttlMs": -1, "cacheScope": "public"}


@breaks("stateless:cancelled")
class StatelessCancelAnswered(Port):
    """Answers a cancelled call in this era."""

    def serve_call(self, call: Call) -> None:
        super().serve_call(call)
        if call.stateless and call.is_cancelled and not self.is_ending:
            self.send_result(call.id, self.finished(self.error(Failure("The call was cancelled.")), True))


@breaks("result:session-id")
class StatelessSessionOverwritten(Port):
    """Replaces the `_meta` of a call by its own name, and the session with it."""

    def finished(self, result: Message, stateless: bool) -> Message:
        return super().finished({**result, "_meta": {}} if stateless else result, stateless)


@breaks("cancel:child")
class StatelessUncancellable(Port):
    """Ignores cancellations in this era."""

    def cancel(self, call: Call) -> None:
        if not call.stateless:
            super().cancel(call)


@breaks("tools:chat-reply")
class StatelessListShort(Port):
    """Lists `chat` alone in this era."""

    def list_tools(self, params: Mapping[str, JSON], stateless: bool) -> Message:
        result = super().list_tools(params, stateless)
        return {**result, "tools": result["tools"][:1]} if stateless else result
