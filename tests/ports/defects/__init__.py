"""Ports with one defect each, by area. A new defect is a class in the module of its area: the step that is wrong."""

from defects import (
    answers,
    cancelling,
    commands,
    concurrency,
    ending,
    errors,
    messages,
    processes,
    progress,
    prompts,
    refusals,
    sessions,
    stateless,
    system,
    tools,
)
from defects.record import DEFECTS, Defect

__all__ = [
    "DEFECTS",
    "Defect",
    "answers",
    "cancelling",
    "commands",
    "concurrency",
    "ending",
    "errors",
    "messages",
    "processes",
    "progress",
    "prompts",
    "refusals",
    "sessions",
    "stateless",
    "system",
    "tools",
]
