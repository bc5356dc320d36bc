"""Rules about the server profile: tools, locales, templates and sentences agree with each other. Pure.

A rule that compares two kinds of files of `server/` belongs here, unless it is about calls.
"""

import re
from collections.abc import Iterator, Mapping

from gemini_mcp.spec.values import Json, is_object, items, table
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, OUTCOME, tools
from gemini_mcp_spec.lint.complaint import Complaint, Rule
from gemini_mcp_spec.schema.validation import schema_violation, validator, violations


def tool_required(spec: SpecFiles) -> Iterator[Complaint]:
    """What a tool requires is among its properties."""
    for name, (file, schema) in tools(spec).items():
        for index, argument in enumerate(schema.get("required", ())):
            if argument not in schema.get("properties", {}):
                message = f"`{name}` requires {argument!r}, which it does not describe."
                path = ("inputSchema", "required", index)
                yield Complaint(file, path, message, "Add the property, or do not require it.")


def tool_example(spec: SpecFiles) -> Iterator[Complaint]:
    """Defaults and examples of a schema are valid against it."""
    for file, schema in tools(spec).values():
        if schema_violation(schema) is None:
            yield from _examples(file, ("inputSchema",), schema)


def _examples(file: str, path: Path, schema: Json) -> Iterator[Complaint]:
    if not is_object(schema):
        return
    named = [(("default",), schema["default"])] if "default" in schema else []
    named += [(("examples", index), example) for index, example in enumerate(schema.get("examples", ()))]
    for where, example in named:
        for violation in violations(validator(schema), example):
            message = f"The {where[0].rstrip('s')} is not valid: {violation.message}."
            yield Complaint(file, (*path, *where), message, "Correct it.")
    for name, inner in schema.get("properties", {}).items():
        yield from _examples(file, (*path, "properties", name), inner)


def locale_coverage(spec: SpecFiles) -> Iterator[Complaint]:
    """A locale describes the same tools and properties as `tools/`."""
    wanted = {name: set(schema.get("properties", {})) for name, (_, schema) in tools(spec).items()}
    for file in spec.folder("server/locales"):
        held = {name: set(text.get("properties", {})) for name, text in spec.objects(file, "tools").items()}
        for message, path in _uncovered(wanted, held):
            yield Complaint(file, path, message, "Make it cover what `server/tools` holds.")


def _uncovered(wanted: Mapping[str, set[str]], held: Mapping[str, set[str]]) -> Iterator[tuple[str, Path]]:
    for name in sorted(wanted.keys() - held.keys()):
        yield f"The tool `{name}` is not translated.", ("tools",)
    for name in sorted(held.keys() - wanted.keys()):
        yield f"There is no tool `{name}`.", ("tools", name)
    for name in sorted(wanted.keys() & held.keys()):
        for argument in sorted(wanted[name] - held[name]):
            yield f"The argument `{argument}` of `{name}` is not translated.", ("tools", name, "properties")
        for argument in sorted(held[name] - wanted[name]):
            yield f"`{name}` has no argument `{argument}`.", ("tools", name, "properties", argument)


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text of a template, with its path."""
    for key, inner in table(value).items() or enumerate(items(value)):
        if isinstance(inner, str):
            yield (*path, key), inner
        else:
            yield from _texts(inner, (*path, key))


def _arguments(template: Json, path: Path) -> list[tuple[Path, str]]:
    """Every argument that a template names, with the path of its name."""
    named = ("argument", "with", "cwd")
    return [found for found in _texts(template, path) if found[0][-1] in named or found[0][-2] == "private"]


def _forms(template: Json, path: Path) -> list[tuple[Path, str]]:
    """Every form that a template uses, with the path of its name."""
    return [found for found in _texts(template, path) if found[0][-1] == "form"]


def template_tool(spec: SpecFiles) -> Iterator[Complaint]:
    """Every tool has a template, and every template a tool."""
    templates, known = spec.objects(INVOCATION, "tools"), tools(spec)
    for name in sorted(known.keys() - templates.keys()):
        message = f"The tool `{name}` has no template."
        yield Complaint(INVOCATION, ("tools",), message, "Say which command line it becomes.")
    for name in sorted(templates.keys() - known.keys()):
        message = f"There is no tool `{name}`."
        yield Complaint(INVOCATION, ("tools", name), message, "Remove the template, or write the tool.")


def template_argument(spec: SpecFiles) -> Iterator[Complaint]:
    """Every argument that a template or a rule names is one of the tool's, and none is left out."""
    forms, known = spec.objects(INVOCATION, "forms"), tools(spec)
    for name, template in spec.objects(INVOCATION, "tools").items():
        if name not in known:
            continue
        file, schema = known[name]
        properties = set(schema.get("properties", {}))
        named = _arguments(template, ("tools", name))
        for _, form in _forms(template, ("tools", name)):
            named += _arguments(forms.get(form), ("forms", form))
        for path, argument in named:
            if argument not in properties:
                message = f"`{name}` has no argument `{argument}`."
                yield Complaint(INVOCATION, path, message, "Name one of its arguments.")
        for argument in sorted(properties - {argument for _, argument in named}):
            message = f"No template uses the argument `{argument}` of `{name}`."
            yield Complaint(file, ("inputSchema", "properties", argument), message, "Use it, or remove it.")
    every = {argument for _, schema in known.values() for argument in schema.get("properties", {})}
    for argument in spec.objects(INVOCATION, "arguments").keys() - every:
        message = f"No tool has an argument `{argument}`."
        yield Complaint(INVOCATION, ("arguments", argument), message, "Name one, or remove the rule.")


def template_name(spec: SpecFiles) -> Iterator[Complaint]:
    """Forms, files and refusals that a template names are there."""
    forms, refusals = spec.objects(INVOCATION, "forms"), spec.objects(INVOCATION, "refusals")
    for name, template in spec.objects(INVOCATION, "tools").items():
        for path, form in _forms(template, ("tools", name)):
            if form not in forms:
                yield Complaint(INVOCATION, path, f"There is no form {form!r}.", "Name one of `forms`.")
        for variable, value in template.get("env", {}).items():
            if value.get("file") not in template.get("files", {}):
                message = f"`{name}` has no file {value.get('file')!r}."
                yield Complaint(INVOCATION, ("tools", name, "env", variable), message, "Name one of `files`.")
    for argument, rule in spec.objects(INVOCATION, "arguments").items():
        for index, refusal in enumerate(rule.get("refuse", ())):
            if refusal not in refusals:
                path = ("arguments", argument, "refuse", index)
                yield Complaint(INVOCATION, path, f"There is no refusal {refusal!r}.", "Name one of `refusals`.")


def sentence_reached(spec: SpecFiles) -> Iterator[Complaint]:
    """Sentences have ids of their own, and none stands behind one that always fits first."""
    sentences = spec.entries(OUTCOME, "sentences")
    ids: set[str] = set()
    final: dict[str, str] = {}
    for index, entry in enumerate(sentences):
        name, when = entry.get("id"), entry.get("when")
        if name in ids:
            message = f"The sentence {name!r} is there twice."
            yield Complaint(OUTCOME, ("sentences", index, "id"), message, "Give it another id.")
        elif when in final:
            message = f"The sentence {name!r} is never said, because {final[when]!r} fits before it."
            yield Complaint(OUTCOME, ("sentences", index), message, "Move it up, or remove it.")
        ids.add(name)
        if not {"exit", "stderr"} & set(entry):
            final.setdefault(when, name)


def sentence_fields(spec: SpecFiles) -> Iterator[Complaint]:
    """Braces of a sentence enclose one name and nothing else."""
    sentences: list[tuple[str, Path, Json]] = [
        *((OUTCOME, ("sentences", index), entry) for index, entry in enumerate(spec.entries(OUTCOME, "sentences"))),
        *((INVOCATION, ("refusals", name), entry) for name, entry in spec.objects(INVOCATION, "refusals").items()),
    ]
    for file, path, entry in sentences:
        if re.search(r"[{}]", re.sub(r"\{[a-z]+\}", "", str(entry.get("sentence")))):
            message = "A brace of the sentence encloses no field."
            yield Complaint(file, (*path, "sentence"), message, "Write a field as `{name}`.")


RULES: Mapping[str, Rule] = {
    "tool-required": tool_required,
    "tool-example": tool_example,
    "locale-coverage": locale_coverage,
    "template-tool": template_tool,
    "template-argument": template_argument,
    "template-name": template_name,
    "sentence-reached": sentence_reached,
    "sentence-fields": sentence_fields,
}
