"""Imports `gemini_mcp.transport.stdio` faster than a plain import does. Effect: imports.

The `__init__` of `mcp` and of `mcp.server` import clients, HTTP and authorization, which a server on stdio never uses.
So empty modules stand in for these two packages. If a release of the SDK does not work with them, the import is
repeated without them. The SDK defines hundreds of pydantic models and the server needs few, so each is built on first
use. Only the command that serves stdio uses this module.
"""

import gc
import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

PACKAGES = ("mcp", "mcp.server")
MODULE = "gemini_mcp.transport.stdio"


def import_stdio() -> ModuleType:
    """The module that serves stdio."""
    # Importing creates many objects and hardly any garbage: collections would only cost time.
    gc.disable()
    try:
        with _models_built_on_use():
            return _with_empty_packages()
    except (ImportError, AttributeError):
        _forget()
        return importlib.import_module(MODULE)
    finally:
        gc.freeze()  # what was imported stays, so no collection needs to look at it
        gc.enable()


@contextmanager
def _models_built_on_use() -> Generator[None]:
    """pydantic copies this setting into every model that is defined while the body runs, and into no other."""
    config = importlib.import_module("pydantic").BaseModel.model_config
    config["defer_build"] = True
    try:
        yield
    finally:
        del config["defer_build"]


def _with_empty_packages() -> ModuleType:
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
