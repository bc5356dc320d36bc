"""`@server:uri` in a prompt: finds the references, resolves them, and puts what was read after the prompt. Pure.

Everything between the prompt's text and the parts for the model belongs here, but not the request itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import LINE_ENDS, trim
from gemini_mcp.host.tools.content import contents_to_parts
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject

HEADER = "\n--- Content from referenced files ---"
FOOTER = "\n--- End of content ---"
FAILED_EXIT = 42
"""The exit code of Gemini CLI for input that it cannot use."""

_REFERENCE = re.compile(
    rf'(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\[^{LINE_ENDS}]|[^ \t\n\r,;!?()\[\]{{}}.]|\.(?!\Z|[ \t\n\r])))+',
)
_ESCAPE = re.compile(rf"\\([^{LINE_ENDS}])")


@dataclass(frozen=True)
class Resource:
    """A resource as its server lists it."""

    server: str
    uri: str
    name: str = ""


@dataclass(frozen=True)
class Piece:
    """A stretch of the prompt: plain text, or a reference without its `@`."""

    text: str
    is_reference: bool = False


@dataclass(frozen=True)
class Reading:
    """What `resources/read` answered for a resource, or why it failed."""

    resource: Resource
    result: JsonObject
    failure: str | None = None


@dataclass(frozen=True)
class Expanded:
    """The parts of the user's message, or the error that ends it."""

    parts: tuple[JsonObject, ...] | None
    error: str | None = None


def split(prompt: str) -> tuple[Piece, ...]:
    """The prompt cut at its references; stretches of nothing but space are dropped."""
    pieces: list[Piece] = []
    end = 0
    for match in _REFERENCE.finditer(prompt):
        pieces.append(Piece(prompt[end : match.start()]))
        pieces.append(Piece(_ESCAPE.sub(r"\1", match.group()[1:]), is_reference=True))
        end = match.end()
    pieces.append(Piece(prompt[end:]))
    return tuple(piece for piece in pieces if piece.is_reference or trim(piece.text))


def candidates(reference: str, servers: Sequence[str], rules: Rules) -> tuple[tuple[str, str], ...]:
    """The server and URI a reference may mean, best first."""
    return _REFERENCES[rules.reference](reference, servers)


def _to_listed_server(reference: str, servers: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """A server's name may have colons: the longest that fits is tried first."""
    named = sorted((name for name in servers if reference.startswith(f"{name}:")), key=len, reverse=True)
    # The guide writes `@server://path`; the URI may be `//path` or `path`.
    uris = [(name, reference[len(name) + 1 :]) for name in named]
    return tuple((name, cut) for name, uri in uris for cut in dict.fromkeys((uri, uri.removeprefix("//"))))


def _to_first_colon(reference: str, servers: Sequence[str]) -> tuple[tuple[str, str], ...]:
    server, colon, uri = reference.partition(":")
    return ((server, uri),) if colon and server else ()


_REFERENCES = {"listed-server": _to_listed_server, "first-colon": _to_first_colon}


def find(reference: str, resources: Sequence[Resource], rules: Rules) -> Resource | None:
    """The listed resource a reference means."""
    listed = {(resource.server, resource.uri): resource for resource in resources}
    servers = tuple(dict.fromkeys(resource.server for resource in resources))
    return next((listed[key] for key in candidates(reference, servers, rules) if key in listed), None)


def references(prompt: str, resources: Sequence[Resource], rules: Rules) -> tuple[Resource, ...]:
    """The resources the prompt refers to, in order."""
    found = (find(piece.text, resources, rules) for piece in split(prompt) if piece.is_reference)
    return tuple(resource for resource in found if resource is not None)


def expand(prompt: str, readings: Sequence[Reading]) -> Expanded:
    """The user's message with what was read put after it."""
    if not readings:
        return Expanded(({"text": prompt},))
    failed = next((reading for reading in readings if reading.failure is not None), None)
    if failed is not None:
        complaint = f"Error reading resource {failed.resource.uri}: {failed.failure}"
        return Expanded(None, f"Exiting due to an error processing the @ command: {complaint}")
    injected: list[JsonObject] = []
    for reading in readings:
        # Gemini CLI names the URI here, not the server.
        injected.append({"text": f"\nContent from @{reading.resource.uri}:\n"})
        injected.extend(contents_to_parts(reading.result.get("contents")))
    return Expanded(({"text": _rejoined(split(prompt))}, {"text": HEADER}, *injected, {"text": FOOTER}))


def _rejoined(pieces: Sequence[Piece]) -> str:
    text = ""
    for piece in pieces:
        # Gemini CLI puts a space before a reference that stands behind a word.
        space = " " if piece.is_reference and text and not text.endswith(" ") else ""
        text += f"{space}@{piece.text}" if piece.is_reference else piece.text
    return trim(text)
