"""What the port says it is."""

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.check import Complaints, NotApplicable
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.witness import shown
from gemini_mcp_conformance.talk.messages import SERVER_INFO


def names_itself(exchange: Exchange) -> bool:
    return exchange.method in ("initialize", "server/discover") and exchange.result is not None


@check("identity:name", judges=names_itself)
def name_is_the_specified_one(exchange: Exchange) -> Complaints:
    return _complaints(exchange, "name", exchange.spec.manifest.server_name)


@check("identity:version", judges=names_itself)
def version_is_that_of_the_tools(exchange: Exchange) -> Complaints:
    return _complaints(exchange, "version", exchange.spec.manifest.server_version)


def _complaints(exchange: Exchange, key: str, expected: str) -> Complaints:
    info = inside(exchange.result, "serverInfo")
    if exchange.method != "initialize":
        info = inside(exchange.result, "_meta", SERVER_INFO)
        if info is None:
            raise NotApplicable("A port need not say who it is when there is no handshake.")
    if inside(info, key) != expected:
        yield f"The port reports the {key} {shown(inside(info, key))}, and should report {shown(expected)}."
