"""The era without a handshake: what each request must hold and each result tells."""

from __future__ import annotations

from gemini_mcp.spec.values import Json, inside, items
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.checks.life.cancel import was_unfinished
from gemini_mcp_conformance.judge.checks.protocol.rpc import invalid_params
from gemini_mcp_conformance.judge.expectation import answer
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.see.timeline import cancellations, token
from gemini_mcp_conformance.see.witness import reply, shown
from gemini_mcp_conformance.talk.messages import CAPABILITIES, SERVER_INFO, UNSUPPORTED_VERSION, VERSION


@remembered
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


def is_incomplete(exchange: Exchange) -> bool:
    """Requests of the era without something that they must hold."""
    return named(exchange) in exchange.spec.manifest.stateless_revisions and not is_complete(exchange)


def names_unsupported(exchange: Exchange) -> bool:
    return isinstance(named(exchange), str) and named(exchange) not in exchange.spec.manifest.stateless_revisions


@check("stateless:discover", judges=lambda exchange: exchange.method == "server/discover" and is_complete(exchange))
def discovery_tells_versions_and_capabilities(exchange: Exchange) -> Complaints:
    versions, capabilities = (inside(exchange.result, key) for key in ("supportedVersions", "capabilities"))
    said = "The port answered server/discover with the"
    if exchange.revision not in items(versions):
        yield f"{said} versions {shown(versions)}, which should hold {exchange.revision}."
    if not isinstance(capabilities, dict):
        yield f"{said} capabilities {shown(capabilities)}, which should be an object."


@check("stateless:no-handshake", judges=must_be_served, any_outcome=True)
def request_is_served_as_it_is(exchange: Exchange) -> Complaints:
    if exchange.result is None:
        yield f"{reply(exchange, exchange.method)}, and should serve it without a handshake."


@check("stateless:result-type", judges=has_result, any_outcome=True)
def result_is_complete(exchange: Exchange) -> Complaints:
    found = inside(exchange.result, "resultType")
    if found != "complete":
        yield f"The port's result of {exchange.method} has the resultType {shown(found)}, and should have 'complete'."


@check("stateless:meta", judges=is_incomplete)
def incomplete_request_is_refused(exchange: Exchange) -> Complaints:
    return invalid_params(exchange, f"{exchange.method} without the client's capabilities")


@check("stateless:version", judges=names_unsupported)
def unsupported_version_is_refused(exchange: Exchange) -> Complaints:
    supported = set(map(str, items(inside(exchange.error, "data", "supported"))))
    is_listed = supported.issuperset(exchange.spec.manifest.stateless_revisions)
    if inside(exchange.error, "code") != UNSUPPORTED_VERSION or not is_listed or named(exchange) in supported:
        asked = f"{exchange.method} of version {shown(named(exchange))}"
        wanted = f"error {UNSUPPORTED_VERSION} and the versions it supports"
        yield f"{reply(exchange, asked)}, and should answer with {wanted}."


@check("stateless:server-info", judges=has_result, any_outcome=True)
def result_names_the_server(exchange: Exchange) -> Complaints:
    info = inside(exchange.result, "_meta", SERVER_INFO)
    if not all(isinstance(inside(info, key), str) for key in ("name", "version")):
        yield f"The port's result of {exchange.method} has the serverInfo {shown(info)}, which should name it."


@check("stateless:caching", judges=lambda exchange: exchange.method == "tools/list" and has_result(exchange))
def list_tells_how_long_it_is_good(exchange: Exchange) -> Complaints:
    lasts, scope = (inside(exchange.result, key) for key in ("ttlMs", "cacheScope"))
    is_number = isinstance(lasts, int | float) and not isinstance(lasts, bool)
    if not is_number or lasts < 0 or scope not in ("public", "private"):
        yield (
            f"The port's list of tools has the ttlMs {shown(lasts)} and the cacheScope {shown(scope)}, "
            "which should be a number from 0 and `public` or `private`."
        )


@check_all("stateless:cancelled", judges=lambda seen: bool(_cancelled(seen)))
def cancelled_request_is_not_mentioned_again(observation: Observation) -> Complaints:
    for exchange in _cancelled(observation):
        for message in _sent_after_cancellation(observation, exchange):
            yield f"The port sent {shown(message)} for a cancelled request, and should send nothing more for it."


def _cancelled(observation: Observation) -> list[Exchange]:
    if observation.transport != "stdio":
        return []
    return [each for each in observation.exchanges if was_unfinished(each) and is_complete(each)]


def _sent_after_cancellation(observation: Observation, exchange: Exchange) -> list[Json]:
    """What the port sent for a request after it must have read the cancellation."""
    notice = next((line for line, each in cancellations(observation) if each is exchange), None)
    said = [*exchange.answers, *(exchange.progress if token(exchange) is not None else ())]
    # Progress may cross the cancellation on its way; an answer cannot, since gemini hangs.
    return [line.table for line in said if line.is_response or (notice and line.at > notice.at + 1 + observation.delay)]
