"""`behaviour: "scenario"`: a whole host on scripted servers, and what it found, called and showed. Effect."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from gemini_mcp.host.adapter import answer
from gemini_mcp.host.command.servers import view
from gemini_mcp.host.prompts.execution import expand_references, invoke_prompt
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.connection import Surroundings
from gemini_mcp.host.servers.host import Host, Plan, open_host
from gemini_mcp.host.servers.status import render
from gemini_mcp.host.settings.files import Places, extensions, policy_texts
from gemini_mcp.host.settings.loading import Layer, ServerConfig, load
from gemini_mcp.host.settings.merging import with_extensions
from gemini_mcp.host.settings.policies import policies
from gemini_mcp.host.settings.standing import Circumstances, Standing, placed
from gemini_mcp.host.tools import execution
from gemini_mcp.host.tools.confirmation import AllowList, Outcome, Question
from gemini_mcp.host.tools.content import model_parts, refusal_parts
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject


@dataclass
class _Person:
    """Answers the questions with the given answers, in order, and then cancels."""

    answers: Iterator[str]
    allowed: AllowList = field(default_factory=AllowList)

    def confirm(self, asked: Question) -> Outcome:
        return Outcome(next(self.answers, Outcome.CANCEL.value))


def reply(request: JsonObject) -> JsonObject:
    """The answer to a request, scenarios among them."""
    if request.get("behaviour") != "scenario":
        return answer(request)
    output = anyio.run(_play, request["input"], profiles()[request["profile"]])
    return {"id": request.get("id"), "output": output}


async def _play(value: JsonObject, rules: Rules) -> JsonObject:
    environment: Mapping[str, str] = {**os.environ, **value["environment"]}
    layers = [Layer(scope, scope, value["settings"].get(scope, "")) for scope in ("user", "project")]
    where = Places(Path(value.get("home", value["cwd"])), Path(value["cwd"]))
    found = extensions(where, environment, rules, is_trusted=True)
    loaded = with_extensions(load(layers, environment, rules), found, rules)
    started = (one.server for one in placed(loaded, Circumstances(), rules) if one.standing is Standing.STARTED)
    servers = tuple(_at(server, value["cwd"]) for server in started if server.has_transport)
    known = policies(loaded, policy_texts(where, rules), rules)
    plan = Plan(servers, Surroundings(environment), rules, policy=None if known is None else known.policy)
    person = _Person(iter(value["answers"]))
    async with open_host(plan) as host:
        shown = _shown(host)
        steps = [await _step(host, step, person) for step in value["steps"]]
    refused = sorted({problem.server for problem in loaded.problems if problem.is_fatal and problem.server})
    return {**shown, "refused": refused, "steps": steps}


def _at(server: ServerConfig, folder: str) -> ServerConfig:
    if "command" not in server.values:
        return server
    # A real host runs in the project. One adapter plays all scenarios, each with a project of its own.
    return replace(server, values={**server.values, "cwd": str(Path(folder, server.values.get("cwd") or "."))})


def _shown(host: Host) -> JsonObject:
    offers = ((tool.name, tool.offer) for tool in host.registry.tools if tool.offer is not None)
    return {
        "state": host.state.name,
        "servers": {name: server.status.name for name, server in host.servers.items()},
        "tools": [{"name": name, "server": offer.server, "tool": offer.name} for name, offer in offers],
        "prompts": list(host.prompts()),
        "context": host.context(),
        "resources": [f"{resource.server}:{resource.uri}" for resource in host.resources()],
    }


async def _step(host: Host, step: JsonObject, person: _Person) -> Json:
    if "call" in step:
        return await _call(host, step["call"], person)
    if "prompt" in step:
        return (await invoke_prompt(host, step["prompt"])).to_json()
    if "expand" in step:
        expanded = await expand_references(host, step["expand"])
        return {"failed": True} if expanded.parts is None else {"parts": list(expanded.parts)}
    views = [_at_home(view(host, server)) for server in host.servers.values()]
    return {"text": render(views, host.state)}


def _at_home(shown: Json) -> Json:
    """The view without the folder that only this adapter puts into `cwd`."""
    values = {key: value for key, value in shown.config.values.items() if key != "cwd"}
    return replace(shown, config=replace(shown.config, values=values))


async def _call(host: Host, asked: JsonObject, person: _Person) -> JsonObject:
    try:
        called = await execution.call(host, asked["name"], asked["arguments"], person.allowed, person.confirm)
    except execution.NotConfirmed:
        return {"called": False}
    except execution.NotCalled as refusal:
        if not host.plan.rules.reports_tool_errors:
            return {"called": False}
        return {"called": False, "modelParts": refusal_parts(asked["name"], "call-1", str(refusal))}
    person.allowed = called.allowed
    rendered = called.rendered
    parts = model_parts(called.tool.name, "call-1", rendered, host.plan.rules)
    return {"called": True, "display": rendered.display, "modelParts": parts, "isError": rendered.is_error}
