"""Vectors about policies: settings, policy files and a tool to what becomes of a call of it. Pure."""

from collections.abc import Mapping

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.settings.loading import Layer, load
from gemini_mcp.host.settings.policies import policies
from gemini_mcp.host.tools.names import registered_name
from gemini_mcp.host.tools.registry import OfferedTool, RegisteredTool
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject


def policy(value: JsonObject, rules: Rules) -> Json:
    """`{tool, settings?, files?, mode?, headless?, arguments?}` to the decision, and whether the tool is declared."""
    settings = load([Layer("user", "settings.json", stringify(value.get("settings", {})))], {}, rules)
    files: Mapping[str, str] = value.get("files", {})
    ordered = dict(sorted(files.items(), key=lambda file: file[0].encode()))
    found = policies(settings, ordered, rules, value.get("mode", "default"), not value.get("headless", False))
    if found is None:
        return {"decision": "ask_user", "declared": True}
    given: JsonObject = value["tool"]
    offer = OfferedTool(given["server"], given["name"], annotations=given.get("annotations"))
    tool = RegisteredTool(registered_name(offer.server, offer.name, rules), offer)
    decided = found.policy.judge(tool, value.get("arguments", {}))
    return {"decision": decided.decision, "declared": found.policy.declares(tool)}
