"""How a session begins."""

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import asks
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import reply, shown

TYPES = {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}


def asks_for_known_revision(exchange: Exchange) -> bool:
    return (
        exchange.method == "initialize"
        and exchange.params.get("protocolVersion") in exchange.spec.manifest.handshake_revisions
    )


def asks_for_unknown_revision(exchange: Exchange) -> bool:
    return (
        exchange.method == "initialize"
        and exchange.params.get("protocolVersion") not in exchange.spec.manifest.handshake_revisions
    )


@check("lifecycle:initialize", judges=asks("initialize"))
def initialize_tells_all_it_must(exchange: Exchange) -> list[str]:
    result = exchange.result
    if result is None:
        return [f"{reply(exchange, 'initialize')}, and should answer with a result."]
    wrong = [key for key, kind in TYPES.items() if not isinstance(result.get(key), kind)]
    wrong += [f"serverInfo.{key}" for key in ("name", "version") if not _text(inside(result, "serverInfo", key))]
    return [f"The port's result of initialize has no proper {key}." for key in wrong]


@check("lifecycle:version:supported", judges=asks_for_known_revision)
def known_revision_is_echoed_or_another_offered(exchange: Exchange) -> list[str]:
    """Which revisions a port supports is its own affair; it is bound by what it answers to each."""
    spoken = (exchange.result or {}).get("protocolVersion")
    if spoken in exchange.spec.manifest.handshake_revisions:
        return []
    asked = exchange.params["protocolVersion"]
    return [
        f"The port answered initialize for {asked} with {shown(spoken)}, and should answer with a revision it supports."
    ]


@check("lifecycle:version:unsupported", judges=asks_for_unknown_revision)
def unknown_revision_is_answered_with_a_known_one(exchange: Exchange) -> list[str]:
    spoken = (exchange.result or {}).get("protocolVersion")
    asked = exchange.params.get("protocolVersion")
    if exchange.result is not None and isinstance(spoken, str) and spoken != asked:
        return []
    return [
        f"The port answered initialize for {shown(asked)} with {shown(spoken)}, and should name a revision it supports."
    ]


@check("lifecycle:capabilities:tools", judges=asks("initialize"))
def tools_are_declared(exchange: Exchange) -> list[str]:
    capabilities = (exchange.result or {}).get("capabilities")
    if isinstance(inside(capabilities, "tools"), dict):
        return []
    return [f"The port declares the capabilities {shown(capabilities)}, and should declare `tools`."]


@check("lifecycle:ping", judges=asks("ping"))
def ping_is_answered(exchange: Exchange) -> list[str]:
    if exchange.revision not in exchange.spec.manifest.handshake_revisions:
        raise NotApplicable(f"The revision {exchange.revision} has no ping.")
    if exchange.result is not None and not {key for key in exchange.result if key != "_meta"}:
        return []
    return [f"{reply(exchange, 'ping')}, and should answer with an empty result."]


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)
