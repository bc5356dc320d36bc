"""Imports the server in less time: no arguments, the module `gemini_mcp.stdio` out. Effect: imports.

The `__init__` of `mcp` and of `mcp.server` import clients, HTTP and authorization, which a server on stdio never uses.
Empty shells stand in for these two packages; if a release of the SDK does not work with them, the import is done
again without. Only the stdio server's command goes this way.
"""

import gc
import importlib
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

PACKAGES = ("mcp", "mcp.server")
MODULE = "gemini_mcp.stdio"


def import_stdio() -> ModuleType:
    """The module that serves stdio."""
    gc.disable()
    try:
        return _with_shells()
    except (ImportError, AttributeError):
        _forget()
        return importlib.import_module(MODULE)
    finally:
        gc.freeze()
        gc.enable()


def _with_shells() -> ModuleType:
    path = None
    for name in PACKAGES:
        spec = PathFinder.find_spec(name, path)
        if spec is None:
            raise ImportError(name)
        sys.modules[name] = module_from_spec(spec)
        path = spec.submodule_search_locations
    return importlib.import_module(MODULE)


def _forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "mcp" or name == MODULE]:
        del sys.modules[name]
