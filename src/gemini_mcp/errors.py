"""The errors of this package: the type says whose fault it is. Pure.

GeminiMcpError
├── CallerError      the tool call is wrong or failed: a result with `isError`
├── ProtocolError    the client's request is not one that MCP allows: a JSON-RPC error with a code
│   └── UnknownTool  the client named a tool that does not exist
└── OperatorError    flags, environment or files of the operator: a sentence on stderr, exit 2
    └── SpecError    a file under `spec/` cannot be used

Anything else that is raised is a bug. A new class is added only for another party at fault.
"""

from collections.abc import Mapping
from enum import IntEnum


class Code(IntEnum):
    """The codes of JSON-RPC and MCP errors that the server sends."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    CLOSED = -32000
    HEADER_MISMATCH = -32020
    UNSUPPORTED_REVISION = -32022


class GeminiMcpError(Exception):
    """The root of the tree."""


class CallerError(GeminiMcpError):
    """A call that cannot be carried out; `condition` selects a sentence of `outcome.json` if none is given."""

    def __init__(self, condition: str, fields: Mapping[str, str], sentence: str | None = None) -> None:
        super().__init__(condition)
        self.condition = condition
        self.fields = fields
        self.sentence = sentence


class ProtocolError(GeminiMcpError):
    """A request that MCP does not allow; `data` is for programs."""

    def __init__(self, code: Code, sentence: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.data = data


class UnknownTool(ProtocolError):
    """A call of a tool that `tools/list` does not name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        tools = ", ".join(f"`{tool}`" for tool in known)
        super().__init__(Code.INVALID_PARAMS, f"Unknown tool: {name!r}. The tools are {tools}.")


class OperatorError(GeminiMcpError):
    """A flag, a variable or a file that the operator has to change."""


class SpecError(OperatorError):
    """A file of the specification that is missing, unreadable or not what it should be."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"The specification's file {file} cannot be used: {reason}.")
        self.file = file
