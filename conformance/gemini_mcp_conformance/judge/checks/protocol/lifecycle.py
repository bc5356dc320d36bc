"""How a session begins."""

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.checks.protocol.rpc import has_surrogate, lacks_session
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import asks
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import reply, shown

TYPES = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}


def greets(exchange: Exchange) -> bool:
    """Whether a client begins a session; a port may refuse one with half a character in its name."""
    return exchange.method == "initialize" and not (exchange.is_error and has_surrogate(exchange))


def asks_for_known_revision(exchange: Exchange) -> bool:
    return greets(exchange) and exchange.params.get("protocolVersion") in exchange.spec.manifest.handshake_revisions


def asks_for_unknown_revision(exchange: Exchange) -> bool:
    return greets(exchange) and not asks_for_known_revision(exchange)


@check("lifecycle:initialize", judges=greets)
def initialize_tells_all_it_must(exchange: Exchange) -> Complaints:
    result = exchange.result
    if result is None:
        yield f"{reply(exchange, 'initialize')}, and should answer with a result."
    wrong = [key for key, kind in TYPES.items() if not isinstance(inside(result, key), kind)]
    wrong += [f"serverInfo.{key}" for key in ("name", "version") if not _text(inside(result, "serverInfo", key))]
    if wrong:
        found = shown(inside(result, *wrong[0].split(".")))
        yield f"The port answered initialize with the {wrong[0]} {found}, and should give a proper one."


@check("lifecycle:version:supported", judges=asks_for_known_revision)
def known_revision_is_echoed_or_another_offered(exchange: Exchange) -> Complaints:
    """Which revisions a port supports is its own affair; it must speak the one that it answers with."""
    spoken, asked = inside(exchange.result, "protocolVersion"), exchange.params["protocolVersion"]
    if spoken not in exchange.spec.manifest.handshake_revisions:
        yield f"The port answered initialize for {asked} with {shown(spoken)}, and should name a revision it supports."


@check("lifecycle:version:unsupported", judges=asks_for_unknown_revision)
def unknown_revision_is_answered_with_a_known_one(exchange: Exchange) -> Complaints:
    spoken, asked = inside(exchange.result, "protocolVersion"), exchange.params.get("protocolVersion")
    if not isinstance(spoken, str) or spoken == asked:
        said = f"initialize for {shown(asked)} with {shown(spoken)}"
        yield f"The port answered {said}, and should name a revision it supports."


@check("lifecycle:capabilities:tools", judges=greets)
def tools_are_declared(exchange: Exchange) -> Complaints:
    capabilities = inside(exchange.result, "capabilities")
    if not isinstance(inside(capabilities, "tools"), dict):
        yield f"The port declares the capabilities {shown(capabilities)}, and should declare `tools`."


@check("lifecycle:ping", judges=asks("ping"))
def ping_is_answered(exchange: Exchange) -> Complaints:
    if exchange.revision not in exchange.spec.manifest.handshake_revisions:
        raise NotApplicable(f"The revision {exchange.revision} has no ping.")
    # MCP lets a server answer what comes in no session with status 400.
    if lacks_session(exchange) and exchange.result is None and exchange.silence != "timeout":
        raise NotApplicable("The port serves nobody without a session.")
    # `_meta` may stand in every result of MCP.
    if exchange.result is None or exchange.result.keys() - {"_meta"}:
        yield f"{reply(exchange, 'ping')}, and should answer with an empty result."


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)
