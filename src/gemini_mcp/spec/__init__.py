"""The specification as records: the one place that opens files below `spec/`. Reads files.

What may live here: the reader, the records that it gives, and the vocabulary of JSON. What a record means is decided by
the module that uses it.
"""

from gemini_mcp.errors import OperatorError, SpecError
from gemini_mcp.spec.host_rules import Rules
from gemini_mcp.spec.reader import (
    Manifest,
    Requirement,
    ServerSpec,
    default_root,
    expanded_requirements,
    load_documents,
    load_former_tools,
    load_manifest,
    load_profiles,
    load_released,
    load_requirements,
    load_server,
    read,
    requirements_text,
    server_spec,
    written_out,
)
from gemini_mcp.spec.tools import ToolSpec

__all__ = [
    "Manifest",
    "OperatorError",
    "Requirement",
    "Rules",
    "ServerSpec",
    "SpecError",
    "ToolSpec",
    "default_root",
    "expanded_requirements",
    "load_documents",
    "load_former_tools",
    "load_manifest",
    "load_profiles",
    "load_released",
    "load_requirements",
    "load_server",
    "read",
    "requirements_text",
    "server_spec",
    "written_out",
]
