"""Boundaries: each argument of each tool at its limits and in its odd forms, the same in every run.

One call is one conversation, so that what fails is small. A further text belongs in `texts`, a further shape here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gemini_mcp.spec import ToolSpec, load_server
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation, call, path
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.texts import (
    LONGEST,
    MODEL,
    PLAIN,
    PROMPTS,
    SESSION,
    SYSTEMS,
    WORDS,
    canaries,
)

ORDER = 80
PHASE = "boundaries"

WRONG: Mapping[str, Json] = {
    "number": 42,
    "zero": 0,
    "fraction": 1.5,
    "true": True,
    "false": False,
    "array": ["x"],
    "empty-array": [],
    "object": {"text": "x"},
    "empty-object": {},
}
"""Values that are no text and not null."""

UNKNOWN: Mapping[str, Json] = {"temperature": 0.2, "yolo": True, "session_id": "x", "__proto__": {}, "args": ["-d"]}
"""Arguments that no tool declares."""

DIRECTORIES: Mapping[str, str] = {
    "plain": "demo",
    "deep": "demo/a/b/c",
    "blank": "with a blank",
    "blank-ends": " blank ",
    "unicode": "é 日本 😀",
    "quotes": 'it\'s "quoted"',
    "backslash": "back\\slash",
    "dash": "-demo",
    **{name: text for name, text in canaries("cwd").items() if "/" not in text},
}
"""Directories that exist, by the name they have below the port's own."""
RELATIVE = ("plain", "deep", "dash", "home", "tilde", "substitution")
"""Those that are named by a relative path as well."""

MADE: Mapping[str, str | None] = {"demo": None, "demo/file": "x"}
"""What the paths below are about."""

PATHS: Mapping[str, Json] = {
    "dot": ".",
    "parent": "demo/..",
    "trailing-slash": path("demo/"),
    "empty": "",
    "nul": "demo\0x",
    "too-long": "x" * 5000,
    **{f"no-such-{kind}": f"no-such-{canaries('cwd')[kind]}" for kind in ("substitution", "backticks", "semicolon")},
}
"""Working directories in other words, and such as cannot be."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    """The cheap ones first."""
    answer = sources.scripts["success-compact"]
    for tool in load_server(sources.spec).tools:
        yield from _shapes(tool, answer)
        yield from _texts(tool, answer)
        yield from _directories(tool, answer)
    for tool, (name, text) in zip(("chat", "chat-reply"), LONGEST.items(), strict=True):
        yield _one(tool, f"prompt-{name}", {"prompt": text}, answer, ("prompt:long:whole", "prompt:over-limit"))


def _one(tool: str, name: str, arguments: Json, answer: Script, shows: tuple[str, ...], **more: Json) -> Conversation:
    return Conversation(
        f"{tool}-{name}", f"A call of `{tool}`: {name}.", (call(tool, arguments, answer),), PHASE, shows, **more
    )


def _shapes(tool: ToolSpec, answer: Script) -> Iterator[Conversation]:
    """Arguments that are missing, null, of a wrong type, or unknown."""
    shows = ("arguments:prompt:missing", "arguments:refused:not-started", "arguments:refused:is-error")
    usual = {"model": MODEL, "systemPrompt": "Be brief."}
    yield _one(tool.name, "nothing", {}, answer, shows)
    yield _one(tool.name, "prompt-missing", usual, answer, shows)
    yield _one(tool.name, "prompt-misspelt", {"Prompt": PLAIN, "message": PLAIN}, answer, shows)
    yield _one(tool.name, "prompt-null", {"prompt": None}, answer, ("arguments:prompt:null",))
    for kind, value in WRONG.items():
        yield _one(tool.name, f"prompt-is-{kind}", {"prompt": value}, answer, ("arguments:prompt:type",))
    for name in _options(tool):
        null = {"prompt": PLAIN, name: None}
        yield _one(tool.name, f"{name}-null", null, answer, ("arguments:optional:null",))
        for kind, value in WRONG.items():
            wrong = {"prompt": PLAIN, name: value}
            yield _one(tool.name, f"{name}-is-{kind}", wrong, answer, ("arguments:optional:type",))
    for name, value in UNKNOWN.items():
        unknown = {"prompt": PLAIN, name: value}
        yield _one(tool.name, f"unknown-{name}", unknown, answer, ("arguments:unknown",))


def _texts(tool: ToolSpec, answer: Script) -> Iterator[Conversation]:
    """Each argument with each odd text, beside a usual prompt."""
    tables = {"prompt": PROMPTS, "model": WORDS, "sessionId": WORDS, "systemPrompt": SYSTEMS}
    for name, texts in tables.items():
        if name not in tool.properties:
            continue
        hostile: Mapping[str, str] = canaries(name) if name != "systemPrompt" else {}
        for kind, text in {**texts, **hostile}.items():
            given = {"prompt": PLAIN, name: text}
            yield _one(tool.name, f"{name}-{kind}", given, answer, _SHOWN[name])
    everything = {"prompt": PLAIN, "model": MODEL, "systemPrompt": "Be brief.", "cwd": path()}
    session = {"sessionId": SESSION} if "sessionId" in tool.properties else {}
    yield _one(tool.name, "everything", {**everything, **session}, answer, _EVERYTHING)


def _directories(tool: ToolSpec, answer: Script) -> Iterator[Conversation]:
    """`cwd` as a directory, absolute and relative, and as none."""
    shows = ("cwd:used", "cwd:chat-reply", "cwd:relative", "injection:shell:cwd")
    for kind, name in DIRECTORIES.items():
        forms = {"absolute": path(name), **({"relative": name} if kind in RELATIVE else {})}
        for form, cwd in forms.items():
            given = {"prompt": PLAIN, "cwd": cwd}
            yield _one(tool.name, f"cwd-{form}-{kind}", given, answer, shows, files={name: None})
    for kind, cwd in PATHS.items():
        yield _one(tool.name, f"cwd-{kind}", {"prompt": PLAIN, "cwd": cwd}, answer, shows, files=MADE)
    given = {"prompt": PLAIN, "systemPrompt": "Be brief."}
    wrong = ("missing", path("no-such")), ("file", path("demo/file")), ("below-file", path("demo/file/x"))
    steps = tuple(call(tool.name, {**given, "cwd": cwd}, answer) for _, cwd in wrong)
    refused = ("cwd:missing", "cwd:file", "cwd:reason", "arguments:refused:not-started")
    title = "Working directories that are missing, a file, and below a file."
    yield Conversation(
        f"{tool.name}-cwd-none", title, (*steps, call(tool.name, given, answer)), PHASE, refused, files=MADE
    )
    for name in ("no-such/a", "demo/file"):
        kind = f"cwd-relative-{name.replace('/', '-')}"
        yield _one(tool.name, kind, {"prompt": PLAIN, "cwd": name}, answer, refused, files=MADE)


def _options(tool: ToolSpec) -> list[str]:
    return [name for name in tool.properties if name not in tool.required]


_EVERYTHING = (
    *("command:chat", "command:chat-reply", "command:once", "cwd:used", "cwd:chat-reply"),
    *("process:stdin", "process:stdin:ended", "process:environment", "system:content", "system:chat-reply"),
)
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "prompt": (
        *(f"prompt:verbatim:{kind}" for kind in ("newline", "unicode", "blanks", "quotes", "dash", "command-word")),
        *(f"prompt:verbatim:{kind}" for kind in ("number", "at-sign", "slash", "128000")),
        "prompt:long",
        "prompt:long:whole",
        "prompt:empty",
        "prompt:empty:kept",
        "injection:shell:prompt",
        "injection:option:prompt",
        "arguments:nul",
        "arguments:surrogate",
    ),
    "model": (
        "command:chat:model",
        "command:chat-reply:model",
        "injection:shell:model",
        "injection:option:model",
        "arguments:control",
        "arguments:empty:model",
    ),
    "sessionId": (
        "command:chat-reply:session-id",
        "injection:shell:session-id",
        "injection:option:session-id",
        "arguments:control",
        "arguments:empty:session-id",
    ),
    "systemPrompt": (
        "system:content",
        "system:chat-reply",
        "system:file-name",
        "system:directory",
        "system:mode",
        "system:removed:success",
        "arguments:empty:system-prompt",
    ),
}
"""By the argument, the requirements that odd texts of it show."""
