"""What we believe of Gemini CLI's command line, against its own parser."""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from client import PATIENCE
from sandbox import cli_directory
from test_real_cli import PIECES, THOROUGH

from gemini_mcp.call.invocation import plan
from gemini_mcp.gemini_cli.understanding import FACTS, Understood, understand
from gemini_mcp.gemini_cli.yargs import Value
from gemini_mcp.spec import load_server
from gemini_mcp.spec.values import Json

LINES = 20000 if THOROUGH else 2000

NO_MODEL = "asks no model"
"""A line that is refused, or that shows something, or that is for a subcommand: which of them is for nobody to tell."""

KNOWN = {
    "--prompt-interactive|-i": "the parser takes it, and the program refuses it later, as its stdin is no terminal",
    "help$": "the parser shows the help and goes on; without a prompt on stdin the program then ends with 42",
    "--query": "the positional argument under its name, which the help does not tell and the parser reads twice",
    "--[a-z]+[.]": "a part of a value; the program fails when it uses the value",
    "--no-model": "a value that is negated; the program fails when it uses it",
    "--output-Format": "the parser knows a name in camel case with a dash, and takes no value for it",
}
"""Differences that are left, by the elements that show them, and why."""
BUNDLE = "node_modules/@google/gemini-cli/bundle"

COMPARED = (
    "model",
    "resume",
    "output-format",
    "approval-mode",
    "yolo",
    "sandbox",
    "debug",
    "session-id",
    "session-file",
)

NAMES = [name for name in FACTS if name not in ("is-command", "fake-responses-non-strict")]
WORDS = (
    *("hello", "a b", "", " ", "-", "--", "---", "$0", "latest", "1", "007", "1e3", "0x1f", ".5", "-5", "NaN", "true"),
    *(
        "json",
        "text",
        "yolo",
        "plan",
        "x,y",
        "a=b",
        "=",
        "'q'",
        '"q"',
        "'",
        "\\",
        "\n",
        "\N{PARROT}",
        "__proto__",
        "@f",
    ),
    *("-h", "-v", "-p", "-m", "-o", "-r", "-y", "-d", "-s", "-pm", "-ym", "-mx", "-m=x", "-ojson", "-p5", "--no-yolo"),
    *(
        "--model.x",
        "--constructor",
        "--no-model",
        "--nope",
        "--outputFormat",
        "--output-Format",
        "-5x",
        "--1",
        "mcp",
        "help",
    ),
)
"""Neither of the words `mcp` and `help` starts anything; others of its kind might."""


def test_command_lines_mean_to_us_what_they_mean_to_the_cli() -> None:
    chance = Random(1)
    lines = [line(chance) for _ in range(LINES)]
    differing = {
        json.dumps(argv): f"{ours} is not {theirs}"
        for argv, result in zip(lines, parsed(lines), strict=True)
        if (ours := told(argv)) != (theirs := told_by_cli(result)) and not is_known(argv)
    }
    assert differing == {}


def test_generated_prompts_are_prompts_to_the_cli() -> None:
    """Hundreds in one process; `test_real_cli.py` sees fewer of them reach the model."""
    spec, chance = load_server(), Random(2)
    prompts = ["".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(2000 if THOROUGH else 300)]
    lines = [(tool, prompt) for prompt in prompts for tool in spec.tools]
    results = parsed([plan(tool, {"prompt": prompt}, spec.invocation).argv for tool, prompt in lines])
    taken = {(tool.name, prompt): prompt_in(result) for (tool, prompt), result in zip(lines, results, strict=True)}
    assert {key: value for key, value in taken.items() if value != key[1]} == {}


def prompt_in(result: Json) -> Json:
    """The prompt that the CLI takes from a line that asks for JSON and nothing else; or what it makes of the line."""
    values = result.get("values", {})
    is_asked = values.get("outputFormat") == "json" and values.get("resume") in (None, "latest")
    return values.get("prompt") if is_asked and not values.get("isCommand") else result


def line(chance: Random) -> list[str]:
    """A command line that somebody might write, or nearly."""
    return [element for _ in range(chance.randint(1, 4)) for element in part(chance)]


def part(chance: Random) -> Sequence[str]:
    name, word = chance.choice(NAMES), chance.choice(WORDS)
    return chance.choice(((word,), (f"--{name}", word), (f"--{name}={word}",), (f"--{name}",), ("hello",)))


def parsed(lines: Sequence[Sequence[str]]) -> Sequence[Json]:
    """What the CLI's parser makes of each line."""
    done = subprocess.run(
        ("node", str(Path(__file__).with_name("parser.mjs")), str(cli_directory() / BUNDLE)),
        input=json.dumps(lines).encode(),
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        timeout=20 * PATIENCE,
        check=True,
    )
    return json.loads(done.stdout)


def told(argv: Sequence[str]) -> Json:
    """What we take a line for, in the words of this test."""
    understood = understand(argv)
    if not isinstance(understood, Understood):
        return NO_MODEL
    return {"prompt": understood.prompt or "", **{name: text(understood.values.get(name)) for name in COMPARED}}


def told_by_cli(result: Json) -> Json:
    """What the CLI takes a line for, in the same words."""
    values: Mapping[str, Json] = {"output-format": "text", **result.get("values", {})}
    is_elsewhere = values.get("isCommand") or any("mode" in facts and values.get(name) for name, facts in FACTS.items())
    if "values" not in result or is_elsewhere or isinstance(values.get("prompt"), list):
        return NO_MODEL  # the program fails when it uses a list of prompts
    if isinstance(model := values.get("model"), list):
        values = {**values, "model": model[-1]}  # the program asks this one, which the API has seen
    return {"prompt": values.get("prompt") or "", **{name: text(values.get(name)) for name in COMPARED}}


def text(value: Value | Json) -> Json:
    """A value in one form: what is not given, empty or false is nothing."""
    return value.strip() if isinstance(value, str) else value or ""


def is_known(argv: Sequence[str]) -> bool:
    """Whether one of the differences that are listed is in a line."""
    return any(re.match(pattern, element) for pattern in KNOWN for element in argv)
