"""Defects in what the port says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from defects.record import breaks
from port import HANDSHAKE, Port
from speaking import JSON, Message, RpcError


@breaks("identity:name")
class OtherName(Port):
    """Reports the name of its package as the name of the server."""

    def server_info(self) -> Message:
        return {**super().server_info(), "name": "gemini-mcp"}


@breaks("identity:version")
class OtherVersion(Port):
    """Reports a version of its own."""

    def server_info(self) -> Message:
        return {**super().server_info(), "version": "0.3.1"}


@breaks("lifecycle:initialize")
class ServerInfoWithoutVersion(Port):
    """Leaves the version out of serverInfo."""

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        return {**super().initialize(params), "serverInfo": {"name": "gemini-mcp-server"}}


@breaks("lifecycle:version:supported")
class RevisionOfItsOwn(Port):
    """Answers every initialize with a revision that does not exist."""

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        return {**super().initialize(params), "protocolVersion": "2025-12-31"}


@breaks("lifecycle:version:unsupported")
class EchoesAnyRevision(Port):
    """Agrees to whatever protocol version the client asks for."""

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        return {**super().initialize(params), "protocolVersion": params.get("protocolVersion")}


@breaks("lifecycle:version:unsupported")
class RefusesUnknownRevisions(Port):
    """Answers an initialize for an unknown version with an error instead of a version it speaks."""

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        if params.get("protocolVersion") not in HANDSHAKE:
            raise RpcError(-32602, "Unsupported protocol version.")
        return super().initialize(params)


@breaks("lifecycle:capabilities:tools")
class NoToolsCapability(Port):
    """Offers tools without declaring the capability."""

    def capabilities(self) -> Message:
        return {"logging": {}}


@breaks("lifecycle:ping")
class PingUnknown(Port):
    """Does not know ping."""

    def ping(self) -> Message:
        raise RpcError(-32601, "The method 'ping' is unknown.")


@breaks("lifecycle:ping")
class PingAnswersPong(Port):
    """Answers ping with something."""

    def ping(self) -> Message:
        return {"pong": True}
