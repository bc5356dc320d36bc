"""The specification as records: the one place that opens files below `spec/`. Reads files.

What may live here: the reader, the records that it gives, and the vocabulary of JSON. What a record means is decided by
the module that uses it.
"""

import importlib
from typing import TYPE_CHECKING

from gemini_mcp.errors import OperatorError as OperatorError
from gemini_mcp.errors import SpecError as SpecError
from gemini_mcp.spec.reader import Manifest as Manifest
from gemini_mcp.spec.reader import Requirement as Requirement
from gemini_mcp.spec.reader import ServerSpec as ServerSpec
from gemini_mcp.spec.reader import default_root as default_root
from gemini_mcp.spec.reader import directory as directory
from gemini_mcp.spec.reader import expanded_requirements as expanded_requirements
from gemini_mcp.spec.reader import load_documents as load_documents
from gemini_mcp.spec.reader import load_former_ids as load_former_ids
from gemini_mcp.spec.reader import load_manifest as load_manifest
from gemini_mcp.spec.reader import load_profiles as load_profiles
from gemini_mcp.spec.reader import load_released as load_released
from gemini_mcp.spec.reader import load_requirements as load_requirements
from gemini_mcp.spec.reader import load_server as load_server
from gemini_mcp.spec.reader import members_of as members_of
from gemini_mcp.spec.reader import read as read
from gemini_mcp.spec.reader import requirements_text as requirements_text
from gemini_mcp.spec.reader import server_spec as server_spec
from gemini_mcp.spec.reader import written_out as written_out
from gemini_mcp.spec.tools import ToolSpec as ToolSpec

if TYPE_CHECKING:
    from gemini_mcp.spec.host_rules import ExtensionRules as ExtensionRules
    from gemini_mcp.spec.host_rules import PolicyRules as PolicyRules
    from gemini_mcp.spec.host_rules import Rules as Rules


def __getattr__(name: str) -> object:
    """The rules of hosts, whose records are defined when somebody asks: it takes time, and a server needs them not."""
    if name not in ("ExtensionRules", "PolicyRules", "Rules"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("gemini_mcp.spec.host_rules"), name)
