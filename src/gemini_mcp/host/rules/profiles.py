"""The profiles of hosts that the specification has, by name. Reads files, once.

A profile is a file of `spec/host/profiles`. The functions that a field can choose are where the field is read.
"""

from collections.abc import Mapping
from functools import cache

from gemini_mcp import spec
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, inside

DEFAULT, DOCUMENTED = "current", "documented"
"""The profile of a command that names none, and that of the guide, whose schema names the defaults of settings."""


@cache
def profiles() -> Mapping[str, Rules]:
    """The rules of every profile, the default one first."""
    loaded = spec.load_profiles()
    return {DEFAULT: loaded[DEFAULT], **loaded}


def setting_default(kind: str, name: str) -> Json:
    """The value of a setting that is not there, by the kind of object that it belongs to."""
    return inside(profiles()[DOCUMENTED].settings_schema, "$defs", kind, "properties", name, "default")
