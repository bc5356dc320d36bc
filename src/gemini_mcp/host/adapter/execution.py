"""Vectors about calls: confirmation, content, prompts and resources. Pure.

The recorded inputs leave out what was the same in every recording; the defaults here are those values.
"""

from gemini_mcp.host.prompts import prompts
from gemini_mcp.host.prompts import resources as references
from gemini_mcp.host.rules.javascript import truthy
from gemini_mcp.host.tools import content
from gemini_mcp.host.tools.confirmation import AllowList, Outcome, question
from gemini_mcp.host.tools.names import registered_name
from gemini_mcp.host.tools.registry import OfferedTool, RegisteredTool
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, objects_of, table

CALL_ID = "call-1"
ANSWER: JsonObject = {"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]}
ARGUMENTS: JsonObject = {"p": 1}
DESCRIPTION = "d"
SCHEMA: JsonObject = {"type": "object"}


def confirmation(value: JsonObject, rules: Rules) -> Json:
    """What is asked before a call, or what an answer allows from then on."""
    if "outcome" in value:
        return {"after": _after(value, rules)}
    if "allowTool" in value:
        allowed, asked = value["allowTool"], value["ask"]
        keys = AllowList().after(Outcome.PROCEED_ALWAYS_TOOL.value, allowed["server"], allowed["tool"], rules)
        return {"result": _asked(asked["server"], asked["tool"], keys, rules)}
    tool, is_trusted = _tool(value["server"], value["tool"], rules), truthy(value.get("trust"))
    folder = value.get("trustedFolder", True)
    asked = question(tool, value.get("args", ARGUMENTS), AllowList(), rules, is_trusted, folder)
    return {"confirm": False if asked is None else asked.to_json(rules)}


def _after(value: JsonObject, rules: Rules) -> JsonObject:
    server, tool = value["server"], value["tool"]
    keys = AllowList().after(value["outcome"], server, tool, rules)
    return {
        "sameTool": _asked(server, tool, keys, rules),
        "otherToolSameServer": _asked(server, f"{tool}2", keys, rules),
        "sameToolNameOtherServer": _asked(f"{server}2", tool, keys, rules),
    }


def _asked(server: str, tool: str, allowed: AllowList, rules: Rules) -> str:
    asked = question(_tool(server, tool, rules), ARGUMENTS, allowed, rules)
    return "no-confirmation" if asked is None else "asks-again"


def _tool(server: str, tool: str, rules: Rules) -> RegisteredTool:
    offer = OfferedTool(server, tool, DESCRIPTION, SCHEMA)
    return RegisteredTool(registered_name(server, tool, rules), offer)


def content_to_parts(value: JsonObject, rules: Rules) -> Json:
    """A tool's result to the model's parts and the user's display."""
    rendered = content.render(value["serverTool"], value["args"], value["callToolResult"], rules)
    shown: JsonObject = {"llmContent": rendered.llm_content, "returnDisplay": rendered.display}
    name = value["registeredName"]
    keys: dict[str, bool] = rules.vectors["modelPartsKeys"]
    parts = {key: content.model_parts(name, CALL_ID, rendered, rules, nests) for key, nests in keys.items()}
    return {**shown, **parts}


def prompt_args(value: JsonObject, rules: Rules) -> Json:
    """A command line to a prompt's arguments, or a whole slash command to what it submits."""
    if "prompt" not in value:
        declared = prompts.prompt_of({"arguments": value["promptArguments"]}).arguments
        filled = prompts.fill(value["args"], declared, rules)
        return {"error": filled.content} if isinstance(filled, prompts.Message) else {"arguments": filled}
    prompt = prompts.prompt_of(value["prompt"])
    return {
        "name": prompts.command_name(prompt, rules),
        "description": prompts.command_description(prompt),
        "kind": "mcp-prompt",
        **({"autoExecute": not prompt.arguments} if rules.vectors["showsAutoExecute"] else {}),
        **_invoked(prompt, value, rules),
    }


def _invoked(prompt: prompts.Prompt, value: JsonObject, rules: Rules) -> JsonObject:
    if value.get("subCommand") == "help":
        return {"result": prompts.Message(prompts.help_text(prompt), "info").to_json()}
    filled = prompts.fill(value["args"], prompt.arguments, rules)
    if isinstance(filled, prompts.Message):
        return {"result": filled.to_json()}
    failure = value.get("failure")
    if failure is not None:
        return {"result": prompts.Message(f"Error: {failure}").to_json(), "invokedWith": filled}
    return {"result": prompts.read_answer(value.get("answer", ANSWER), rules).to_json(), "invokedWith": filled}


def resources(value: JsonObject, rules: Rules) -> Json:
    """A prompt with references to the parts of the user's message."""
    listed = [references.Resource(value["server"], item["uri"]) for item in objects_of(value["resources"])]
    wanted = references.references(value["prompt"], listed, rules)
    expanded = references.expand(value["prompt"], [_reading(resource, value["reads"]) for resource in wanted])
    return {
        "parts": None if expanded.parts is None else list(expanded.parts),
        "resourcesRead": [resource.uri for resource in wanted],
        "exit": 0 if expanded.error is None else references.FAILED_EXIT,
    }


def _reading(resource: references.Resource, reads: JsonObject) -> references.Reading:
    result = reads.get(resource.uri)
    if result is None:
        return references.Reading(resource, {}, "MCP error -32002: Resource not found")
    # The SDK refuses such contents before; without it they end the prompt.
    contents = table(result).get("contents")
    is_usable = contents is None or (list_of(contents) is not None and None not in contents)
    return references.Reading(resource, dict(table(result)), None if is_usable else "contents are no list of objects")
