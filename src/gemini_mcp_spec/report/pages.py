"""Makes the pages about a specification, in Markdown. Pure.

A page is one function in `_PAGES`; a language is one entry of `_LANGUAGES`. Another
language than English is used where the specification has that locale.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gemini_mcp.spec.values import Json, is_array
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.policy import deprecated
from gemini_mcp_spec.files.requirements import requirements
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, OUTCOME, tools
from gemini_mcp_spec.report.explanations import explanations

_WRITER = "`gemini-mcp-spec docs`"
_GENERATED = f"Generated from `spec/` by {_WRITER}; edit the specification instead."
_KOREAN: Mapping[str, str] = {
    "Tools": "도구",
    "argument": "인자",
    "type": "타입",
    "required": "필수",
    "means": "설명",
    "yes": "예",
    "no": "아니요",
    "Command line": "명령줄",
    "Refused": "거부되는 값",
    "Results": "결과",
    "success": "성공",
    "error": "오류",
    "when": "조건",
    "file": "파일",
    "working directory": "작업 디렉토리",
    "Specification": "스펙",
    "Deprecated, and may be gone from {until} on.": "폐지 예정이며 {until}부터 없어질 수 있습니다.",
    _GENERATED: f"{_WRITER}가 `spec/`에서 생성한 문서입니다. 이 문서 대신 스펙을 고치세요.",
}
_LANGUAGES: Mapping[str, Mapping[str, str]] = {"ko": _KOREAN}
_CATALOGUE = (
    ("Cases", "server/cases"),
    ("Scenarios", "server/scenarios"),
    ("Host scenarios", "host/scenarios"),
)
_HEAD = 3
"""Lines of a page within which it says what has written it."""
_UNTOLD = frozenset({"type", "title", "description", "properties", "items", "required"})
"""Keywords of a schema that have a column or rows of their own."""

Words: TypeAlias = Callable[[str], str]
"""The words of a page in its language; English where that has none."""


def pages(spec: SpecFiles) -> Mapping[str, str]:
    """Every page of `spec` by its file name."""
    held = {name: page(spec) for name, page in _PAGES.items()}
    for file, locale in spec.folder("server/locales").items():
        language = file.rpartition("/")[2].removesuffix(".json")
        held[f"tools.{language}.md"] = _tools(spec, language, locale["tools"])
    return held


def is_page(text: str) -> bool:
    """Whether a file is one of these pages, or was one in another specification; others may lie beside them."""
    return any(_WRITER in line for line in text.splitlines()[:_HEAD])


def _words(language: str = "en") -> Words:
    known = _LANGUAGES.get(language, {})
    return lambda word: known.get(word, word)


def _page(spec: SpecFiles, title: str, lines: Iterable[str], words: Words = str) -> str:
    head = [f"# {words(title)}", "", f"{words(_GENERATED)} {words('Specification')} {spec.version}.", ""]
    return "\n".join([*head, *lines]).rstrip("\n") + "\n"


def _table(columns: str, rows: Iterable[Sequence[str]], words: Words = str) -> list[str]:
    """A table with these columns, named in one text with bars between."""
    names = [words(column.strip()) for column in columns.split("|")]
    ruled = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    return [*ruled, *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows), ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")


def _code(texts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def _tools(spec: SpecFiles, language: str = "en", texts: Mapping[str, Json] | None = None) -> str:
    words, invocation, texts = _words(language), spec.documents[INVOCATION], texts or {}
    lines: list[str] = []
    for name, (file, schema) in tools(spec).items():
        text, marks = texts.get(name, {}), _marks(spec, name, words)
        lines += [f"## `{name}`", "", str(text.get("description", spec.documents[file]["description"])), ""]
        lines += [f"**{marks[None]}**", ""] if None in marks else []
        rows = _arguments(schema, text.get("properties", {}), marks, words)
        lines += _table("argument | type | required | means", rows, words)
        lines += _command(invocation, name, words)
    lines += [f"## {words('Refused')}", "", *_table("argument | when | error", _refusals(invocation), words)]
    lines += [f"## {words('Results')}", ""]
    for kind in ("success", "error"):
        schema = spec.documents[f"server/results/{kind}.schema.json"]
        lines += [f"### {words(kind)}", "", schema.get("description", ""), ""]
        lines += _table("| type | required | means", _members(schema, ""), words)
    return _page(spec, "Tools", lines, words)


def _marks(spec: SpecFiles, tool: str, words: Words) -> Mapping[str | None, str]:
    """What is said of each argument of a tool that is deprecated, and under None of the tool itself."""
    said = words("Deprecated, and may be gone from {until} on.")
    return {mark.argument: said.format(until=mark.until) for mark in deprecated(spec) if mark.tool == tool}


def _arguments(
    schema: Json, texts: Mapping[str, str], marks: Mapping[str | None, str], words: Words
) -> Iterator[Sequence[str]]:
    for name, inner in schema["properties"].items():
        required = words("yes" if name in schema.get("required", ()) else "no")
        means = str(texts.get(name, inner.get("description", "")))
        yield f"`{name}`", _type(inner), required, f"{means} **{marks[name]}**" if name in marks else means


def _type(schema: Json) -> str:
    named = schema.get("type", "")
    limits = (f"`{key}` {json.dumps(value, ensure_ascii=False)}" for key, value in schema.items() if key not in _UNTOLD)
    return ", ".join(part for part in (" | ".join(named) if is_array(named) else named, *limits) if part)


def _command(invocation: Json, name: str, words: Words) -> list[str]:
    template = invocation["tools"][name]
    argv = " ".join([invocation["program"], *map(_element, template["argv"])])
    lines = [f"{words('Command line')}:", "", "```text", argv, "```", ""]
    for file, value in template.get("files", {}).items():
        variables = [variable for variable, held in template.get("env", {}).items() if held["file"] == file]
        lines.append(f"- {words('file')} `{file}`: `<{value['argument']}>`, {_code(variables)}")
    if "cwd" in template:
        lines.append(f"- {words('working directory')}: `<{template['cwd']}>`")
    return [*lines, ""]


def _element(element: Json) -> str:
    match element:
        case str():
            return element
        case {"form": name}:
            return f"<{name}>"
        case {"join": parts}:
            return "".join(map(_element, parts))
        case {"with": _, "argv": inner}:
            return f"[{' '.join(map(_element, inner))}]"
        case {"argument": name, "default": default}:
            return f"<{name}|{default}>"
        case _:
            return f"<{element['argument']}>"


def _refusals(invocation: Json) -> Iterator[Sequence[str]]:
    for name, entry in invocation["refusals"].items():
        named = _code(argument for argument, rule in invocation["arguments"].items() if name in rule.get("refuse", ()))
        yield "*" if entry.get("everywhere") else named, f"`{name}`", entry["sentence"]


def _members(schema: Json, path: str) -> Iterator[Sequence[str]]:
    for name, inner in schema.get("properties", {}).items():
        required = "✓" if name in schema.get("required", ()) else ""
        yield f"`{path}{name}`", _type(inner), required, inner.get("description", "")
        yield from _members(inner, f"{path}{name}.")
        yield from _members(inner.get("items", {}), f"{path}{name}[].")


def _errors(spec: SpecFiles) -> str:
    outcome = spec.documents[OUTCOME]
    rows = [
        (
            f"`{entry['id']}`",
            entry["when"],
            ", ".join(map(str, entry.get("exit", ()))),
            f"`{entry['stderr']}`" if "stderr" in entry else "",
            entry["sentence"],
        )
        for entry in outcome["sentences"]
    ]
    prefix = f"The text of every error begins with `{outcome['prefix'].strip()}`."
    lines = [f"{prefix} The first sentence that fits is said.", ""]
    return _page(spec, "Errors", [*lines, *_table("id | when | exit codes | stderr holds | sentence", rows)])


def _requirements(spec: SpecFiles) -> str:
    areas: dict[tuple[str, str], list[Sequence[str]]] = {}
    for _, _, entry in requirements(spec):
        rows = areas.setdefault((entry["profile"], entry["id"].partition(":")[0]), [])
        reason = f"\nexcluded: {entry['excluded']}" if "excluded" in entry else ""
        statement = entry["sentence"] + reason
        rows.append((f"`{entry['id']}`", entry["level"], statement, _source(entry["source"]), entry["since"]))
    lines: list[str] = []
    for (profile, area), rows in areas.items():
        lines += [f"## {profile}: {area}", "", *_table("id | level | statement | source | since", rows)]
    return _page(spec, "Requirements", lines)


def _source(source: Json) -> str:
    match source:
        case {"kind": "document", "document": document, "heading": heading}:
            return f"{document}, “{heading}”"
        case {"kind": "mcp", "revision": revision, "page": page}:
            return f"MCP {revision}, {page}"
        case {"kind": "observed", "package": package, "version": version}:
            return f"observed: {package} {version}"
        case _:
            return f"decision: {source.get('reason', '')}"


def _catalogue(spec: SpecFiles) -> str:
    lines: list[str] = []
    for title, folder in _CATALOGUE:
        rows = [
            (f"`{file}`", str(document.get("title", "")), _code(document.get("requirements", ())))
            for file, document in spec.folder(folder).items()
        ]
        lines += [f"## {title}", "", *_table("file | shows | requirements", rows)]
    scripts = [(f"`{file}`", document["description"], "") for file, document in spec.folder("server/scripts").items()]
    lines += ["## Scripts of the fake gemini", "", *_table("file | imitates |", scripts)]
    counts = Counter(file for file, _, _ in vectors(spec))
    lines += ["## Host vectors", "", *_table("file | vectors", [(f"`{file}`", str(n)) for file, n in counts.items()])]
    return _page(spec, "Cases, scenarios, scripts and vectors", lines)


def _rules(spec: SpecFiles) -> str:
    lines = ["`gemini-mcp-spec explain RULE` tells one of them.", ""]
    for command in ("lint", "diff"):
        rows = [
            (f"`{one.name}`", one.what, one.why, one.example, one.approval)
            for one in explanations()
            if one.command == command
        ]
        lines += [f"## {command}", "", *_table("rule | what | why | example | how to approve", rows)]
    return _page(spec, "Rules of the gate", lines)


_PAGES: Mapping[str, Callable[[SpecFiles], str]] = {
    "tools.md": _tools,
    "errors.md": _errors,
    "requirements.md": _requirements,
    "catalogue.md": _catalogue,
    "rules.md": _rules,
}
