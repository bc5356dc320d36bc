"""The errors of this package: the type says whose fault it is. Pure.

GeminiMcpError
├── CallerError      the tool call is wrong or failed: a result with `isError`
├── UnknownTool      the client named a tool that does not exist: JSON-RPC error -32602
└── OperatorError    flags, environment or files of the operator: a sentence on stderr, exit 2
    └── SpecError    a file under `spec/` cannot be used

Anything else that is raised is a bug. A new class is added only for another party at fault.
"""

from collections.abc import Mapping


class GeminiMcpError(Exception):
    """The root of the tree."""


class CallerError(GeminiMcpError):
    """A call that cannot be carried out; `condition` selects a sentence of `outcome.json` if none is given."""

    def __init__(self, condition: str, fields: Mapping[str, str], sentence: str | None = None) -> None:
        super().__init__(condition)
        self.condition = condition
        self.fields = fields
        self.sentence = sentence


class UnknownTool(GeminiMcpError):
    """A call of a tool that `tools/list` does not name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"Unknown tool: {name!r}. The tools are {', '.join(f'`{tool}`' for tool in known)}.")


class OperatorError(GeminiMcpError):
    """A flag, a variable or a file that the operator has to change."""


class SpecError(OperatorError):
    """A file of the specification that is missing, unreadable or not what it should be."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"The specification's file {file} cannot be used: {reason}.")
        self.file = file
