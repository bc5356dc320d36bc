"""Defects with what a client may well say: another name of a version, a falsy text, a blank behind a message."""

from collections.abc import Mapping
from re import fullmatch
from typing import Any

from conditions import notes_method
from defects.record import defect
from port import META
from speaking import INVALID_PARAMS, RpcError
from steps import before, gives


def needs_date(port: Any, params: Mapping[str, Any]) -> None:
    version = params.get("protocolVersion")
    if isinstance(version, str) and not fullmatch(r"\d{4}-\d{2}-\d{2}", version):
        raise RpcError(INVALID_PARAMS, "`protocolVersion` should be a date.")


def lenient_at_discovery(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    if port.memory["method"] == "server/discover":
        params = {**params, "_meta": {f"{META}clientCapabilities": {}, **params["_meta"]}}
    real(params)


defect(
    "version-without-date-refused",
    "Answers an `initialize` whose version is no date with an error.",
    "lifecycle:version:unsupported",
)(initialize=before(needs_date))
defect("token-of-zero-text-lost", "Takes the progress token `0`, a text, for none.", "progress:start")(
    token=gives(lambda token: None if token == "0" else token)
)
defect(
    "discovery-lacks-capabilities",
    "Answers `server/discover` whose `_meta` lacks the client's capabilities.",
    "stateless:meta",
)(requested=before(notes_method), check_stateless=lenient_at_discovery)
defect("blanks-behind-messages-dropped", "Passes over a message with a blank behind it.", "rpc:alive:chunks")(
    receive=lambda port, real, line: None if line.rstrip(b"\r\n")[-1:] in (b" ", b"\t") else real(line)
)
