"""The unmodified Gemini CLI between a scripted model and scripted servers: what it declared, sent and left. Effect.

It runs headless in a home of its own; its process group is ended with the run.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from model import Model, Turn, serving

from gemini_mcp.spec.values import Json, JsonObject

LOCATION = "REAL_GEMINI_CLI"
"""The variable that names the directory into which npm installed the CLI."""

SECONDS = 120.0
MODEL = "gemini-2.5-pro"
DEFAULTS: Json = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"maxAttempts": 1, "sessionRetention": {"enabled": False}},
}
"""What the settings of the user have besides a scenario's own."""

FORGOTTEN = ("<session_context>",)
"""How the texts begin that the CLI itself puts before the user's."""


@dataclass(frozen=True)
class Seen:
    """One run of the program."""

    exit: int
    stdout: str
    stderr: str
    requests: Sequence[Json]
    left: Sequence[int]

    @property
    def declarations(self) -> list[JsonObject]:
        """The functions of MCP servers that the model was offered, in order."""
        tools: list[JsonObject] = self.requests[0].get("tools", []) if self.requests else []
        functions: list[JsonObject] = [one for tool in tools for one in tool.get("functionDeclarations", [])]
        return [one for one in functions if one["name"].startswith("mcp_")]

    @property
    def instruction(self) -> str:
        """The system instruction of the first request."""
        return "".join(part["text"] for part in self.requests[0]["systemInstruction"]["parts"])

    @property
    def context(self) -> str:
        """What stands of the project in the context of the first request."""
        texts = (str(part.get("text", "")) for content in self.requests[0]["contents"] for part in content["parts"])
        whole = next((text for text in texts if text.startswith(FORGOTTEN)), "")
        _, begun, rest = whole.partition("<project_context>\n")
        return rest.partition("\n</project_context>")[0] if begun else ""

    @property
    def prompt(self) -> list[JsonObject]:
        """The user's parts of the first request, without what the CLI puts before them."""
        users = [content for content in self.requests[0]["contents"] if content["role"] == "user"]
        parts = [part for content in users for part in content["parts"]]
        return [part for part in parts if not str(part.get("text", "")).startswith(FORGOTTEN)]

    @property
    def responses(self) -> list[list[JsonObject]]:
        """The parts that answered each turn of function calls."""
        turns: list[list[JsonObject]] = []
        contents: list[JsonObject] = self.requests[-1]["contents"] if self.requests else []
        for content in contents:
            if any("functionResponse" in part for part in content["parts"]):
                turns.append([_without_id(part) for part in content["parts"]])
        return turns


def run(
    folder: Path,
    words: Sequence[str],
    turns: Sequence[Turn] = (),
    environment: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Seen:
    """Run the CLI in the folder with these words; the settings are texts by their scope."""
    home = folder / ".home"
    for scope, text in {"user": "{}", **(settings or {})}.items():
        file = (home if scope == "user" else folder) / ".gemini" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = json.dumps({**DEFAULTS, **json.loads(text)}) if scope == "user" else text
        file.write_text(whole, encoding="utf-8")
    model = Model()
    model.turns = list(turns)
    with serving(model) as address:
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "GEMINI_API_KEY": "no-key-at-all",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": address,
            **(environment or {}),
        }
        command = ["node", str(_program()), *words]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        finally:
            left = _members(process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Seen(process.returncode, stdout, stderr, model.requests, left)


def ask(folder: Path, prompt: str, turns: Sequence[Turn], settings: Mapping[str, str], **environment: str) -> Seen:
    """Put a prompt to the CLI, headless."""
    return run(folder, ["-m", MODEL, "-p", prompt], turns, environment, settings)


def settings_text(servers: Mapping[str, Json]) -> str:
    """A settings file with these servers."""
    return json.dumps({"mcpServers": servers})


def _program() -> Path:
    directory = Path(os.environ.get(LOCATION, ""))
    program = directory / "node_modules/@google/gemini-cli/bundle/gemini.js"
    assert program.exists(), f"{program} does not exist. Set {LOCATION} to where npm installed @google/gemini-cli."
    return program


def _members(group: int) -> list[int]:
    """The processes of a group that still run."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError, ValueError):
            fields = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(folder.name))
    return found


def _without_id(part: JsonObject) -> JsonObject:
    """The part with the id that the reference gives; the CLI's own is made of a clock and chance."""
    response = part.get("functionResponse")
    return part if response is None else {**part, "functionResponse": {**response, "id": "call-1"}}
