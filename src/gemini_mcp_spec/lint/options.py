"""Rules about command lines: gemini answers in JSON, no value becomes an option, a prompt is taken as it is. Pure.

What gemini takes a value for, the knowledge of its parser says; which values a call can hold, schemas and refusals say.
Only a rule that needs that knowledge belongs here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from gemini_mcp.gemini_cli.understanding import (
    COMMAND_WORDS,
    OPTIONS,
    Other,
    UsageError,
    effective_prompt,
    understand,
    unknown_options,
)
from gemini_mcp.gemini_cli.yargs import Option
from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.patterns import Unreadable, examples
from gemini_mcp.schema.validation import accepts, validator
from gemini_mcp.spec.values import Json, differing, inside, is_array, is_object, items, table
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, is_length, tools, type_of
from gemini_mcp_spec.lint.complaint import Complaint
from gemini_mcp_spec.reference.answers import planner

_PLAIN = ("some words", "word", "Words?", "some-words", "5ome-w0rds")
"""Texts that gemini takes for themselves, wherever they stand."""
_ANYTHING: Mapping[str, Json] = {}
"""The schema of any value."""
_BESIDE = "other"
"""Such a text for the other arguments of a call."""
_FORMAT, _JSON = "output-format", "json"
"""The option for the form of gemini's output, and the form in which `outcome.json` reads it."""
_NUMBERS = ("0", "12", "1e3", ".5", "5.", "0x1f", "-1", "-.5")
_SPELLED = sorted((f"-{'-' * (len(each) > 1)}{each}" for one in OPTIONS for each in one.spellings()), key=len)
_SUSPECT = (*_SPELLED, "--", "-", "---", "-?", "--of-another-day", *COMMAND_WORDS, *_NUMBERS)
"""Texts that gemini takes for an option, a command or a number where they stand alone."""


@dataclass(frozen=True)
class _Given:
    """An argument of a call: what becomes of the call with another text in its place, and what its schema takes."""

    name: str
    planned: Callable[[Json], Json]
    schema: Json

    def value(self, text: str) -> Json:
        """The text as a value of the argument's type."""
        kind = type_of(self.schema)
        if kind == "array":
            least = inside(self.schema, "minItems")
            return [text] + [_BESIDE] * (least - 1 if is_length(least) else 0)
        return json.loads(text) if kind in ("integer", "number") else text

    def invocation(self, text: str) -> Json:
        """What is run with this text; None where nothing is."""
        made = self.planned(self.value(text))
        return made if "argv" in table(made) else None


def value_option(spec: SpecFiles) -> Iterator[Complaint]:
    """No value of an argument becomes an option of gemini, and a prompt is taken for nothing else."""
    invocation = spec.documents.get(INVOCATION)
    for tool, (_, schema) in tools(spec).items():
        givens = _givens(invocation, tool, schema) if tool in spec.objects(INVOCATION, "tools") else ()
        found = ((given.name, wrong) for given in givens for wrong in _misread(given, _texts(invocation, given.schema)))
        for name, wrong in dict(found).items():
            yield Complaint(INVOCATION, _place(invocation, tool, name), wrong)


def output_format(spec: SpecFiles) -> Iterator[Complaint]:
    """Every command line asks gemini for JSON, in which its answer is found."""
    invocation, templates = spec.documents.get(INVOCATION), spec.objects(INVOCATION, "tools")
    for tool, (_, schema) in tools(spec).items():
        plan = planner(invocation)
        made = (plan(tool, _free(schema), given) for given in _calls(schema)) if tool in templates else ()
        asked = (_format(each["argv"][1:]) for each in made if "argv" in table(each))
        if (found := next((each for each in asked if each != _JSON), None)) is not None:
            message = f"`{tool}` asks gemini for its output as {shown(found)}, in which no answer is found."
            yield Complaint(INVOCATION, ("tools", tool, "argv"), message)


def _calls(schema: Json) -> Iterator[Mapping[str, Json]]:
    """Calls with all arguments and with those alone that are needed, and with every choice that one of them offers."""
    declared = table(schema.get("properties"))
    for kept in (declared, items(schema.get("required"))):
        plain = {name: _some(each) for name, each in declared.items() if name in kept}
        choices = ((name, value) for name in plain for value in items(inside(declared[name], "enum")))
        yield from (plain, *({**plain, name: value} for name, value in choices))


def _format(argv: Sequence[str]) -> Json:
    """The form of the output that gemini is asked for; one that is read, where no model is asked."""
    understood = understand(argv, unknown_options(argv))
    return _JSON if isinstance(understood, UsageError | Other) else understood.values.get(_FORMAT)


def _free(schema: Json) -> Json:
    """The arguments of a schema, with any value for each."""
    return {"properties": dict.fromkeys(table(schema.get("properties")), _ANYTHING)}


def _givens(invocation: Json, tool: str, schema: Json) -> Iterator[_Given]:
    """Every argument, beside all others, and beside those alone that a call needs."""
    declared, plan = table(schema.get("properties")), planner(invocation)
    plain = {name: _some(each) for name, each in declared.items()}
    for name, own in declared.items():
        for kept in (declared, items(schema.get("required"))):
            others = {other: value for other, value in plain.items() if other in kept}
            yield _Given(name, partial(_planned, plan, tool, _free(schema), others, name), own)


def _planned(
    plan: Callable[..., Json], tool: str, schema: Json, others: Mapping[str, Json], name: str, value: Json
) -> Json:
    return plan(tool, schema, {**others, name: value})


def _some(schema: Json) -> Json:
    """A value that means nothing else."""
    known = {"boolean": True, "integer": 7, "number": 7, "array": [_BESIDE]}
    return next(iter(items(inside(schema, "enum"))), known.get(type_of(schema), _BESIDE))


def _texts(invocation: Json, schema: Json) -> Sequence[str]:
    """Texts that gemini could take for something else, in the type of the argument."""
    if type_of(schema) in ("integer", "number"):
        return ("-1", "-0.5", "-1e-07")
    cases = (case for form in table(invocation["forms"]).values() for case in form)
    own = schema["items"] if type_of(schema) == "array" and "items" in table(schema) else schema
    limits = (inside(own, "minLength"), *(inside(case, "longerThan") for case in cases))
    lengths = sorted(set(filter(is_length, limits)))
    return (*_SUSPECT, *(f"{_SPELLED[-1]}={'x' * length}" for length in lengths), *_dashed(own))


def _dashed(schema: Json) -> Iterator[str]:
    """Texts that start with a dash, of those that a choice or a pattern allows."""
    pattern = inside(schema, "pattern")
    with suppress(Unreadable):
        allowed = (*items(inside(schema, "enum")), *(examples(pattern) if isinstance(pattern, str) else ()))
        yield from (each for each in allowed if isinstance(each, str) and each.startswith("-"))


def _misread(given: _Given, texts: Sequence[str]) -> Iterator[str]:
    """What gemini makes of the first text that it does not take for the argument."""
    if _names_an_option(given):
        yield f"`{given.name}` is a part of the name of an option, so that a value chooses the option."
        return
    usual = next(_usual(given), None)
    accepted = validator(given.schema)
    for text in texts if usual else ():
        made = given.invocation(text) if accepts(accepted, given.value(text)) else None
        if made and usual and (said := usual.otherwise(made, text)):
            yield f"`{given.name}` may be {shown(text[:40])}, and then gemini {said}."
            return


def _names_an_option(given: _Given) -> bool:
    """Whether a text stands behind a dash, in the same element, with no `=` between."""
    made = given.invocation(_PLAIN[1]) if type_of(given.schema) in ("string", "array") else None
    elements = made["argv"][1:] if made else ()
    return any(each.startswith("-") and _PLAIN[1] in each.partition("=")[0] for each in elements)


@dataclass(frozen=True)
class _Usual:
    """What gemini makes of a call with a text that it takes for itself."""

    text: str
    prompt: str | None
    values: Json
    more: Sequence[Option]

    def otherwise(self, made: Json, text: str) -> str | None:
        """What gemini does instead, if it takes another text for something else."""
        is_asked = self.prompt is not None and self.text in self.prompt
        match understand(made["argv"][1:], self.more):
            case UsageError(reason):
                # A flag without a value, or an option: which of them, the kind of the flag says, and versions differ.
                return f"complains: {reason}" if is_asked or text.startswith("-") else None
            case Other(kind):
                return f"does not ask the model ({kind})" if is_asked else None
            case found:
                values = _replaced(self.values, self.text, text)
                prompt = _replaced(self.prompt, self.text, text)
                if found.values != values:
                    names = ", ".join(f"`--{name}`" for name, *_ in differing(values, found.values))
                    return f"reads something else as {names}"
                said = effective_prompt(found, _stdin(made))
                return f"asks the model {shown(said)}" if said != prompt else None


def _usual(given: _Given) -> Iterator[_Usual]:
    for text in _PLAIN if type_of(given.schema) not in ("integer", "number") else ("7654321",):
        made = given.invocation(text)
        if made and any(text in element for element in (*made["argv"], made.get("stdin", ""))):
            more = unknown_options(made["argv"][1:])
            found = understand(made["argv"][1:], more)
            if not isinstance(found, UsageError | Other):
                yield _Usual(text, effective_prompt(found, _stdin(made)), found.values, more)


def _stdin(made: Json) -> bytes | None:
    return made["stdin"].encode("utf-8", "replace") if "stdin" in made else None


def _replaced(value: Json, old: str, new: str) -> Json:
    """The value with another text in place of one."""
    if isinstance(value, str):
        return value.replace(old, new)
    if is_array(value):
        return [_replaced(each, old, new) for each in value]
    return {key: _replaced(each, old, new) for key, each in value.items()} if is_object(value) else value


def _place(invocation: Json, tool: str, name: str) -> Path:
    """Where the command line of a tool, or a form in it, hands an argument over."""
    elements = invocation["tools"][tool]["argv"]
    for index, element in enumerate(elements):
        form = inside(element, "form")
        if isinstance(form, str) and _names(invocation["forms"].get(form), name):
            return ("forms", form)
        if _names(element, name):
            return ("tools", tool, "argv", index)
    return ("tools", tool, "argv")


def _names(template: Json, name: str) -> bool:
    """Whether a part of a template hands an argument over."""
    return name == inside(template, "argument") or any(
        _names(each, name) for each in (*table(template).values(), *items(template))
    )
