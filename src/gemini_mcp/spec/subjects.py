"""What families of requirements can be about, and the words they name, as the specification gives them. Pure.

Add a set of subjects when a sentence needs one and the files can give it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.spec.families import Subject, Subjects
from gemini_mcp.spec.templates import Element, Form, FormCase, InvocationSpec, Join, Refusal, ToolTemplate, Value, With
from gemini_mcp.spec.tools import ToolSpec
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import OutcomeSpec

Known: TypeAlias = Sequence[tuple[ToolSpec, ToolTemplate]]
"""The tools that have a command line, with it."""

ANNOTATIONS = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})
"""Keywords of a property's schema that forbid no value of its type."""

CHARACTER = 4
"""The most bytes of a character in UTF-8."""


def subjects_of(tools: Sequence[ToolSpec], invocation: InvocationSpec, outcome: OutcomeSpec) -> Subjects:
    """Everything that a family can be about."""
    known = [(tool, invocation.tools[tool.name]) for tool in tools if tool.name in invocation.tools]
    return {
        **_tools(tools, known),
        **_properties(tools),
        **_options(known, invocation),
        **_command_lines(tools, known, invocation),
        **_directories_and_files(known, invocation),
        "refusal": list(_refusals(tools, invocation)),
        "exit": [
            {"exit": str(exit), "cause": sentence.cause or "its cause"}
            for sentence in outcome.sentences
            for exit in (sentence.exits if sentence.stderr is None else ())
        ],
        "saying": [
            {"saying": sentence.id, "cause": sentence.cause or "its cause"}
            for sentence in outcome.sentences
            if sentence.stderr is not None
        ],
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
        "meta-warnings": outcome.meta["warnings"],
        "prefix": outcome.prefix,
        "separator": outcome.separator.strip("\n"),
        "stderr": size_of(outcome.stderr_bytes),
        "listing": " ".join((invocation.program, *invocation.listing.argv)),
        "temporary": invocation.temporary.prefix + "X" * invocation.temporary.random,
    }


def size_of(count: int) -> str:
    """A number of bytes as people write it: `8 MiB`, `128,000 bytes`."""
    is_power_of_two = count.bit_count() == 1
    units = ((1 << 20, "MiB"), (1 << 10, "KiB"))
    fitting = (f"{count // size} {unit}" for size, unit in units if is_power_of_two and count >= size)
    return next(fitting, f"{count:,} bytes")


def on_command_line(template: ToolTemplate, invocation: InvocationSpec) -> tuple[str, ...]:
    """The arguments that the command line of a tool can hold, or its stdin."""
    return tuple(dict.fromkeys(_arguments_in(template.argv, invocation.forms)))


def prompts(template: ToolTemplate, invocation: InvocationSpec) -> tuple[str, ...]:
    """The arguments that gemini takes for words of the prompt: those in a form, or alone behind no flag.

    A form that always begins with a flag is one of an option, if there is another form.
    """
    forms = {element for element in template.argv if isinstance(element, Form)}
    bare = {form for form in forms if not all(map(_has_flag, invocation.forms.get(form.name, ())))}
    elements = [
        element
        for element, has_flag in _with_flags(template)
        if element in (bare or forms) or (isinstance(element, Value) and not has_flag)
    ]
    return tuple(dict.fromkeys(_arguments_in(elements, invocation.forms)))


def options(template: ToolTemplate, invocation: InvocationSpec) -> tuple[str, ...]:
    """The arguments that become options of gemini, the session apart."""
    resumed, asked = template.resumes.argument if template.resumes else None, prompts(template, invocation)
    elements = [element for element, has_flag in _with_flags(template) if has_flag or not isinstance(element, Value)]
    in_forms = (name for name in _arguments_in(elements, invocation.forms) if name not in asked)
    return tuple(name for name in dict.fromkeys((*_arguments_in(elements, {}), *in_forms)) if name != resumed)


def _has_flag(case: FormCase) -> bool:
    """Whether a case of a form hands a value over behind a flag."""
    first = next(iter(case.argv), None)
    start = next(iter(first.parts), None) if isinstance(first, Join) else first
    return isinstance(start, str) and start.startswith("-")


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


def _tools(tools: Sequence[ToolSpec], known: Known) -> Subjects:
    resuming = [_resumed(tool, template) for tool, template in known if template.resumes]
    return {
        "tool": [{"tool": tool.name, "required": _listed(tool.required)} for tool in tools],
        "beginning-tool": [{"tool": name} for name in _beginning(known)],
        "resuming-tool": resuming,
        "resuming-tool-with-default": [row for row in resuming if "default" in row],
    }


def _properties(tools: Sequence[ToolSpec]) -> Subjects:
    """What the input schemas declare."""
    rows = [(tool, name, schema) for tool in tools for name, schema in tool.properties.items()]
    required = [(name, schema) for tool, name, schema in rows if name in tool.required]
    restricted = (_argument(name) for _, name, schema in rows if schema.keys() - ANNOTATIONS)
    return {
        "property": [{**_of(tool, name), "type": _type(schema)} for tool, name, schema in rows],
        "required-argument": _unique({"argument": name, "type": _type(schema)} for name, schema in required),
        "optional-argument": _unique(_argument(name) for tool in tools for name in tool.optional),
        "restricted-argument": _unique(restricted),
    }


def _options(known: Known, invocation: InvocationSpec) -> Subjects:
    rows = [(tool, name) for tool, template in known for name in options(template, invocation)]
    resumed = [(tool, template.resumes) for tool, template in known if template.resumes]
    without_default = [(tool, session.argument) for tool, session in resumed if session.default is None]
    optional = [_of(tool, name) for tool, name in (*rows, *without_default) if name not in tool.required]
    return {"option": [_of(tool, name) for tool, name in rows], "optional-option": optional}


def _command_lines(tools: Sequence[ToolSpec], known: Known, invocation: InvocationSpec) -> Subjects:
    """The arguments that reach gemini as words, by what can become of them."""
    texts = {name for tool in tools for name, schema in tool.properties.items() if _is_free_text(schema)}
    spoken = _unique(_argument(name) for _, template in known for name in on_command_line(template, invocation))
    named = [_argument(template.cwd) for _, template in known if template.cwd]
    asked = list(_prompts(known, invocation))
    return {
        "private-argument": _unique(_argument(name) for _, template in known for name in template.private),
        "spoken-argument": [row for row in spoken if row["argument"] in texts],
        "shell-argument": [row for row in _unique([*spoken, *named]) if row["argument"] in texts],
        "prompt": _unique(asked),
        "long-prompt": _unique(row for row in asked if "limit" in row),
        "limited-prompt": _unique(row for row in asked if "reached" in row),
        "absent-argument": [
            {"argument": name, "absent": rule.absent}
            for name, rule in invocation.rules.items()
            if rule.absent is not None and any(name in tool.properties for tool in tools)
        ],
    }


def _directories_and_files(known: Known, invocation: InvocationSpec) -> Subjects:
    resuming = {tool.name for tool, template in known if template.resumes}
    directories = [_of(tool, template.cwd) for tool, template in known if template.cwd]
    files = [row for tool, template in known for row in _files(tool, template)]
    others = _listed(_beginning(known))
    return {
        "directory": directories,
        "resuming-directory": [row for row in directories if row["tool"] in resuming],
        "file": files,
        "resuming-file": [{**row, "others": others} for row in files if row["tool"] in resuming],
    }


def _beginning(known: Known) -> list[str]:
    """The tools that resume no session."""
    return [tool.name for tool, template in known if not template.resumes]


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


def _prompts(known: Known, invocation: InvocationSpec) -> Iterator[Subject]:
    """The prompts, each with the least size from which on a form takes another way."""
    for tool, template in known:
        forms = [element.name for element in template.argv if isinstance(element, Form)]
        every = (case.longer_than for name in forms for case in invocation.forms.get(name, ()))
        least = min((limit for limit in every if limit is not None), default=None)
        for name in prompts(template, invocation):
            yield {"argument": name, **_sizes(least, tool.properties.get(name, {}))}


def _sizes(limit: int | None, schema: Json) -> Subject:
    """The limit of a prompt, if the schema lets one be longer, and whether it lets one be as long."""
    if limit is None or CHARACTER * schema.get("maxLength", limit + 1) <= limit:
        return {}
    is_reached = max(1, schema.get("minLength", 0)) <= limit <= schema.get("maxLength", limit)
    return {"limit": str(limit), "size": size_of(limit), **({"reached": "yes"} if is_reached else {})}


def _files(tool: ToolSpec, template: ToolTemplate) -> Iterator[Subject]:
    for variable, file in template.env.items():
        yield {**_of(tool, template.files[file].argument), "file": file, "variable": variable}


def _resumed(tool: ToolSpec, template: ToolTemplate) -> Subject:
    assert template.resumes is not None
    default = {} if template.resumes.default is None else {"default": template.resumes.default}
    return {**_of(tool, template.resumes.argument), **default}


def _type(schema: Json) -> str:
    types = schema.get("type", "any type")
    return types if isinstance(types, str) else "` or `".join(types)


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
