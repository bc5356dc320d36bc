"""The templates of `invocation.json` as frozen records: JSON in, records out. Pure.

A template says how arguments become a command line. Only what `invocation.json` can say belongs here;
`invocation.py` interprets it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from gemini_mcp.spec.values import Json

CLASS = re.compile(r"\[(?:\\.|[^\\\]])+\]", re.DOTALL)
"""A pattern that is one class of characters."""
ASCII = "".join(map(chr, range(128)))


@dataclass(frozen=True)
class Value:
    """The value of an argument, or the default when it is absent."""

    argument: str
    default: str | None = None


@dataclass(frozen=True)
class Join:
    """Several texts that make one element of the command line."""

    parts: tuple["str | Value", ...]


@dataclass(frozen=True)
class With:
    """Elements that appear only when the argument does."""

    argument: str
    elements: tuple["Element", ...]


@dataclass(frozen=True)
class Form:
    """The place where the chosen form of a value goes."""

    name: str


Element: TypeAlias = str | Value | Join | With | Form


@dataclass(frozen=True)
class FormCase:
    """One way to hand a value over, and when it is the right one."""

    argv: tuple[Element, ...]
    stdin: Value | None
    longer_than: int | None
    pattern: str | None


def argument_of(cases: Sequence[FormCase]) -> str | None:
    """The argument whose value a form hands over: the first that its cases name."""
    for case in cases:
        for element in (*case.argv, *(() if case.stdin is None else (case.stdin,))):
            parts = element.parts if isinstance(element, Join) else (element,)
            for part in parts:
                if isinstance(part, Value):
                    return part.argument
    return None


def occurs(pattern: str, text: str) -> bool:
    """Whether a pattern fits anywhere in a text, which may be long."""
    return not (text.isascii() and _is_beyond_ascii(pattern)) and re.search(pattern, text) is not None


@lru_cache
def _is_beyond_ascii(pattern: str) -> bool:
    return CLASS.fullmatch(pattern) is not None and re.search(pattern, ASCII) is None


@dataclass(frozen=True)
class Refusal:
    """A value that no call may carry."""

    name: str
    sentence: str
    pattern: str | None
    max_bytes: int | None


@dataclass(frozen=True)
class ArgumentRule:
    """When an argument counts as absent, what it must not be, and which option of the operator stands in for it."""

    absent: str | None
    refusals: tuple[Refusal, ...]
    option: str | None


@dataclass(frozen=True)
class ToolTemplate:
    """What one tool makes of its arguments."""

    argv: tuple[Element, ...]
    cwd: str | None
    files: Mapping[str, Value]
    env: Mapping[str, str]
    private: tuple[str, ...]
    resumes: Value | None


@dataclass(frozen=True)
class Listing:
    """How the sessions are listed, and how an entry of the list reads."""

    argv: tuple[str, ...]
    entry: str
    timeout: float


@dataclass(frozen=True)
class Temporary:
    """How the directory of a run's files is named and who may read it."""

    prefix: str
    random: int
    directory_mode: int
    file_mode: int


@dataclass(frozen=True)
class InvocationSpec:
    """The whole of `invocation.json`."""

    program: str
    rules: Mapping[str, ArgumentRule]
    refusals: tuple[Refusal, ...]
    everywhere: tuple[Refusal, ...]
    forms: Mapping[str, tuple[FormCase, ...]]
    tools: Mapping[str, ToolTemplate]
    withhold: tuple[str, ...]
    temporary: Temporary
    listing: Listing


def invocation_spec(document: Json) -> InvocationSpec:
    """Read the content of `invocation.json`; `KeyError`, `TypeError` or `ValueError` when it is not one."""
    refusals = {name: _refusal(name, entry) for name, entry in document["refusals"].items()}
    return InvocationSpec(
        program=document["program"],
        rules={
            name: ArgumentRule(
                absent=rule.get("absent"),
                refusals=tuple(refusals[refusal] for refusal in rule.get("refuse", ())),
                option=rule.get("option"),
            )
            for name, rule in document["arguments"].items()
        },
        refusals=tuple(refusals.values()),
        everywhere=tuple(refusals[name] for name, entry in document["refusals"].items() if entry.get("everywhere")),
        forms={name: tuple(_form_case(case) for case in cases) for name, cases in document["forms"].items()},
        tools={name: _tool(entry) for name, entry in document["tools"].items()},
        withhold=tuple(document["environment"]["withhold"]),
        temporary=_temporary(document["temporary"]),
        listing=_listing(document["listing"]),
    )


def _refusal(name: str, entry: Json) -> Refusal:
    return Refusal(name, entry["sentence"], entry.get("pattern"), entry.get("maxBytes"))


def _form_case(case: Json) -> FormCase:
    stdin = case.get("stdin")
    return FormCase(_elements(case["argv"]), stdin and _value(stdin), case.get("longerThan"), case.get("pattern"))


def _listing(entry: Json) -> Listing:
    return Listing(tuple(entry["argv"]), entry["entry"], float(entry["timeoutSeconds"]))


def _temporary(entry: Json) -> Temporary:
    prefix = entry["directory"].rstrip("X")
    return Temporary(
        prefix=prefix,
        random=len(entry["directory"]) - len(prefix),
        directory_mode=int(entry["directoryMode"], 8),
        file_mode=int(entry["fileMode"], 8),
    )


def _tool(entry: Json) -> ToolTemplate:
    resumes = entry.get("resumes")
    return ToolTemplate(
        argv=_elements(entry["argv"]),
        cwd=entry.get("cwd"),
        files={name: _value(content) for name, content in entry.get("files", {}).items()},
        env={variable: value["file"] for variable, value in entry.get("env", {}).items()},
        private=tuple(entry.get("private", ())),
        resumes=resumes and _value(resumes),
    )


def _elements(template: Json) -> tuple[Element, ...]:
    return tuple(_element(element) for element in template)


def _element(element: Json) -> Element:
    match element:
        case str():
            return element
        case {"argument": _}:
            return _value(element)
        case {"join": parts}:
            return Join(tuple(part if isinstance(part, str) else _value(part) for part in parts))
        case {"with": str(argument), "argv": elements}:
            return With(argument, _elements(elements))
        case {"form": str(name)}:
            return Form(name)
        case _:
            raise ValueError(f"{element!r} is no element of a command line")


def _value(element: Json) -> Value:
    return Value(element["argument"], element.get("default"))
