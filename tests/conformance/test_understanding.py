"""What gemini makes of an argv, held against what version 0.61.0 of it was measured to do."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gemini_mcp.gemini_cli.understanding import (
    PROGRAM,
    Other,
    Understood,
    UsageError,
    effective_prompt,
    understand,
)

STDIN_LIMIT = PROGRAM["stdinLimit"]
MEASURED = Path(__file__).parent.parent / "data" / "real_cli_argv.json"
CASES: list[dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8"))["cases"]


def argv_of(case: Mapping[str, Any]) -> list[str | bytes]:
    return [*(base64.b64decode(part) for part in case.get("argvBase64", [])), *case["argv"]]


def stdin_of(case: Mapping[str, Any]) -> bytes | None:
    if "stdinBase64" in case:
        return base64.b64decode(case["stdinBase64"])
    return case["stdin"].encode() if "stdin" in case else None


def asked(*argv: str | bytes) -> Understood:
    understood = understand(argv)
    assert isinstance(understood, Understood), understood
    return understood


def cases_with(key: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in CASES if key in case]


def test_every_measured_case_is_used() -> None:
    used = [key for case in CASES for key in ("prompt", "other", "usage") if key in case]
    assert len(used) == len(CASES) >= 150


@pytest.mark.parametrize("case", cases_with("prompt"))
def test_a_prompt_is_understood_as_measured(case: Mapping[str, Any]) -> None:
    understood = asked(*argv_of(case))
    assert effective_prompt(understood, stdin_of(case)) == case["prompt"]
    assert (understood.values.get("model"), understood.values.get("resume")) == (case.get("model"), case.get("resume"))
    if case["prompt"] is not None:
        assert understood.values["output-format"] == case["format"]


@pytest.mark.parametrize("case", cases_with("other"))
def test_what_is_no_prompt_is_understood_as_measured(case: Mapping[str, Any]) -> None:
    assert understand(argv_of(case)) == Other(case["other"])


@pytest.mark.parametrize("case", cases_with("usage"))
def test_what_is_refused_is_refused_for_the_measured_reason(case: Mapping[str, Any]) -> None:
    refused = understand(argv_of(case))
    assert isinstance(refused, UsageError), refused
    assert refused.reason.startswith(case["usage"][:30])


@pytest.mark.parametrize(
    "spelling", [("-m", "x"), ("-m=x",), ("--model", "x"), ("--model=x",), ("-m", "y", "-m", " x ")]
)
def test_every_spelling_of_a_model_is_the_same_model(spelling: tuple[str, ...]) -> None:
    assert asked("hi", *spelling) == asked(*spelling, "hi")
    assert asked("hi", *spelling).values["model"] == "x"


@pytest.mark.parametrize("spelling", [("-r", "a b"), ("-r=a b",), ("--resume", " a b"), ("--resume='a b'",)])
def test_every_spelling_of_a_session_is_the_same_session(spelling: tuple[str, ...]) -> None:
    assert asked(*spelling, "-o", "json", "hi").values["resume"] == "a b"


@pytest.mark.parametrize("argv", [("-o", "json", "-r"), ("-r", "-o", "json"), ("--resume", "--", "x")])
def test_a_session_without_a_value_is_the_latest(argv: tuple[str, ...]) -> None:
    assert asked(*argv).values["resume"] == "latest"


def test_harmless_flags_are_told_apart() -> None:
    argv = ("--skip-trust", "--approvalMode", "default", "hi", "--no-sandbox", "-e=a", "-e", "b", "--debug", "true")
    assert asked(*argv).values == {
        "output-format": "text",
        "skip-trust": True,
        "approval-mode": "default",
        "sandbox": False,
        "extensions": ["a", "b"],
        "debug": True,
    }


def test_a_word_after_an_unknown_flag_is_no_command_yet() -> None:
    assert asked("--yolo", "mcp").prompt == "mcp"


def test_a_flag_without_its_value_takes_the_prompt() -> None:
    assert asked("-o", "json", "-r", "hi").prompt is None


def test_a_key_ends_with_its_line() -> None:
    assert asked("--model\nignored", "hi", "there") == Understood("there", {"model": "hi", "output-format": "text"})


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert asked(b"caf\xe9").prompt == asked("caf\udce9").prompt == "caf�"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1e-7", "1e-7"),
        ("0.00001", "0.00001"),
        ("1.50", "1.5"),
        ("0x1F", "31"),
        ("1e20", "1e20"),
        ("9e15", "9000000000000000"),
        ("0xFFFFFFFFFFFFFFFF", "18446744073709552000"),
        ("0x" + "f" * 300, "Infinity"),
        ("-0", "0"),
    ],
)
def test_numbers_are_said_as_javascript_says_them(text: str, said: str) -> None:
    assert asked(text).prompt == said


def test_stdin_comes_before_the_prompt() -> None:
    assert effective_prompt(asked("PROMPT"), b"DATA\n") == "DATA\n\n\nPROMPT"


def test_nothing_on_stdin_and_no_prompt_is_no_prompt() -> None:
    assert effective_prompt(asked("-o", "json"), b"") is None


def test_stdin_is_cut_where_gemini_cuts_it() -> None:
    assert len(effective_prompt(asked(), b"x" * (STDIN_LIMIT + 2)) or "") == STDIN_LIMIT


def test_the_name_of_the_default_command_takes_the_first_word_away() -> None:
    assert asked("$0", "hello").prompt == "hello"
    assert asked("--accept-raw-output-risk", ".5", "$0", "hello").prompt == "$0 hello"
