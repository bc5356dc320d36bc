"""Roles: what the arguments of a tool are for, as its template says; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gemini_mcp.spec.subjects import on_command_line, options, prompts
from gemini_mcp.spec.templates import InvocationSpec, ToolTemplate


@dataclass(frozen=True)
class Roles:
    """What the arguments of a tool are for."""

    prompt: str | None = None
    session: str | None = None
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    options: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()


def roles(template: ToolTemplate, invocation: InvocationSpec) -> Roles:
    return Roles(
        prompt=next(iter(prompts(template, invocation)), None),
        session=template.resumes.argument if template.resumes else None,
        files={template.files[file].argument: variable for variable, file in template.env.items()},
        options=options(template, invocation),
        spoken=on_command_line(template, invocation),
    )
