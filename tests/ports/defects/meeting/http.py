"""Posts in which two rare things meet: ports that break `http`."""

from collections.abc import Mapping
from typing import Any

from conditions import results
from defects.record import defect
from http_port import HttpPort
from steps import only, without


def compares_kind(port: Any, real: Any, post: Any, body: bytes) -> None:
    if post.headers.get("Content-Type") == "application/json":
        real(post, body)
    else:
        post.reply(415)


def name_forgiven(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "tools/call" or port.current.post.header("Mcp-Name") is not None:
        real(method, params)


defect("charset-refused", "Refuses JSON whose charset is named.", "http:content-type")(HttpPort, posted=compares_kind)
defect(
    "session-unnamed-in-streams",
    "Names no session in an answer over HTTP behind progress notifications.",
    "http:equivalence",
    "result:session-id",
)(HttpPort, execute=results(lambda call, result: call.token is not None, without("_meta")))
defect(
    "replies-outlive-disconnection",
    "Lets the gemini of a reply run on for a client that has closed its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(lambda call: call.tool == "chat"))
defect("missing-name-forgiven", "Serves a call without the header that names its tool.", "http:stateless:header")(
    HttpPort, check_headers=name_forgiven
)
