"""Pages: a specification in, Markdown pages by file name out. Pure.

A page is one function in `_PAGES`; a language is one entry of `_LANGUAGES`. Another
language than English is used where the specification has that locale.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from gemini_mcp.spec.values import Json, is_array
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.requirements import requirements
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, OUTCOME, tools

_GENERATED = "Generated from `spec/` by `gemini-mcp-spec docs`; edit the specification instead."
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
    _GENERATED: ("`gemini-mcp-spec docs`가 `spec/`에서 생성한 문서입니다. 이 문서 대신 스펙을 고치세요."),
}
_LANGUAGES: Mapping[str, Mapping[str, str]] = {"ko": _KOREAN}


class _Words:
    """The words of a page in one language; English where it has none."""

    def __init__(self, language: str = "en") -> None:
        self._words = _LANGUAGES.get(language, {})

    def __getitem__(self, word: str) -> str:
        return self._words.get(word, word)


def pages(spec: SpecFiles) -> Mapping[str, str]:
    """Every page of `spec` by its file name."""
    held = {name: page(spec) for name, page in _PAGES.items()}
    for file, locale in spec.folder("server/locales").items():
        language = file.rpartition("/")[2].removesuffix(".json")
        held[f"tools.{language}.md"] = _tools(spec, language, locale["tools"])
    return held


def _page(spec: SpecFiles, title: str, lines: Iterable[str], language: str = "en") -> str:
    words = _Words(language)
    head = [f"# {title}", "", f"{words[_GENERATED]} {words['Specification']} {spec.version}.", ""]
    return "\n".join([*head, *lines]).rstrip("\n") + "\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    ruled = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return [*ruled, *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows), ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")


def _tools(spec: SpecFiles, language: str = "en", texts: Mapping[str, Json] | None = None) -> str:
    words, invocation, texts = _Words(language), spec.documents[INVOCATION], texts or {}
    lines: list[str] = []
    for name, (file, schema) in tools(spec).items():
        text = texts.get(name, {})
        lines += [f"## `{name}`", "", str(text.get("description", spec.documents[file]["description"])), ""]
        lines += _arguments(schema, text.get("properties", {}), words)
        lines += _command(invocation, name, words)
    lines += [f"## {words['Refused']}", ""]
    lines += _table((words["argument"], words["when"], words["error"]), _refusals(invocation))
    lines += [f"## {words['Results']}", ""]
    for kind in ("success", "error"):
        lines += [f"### {words[kind]}", "", *_schema(spec.documents[f"server/results/{kind}.schema.json"], words)]
    return _page(spec, words["Tools"], lines, language)


def _arguments(schema: Json, texts: Mapping[str, str], words: _Words) -> list[str]:
    rows = [
        (
            f"`{name}`",
            _type(inner),
            words["yes"] if name in schema.get("required", ()) else words["no"],
            str(texts.get(name, inner.get("description", ""))),
        )
        for name, inner in schema["properties"].items()
    ]
    return _table((words["argument"], words["type"], words["required"], words["means"]), rows)


def _type(schema: Json) -> str:
    named = schema.get("type", "")
    limits = {
        key: value
        for key, value in schema.items()
        if key not in ("type", "title", "description", "properties", "items", "required")
    }
    said = ", ".join(f"`{key}` {json.dumps(value, ensure_ascii=False)}" for key, value in limits.items())
    return ", ".join(part for part in (" | ".join(named) if is_array(named) else named, said) if part)


def _command(invocation: Json, name: str, words: _Words) -> list[str]:
    template = invocation["tools"][name]
    argv = " ".join([invocation["program"], *(_element(element) for element in template["argv"])])
    lines = [f"{words['Command line']}:", "", "```text", argv, "```", ""]
    for file, value in template.get("files", {}).items():
        variables = [variable for variable, held in template.get("env", {}).items() if held["file"] == file]
        lines.append(
            f"- {words['file']} `{file}`: `<{value['argument']}>`, {', '.join(f'`{one}`' for one in variables)}"
        )
    if "cwd" in template:
        lines.append(f"- {words['working directory']}: `<{template['cwd']}>`")
    return [*lines, ""]


def _element(element: Json) -> str:
    match element:
        case str():
            return element
        case {"form": str(name)}:
            return f"<{name}>"
        case {"join": parts}:
            return "".join(_element(part) for part in parts)
        case {"with": str(), "argv": inner}:
            return f"[{' '.join(_element(part) for part in inner)}]"
        case {"argument": str(name), "default": str(default)}:
            return f"<{name}|{default}>"
        case _:
            return f"<{element['argument']}>"


def _refusals(invocation: Json) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for name, entry in invocation["refusals"].items():
        named = [
            f"`{argument}`" for argument, rule in invocation["arguments"].items() if name in rule.get("refuse", ())
        ]
        rows.append(("*" if entry.get("everywhere") else ", ".join(named), f"`{name}`", entry["sentence"]))
    return rows


def _schema(schema: Json, words: _Words) -> list[str]:
    return [
        schema.get("description", ""),
        "",
        *_table(("", words["type"], words["required"], words["means"]), _members(schema, "")),
    ]


def _members(schema: Json, path: str) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for name, inner in schema.get("properties", {}).items():
        required = "✓" if name in schema.get("required", ()) else ""
        rows.append((f"`{path}{name}`", _type(inner), required, inner.get("description", "")))
        rows += _members(inner, f"{path}{name}.")
        rows += _members(inner.get("items", {}), f"{path}{name}[].")
    return rows


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
    head = [
        f"The text of every error begins with `{outcome['prefix'].strip()}`. The first sentence that fits is said.",
        "",
    ]
    return _page(spec, "Errors", [*head, *_table(("id", "when", "exit codes", "stderr holds", "sentence"), rows)])


def _requirements(spec: SpecFiles) -> str:
    lines: list[str] = []
    entries = [entry for _, _, entry in requirements(spec)]
    for profile in dict.fromkeys(entry["profile"] for entry in entries):
        for area in dict.fromkeys(_area(entry) for entry in entries if entry["profile"] == profile):
            lines += [f"## {profile}: {area}", ""]
            held = [entry for entry in entries if entry["profile"] == profile and _area(entry) == area]
            rows = [
                (f"`{entry['id']}`", entry["level"], _statement(entry), _source(entry["source"]), entry["since"])
                for entry in held
            ]
            lines += _table(("id", "level", "statement", "source", "since"), rows)
    return _page(spec, "Requirements", lines)


def _statement(entry: Mapping[str, Json]) -> str:
    """What a requirement says, and why no check decides it if none does."""
    return f"{entry['sentence']}\nexcluded: {entry['excluded']}" if "excluded" in entry else str(entry["sentence"])


def _area(entry: Mapping[str, Json]) -> str:
    return str(entry["id"]).partition(":")[0]


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
    for title, folder in (
        ("Cases", "server/cases"),
        ("Scenarios", "server/scenarios"),
        ("Host scenarios", "host/scenarios"),
    ):
        rows = [_entry(file, document) for file, document in spec.folder(folder).items()]
        lines += [f"## {title}", "", *_table(("file", "shows", "requirements"), rows)]
    scripts = [(f"`{file}`", document["description"], "") for file, document in spec.folder("server/scripts").items()]
    lines += ["## Scripts of the fake gemini", "", *_table(("file", "imitates", ""), scripts)]
    counts: dict[str, int] = {}
    for file, _, _ in vectors(spec):
        counts[file] = counts.get(file, 0) + 1
    lines += [
        "## Host vectors",
        "",
        *_table(("file", "vectors"), [(f"`{file}`", str(count)) for file, count in counts.items()]),
    ]
    return _page(spec, "Cases, scenarios, scripts and vectors", lines)


def _entry(file: str, document: Json) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in document.get("requirements", ()))
    return f"`{file}`", str(document.get("title", "")), names


_PAGES: Mapping[str, Callable[[SpecFiles], str]] = {
    "tools.md": _tools,
    "errors.md": _errors,
    "requirements.md": _requirements,
    "catalogue.md": _catalogue,
}
