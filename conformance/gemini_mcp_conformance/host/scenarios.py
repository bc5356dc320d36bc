"""Scenarios as checks: starts scripted servers, asks the host, and compares answers and journals. Effect.

The answer is what the host says that it did. What it asked and sent is read from the journals of the servers.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_conformance.host.questions import HostCheck, Questions, checks_of
from gemini_mcp_conformance.host.scripted import serve
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.see.witness import shown

SCENARIO_SECONDS = 60.0
HOME = ".home"
"""The user's home, in the folder of the scenario."""

SERVER = Path(__file__).with_name("scripted.py")


def checks(scenarios: Iterable[Json]) -> Iterator[HostCheck]:
    """The checks of every scenario."""
    for scenario in scenarios:
        name, complain = f"scenario {scenario['id']}", partial(_complaints, scenario)
        yield from checks_of(name, scenario["title"], scenario["requirements"], scenario["profile"], complain)


def _complaints(scenario: Json, questions: Questions) -> Complaints:
    with tempfile.TemporaryDirectory(prefix="host-scenario-") as folder, ExitStack() as stack:
        stage = Stage(Path(folder), in_profile(scenario, questions.profile), stack)
        begun = time.monotonic()
        output = questions.ask("scenario", stage.input(), scenario["id"], SCENARIO_SECONDS)
        took = time.monotonic() - begun
        if not is_object(output):
            return ["The host's answer is no object."]
        expected = scenario["expected"].get(questions.profile, scenario["expected"])
        return list(_differences(stage.masked(output), expected, stage, took))[:1]


def in_profile(scenario: Json, profile: str) -> Json:
    """The scenario with the steps of the profile; names of tools differ between the two."""
    steps: Json = scenario.get("steps", [])
    return {**scenario, "steps": steps[profile] if is_object(steps) else steps}


def _differences(output: Json, expected: Json, stage: "Stage", took: float) -> Iterator[str]:
    for key, wanted in expected.items():
        match key:
            case "withinSeconds":
                if took > wanted:
                    yield f"The host took {took:.1f} seconds, and should take at most {wanted}."
            case "asked":
                for server, methods in wanted.items():
                    asked = [message["method"] for message in stage.journal(server)]
                    if asked != methods:
                        yield f"The host asked server {server!r} {shown(asked)}, and should ask {shown(methods)}."
            case "sent":
                for server, messages in wanted.items():
                    sent = stage.journal(server)
                    lacking = (message for message in messages if not any(_holds(one, message) for one in sent))
                    yield from (
                        f"The host did not send {shown(one)} to server {server!r}, and should." for one in lacking
                    )
            case _:
                if output.get(key) != wanted:
                    yield f"The host's `{key}` is {shown(output.get(key))}, and should be {shown(wanted)}."


def _holds(given: Json, wanted: Json) -> bool:
    """Whether all that is wanted is given; objects may have more members."""
    if not is_object(wanted) or not is_object(given):
        return given == wanted
    return all(key in given and _holds(given[key], value) for key, value in wanted.items())


class Stage:
    """The folder, the servers and the settings of one scenario."""

    def __init__(self, folder: Path, scenario: Json, stack: ExitStack) -> None:
        self._folder = folder
        self._scenario = scenario
        self._masks: dict[str, str] = {}
        self._servers: dict[str, Json] = {}
        for name, script in scenario.get("servers", {}).items():
            self._servers[name] = self._prepared(name, script, stack)
        for inner in scenario.get("folders", []):
            (folder / inner).mkdir(parents=True)
        for name, content in scenario.get("extensions", {}).items():
            self._put(f"extensions/{name}", self._filled(content))
        for name, content in scenario.get("policies", {}).items():
            self._put(f"policies/{name}", content)

    def input(self) -> Json:
        """The input for the adapter."""
        settings = {scope: self._filled(value) for scope, value in self._scenario.get("settings", {}).items()}
        if not settings:
            settings = {"project": {"mcpServers": dict(self._servers)}}
        texts = {scope: value if isinstance(value, str) else json.dumps(value) for scope, value in settings.items()}
        return {
            "settings": texts,
            "cwd": str(self._folder),
            "home": str(self._folder / HOME),
            "environment": self._scenario.get("environment", {}),
            "answers": self._scenario.get("answers", []),
            "steps": self._scenario.get("steps", []),
        }

    def journal(self, server: str) -> list[Json]:
        """Every message the server got."""
        file = self._folder / f"{server}.journal"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def masked(self, value: Json) -> Json:
        """The output with names in place of the paths and addresses of this machine."""
        text = json.dumps(value)
        for own, name in self._masks.items():
            # As JSON writes it within a longer text.
            text = text.replace(json.dumps(own)[1:-1], name)
        return json.loads(text)

    def _put(self, place: str, content: Json) -> None:
        """Put a file into the user's folder of Gemini CLI."""
        file = self._folder / HOME / ".gemini" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")

    def _prepared(self, name: str, script: Json, stack: ExitStack) -> Json:
        journal = self._folder / f"{name}.journal"
        config = script.get("config", {})
        over = script.get("over", "stdio")
        if over == "command":
            return config
        if over != "stdio":
            address = stack.enter_context(serve(script, journal)) + ("/sse" if over == "sse" else "/mcp")
            self._masks[address] = f"<address {name}>"
            return {"url" if over == "sse" else "httpUrl": address, **config}
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(script), encoding="utf-8")
        words = [sys.executable, "-S", str(SERVER), str(file), str(journal)]
        self._masks[" ".join(words)] = f"<command {name}>"
        return {"command": words[0], "args": words[1:], **config}

    def _filled(self, value: Json) -> Json:
        """The settings with `{"scripted": NAME}` replaced by how that server is reached."""
        if is_array(value):
            return [self._filled(inner) for inner in value]
        if not is_object(value):
            return value
        filled = {key: self._filled(inner) for key, inner in value.items() if key != "scripted"}
        return {**self._servers[value["scripted"]], **filled} if "scripted" in value else filled
