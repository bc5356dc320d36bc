"""Who the port says it is."""

from gemini_mcp.spec.values import Json, inside
from gemini_mcp_conformance.judge.check import NotApplicable
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.tell.witness import shown

SERVER_INFO = "io.modelcontextprotocol/serverInfo"


def names_itself(exchange: Exchange) -> bool:
    return exchange.method in ("initialize", "server/discover") and exchange.result is not None


@check("identity:name", judges=names_itself)
def name_is_the_specified_one(exchange: Exchange) -> list[str]:
    name = _info(exchange, "name")
    expected = exchange.spec.manifest.server_name
    if name == expected:
        return []
    return [f"The port calls itself {shown(name)}, and should call itself {shown(expected)}."]


@check("identity:version", judges=names_itself)
def version_is_that_of_the_tools(exchange: Exchange) -> list[str]:
    version = _info(exchange, "version")
    expected = exchange.spec.manifest.server_version
    if version == expected:
        return []
    return [f"The port reports version {shown(version)}, and should report {shown(expected)}."]


def _info(exchange: Exchange, key: str) -> Json:
    if exchange.method == "initialize":
        return inside(exchange.result, "serverInfo", key)
    info = inside(exchange.result, "_meta", SERVER_INFO)
    if info is None:
        raise NotApplicable("Without a handshake a port need not say who it is.")
    return inside(info, key)
