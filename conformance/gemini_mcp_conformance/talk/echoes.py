"""Echoes: the ways in which gemini can repeat a text when it fails, each as the steps of a script; pure.

`few` are for combinations, and differ most. `many` are for the calls that are about private texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.specification import Specification

Way: TypeAlias = Callable[[str], tuple[Json, ...]]

KEY = "AIzaSyD-0123456789abcdefghijklmnopqrstuv"
"""A key that looks as Google's do."""
NOISE = "line of noise\n" * 6_000
"""More than 64 KiB of stderr."""
FAILED: Json = {"exit": 1}


def few(spec: Specification) -> tuple[Way, ...]:
    """For combinations: on stderr and in the error of the JSON, as far as they differ most."""
    error = spec.outcome.answer["error"]
    return (
        in_a_sentence,
        _in_an_error(error),
        lambda text: ({"stderr": f"\x1b[31m {text} \x1b[0m서울\r\n{text}\n"}, {"signal": "TERM"}),
        lambda text: ({"stdout": json.dumps({error: {"message": f"refused: {text}", "code": 1}})},),
        lambda text: ({"stdout": text}, {"stderr": f"[{text}]"}, {"exit": 2}),
        lambda text: ({"stderr": f"nothing for {text}\n"},),
        lambda text: ({"stdout": json.dumps({spec.outcome.answer["text"]: "Cut."})[:-2]}, {"stderr": f"({text})\n"}),
    )


def many(spec: Specification) -> tuple[Way, ...]:
    """On stderr and on stdout, as it is and as JSON escapes it, many times, behind noise, and where stderr is cut."""
    answer, limit = spec.outcome.answer, spec.outcome.stderr_bytes
    return (
        in_a_sentence,
        lambda text: ({"stderr": f"{text}\nnot_{text}s\n\x1b[31m {text} \x1b[0m서울\r\n" * 4 + text}, FAILED),
        _in_an_error(answer["error"]),
        lambda text: ({"stderr": f'{{"level": 50}}\nat call({json.dumps(text, ensure_ascii=False)})\n'}, FAILED),
        lambda text: ({"stderr": f"at call({json.dumps(text)})\n"}, {"signal": "TERM"}),
        lambda text: ({"stdout": json.dumps({answer["error"]: {"message": f"refused: {text}"}})},),
        lambda text: ({"stdout": json.dumps({"asked": text})},),
        lambda text: ({"stdout": json.dumps({answer["text"]: f"Of {text}"})[:-2]},),
        lambda text: ({"stderr": f"{NOISE}cannot use: {text}\n"}, FAILED),
        lambda text: ({"stderr": "It failed.\n"}, {"stdout": json.dumps({answer["error"]: {"message": text}})}, FAILED),
        # The cut of stderr falls into the text, so that only its end is left to be found.
        lambda text: ({"stderr": f"cannot use: {text}{'x' * (limit - 3 * len(text.encode()) // 4)}\n"}, FAILED),
    )


def in_a_sentence(text: str) -> tuple[Json, ...]:
    return ({"stderr": f"cannot use: {text}\nat line 1\n"}, FAILED)


def _in_an_error(key: str) -> Way:
    return lambda text: ({"stderr": json.dumps({key: {"message": f"refused: {text}"}})}, {"exit": 42})
