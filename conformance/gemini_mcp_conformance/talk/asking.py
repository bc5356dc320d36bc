"""Asking: makes calls of the specified tools from what their arguments are for; pure.

A source of conversations names no argument. It gives a prompt, a session, a file, a directory or an option.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_conformance.spec.schema import is_valid, sample
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.steps import Request, call, path


@dataclass(frozen=True)
class Asking:
    """Makes calls of the tools of one specification."""

    spec: Specification

    def arguments(
        self,
        tool: str,
        words: str | None = None,
        session: str | None = None,
        file: str | None = None,
        directory: Json = None,
        option: str | None = None,
    ) -> dict[str, Json]:
        """The arguments of a call; what the tool has no argument for is left out, and what it requires is added."""
        spec = self.spec
        wished: dict[str, Json] = {}
        if words is not None and (name := spec.prompt(tool)) is not None:
            wished[name] = words
        if session is not None and (name := spec.session(tool)) is not None:
            wished[name] = session
        if file is not None:
            wished |= dict.fromkeys(spec.files(tool), file)
        name = spec.directory(tool)
        if name is not None and (directory is not None or name in spec.tools[tool].required):
            wished[name] = path() if directory is None else directory
        if option is not None:
            wished |= {name: option for name in spec.options(tool) if name != spec.prompt(tool)}
        return {**spec.required(tool), **{name: self.value(tool, name, value) for name, value in wished.items()}}

    def value(self, tool: str, name: str, wished: Json) -> Json:
        """The wished value, changed where the schema of the argument does not allow it."""
        schema = self.spec.tools[tool].properties[name]
        if isinstance(wished, str):
            return self.spec.usable(tool, name, wished)
        # A path becomes text when it is played; only then could a schema of texts judge it.
        is_path = is_object(wished)
        return wished if is_path or is_valid(schema, wished) else sample(schema, wished)

    def ask(self, tool: str, words: str | None, *scripts: Script, **more: Json) -> Request:
        """A call; `more` are parameters of `arguments`, and fields of a request."""
        meant = {key: more.pop(key) for key in ("session", "file", "directory", "option") if key in more}
        given = {**self.arguments(tool, words, **meant), **more.pop("also", {})}
        return call(tool, given, *scripts, **more)
