"""What the fake gemini plays against what the real Gemini CLI prints in the same situation.

A script abbreviates: its lines on stderr stand in what the CLI writes, in this order. Its stdout and its exit code are
the CLI's, but for ids, numbers and places. A new script that is `observed` needs a situation here.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from client import PATIENCE
from sandbox import Sandbox, ended
from test_real_cli import NOBODY

from gemini_mcp.spec.values import Json

SCRIPTS: Mapping[str, Json] = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parents[2] / "spec/server/scripts").glob("*.json"))
}
INTERRUPTED = "empty-stdout"
OBSERVED = [name for name, script in SCRIPTS.items() if script.get("observed") == "0.61.0" and name != INTERRUPTED]
AS_JSON = ("--output-format", "json", "-m", "gemini-2.5-flash")
LISTED = ("--list-sessions",)
CHAT = ("What is (a [b])?", *AS_JSON)
PARIS = "The capital of France is Paris."
REPEATED = "Paris is in France, and so on and so forth, for ever. " * 200


@dataclass(frozen=True)
class Situation:
    """What brings the CLI to do what a script plays: its arguments, its surroundings, and calls that came before."""

    words: Sequence[str] = ("hello", *AS_JSON)
    before: Sequence[Sequence[str]] = ()
    prepare: Callable[[Sandbox], object] = lambda _: None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    typed: str = ""
    part: str = "play"
    """The part of the script that is played."""


def answering(text: str, finish: str = "STOP") -> Callable[[Sandbox], object]:
    def prepare(sandbox: Sandbox) -> None:
        sandbox.api.answer, sandbox.api.finish = text, finish

    return prepare


def refusing(status: int, message: str, word: str) -> Situation:
    return Situation(prepare=lambda sandbox: sandbox.api.refuses(status, message, word))


def with_broken_settings(sandbox: Sandbox) -> None:
    (sandbox.home / ".gemini/settings.json").write_text('{"general": ', encoding="utf-8")


def with_one_turn(sandbox: Sandbox) -> None:
    sandbox.configure({"model": {"maxSessionTurns": 1}})
    sandbox.api.uses("list_directory", {"dir_path": "."})


SITUATIONS = {
    "success": Situation(prepare=answering(PARIS)),
    "reply-keeps-session": Situation(
        ("-r", "latest", "hello", *AS_JSON), [CHAT], answering("It has about two million inhabitants.")
    ),
    "notices-before": Situation(("/memory show", *AS_JSON), prepare=answering(PARIS)),
    "no-json": Situation(("hello", "-m", "gemini-2.5-flash"), prepare=answering(PARIS)),
    "empty-response": Situation(AS_JSON, typed="x" * 4_200_000),
    "error-with-exit-0": Situation(prepare=answering("", "SAFETY")),
    "warnings": Situation(prepare=answering(REPEATED)),
    "session-id-missing-listed-on-stdout": Situation(LISTED, [CHAT] * 3, part="listSessions"),
    "session-id-missing-none-listed": Situation(LISTED, part="listSessions"),
    "exit-1-model-not-found": refusing(404, "models/nosuch is not found for API version v1beta", "NOT_FOUND"),
    "exit-1-system-file-missing": Situation(variables={"GEMINI_SYSTEM_MD": "/home/user/none.md"}),
    "exit-1-usage": Situation(("--hello there", *AS_JSON)),
    "exit-144": refusing(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
    "exit-145": refusing(401, "Request had invalid authentication credentials.", "UNAUTHENTICATED"),
    "exit-147": refusing(403, "The caller does not have permission", "PERMISSION_DENIED"),
    "exit-173": refusing(429, "You exceeded your current quota", "RESOURCE_EXHAUSTED"),
    "exit-244": refusing(500, "An internal error has occurred.", "INTERNAL"),
    "exit-247": refusing(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"),
    "exit-41": Situation(variables={"GEMINI_API_KEY": ""}),
    "exit-42": Situation(("", *AS_JSON)),
    "exit-42-no-sessions": Situation(("-r", NOBODY, "hello", *AS_JSON)),
    "exit-42-session-gone": Situation(("-r", NOBODY, "hello", *AS_JSON), [CHAT]),
    "exit-42-slash-command": Situation(("/quit", *AS_JSON)),
    "exit-52": Situation(prepare=with_broken_settings),
    "exit-53": Situation(prepare=with_one_turn),
    "exit-55": Situation(variables={"GEMINI_CLI_TRUST_WORKSPACE": ""}),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_the_cli_prints_what_a_script_plays(name: str, sandbox: Sandbox) -> None:
    situation = SITUATIONS[name]
    program = str(sandbox.programs / "gemini")
    environ = sandbox.environ(**{"GEMINI_CLI_TRUST_WORKSPACE": "true", **situation.variables})
    for words in situation.before:
        ended((program, *words), sandbox.cwd, environ)
    situation.prepare(sandbox)
    done = ended((program, *situation.words), sandbox.cwd, environ, situation.typed)
    steps = SCRIPTS[name][situation.part]
    assert done.returncode == next((step["exit"] for step in steps if "exit" in step), 0)
    assert shape(done.stdout) == shape(printed(steps, "stdout"))
    assert missing(lines(printed(steps, "stderr")), lines(done.stderr)) == []


def test_a_gemini_that_is_interrupted_prints_nothing(sandbox: Sandbox) -> None:
    sandbox.api.may_answer.clear()
    with subprocess.Popen(
        (sandbox.programs / "gemini", "hello", *AS_JSON),
        cwd=sandbox.cwd,
        env=sandbox.environ(GEMINI_CLI_TRUST_WORKSPACE="true"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as gemini:
        assert sandbox.api.asked.wait(PATIENCE)
        os.killpg(gemini.pid, signal.SIGTERM)
        stdout, stderr = gemini.communicate(timeout=PATIENCE)
    steps = SCRIPTS[INTERRUPTED]["play"]
    assert (gemini.returncode, stdout.decode("utf-8")) == (0, printed(steps, "stdout"))
    assert missing(lines(printed(steps, "stderr")), lines(stderr.decode("utf-8"))) == []


NOISE = re.compile(r"Warning: |\[STARTUP\]|\s+at ")
"""Lines that depend on the terminal and the clock, and frames of a stack."""

ELSEWHERE = {
    r"\x1b\[\d+m": "",
    r"(?m)^Attempt \d+ failed.*\n(?:    at .*\n)*(?:  status: \d+\n\}\n)?": "",
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}": "ID",
    r"\S*(?:/chats|settings\.json|gemini-client-error\S*)(?=[ .:])": "PLACE",
    r"(?m)^  \d+\. .+ \([^()]+\) \[ID\]$": "ENTRY",
}
"""What differs from run to run and from place to place, and what stands for it."""


def printed(steps: Sequence[Json], stream: str) -> str:
    return "".join(step.get(stream, "") for step in steps)


def placeless(text: str) -> str:
    for pattern, name in ELSEWHERE.items():
        text = re.sub(pattern, name, text)
    return text


def lines(stderr: str) -> list[str]:
    return [line for line in placeless(stderr).splitlines() if not NOISE.match(line)]


def missing(wanted: Iterable[str], found: Iterable[str]) -> list[str]:
    """The lines that are not found in this order."""
    rest = iter(found)
    return [line for line in wanted if line not in rest]


def shape(stdout: str) -> Json:
    """What is printed before gemini's JSON, and the JSON with its layout but without its numbers."""
    before, brace, document = placeless(stdout).partition("{\n")
    if not brace:
        return before
    return before, json.loads(brace + document, parse_int=lambda _: 0), document.endswith("}")
