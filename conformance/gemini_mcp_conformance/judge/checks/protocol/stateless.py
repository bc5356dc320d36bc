"""The era without a handshake: what each request must hold and each result tells."""

from __future__ import annotations

from gemini_mcp.spec.values import Json, inside, items, table
from gemini_mcp_conformance.judge.expectation import answer
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import cancellation, token
from gemini_mcp_conformance.tell.witness import reply, shown

META = "io.modelcontextprotocol/"
VERSION = f"{META}protocolVersion"
CAPABILITIES = f"{META}clientCapabilities"
INVALID_PARAMS = -32602
UNSUPPORTED = -32022


def named(exchange: Exchange) -> Json:
    """The protocol version that a request names, or None."""
    return inside(exchange.request, "params", "_meta", VERSION)


def is_complete(exchange: Exchange) -> bool:
    """Requests of the era with all that they must hold."""
    capabilities = inside(exchange.request, "params", "_meta", CAPABILITIES)
    return named(exchange) in exchange.spec.manifest.stateless_revisions and isinstance(capabilities, dict)


def must_be_served(exchange: Exchange) -> bool:
    known = exchange.method == "tools/list" and "cursor" not in exchange.params
    return is_complete(exchange) and (known or answer(exchange) is not None)


def has_result(exchange: Exchange) -> bool:
    return is_complete(exchange) and exchange.result is not None


@check("stateless:discover", judges=lambda exchange: exchange.method == "server/discover" and is_complete(exchange))
def discovery_tells_versions_and_capabilities(exchange: Exchange) -> list[str]:
    versions, capabilities = (inside(exchange.result, key) for key in ("supportedVersions", "capabilities"))
    if exchange.revision not in items(versions):
        return [f"The port answered server/discover with the versions {shown(versions)}, which should hold "
                f"{exchange.revision}."]  # fmt: skip
    if isinstance(capabilities, dict):
        return []
    return [
        f"The port answered server/discover with the capabilities {shown(capabilities)}, which should be an object."
    ]


@check("stateless:no-handshake", judges=must_be_served, anyway=True)
def request_is_served_as_it_is(exchange: Exchange) -> list[str]:
    if exchange.result is not None:
        return []
    return [f"{reply(exchange, exchange.method)}, and should serve it without a handshake."]


@check("stateless:result-type", judges=has_result, anyway=True)
def result_is_complete(exchange: Exchange) -> list[str]:
    found = inside(exchange.result, "resultType")
    if found == "complete":
        return []
    return [f"The port's result of {exchange.method} has the resultType {shown(found)}, and should have 'complete'."]


@check(
    "stateless:meta",
    judges=lambda exchange: named(exchange) in exchange.spec.manifest.stateless_revisions and not is_complete(exchange),
)
def incomplete_request_is_refused(exchange: Exchange) -> list[str]:
    if inside(exchange.error, "code") == INVALID_PARAMS:
        return []
    asked = f"{exchange.method} without the client's capabilities"
    return [f"{reply(exchange, asked)}, and should answer with error {INVALID_PARAMS}."]


@check(
    "stateless:version",
    judges=lambda exchange: (
        isinstance(named(exchange), str) and named(exchange) not in exchange.spec.manifest.stateless_revisions
    ),
)
def unsupported_version_is_refused(exchange: Exchange) -> list[str]:
    supported = items(inside(exchange.error, "data", "supported"))
    if inside(exchange.error, "code") == UNSUPPORTED and set(exchange.spec.manifest.stateless_revisions) <= set(
        map(str, supported)
    ):
        return []
    asked = f"{exchange.method} of version {shown(named(exchange))}"
    return [f"{reply(exchange, asked)}, and should answer with error {UNSUPPORTED} and the versions it supports."]


@check("stateless:server-info", judges=has_result, anyway=True)
def result_names_the_server(exchange: Exchange) -> list[str]:
    info = inside(exchange.result, "_meta", f"{META}serverInfo")
    if all(isinstance(table(info).get(key), str) for key in ("name", "version")):
        return []
    return [f"The port's result of {exchange.method} has the serverInfo {shown(info)}, which should name it."]


@check("stateless:caching", judges=lambda exchange: exchange.method == "tools/list" and has_result(exchange))
def list_tells_how_long_it_is_good(exchange: Exchange) -> list[str]:
    lasts, scope = (inside(exchange.result, key) for key in ("ttlMs", "cacheScope"))
    is_number = isinstance(lasts, int | float) and not isinstance(lasts, bool)
    if is_number and lasts >= 0 and scope in ("public", "private"):
        return []
    return [f"The port's list of tools has the ttlMs {shown(lasts)} and the cacheScope {shown(scope)}, "
            "which should be a number from 0 and `public` or `private`."]  # fmt: skip


@check_all("stateless:cancelled", judges=lambda seen: bool(_cancelled(seen)))
def cancelled_request_is_heard_of_no_more(observation: Observation) -> list[str]:
    said = [line for each in _cancelled(observation) for line in _later(observation, each)]
    return [f"The port sent {shown(line)} for a request that was cancelled." for line in said[:1]]


def _cancelled(observation: Observation) -> list[Exchange]:
    if observation.transport != "stdio":
        return []
    return [each for each in observation.exchanges if each.silence == "cancelled" and is_complete(each)]


def _later(observation: Observation, exchange: Exchange) -> list[Json]:
    """What the port sent for a request after the first thing it can only have said on purpose."""
    notice = cancellation(observation, exchange)
    said = [*exchange.answers, *(exchange.progress if token(exchange) is not None else ())]
    # A message that crosses the cancellation on its way is no fault; gemini hangs, so that an answer never does.
    settled = [line for line in said if line.is_response or (notice and line.at > notice.at + 1)]
    return [line.table for line in settled]
