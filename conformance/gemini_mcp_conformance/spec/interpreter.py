"""Interpreter: works out the specified invocation from a template and the arguments of a call. Pure.

The suite has its own, so that suite and server cannot agree by sharing a mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.templates import (
    Element,
    Form,
    FormCase,
    InvocationSpec,
    Join,
    Refusal,
    Value,
    With,
    argument_of,
    occurs,
)
from gemini_mcp.spec.values import Json, items, texts_in


@dataclass(frozen=True)
class Specified:
    """What a call becomes. `files` are texts by the variable that names their file."""

    argv: tuple[str, ...]
    stdin: str | None
    cwd: str | None
    files: Mapping[str, str]
    session: str | None = None


def specified(tool: ToolSpec, arguments: Mapping[str, Json], spec: InvocationSpec) -> Specified:
    """The invocation of a call that is served, without undeclared and absent arguments."""
    template = spec.tools[tool.name]
    given = {
        name: value for name, value in arguments.items() if name in tool.properties and not is_absent(name, value, spec)
    }
    reading = _Reading(given, {name: _chosen(cases, given) for name, cases in spec.forms.items()})
    stdin = [text for name in _forms_in(template.argv) for text in reading.stdin(name)]
    texts = {name: reading.text(value) for name, value in template.files.items()}
    return Specified(
        argv=tuple(reading.elements(template.argv)),
        stdin="".join(stdin) if stdin else None,
        cwd=spelled(given[template.cwd]) if template.cwd in given else None,
        files={variable: text for variable, file in template.env.items() if (text := texts[file]) is not None},
        session=reading.text(template.resumes) if template.resumes else None,
    )


def is_withheld(variable: str, spec: InvocationSpec) -> bool:
    """Whether gemini need not inherit a variable of the server."""
    patterns = (".*".join(map(re.escape, each.split("*"))) for each in spec.withhold)
    return any(re.fullmatch(pattern, variable) for pattern in patterns)


def is_absent(name: str, value: Json, spec: InvocationSpec) -> bool:
    """Whether a value counts as none."""
    # `spec/README.md`: these values become no element of a command line, whatever the patterns say.
    if value is None or value is False or value == []:
        return True
    rule = spec.rules.get(name)
    pattern = rule.absent if rule else None
    return pattern is not None and isinstance(value, str) and re.fullmatch(pattern, value) is not None


def rules(name: str, spec: InvocationSpec) -> tuple[Refusal, ...]:
    """The rules that apply to an argument: first those for every argument, then its own."""
    rule = spec.rules.get(name)
    return tuple(dict.fromkeys((*spec.everywhere, *(rule.refusals if rule else ()))))


def refusals(name: str, value: Json, spec: InvocationSpec) -> tuple[Refusal, ...]:
    """The rules that forbid a value of an argument."""
    texts = tuple(texts_in(value))
    return tuple(refusal for refusal in rules(name, spec) if any(_forbids(refusal, text) for text in texts))


def size(text: str) -> int:
    """Bytes of the text in UTF-8; a lone surrogate, which has no such form, counts three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class _Reading:
    """A template read with these values."""

    values: Mapping[str, Json]
    forms: Mapping[str, FormCase | None]

    def elements(self, template: Sequence[Element]) -> Iterator[str]:
        for element in template:
            match element:
                case str():
                    yield element
                case Form(name):
                    case = self.forms.get(name)
                    yield from self.elements(case.argv) if case else ()
                case Join(parts):
                    yield "".join(part if isinstance(part, str) else self.text(part) or "" for part in parts)
                case Value(argument):
                    value = self.values.get(argument)
                    one = self.text(element)
                    yield from map(spelled, items(value)) if isinstance(value, list) else () if one is None else (one,)
                case With(argument, inner):
                    value = self.values.get(argument)
                    # An array repeats the elements of `with` for each item; any other value is one item.
                    for each in items(value) if isinstance(value, list) else (() if value is None else (value,)):
                        yield from _Reading({**self.values, argument: each}, self.forms).elements(inner)

    def stdin(self, form: str) -> Iterator[str]:
        case = self.forms.get(form)
        if case is not None and case.stdin is not None:
            yield self.text(case.stdin) or ""

    def text(self, value: Value) -> str | None:
        found = self.values.get(value.argument, value.default)
        return None if found is None else spelled(found)


def _forms_in(template: Sequence[Element]) -> tuple[str, ...]:
    return tuple(element.name for element in template if isinstance(element, Form))


def _chosen(cases: Sequence[FormCase], values: Mapping[str, Json]) -> FormCase | None:
    """The first case that fits the value of the argument that the cases are about."""
    value = values.get(argument_of(cases) or "")
    return next((case for case in cases if isinstance(value, str) and _fits(case, value)), None)


@lru_cache(4096)
def _fits(case: FormCase, text: str) -> bool:
    is_long = case.longer_than is None or size(text) > case.longer_than
    return is_long and (case.pattern is None or occurs(case.pattern, text))


@lru_cache(4096)
def _forbids(refusal: Refusal, text: str) -> bool:
    is_long = refusal.max_bytes is not None and size(text) > refusal.max_bytes
    return is_long or (refusal.pattern is not None and occurs(refusal.pattern, text))


def spelled(value: Json) -> str:
    """A value as an element of a command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(map(spelled, items(value)))
    # JSON does not tell 2.0 from 2, so a port in a language with one type of number writes 2.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
