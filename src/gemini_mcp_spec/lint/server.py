"""Rules about the server profile: tools, locales, templates and sentences agree with each other. Pure.

A rule that compares two kinds of files of `server/` belongs here, unless it is about calls.
"""

import re
from collections.abc import Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.validation import schema_violation, validator, violations
from gemini_mcp.spec.values import ABSENT, Json, inside, is_object, items, table
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, OUTCOME, tools, type_of
from gemini_mcp_spec.lint.complaint import Complaint, Named, unknown

OUTCOME_SCHEMA = "meta/outcome.schema.json"


def tool_required(spec: SpecFiles) -> Iterator[Complaint]:
    """What a tool requires is among its properties."""
    for name, (file, schema) in tools(spec).items():
        required = enumerate(schema.get("required", ()))
        named = ((file, ("inputSchema", "required", index), argument) for index, argument in required)
        message = f"`{name}` requires `{{}}`, which it does not describe."
        yield from unknown(named, schema.get("properties", {}), message)


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
            yield Complaint(file, (*path, *where), f"The {where[0].rstrip('s')} is not valid: {violation.message}.")
    for name, inner in schema.get("properties", {}).items():
        yield from _examples(file, (*path, "properties", name), inner)


def locale_coverage(spec: SpecFiles) -> Iterator[Complaint]:
    """A locale describes the same tools and properties as `tools/`."""
    wanted = {name: schema.get("properties", {}) for name, (_, schema) in tools(spec).items()}
    for file in spec.folder("server/locales"):
        held = {name: text.get("properties", {}) for name, text in spec.objects(file, "tools").items()}
        yield from _covered(file, ("tools",), wanted, held, "tool `{}`")
        for name in wanted.keys() & held.keys():
            path = ("tools", name, "properties")
            yield from _covered(file, path, wanted[name], held[name], f"argument `{{}}` of `{name}`")


def _covered(
    file: str, path: Path, wanted: Mapping[str, Json], held: Mapping[str, Json], what: str
) -> Iterator[Complaint]:
    """Complaints about what one of two tables lacks; the file holds the second at `path`."""
    yield from unknown(((file, path, name) for name in wanted), held, f"The {what} is missing.")
    yield from unknown(((file, (*path, name), name) for name in held), wanted, f"There is no {what}.")


def _texts(value: Json, path: Path) -> Iterator[Named]:
    """Every text of a template, with its path."""
    for key, inner in table(value).items() or enumerate(items(value)):
        if isinstance(inner, str):
            yield INVOCATION, (*path, key), inner
        else:
            yield from _texts(inner, (*path, key))


def _arguments(template: Json, path: Path) -> list[Named]:
    """Every argument that a template names, with the path of its name."""
    named = ("argument", "with", "cwd")
    return [text for text in _texts(template, path) if text[1][-1] in named or text[1][-2] == "private"]


def _forms(template: Json, path: Path) -> list[Named]:
    """Every form that a template uses, with the path of its name."""
    return [text for text in _texts(template, path) if text[1][-1] == "form"]


def template_tool(spec: SpecFiles) -> Iterator[Complaint]:
    """Every tool has a template, and every template a tool."""
    return _covered(INVOCATION, ("tools",), tools(spec), spec.objects(INVOCATION, "tools"), "tool `{}`")


def template_argument(spec: SpecFiles) -> Iterator[Complaint]:
    """Every argument that a template or a rule names is one of the tool's, and none is left out."""
    forms, known = spec.objects(INVOCATION, "forms"), tools(spec)
    for tool, template in spec.objects(INVOCATION, "tools").items():
        if tool not in known:
            continue
        file, schema = known[tool]
        properties: Mapping[str, Json] = schema.get("properties", {})
        named = _arguments(template, ("tools", tool))
        for _, _, form in _forms(template, ("tools", tool)):
            named += _arguments(forms.get(form), ("forms", form))
        yield from unknown(named, properties, f"`{tool}` has no argument `{{}}`.")
        places = ((file, ("inputSchema", "properties", name), name) for name in properties)
        used = {argument for _, _, argument in named}
        yield from unknown(places, used, f"No template uses the argument `{{}}` of `{tool}`.", "Use it, or remove it.")
    every = {argument for _, schema in known.values() for argument in schema.get("properties", {})}
    ruled = ((INVOCATION, ("arguments", name), name) for name in spec.objects(INVOCATION, "arguments"))
    yield from unknown(ruled, every, "No tool has an argument `{}`.")


def template_resumes(spec: SpecFiles) -> Iterator[Complaint]:
    """The session that a template resumes is one of the values that its command line hands over."""
    for tool, template in spec.objects(INVOCATION, "tools").items():
        resumed = table(template).get("resumes", ABSENT)
        if resumed is not ABSENT and resumed not in _values(template.get("argv")):
            message = f"`{tool}` resumes {shown(resumed)}, which its command line does not hand over."
            yield Complaint(INVOCATION, ("tools", tool, "resumes"), message)


def template_type(spec: SpecFiles) -> Iterator[Complaint]:
    """A directory and what chooses a form are texts, and a session is a text or a number."""
    forms = spec.objects(INVOCATION, "forms")
    for tool, template in spec.objects(INVOCATION, "tools").items():
        chosen = [_arguments(forms.get(form), ()) for _, _, form in _forms(template, ())]
        texts = [table(template).get("cwd"), *(named[0][2] for named in chosen if named)]
        kinds = {inside(template, "resumes", "argument"): _NAMES} | dict.fromkeys(texts, _TEXTS)
        file, schema = tools(spec).get(tool, ("", {}))
        for name, declared in table(schema.get("properties")).items():
            found, able = type_of(declared), kinds.get(name)
            if able and found not in able:
                message = f"`{name}` of `{tool}` has the type {shown(found)}, but its use needs a text."
                yield Complaint(file, ("inputSchema", "properties", name, "type"), message)


_TEXTS, _NAMES = ("string",), ("string", "integer", "number")


def _values(template: Json) -> Iterator[Json]:
    """Everything that a template holds, however deep."""
    for inner in (*table(template).values(), *items(template)):
        yield inner
        yield from _values(inner)


def template_name(spec: SpecFiles) -> Iterator[Complaint]:
    """Forms, files and refusals that a template names are there."""
    for tool, template in spec.objects(INVOCATION, "tools").items():
        path = ("tools", tool)
        forms = _forms(template, path)
        yield from unknown(forms, spec.objects(INVOCATION, "forms"), "There is no form `{}`.")
        files = [(INVOCATION, (*path, "env", name), held.get("file")) for name, held in template.get("env", {}).items()]
        yield from unknown(files, template.get("files", {}), f"`{tool}` has no file `{{}}`.")
    for argument, rule in spec.objects(INVOCATION, "arguments").items():
        refused = enumerate(rule.get("refuse", ()))
        named = ((INVOCATION, ("arguments", argument, "refuse", index), name) for index, name in refused)
        yield from unknown(named, spec.objects(INVOCATION, "refusals"), "There is no refusal `{}`.")


def sentence_reached(spec: SpecFiles) -> Iterator[Complaint]:
    """Sentences have ids of their own, and none stands behind one that always fits first."""
    ids: set[str] = set()
    final: dict[str, str] = {}
    for index, entry in enumerate(spec.entries(OUTCOME, "sentences")):
        name, when = entry.get("id"), entry.get("when")
        if name in ids:
            message = f"The sentence {shown(name)} is there twice."
            yield Complaint(OUTCOME, ("sentences", index, "id"), message, "Give it another id.")
        elif when in final:
            message = f"The sentence {shown(name)} is never said, because {shown(final[when])} fits before it."
            yield Complaint(OUTCOME, ("sentences", index), message)
        ids.add(name)
        if not {"exit", "stderr"} & set(entry):
            final.setdefault(when, name)


def sentence_missing(spec: SpecFiles) -> Iterator[Complaint]:
    """For every kind of failure there is a sentence that always fits."""
    entries = spec.entries(OUTCOME, "sentences")
    fits = {entry.get("when") for entry in entries if not {"exit", "stderr"} & set(entry)}
    kinds = inside(spec.documents.get(OUTCOME_SCHEMA), "$defs", "sentence", "properties", "when", "enum")
    for kind in items(kinds):
        if kind not in fits:
            yield Complaint(OUTCOME, ("sentences",), f"No sentence fits every failure of the kind {shown(kind)}.")


def sentence_fields(spec: SpecFiles) -> Iterator[Complaint]:
    """Braces of a sentence enclose one name and nothing else."""
    sentences = [(OUTCOME, ("sentences", index), one) for index, one in enumerate(spec.entries(OUTCOME, "sentences"))]
    refusals = [(INVOCATION, ("refusals", name), one) for name, one in spec.objects(INVOCATION, "refusals").items()]
    for file, path, entry in (*sentences, *refusals):
        if re.search(r"[{}]", re.sub(r"\{[a-z]+\}", "", str(entry.get("sentence")))):
            yield Complaint(file, (*path, "sentence"), "A brace of the sentence encloses no field.")


def sentence_says(spec: SpecFiles) -> Iterator[Complaint]:
    """A sentence holds what requirements ask of every error of its kind."""
    entries = list(spec.entries(OUTCOME, "sentences"))
    missing = next((each.get("sentence") for each in entries if each.get("when") == "cwd-missing"), None)
    for index, entry in enumerate(entries):
        path = ("sentences", index, "sentence")
        yield from (Complaint(OUTCOME, path, message) for message in _unsaid(entry))
        if entry.get("when") == "cwd-not-a-directory" and entry.get("sentence") == missing:
            yield Complaint(OUTCOME, path, "The sentence says the same of a directory that is not there.")
    said = inside(spec.documents.get(OUTCOME), "said")
    if isinstance(said, str) and "{message}" not in said:
        yield Complaint(OUTCOME, ("said",), "What gemini says has to hold `{message}`.")


def _unsaid(entry: Mapping[str, Json]) -> Iterator[str]:
    """What the sentence of an error does not tell."""
    sentence, names = str(entry.get("sentence")), entry.get("names")
    pattern, asked = _ASKED.get(str(entry.get("when")), ("", ""))
    if not re.search(pattern, sentence):
        yield f"The sentence has to hold {asked}."
    if isinstance(names, str) and not re.search(names, sentence, re.IGNORECASE):
        yield f"The sentence does not name {shown(names)}, as its `names` says."


_ASKED = {
    **dict.fromkeys(("argument-missing", "argument-type", "argument-value"), (r"\{argument\}", "`{argument}`")),
    **dict.fromkeys(("cwd-missing", "cwd-not-a-directory"), (r"\{cwd\}", "`{cwd}`")),
    "not-found": ("PATH|install", "PATH, or the way to install gemini"),
}
"""What an error of a kind must tell, as a pattern and in words."""


def key_apart(spec: SpecFiles) -> Iterator[Complaint]:
    """What is read or written under different names has different keys."""
    outcome = spec.documents.get(OUTCOME)
    for section in ("answer", "meta"):
        first: dict[Json, str] = {}
        for name, key in table(inside(outcome, section)).items():
            if first.setdefault(key, name) != name:
                message = f"The key {shown(key)} is that of `{first[key]}` as well."
                yield Complaint(OUTCOME, (section, name), message)


def separator_apart(spec: SpecFiles) -> Iterator[Complaint]:
    """The separator of errors begins a line, or is found in nothing that stands before it."""
    outcome = spec.documents.get(OUTCOME)
    separator = str(inside(outcome, "separator"))
    sentences = [str(entry.get("sentence")) for entry in spec.entries(OUTCOME, "sentences")]
    refusals = [str(entry.get("sentence")) for entry in spec.objects(INVOCATION, "refusals").values()]
    before = (str(inside(outcome, "prefix")), *sentences, *refusals)
    holder = next((text for text in before if separator.strip() in text), None)
    if not separator.startswith("\n") and holder is not None:
        message = f"The separator {shown(separator)} is a part of {shown(holder)}, which stands before it."
        yield Complaint(OUTCOME, ("separator",), message)
