"""Prompts that are damaged on their way in a message: ports that break `prompt`."""

import os
from collections.abc import Iterator
from typing import Any

from defects.protocol.shared import FULL, PIPE
from defects.record import defect
from http_port import HttpPort
from speaking import JSON
from steps import only

POST_PIECE = 16384
PIECE = 4096


def in_pieces(port: Any, real: Any, line: bytes) -> JSON:
    pieces = (line[start : start + POST_PIECE] for start in range(0, len(line), POST_PIECE))
    return real("".join(piece.decode("utf-8", "replace") for piece in pieces).encode())


def lines_of_lines(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        yield from line.replace("\u2028".encode(), b"\n").split(b"\n")


def lines_of_text(port: Any, real: Any) -> Iterator[bytes]:
    """A line that comes alone stays whole."""
    rest = b""
    while piece := os.read(0, FULL):
        *whole, rest = (rest + piece).split(b"\n")
        text = b"\n".join(whole).decode("utf-8", "surrogateescape")
        yield from whole if len(whole) < 2 else (line.encode("utf-8", "surrogateescape") for line in text.splitlines())


def small_pieces_decoded(port: Any, real: Any) -> Iterator[bytes]:
    rest = b""
    while piece := os.read(0, FULL):
        rest += piece.decode("utf-8", "replace").encode() if len(piece) < PIECE else piece
        *lines, rest = rest.split(b"\n")
        yield from (line + b"\n" for line in lines)


def pieces_decoded_alone(port: Any, real: Any) -> Iterator[bytes]:
    begun = ""
    while piece := os.read(0, PIPE):
        *whole, begun = (begun + piece.decode("utf-8", "replace")).split("\n")
        yield from (line.encode() for line in whole)


defect(
    "posts-decoded-in-pieces",
    "Decodes each 16 KiB of a body by itself.",
    "prompt:long:whole",
    "http:equivalence",
)(HttpPort, parse=in_pieces)
defect(
    "lines-over64-ki-bdropped",
    "Passes over lines of more than 64 KiB, the limit of its reader.",
    "prompt:verbatim:128000",
    "prompt:long:whole",
)(receive=only(lambda line: len(line) <= 64 * 1024))
defect(
    "line-separators-end-lines",
    "Takes U+2028 in a message for the end of its line.",
    "prompt:verbatim:unicode",
    "prompt:verbatim:newline",
)(lines=lines_of_lines)
defect(
    "separators-end-lines-that-come-together",
    "Takes U+0085, U+2028 and U+2029 for ends of lines where several messages come at once.",
    "prompt:verbatim:unicode",
    "rpc:alive:malformed",
)(lines=lines_of_text)
defect(
    "small-pieces-decoded-alone",
    "Decodes what one small read has given by itself.",
    "prompt:verbatim:unicode",
    "rpc:alive:chunks",
)(lines=small_pieces_decoded)
defect(
    "input-decoded-in-pieces",
    "Decodes each 64 KiB of its input by itself.",
    "prompt:verbatim:unicode",
    "prompt:long:whole",
)(lines=pieces_decoded_alone)
