"""Defects in what the port says of itself."""

from defects.record import defect
from port import HANDSHAKE
from speaking import RpcError
from steps import adding, always, gives, raises, refuses


def lies_between(version: str) -> bool:
    return HANDSHAKE[0] < version < HANDSHAKE[-1]


defect("other-name", "Reports the name of its package as the name of the server.", "identity:name")(
    server_info=gives(adding(name="gemini-mcp"))
)
defect("other-version", "Reports a version of its own.", "identity:version")(server_info=gives(adding(version="0.3.1")))
defect("server-info-without-version", "Leaves the version out of serverInfo.", "lifecycle:initialize")(
    initialize=gives(adding(serverInfo={"name": "gemini-mcp-server"}))
)
defect(
    "revision-of-its-own",
    "Answers every initialize with a revision that does not exist.",
    "lifecycle:version:supported",
)(initialize=gives(adding(protocolVersion="2025-12-31")))
defect(
    "echoes-any-revision", "Agrees to whatever protocol version the client asks for.", "lifecycle:version:unsupported"
)(initialize=lambda port, real, params: {**real(params), "protocolVersion": params.get("protocolVersion")})
defect(
    "refuses-unknown-revisions",
    "Answers an initialize for an unknown version with an error instead of a version it speaks.",
    "lifecycle:version:unsupported",
)(
    initialize=refuses(
        RpcError(-32602, "Unsupported protocol version."), lambda params: params.get("protocolVersion") not in HANDSHAKE
    )
)
defect("no-tools-capability", "Offers tools without declaring the capability.", "lifecycle:capabilities:tools")(
    capabilities=always({"logging": {}})
)
defect("ping-unknown", "Does not know ping.", "lifecycle:ping")(
    ping=raises(RpcError(-32601, "The method 'ping' is unknown."))
)
defect("ping-answers-pong", "Answers ping with something.", "lifecycle:ping")(ping=always({"pong": True}))
defect(
    "echoes-revisions-between",
    "Agrees to every protocol version that lies between two that it knows.",
    "lifecycle:version:unsupported",
)(
    initialize=lambda port, real, params: (
        real(params)
        | ({"protocolVersion": params["protocolVersion"]} if lies_between(params["protocolVersion"]) else {})
    )
)
