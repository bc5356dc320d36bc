"""Plans what a call runs: a tool, its arguments and the operator's extras in, an `Invocation` out. Pure.

What a tool's arguments become is said by `invocation.json`; this module only interprets its templates.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gemini_mcp.call.arguments import check
from gemini_mcp.errors import CallerError
from gemini_mcp.spec import ToolSpec
from gemini_mcp.spec.templates import (
    Element,
    Form,
    FormCase,
    InvocationSpec,
    Join,
    Refusal,
    ToolTemplate,
    Value,
    With,
    argument_of,
    occurs,
)
from gemini_mcp.spec.values import Json, is_array, texts_in


@dataclass(frozen=True)
class Extras:
    """What the operator adds to every command line."""

    flags: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Invocation:
    """One run of gemini, decided but not begun."""

    argv: tuple[str, ...]
    cwd: str | None = None
    stdin: str | None = None
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    resumes: str | None = None
    resumes_by_id: bool = False
    private: tuple[str, ...] = ()


def plan(
    tool: ToolSpec, arguments: Mapping[str, Json], spec: InvocationSpec, extras: Extras | None = None
) -> Invocation:
    """Turn a call into the run it asks for; `CallerError` for a call that may not run."""
    extras = extras or Extras()
    check(tool, arguments)
    template = spec.tools.get(tool.name)
    if template is None:
        raise CallerError("no-invocation", {"tool": tool.name})
    given = {name: arguments[name] for name in tool.properties if name in arguments}
    _refuse(given, spec)
    present = {name: value for name, value in given.items() if not _is_absent(name, value, spec)}
    return _fill(template, spec, _defaults(spec, extras) | present, extras.flags)


def inheritable(environ: Mapping[str, str], withhold: Sequence[str]) -> dict[str, str]:
    """The variables of the server that gemini may see: those whose names fit none of the patterns."""
    return {
        name: value for name, value in environ.items() if not any(fnmatchcase(name, pattern) for pattern in withhold)
    }


def environment(inherited: Mapping[str, str], invocation: Invocation, directory: str | None) -> dict[str, str]:
    """The variables of one run whose files lie in `directory`."""
    return {**inherited, **{name: f"{directory}/{file}" for name, file in invocation.env.items()}}


def _refuse(given: Mapping[str, Json], spec: InvocationSpec) -> None:
    for name, value in given.items():
        rule = spec.rules.get(name)
        texts = tuple(texts_in(value))
        for refusal in (*spec.everywhere, *(rule.refusals if rule else ())):
            for text in texts:
                if _applies(refusal, text):
                    fields = {"argument": name, "bytes": str(_size(text))}
                    raise CallerError("refused", fields, refusal.sentence)


def _applies(refusal: Refusal, value: str) -> bool:
    if refusal.max_bytes is not None and _size(value) > refusal.max_bytes:
        return True
    return refusal.pattern is not None and occurs(refusal.pattern, value)


def _is_absent(name: str, value: Json, spec: InvocationSpec) -> bool:
    """Null, `false` and an empty array ask for nothing; a text does when its rule says so."""
    if value is None or value is False or value == []:
        return True
    rule = spec.rules.get(name)
    absent = rule.absent if rule else None
    return absent is not None and isinstance(value, str) and re.fullmatch(absent, value) is not None


def _defaults(spec: InvocationSpec, extras: Extras) -> dict[str, Json]:
    """What the operator's options say of arguments that a call leaves out."""
    chosen = {name: extras.defaults.get(rule.option or "") for name, rule in spec.rules.items()}
    return {name: value for name, value in chosen.items() if value is not None}


def _fill(
    template: ToolTemplate, spec: InvocationSpec, values: Mapping[str, Json], flags: tuple[str, ...]
) -> Invocation:
    used = [element.name for element in template.argv if isinstance(element, Form)]
    forms = {name: _choose(spec.forms[name], values) for name in used}
    files = {name: text for name, value in template.files.items() if (text := _text(value, values)) is not None}
    resumes = _text(template.resumes, values) if template.resumes else None
    stdin = [form.stdin for form in forms.values() if form and form.stdin]
    return Invocation(
        argv=(*_elements(template.argv, values, forms), *flags),
        cwd=values.get(template.cwd) if template.cwd else None,
        stdin="".join(_text(value, values) or "" for value in stdin) if stdin else None,
        files=files,
        env={variable: file for variable, file in template.env.items() if file in files},
        resumes=resumes,
        resumes_by_id=resumes is not None and template.resumes is not None and resumes != template.resumes.default,
        private=tuple(text for name in template.private if name in values for text in texts_in(values[name])),
    )


def _choose(cases: tuple[FormCase, ...], values: Mapping[str, Json]) -> FormCase | None:
    text = values.get(argument_of(cases) or "")
    return next((case for case in cases if isinstance(text, str) and _fits(case, text)), None)


def _fits(case: FormCase, text: str) -> bool:
    if case.longer_than is not None and _size(text) <= case.longer_than:
        return False
    return case.pattern is None or occurs(case.pattern, text)


def _elements(
    template: tuple[Element, ...], values: Mapping[str, Json], forms: Mapping[str, FormCase | None]
) -> tuple[str, ...]:
    return tuple(text for element in template for text in _expand(element, values, forms))


def _expand(element: Element, values: Mapping[str, Json], forms: Mapping[str, FormCase | None]) -> tuple[str, ...]:
    match element:
        case str():
            return (element,)
        case Value(argument) if is_array(items := values.get(argument)):
            return tuple(text_of(item) for item in items)
        case Value():
            text = _text(element, values)
            return () if text is None else (text,)
        case Join(parts):
            return ("".join(part if isinstance(part, str) else _text(part, values) or "" for part in parts),)
        case With(argument, elements) if is_array(items := values.get(argument)):
            each = (_elements(elements, {**values, argument: item}, forms) for item in items)
            return tuple(text for texts in each for text in texts)
        case With(argument, elements):
            return _elements(elements, values, forms) if argument in values else ()
        case Form(name):
            chosen = forms[name]
            return _elements(chosen.argv, values, forms) if chosen else ()


def _text(value: Value, values: Mapping[str, Json]) -> str | None:
    found = values.get(value.argument, value.default)
    return None if found is None else text_of(found)


def text_of(value: Json) -> str:
    """A value as an element of a command line: a text as it is, an array with commas, anything else as JSON."""
    if isinstance(value, str):
        return value
    if is_array(value):
        return ",".join(map(text_of, value))
    is_whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if is_whole else value, ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
