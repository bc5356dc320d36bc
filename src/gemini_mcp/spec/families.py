"""Families of requirements: one entry becomes a requirement for every tool, argument or exit code it is about. Pure.

Add a set of subjects when a sentence needs one and the files can give it. What a requirement means, the checks decide.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.spec.templates import Element, Form, FormCase, InvocationSpec, Join, Refusal, ToolTemplate, Value, With
from gemini_mcp.spec.tools import ToolSpec
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import OutcomeSpec

Subject: TypeAlias = Mapping[str, str]
"""The values of the placeholders of one requirement."""

Subjects: TypeAlias = Mapping[str, Sequence[Subject]]
"""The sets that a family can be expanded over, by the name that its `for` gives."""

PLACEHOLDER = re.compile(r"\{([a-zA-Z-]+)\}")
FAMILY = ("for", "where", "refusal")
"""The keys of an entry that its requirements do not get."""

ANNOTATIONS = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})
"""Keywords of a property's schema that forbid no value of its type."""


def expanded(entries: Iterable[Json], subjects: Subjects, words: Subject) -> Iterator[tuple[int, Json, Subject]]:
    """The requirements, their placeholders filled, each with the number of its entry. Of equal ids, the first stays."""
    entries, seen = list(entries), set[str]()
    claims = [claim for entry in entries if "refusal" in (claim := entry.get("refusal") or entry.get("where", {}))]
    for number, entry in enumerate(entries):
        for subject in _subjects_of(entry, subjects, claims):
            id = PLACEHOLDER.sub(lambda match, subject=subject: kebab(subject[match[1]]), entry["id"])
            if id not in seen:
                seen.add(id)
                sentence = _filled(entry["sentence"], {**words, **subject})
                own = {key: value for key, value in entry.items() if key not in FAMILY}
                yield number, {**own, "id": id, "sentence": sentence}, subject


def named_in(sentences: Iterable[str], entries: Iterable[Json]) -> Mapping[str, frozenset[str]]:
    """The tools that old sentences name, with their arguments: what families about tools and properties can become."""
    templates = [entry["sentence"] for entry in entries if entry.get("for") in ("tool", "property")]
    patterns = [re.compile(_pattern(template)) for template in templates]
    found: dict[str, set[str]] = {}
    for sentence in sentences:
        for match in filter(None, (pattern.fullmatch(sentence) for pattern in patterns)):
            groups = match.groupdict()
            found.setdefault(groups["tool"], set()).update({groups["argument"]} if "argument" in groups else ())
    return {tool: frozenset(arguments) for tool, arguments in found.items()}


def _pattern(template: str) -> str:
    """What matches every sentence that a template can become, its placeholders as groups."""
    parts = PLACEHOLDER.split(template)
    groups = [re.escape(part) if number % 2 == 0 else f"(?P<{part}>[^`]+)" for number, part in enumerate(parts)]
    return "".join(groups)


def size_of(count: int) -> str:
    """A number of bytes as people write it: `8 MiB`, `128,000 bytes`."""
    is_power_of_two = count.bit_count() == 1
    units = ((1 << 20, "MiB"), (1 << 10, "KiB"))
    fitting = (f"{count // size} {unit}" for size, unit in units if is_power_of_two and count >= size)
    return next(fitting, f"{count:,} bytes")


def is_member(id: str, family: str) -> bool:
    """Whether an id is one that the id of a family can become."""
    parts = PLACEHOLDER.split(family)[::2]
    return re.fullmatch("[a-z0-9-]+".join(map(re.escape, parts)), id) is not None


def kebab(name: str) -> str:
    """A name as a part of an id: `sessionId` is `session-id`."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)).strip("-")


def subjects_of(tools: Sequence[ToolSpec], invocation: InvocationSpec, outcome: OutcomeSpec) -> Subjects:
    """Everything that a family can be about."""
    known = [(tool, invocation.tools[tool.name]) for tool in tools if tool.name in invocation.tools]
    spoken = _unique(_argument(name) for _, template in known for name in on_command_line(template, invocation))
    texts = {name for tool in tools for name, schema in tool.properties.items() if _is_free_text(schema)}
    directories = [_of(tool, template.cwd) for tool, template in known if template.cwd]
    named = [_argument(row["argument"]) for row in directories]
    files = [row for tool, template in known for row in _files(tool, template, invocation)]
    resuming = [_resumed(tool, template) for tool, template in known if template.resumes]
    names = {row["tool"] for row in resuming}
    beginning = [tool.name for tool, template in known if not template.resumes]
    return {
        "tool": [{"tool": tool.name, "required": _listed(tool.required)} for tool in tools],
        "beginning-tool": [{"tool": name} for name in beginning],
        "resuming-tool": resuming,
        "resuming-tool-with-default": [row for row in resuming if "default" in row],
        "property": [row for tool in tools for row in _properties(tool)],
        "option": [_of(tool, name) for tool, template in known for name in options(template)],
        "optional-option": [
            _of(tool, name) for tool, template in known for name in options(template) if name not in tool.required
        ],
        "required-argument": _unique(
            {"argument": row["argument"], "type": row["type"]}
            for tool in tools
            for row in _properties(tool)
            if row["argument"] in tool.required
        ),
        "optional-argument": _unique(_argument(name) for tool in tools for name in tool.optional),
        "restricted-argument": _unique(
            _argument(name) for tool in tools for name, schema in tool.properties.items() if schema.keys() - ANNOTATIONS
        ),
        "private-argument": _unique(_argument(name) for _, template in known for name in template.private),
        "spoken-argument": [row for row in spoken if row["argument"] in texts],
        "shell-argument": [row for row in _unique([*spoken, *named]) if row["argument"] in texts],
        "prompt": _unique(_prompts(known, invocation)),
        "long-prompt": _unique(row for row in _prompts(known, invocation) if "limit" in row),
        "absent-argument": [
            {"argument": name, "absent": rule.absent}
            for name, rule in invocation.rules.items()
            if rule.absent is not None and any(name in tool.properties for tool in tools)
        ],
        "refusal": list(_refusals(tools, invocation)),
        "directory": directories,
        "resuming-directory": [row for row in directories if row["tool"] in names],
        "file": files,
        "resuming-file": [{**row, "others": _listed(beginning)} for row in files if row["tool"] in names],
        "exit": [
            {"exit": str(exit), "cause": sentence.cause or "its cause"}
            for sentence in outcome.sentences
            for exit in (sentence.exits if sentence.stderr is None else ())
        ],
        "saying": [{"saying": sentence.id} for sentence in outcome.sentences if sentence.stderr is not None],
    }


def words_of(server: str, version: str, invocation: InvocationSpec, outcome: OutcomeSpec) -> Subject:
    """The words of the specification that any sentence may name."""
    return {
        "server": server,
        "version": version,
        "program": invocation.program,
        "text": outcome.answer["text"],
        "session": outcome.answer["session"],
        "error": outcome.answer["error"],
        "warnings": outcome.answer["warnings"],
        "meta": outcome.meta["session"],
        "prefix": outcome.prefix,
        "separator": outcome.separator.strip("\n"),
        "stderr": size_of(outcome.stderr_bytes),
        "listing": " ".join((invocation.program, *invocation.listing.argv)),
        "temporary": invocation.temporary.prefix + "X" * invocation.temporary.random,
    }


def on_command_line(template: ToolTemplate, invocation: InvocationSpec) -> tuple[str, ...]:
    """The arguments that the command line of a tool can hold, or its stdin."""
    return tuple(dict.fromkeys(_arguments_in(template.argv, invocation.forms)))


def prompts(template: ToolTemplate, invocation: InvocationSpec) -> tuple[str, ...]:
    """The arguments that gemini takes for words of the prompt: those in a form, or alone behind no flag."""
    elements = [
        element
        for element, has_flag in _with_flags(template)
        if isinstance(element, Form) or (isinstance(element, Value) and not has_flag)
    ]
    return tuple(dict.fromkeys(_arguments_in(elements, invocation.forms)))


def options(template: ToolTemplate) -> tuple[str, ...]:
    """The arguments that become options of gemini, the session apart."""
    resumed = template.resumes.argument if template.resumes else None
    elements = [element for element, has_flag in _with_flags(template) if has_flag or not isinstance(element, Value)]
    return tuple(dict.fromkeys(name for name in _arguments_in(elements, {}) if name != resumed))


def _with_flags(template: ToolTemplate) -> Iterator[tuple[Element, bool]]:
    """Each element of a command line, and whether a flag stands before it."""
    for before, element in zip(("", *template.argv), template.argv, strict=False):
        yield element, isinstance(before, str) and before.startswith("-")


def _arguments_in(elements: Iterable[Element], forms: Mapping[str, Sequence[FormCase]]) -> Iterator[str]:
    for element in elements:
        match element:
            case str():
                continue
            case Value(argument):
                yield argument
            case Join(parts):
                yield from _arguments_in(parts, forms)
            case With(argument, inner):
                yield argument
                yield from _arguments_in(inner, forms)
            case Form(name):
                for case in forms.get(name, ()):
                    yield from _arguments_in(case.argv, forms)
                    yield from () if case.stdin is None else (case.stdin.argument,)


def _subjects_of(entry: Json, subjects: Subjects, claims: Sequence[Subject]) -> Iterable[Subject]:
    if "for" not in entry:
        return ({},)
    if entry["for"] == "other-refusal":
        rows = [row for row in subjects["refusal"] if not any(_has(row, claim) for claim in claims)]
    else:
        rows = [row for row in subjects[entry["for"]] if _has(row, entry.get("where", {}))]
    return rows if not rows or PLACEHOLDER.search(entry["id"]) else (_joined(rows),)


def _has(row: Subject, wanted: Subject) -> bool:
    return wanted.items() <= row.items()


def _filled(sentence: str, values: Subject) -> str:
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), sentence)


def _joined(rows: Sequence[Subject]) -> Subject:
    """One subject of all, for a sentence that is said once: its names are joined."""
    names = {name: None for row in rows for name in row}
    return {name: "` and `".join(dict.fromkeys(row[name] for row in rows if name in row)) for name in names}


def _refusals(tools: Sequence[ToolSpec], invocation: InvocationSpec) -> Iterator[Subject]:
    """The rules that can refuse something, each with the arguments it is about and its limit."""
    declared = {name for tool in tools for name in tool.properties}
    given = dict.fromkeys(name for name in (*invocation.rules, *sorted(declared)) if name in declared)
    for refusal in invocation.refusals:
        named = [name for name in given if refusal in _rules_for(name, invocation)]
        if named:
            limit = {} if refusal.max_bytes is None else {"size": size_of(refusal.max_bytes)}
            pattern = {} if refusal.pattern is None else {"pattern": refusal.pattern}
            yield {"refusal": refusal.name, "argument": "` or `".join(named), **limit, **pattern}


def _rules_for(name: str, invocation: InvocationSpec) -> tuple[Refusal, ...]:
    rule = invocation.rules.get(name)
    return (*invocation.everywhere, *(rule.refusals if rule else ()))


def _prompts(known: Iterable[tuple[ToolSpec, ToolTemplate]], invocation: InvocationSpec) -> Iterator[Subject]:
    for _, template in known:
        forms = [element.name for element in template.argv if isinstance(element, Form)]
        limits = [case.longer_than for name in forms for case in invocation.forms.get(name, ()) if case.longer_than]
        limit = {"limit": str(min(limits)), "size": size_of(min(limits))} if limits else {}
        yield from ({"argument": name, **limit} for name in prompts(template, invocation))


def _files(tool: ToolSpec, template: ToolTemplate, invocation: InvocationSpec) -> Iterator[Subject]:
    for variable, file in template.env.items():
        yield {**_of(tool, template.files[file].argument), "file": file, "variable": variable}


def _resumed(tool: ToolSpec, template: ToolTemplate) -> Subject:
    assert template.resumes is not None
    default = {} if template.resumes.default is None else {"default": template.resumes.default}
    return {**_of(tool, template.resumes.argument), **default}


def _properties(tool: ToolSpec) -> Iterator[Subject]:
    for name, schema in tool.properties.items():
        types = schema.get("type", "any type")
        yield {**_of(tool, name), "type": types if isinstance(types, str) else "` or `".join(types)}


def _is_free_text(schema: Json) -> bool:
    """Whether a property can be any text: of that type, and not one of a few."""
    types = schema.get("type", "string")
    return "string" in types and not schema.keys() & {"enum", "const"}


def _of(tool: ToolSpec, argument: str) -> Subject:
    return {"tool": tool.name, "argument": argument}


def _argument(name: str) -> Subject:
    return {"argument": name}


def _unique(rows: Iterable[Subject]) -> list[Subject]:
    return list({tuple(row.items()): row for row in rows}.values())


def _listed(names: Sequence[str]) -> str:
    return "` and `".join(names) or "nothing"
