"""The cases and scenarios of the specification as conversations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gemini_mcp.spec import load_documents, written_out
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import does
from gemini_mcp_conformance.talk.sources import Sources
from gemini_mcp_conformance.talk.steps import Await, Cancel, End, Release, Request, Step, call

ORDER = 10


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Every case that a run can bring about, and every scenario."""
    spec = sources.spec
    for id, case in load_documents("server/cases", spec.root).items():
        script = _script_of(case)
        if case["call"]["name"] in spec.tools and (script is not None or case["invocation"] is None):
            yield _case(id, case, script)
    for id, scenario in load_documents("server/scenarios", spec.root).items():
        if {step["call"]["name"] for step in scenario["steps"] if "call" in step} <= spec.tools.keys():
            yield _scenario(id, scenario, sources.scripts)


def _case(id: str, case: Mapping[str, Json], script: Script | None) -> Conversation:
    arguments = written_out(case["call"].get("arguments", {}))
    step = call(case["call"]["name"], arguments, *((script,) if script else ()))
    return Conversation(f"case-{id}", case["title"], (step,), "examples", tuple(case["requirements"]))


def _script_of(case: Mapping[str, Json]) -> Script | None:
    """What gemini plays so that the run ends as in the case; None when no script can bring it about."""
    outcome = case.get("outcome", {})
    signals = {9: "KILL", 15: "TERM", 2: "INT"}
    if "exit" in outcome:
        end: list[Json] = [{"exit": outcome["exit"]}]
    # When a port stops waiting for gemini is its own affair, and the usual ten minutes are too long for a run.
    elif outcome.get("signal") in signals and "timedOut" not in outcome:
        end = [{"signal": signals[outcome["signal"]]}]
    else:
        return None
    listing = case.get("listing")
    listed = None if listing is None else (*_streams(listing), {"exit": listing["exit"]})
    return Script(case["id"], (*_streams(outcome), *end), listed)


def _streams(outcome: Mapping[str, Json]) -> list[Json]:
    return [{stream: outcome[stream]} for stream in ("stderr", "stdout") if outcome.get(stream)]


def _scenario(id: str, scenario: Mapping[str, Json], scripts: Mapping[str, Script]) -> Conversation:
    steps = tuple(each for step in scenario["steps"] for each in _steps(step, scripts))
    groups = any("together" in step for step in scenario["steps"])
    waits = groups or any(isinstance(step, Cancel | Release | End | Await) or _waits(step) for step in steps)
    return Conversation(
        f"scenario-{id}", scenario["title"], steps, "examples", tuple(scenario["requirements"]), aside=waits
    )


def _waits(step: Step) -> bool:
    """Whether a script of the step takes its time."""
    return any(
        does(script, {"wait", "hang", "child"}) for script in (step.scripts if isinstance(step, Request) else ())
    )


def _is_held(script: Script) -> bool:
    """Whether a script goes on until something happens."""
    return does(script, {"release", "wait", "hang"})


def _steps(step: Mapping[str, Json], scripts: Mapping[str, Script]) -> Iterator[Step]:
    """A port that has answered what comes behind a cancellation has read it; before, it may start what it waits for."""
    yield _step(step, scripts)
    if "cancel" in step:
        yield Request("tools/list")


def _step(step: Mapping[str, Json], scripts: Mapping[str, Script]) -> Step:
    if "cancel" in step:
        return Cancel(step["cancel"])
    if "release" in step:
        return Release(step["release"])
    if "end" in step:
        return End(step["end"])
    script = step.get("script")
    chosen = () if script is None else (scripts[script] if isinstance(script, str) else Script.from_json(script),)
    stays = "together" in step or step.get("result", 0) is None
    # A gemini that nothing holds may have to wait for another one, and cannot be waited for.
    until = ("started" if any(map(_is_held, chosen)) else "sent") if stays else "answered"
    name, arguments = step["call"]["name"], written_out(step["call"].get("arguments", {}))
    expected = written_out(step.get("result"))
    return call(name, arguments, *chosen, name=step.get("id", ""), until=until, expected=expected)
