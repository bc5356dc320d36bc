"""Understanding: what Gemini CLI 0.61 would have made of an argv (and of stdin); pure.

So a port may write `--model=x` or `-m x`, in any order: checks compare what gemini understands, not how it was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gemini_mcp_conformance.see.yargs import Option, Parsed, Value, number, number_text, parse

OtherKind = Literal["help", "version", "subcommand", "list-sessions", "list-extensions", "delete-session", "acp"]

STDIN_LIMIT = 8 * 1024 * 1024
"""Bytes of stdin that gemini reads; the rest is cut off."""

SUBCOMMANDS = frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"})

JS_BLANKS = "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's `trim` takes away."""

GLOBAL_OPTIONS = (
    Option("is-command", "boolean"),
    Option("debug", "boolean", "d"),
    Option("help", "boolean", "h"),
    Option("version", "boolean", "v"),
)

OPTIONS = (
    *GLOBAL_OPTIONS,
    Option("query", "array"),
    Option("model", "one", "m"),
    Option("prompt", "one", "p"),
    Option("prompt-interactive", "one", "i"),
    Option("skip-trust", "boolean"),
    Option("worktree", "string", "w"),
    Option("sandbox", "boolean", "s"),
    Option("yolo", "boolean", "y"),
    Option("approval-mode", "one"),
    Option("policy", "array"),
    Option("admin-policy", "array"),
    Option("acp", "boolean"),
    Option("experimental-acp", "boolean"),
    Option("allowed-mcp-server-names", "array"),
    Option("allowed-tools", "array"),
    Option("extensions", "array", "e"),
    Option("list-extensions", "boolean", "l"),
    Option("resume", "string", "r"),
    Option("session-file", "one"),
    Option("session-id", "one"),
    Option("list-sessions", "boolean"),
    Option("delete-session", "string"),
    Option("include-directories", "array"),
    Option("screen-reader", "boolean"),
    Option("output-format", "one", "o"),
    Option("fake-responses", "string"),
    Option("fake-responses-non-strict", "string"),
    Option("record-responses", "string"),
    Option("raw-output", "boolean"),
    Option("accept-raw-output-risk", "boolean"),
)

CHOICES: Mapping[str, tuple[str, ...]] = {
    "output-format": ("text", "json", "stream-json"),
    "approval-mode": ("default", "auto_edit", "yolo", "plan"),
}

MODES: Mapping[str, OtherKind] = {
    "list-extensions": "list-extensions",
    "list-sessions": "list-sessions",
    "delete-session": "delete-session",
    "acp": "acp",
    "experimental-acp": "acp",
}


@dataclass(frozen=True)
class Understood:
    """A prompt for the model. `other` holds every further option given, by its long name."""

    prompt: str | None
    model: str | None
    resume: str | None
    output_format: str
    other: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True)
class UsageError:
    """gemini refuses the argv: usage on stderr, nothing on stdout, exit 1 or 42."""

    reason: str


@dataclass(frozen=True)
class Other:
    """gemini does something else than to ask the model."""

    kind: OtherKind


def understand(argv: Sequence[str | bytes]) -> Understood | UsageError | Other:
    """What gemini makes of `argv`, the program's name not included, when stdin is no terminal."""
    arguments = [_decoded(argument) for argument in argv]
    return _elsewhere(parse(arguments, GLOBAL_OPTIONS)) or _asked(parse(arguments, OPTIONS))


def effective_prompt(understood: Understood, stdin: bytes | None) -> str | None:
    """The text that reaches the model; None when there is none, and gemini exits 42."""
    piped = (stdin or b"")[:STDIN_LIMIT].decode("utf-8", "replace")
    return "\n\n".join(filter(None, (piped, understood.prompt))) or None


def _elsewhere(parsed: Parsed) -> Other | None:
    """Before it knows its options, yargs looks for a command, `help` and `version`."""
    if parsed.positionals and parsed.positionals[-1] == "help":
        return Other("help")
    if parsed.positionals and parsed.positionals[0] in SUBCOMMANDS:
        return Other("subcommand")
    return next((Other(kind) for kind in ("help", "version") if parsed.values.get(kind)), None)


def _asked(parsed: Parsed) -> Understood | UsageError | Other:
    values = parsed.values
    if parsed.positionals and parsed.positionals[-1] == "help":
        return Other("help")
    query = [*_strings(values.pop("query", [])), *_query(parsed.positionals)]
    if reason := _complaint(parsed, query):
        return UsageError(reason)
    for name, kind in MODES.items():
        if values.get(name):
            return Other(kind)
    prompt, model, resume, output_format = (
        values.pop(name, None) for name in ("prompt", "model", "resume", "output-format")
    )
    return Understood(
        prompt=_string(prompt) or " ".join(query) or None,
        model=_trimmed(model) or None,
        resume=None if resume is None else _trimmed(resume) or "latest",
        output_format=output_format if isinstance(output_format, str) else "text",
        other=values,
    )


def _complaint(parsed: Parsed, query: Sequence[str]) -> str | None:
    """Why yargs, or gemini's own check behind it, refuses."""
    values = parsed.values
    if parsed.error is not None:
        return parsed.error
    if isinstance(values.get("resume"), list | bool) or isinstance(values.get("session-id"), list | bool):
        return "value.trim is not a function"
    if (session := values.get("session-id")) is not None and not re.match(r"[a-zA-Z0-9_-]+\Z", _trimmed(session)):
        allowed = "Only alphanumeric characters, dashes, and underscores are allowed."
        return f'Invalid session ID "{_trimmed(session)}": {allowed}'
    if parsed.unknown:
        named = [name if name.strip(JS_BLANKS) else f'"{name}"' for name in parsed.unknown]
        return f"Unknown argument{'s' if len(named) > 1 else ''}: {', '.join(named)}"
    for name, choices in CHOICES.items():
        if any(value not in choices for value in _strings(values.get(name, []))):
            return f"Invalid values: {name}"
    return _conflict(values, query)


def _conflict(values: Mapping[str, Value], query: Sequence[str]) -> str | None:
    if sum(name in values for name in ("resume", "session-id", "session-file")) > 1:
        return "The flags --resume, --session-id, and --session-file are mutually exclusive"
    if values.get("prompt") and query:
        return "Cannot use both a positional prompt and the --prompt (-p) flag together"
    if isinstance(values.get("prompt"), list):
        return "The --prompt (-p) flag is given twice"
    if values.get("prompt-interactive"):
        return "The --prompt-interactive flag cannot be used when input is piped from stdin"
    if values.get("yolo") and values.get("approval-mode"):
        return "Cannot use both --yolo (-y) and --approval-mode together"
    if "worktree" in values:
        return "The --worktree flag is only available when experimental.worktrees is enabled in your settings"
    return None


def _query(positionals: Sequence[str]) -> list[str]:
    """Positionals pass the parser again, which drops dashes and reads numbers."""
    return [_as_number(text) for text in positionals if not text.startswith("-") or number(text) is not None]


def _as_number(text: str) -> str:
    value = number(text)
    return text if value is None else number_text(value)


def _strings(value: Value) -> list[str]:
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _string(value: Value | None) -> str:
    return value if isinstance(value, str) else ""


def _trimmed(value: Value | None) -> str:
    """The value without blanks around it; of several, the last one counts."""
    last = value[-1] if isinstance(value, list) and value else value
    return last.strip(JS_BLANKS) if isinstance(last, str) else ""


def _decoded(argument: str | bytes) -> str:
    raw = argument if isinstance(argument, bytes) else argument.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "replace")
