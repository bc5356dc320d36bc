"""The reference as an adapter: reads questions as lines of JSON and answers each with what the host does. Pure.

It only translates between the shape of the vectors and the modules that know the answers; it decides nothing.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TextIO

from gemini_mcp.host.adapter import authorization, configuration, execution, extensions, policy, tools
from gemini_mcp.host.rules.javascript import as_parsed
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject

Answer = Callable[[JsonObject, Rules], Json]

BEHAVIOURS: Mapping[str, Answer] = {
    "confirmation": execution.confirmation,
    "conflict-resolution": tools.conflict_resolution,
    "content-to-parts": execution.content_to_parts,
    "discovery": tools.discovery,
    "env-expansion": configuration.env_expansion,
    "extensions": extensions.extensions,
    "mcp-add": configuration.mcp_add,
    "name-normalisation": tools.name_normalisation,
    "policy": policy.policy,
    "prompt-args": execution.prompt_args,
    "resources": execution.resources,
    "schema-sanitisation": tools.schema_sanitisation,
    "server-filter": configuration.server_filter,
    "settings-validation": configuration.settings_validation,
    "tool-filter": tools.tool_filter,
    "transport": configuration.transport,
}


def answer(request: JsonObject) -> JsonObject:
    """The answer to one request; an unknown behaviour or input is `unsupported`."""
    reply: JsonObject = {"id": request.get("id")}
    behaviour = str(request.get("behaviour"))
    try:
        rules = profiles()[str(request.get("profile"))]
        given: JsonObject = as_parsed(request["input"])
        if behaviour == "oauth":
            return {**reply, "output": authorization.oauth(given, rules, str(request.get("id")))}
        if behaviour in BEHAVIOURS:
            return {**reply, "output": BEHAVIOURS[behaviour](given, rules)}
    # An input of another shape than the vectors have is not supported.
    except (LookupError, ValueError):
        pass
    return {**reply, "unsupported": True}


def serve(lines: Iterable[str], out: TextIO, reply: Callable[[JsonObject], JsonObject] = answer) -> None:
    """Answer every line until there are no more."""
    for line in lines:
        if line.strip():
            out.write(json.dumps(reply(json.loads(line))) + "\n")
            out.flush()
