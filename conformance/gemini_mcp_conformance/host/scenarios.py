"""Scenarios as checks: scripted servers are set up, the host is let loose, and both sides are compared. Effect.

What a host claims is its answer; what it asked and sent is read from the servers' own journals.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from gemini_mcp_conformance.host.checking import Check, Questions
from gemini_mcp_conformance.host.scripted import serve
from gemini_mcp_conformance.host.values import Json, list_of, object_of

SCENARIO_SECONDS = 60.0
SERVER = Path(__file__).with_name("scripted.py")


def checks(scenarios: Sequence[Json], profile: str) -> Iterator[Check]:
    """A check for every scenario of the profile."""
    for scenario in scenarios:
        if scenario["profile"] in (profile, "both"):
            name, requirements = f"scenario {scenario['id']}", tuple(scenario["requirements"])
            yield Check(name, requirements, partial(_complaint, scenario, profile))


def _complaint(scenario: Json, profile: str, questions: Questions) -> str | None:
    with tempfile.TemporaryDirectory(prefix="host-scenario-") as folder, ExitStack() as stack:
        stage = _Stage(Path(folder), _in_profile(scenario, profile), stack)
        begun = time.monotonic()
        output = object_of(questions.ask("scenario", stage.input(), scenario["id"], SCENARIO_SECONDS))
        took = time.monotonic() - begun
        if output is None:
            return "the host's answer is no object"
        expected = scenario["expected"].get(profile, scenario["expected"])
        return _difference(stage.masked(output), expected, stage, took)


def _in_profile(scenario: Json, profile: str) -> Json:
    """The scenario with the steps of the profile; names of tools differ between the two."""
    steps: Json = scenario.get("steps", [])
    by_profile = object_of(steps)
    return {**scenario, "steps": steps if by_profile is None else by_profile[profile]}


def _difference(output: Json, expected: Json, stage: "_Stage", took: float) -> str | None:
    for key, wanted in expected.items():
        if key == "withinSeconds":
            if took > wanted:
                return f"the host took {took:.1f} seconds, it should take at most {wanted}"
        elif key in ("asked", "sent"):
            for server, messages in wanted.items():
                given = stage.journal(server) if key == "sent" else [one["method"] for one in stage.journal(server)]
                complaint = _compared(f"`{key}` of server {server!r}", given, messages, key == "sent")
                if complaint:
                    return complaint
        elif output.get(key) != wanted:
            return f"`{key}` is {_short(output.get(key))}, it should be {_short(wanted)}"
    return None


def _compared(what: str, given: list[Json], wanted: list[Json], is_part: bool) -> str | None:
    if not is_part:
        return None if given == wanted else f"{what} is {_short(given)}, it should be {_short(wanted)}"
    for message in wanted:
        if not any(_holds(one, message) for one in given):
            return f"{what} lacks {_short(message)}"
    return None


def _holds(given: Json, wanted: Json) -> bool:
    """Whether everything wanted is in what was given; objects may have more."""
    parts, whole = object_of(wanted), object_of(given)
    if parts is None or whole is None:
        return given == wanted
    return all(key in whole and _holds(whole[key], value) for key, value in parts.items())


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:397]}..."


class _Stage:
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

    def input(self) -> Json:
        """What the adapter is asked."""
        settings = {scope: self._filled(value) for scope, value in self._scenario.get("settings", {}).items()}
        if not settings:
            settings = {"project": {"mcpServers": dict(self._servers)}}
        texts = {scope: value if isinstance(value, str) else json.dumps(value) for scope, value in settings.items()}
        return {
            "settings": texts,
            "cwd": str(self._folder),
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
        """The output with this machine's paths and ports named."""
        text = json.dumps(value)
        for shown, name in self._masks.items():
            text = text.replace(json.dumps(shown)[1:-1], name)
        return json.loads(text)

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
        members, items = object_of(value), list_of(value)
        if members is not None and "scripted" in members:
            more = {key: inner for key, inner in members.items() if key != "scripted"}
            return {**self._servers[members["scripted"]], **more}
        if members is not None:
            return {key: self._filled(inner) for key, inner in members.items()}
        return value if items is None else [self._filled(inner) for inner in items]
