"""Faults a host can have: each changes what the reference answers to one behaviour, and nothing else."""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass

from gemini_mcp.host.adapter import answer
from gemini_mcp.spec.values import Json, list_of, object_of, texts_of

Change = Callable[[Json, Json, str], Json]


@dataclass(frozen=True)
class Fault:
    """A fault: its name, the behaviour it breaks, what is wrong, and how."""

    name: str
    behaviour: str
    sentence: str
    change: Change


FAULTS: dict[str, Fault] = {}


def fault(name: str, behaviour: str, sentence: str) -> Callable[[Change], Change]:
    def register(change: Change) -> Change:
        FAULTS[name] = Fault(name, behaviour, sentence, change)
        return change

    return register


def broken(name: str) -> Callable[[Json], Json]:
    """The reference's answers with the fault in them."""
    chosen = FAULTS[name]

    def reply(request: Json) -> Json:
        whole = answer(copy.deepcopy(request))
        if request["behaviour"] != chosen.behaviour or "output" not in whole:
            return whole
        return {**whole, "output": chosen.change(request["input"], whole["output"], request["profile"])}

    return reply


def _asked(behaviour: str, value: Json, profile: str, name: str = "x") -> Json:
    return answer({"id": name, "behaviour": behaviour, "profile": profile, "input": value})["output"]


@fault("name-not-cut", "name-normalisation", "Long names are not cut.")
def _(value: Json, output: Json, profile: str) -> Json:
    return (
        {**output, "name": re.sub(r"[^\w.-]", "_", value.get("tool", value.get("raw")))} if "tool" in value else output
    )


@fault("name-cut-at-64", "name-normalisation", "A name may have 64 characters.")
def _(value: Json, output: Json, profile: str) -> Json:
    name = re.sub(r"[^a-zA-Z0-9_.-]", "_", value.get("tool", ""))
    return {**output, "name": name, "length": 64} if len(name) == 64 else output


@fault("name-marker-dots", "name-normalisation", "The documented cut uses dots.")
def _(value: Json, output: Json, profile: str) -> Json:
    name = output["name"]
    return {**output, "name": f"{name[:28]}...{name[31:]}"} if profile == "documented" and len(name) == 63 else output


@fault("name-hyphen-replaced", "name-normalisation", "Hyphens are replaced too.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "name": output["name"].replace("-", "_")}


@fault("name-code-points", "name-normalisation", "A replaced character counts once, however many code units it has.")
def _(value: Json, output: Json, profile: str) -> Json:
    text = value.get("tool", "")
    return output if all(ord(c) < 0x10000 for c in text) else {**output, "name": output["name"][:-1]}


@fault("name-lower-case", "name-normalisation", "Names are made lower case.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "name": output["name"].lower()}


@fault("name-no-prefix", "name-normalisation", "Current names lack `mcp_`.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "name": output["name"].removeprefix("mcp_")} if profile == "current" else output


@fault("name-parsed-at-last", "name-normalisation", "A current name is split at its last underscore.")
def _(value: Json, output: Json, profile: str) -> Json:
    server, _, tool = output["name"].removeprefix("mcp_").rpartition("_")
    return {**output, "parsed": {"serverName": server, "toolName": tool}} if "parsed" in output else output


@fault("include-beats-exclude", "tool-filter", "A tool on both lists is used.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"enabled": True} if value["toolName"] in (value.get("includeTools") or []) else output


@fault("include-empty-is-all", "tool-filter", "An empty includeTools means all tools.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"enabled": True} if value.get("includeTools") == [] else output


@fault("filter-ignores-case", "tool-filter", "Names are compared without case.")
def _(value: Json, output: Json, profile: str) -> Json:
    lists = {key: texts_of(names) for key, names in value.items()}
    lowered = {key: [name.lower() for name in names] for key, names in lists.items() if names is not None}
    return _asked("tool-filter", {**lowered, "toolName": (value["toolName"] or "").lower()}, profile)


@fault("filter-globs", "tool-filter", "A star in includeTools matches anything.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"enabled": True} if "*" in str(value.get("includeTools")) else output


@fault("filter-no-call-form", "tool-filter", "`name(…)` includes nothing.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"enabled": value["toolName"] in value["includeTools"]} if value.get("includeTools") else output


@fault("servers-exclude-ignored", "server-filter", "mcp.excluded has no effect.")
def _(value: Json, output: Json, profile: str) -> Json:
    mcp = value["settings"].get("mcp", {})
    kept = {"mcp": {"allowed": mcp["allowed"]}} if "allowed" in mcp else {}
    return _asked("server-filter", {**value, "settings": kept}, profile)


@fault("servers-empty-allow-swapped", "server-filter", "An empty allow-list means what it means in the other profile.")
def _(value: Json, output: Json, profile: str) -> Json:
    is_empty = value["settings"].get("mcp", {}).get("allowed", value["settings"].get("allowMCPServers")) == []
    swapped: Json = {"used": value["servers"] if profile == "documented" else []}
    return {**output, **swapped} if is_empty else output


@fault("servers-sorted", "server-filter", "Servers are used in alphabetical order backwards.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "used": sorted(output["used"], reverse=True)}


@fault("conflict-single-underscore", "conflict-resolution", "The documented prefix has one underscore.")
def _(value: Json, output: Json, profile: str) -> Json:
    names = [name.replace("__", "_", 1) for name in output["declarationOrder"]]
    return {**output, "declarationOrder": names}


@fault("conflict-last-wins", "conflict-resolution", "The last server keeps the unprefixed name.")
def _(value: Json, output: Json, profile: str) -> Json:
    turned = {**value, "servers": dict(reversed(value["servers"].items()))}
    return _asked("conflict-resolution", turned, profile)


@fault("conflict-builtin-overwritten", "conflict-resolution", "A server's tool takes a built-in tool's name.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _asked("conflict-resolution", {**value, "builtin": []}, profile)


@fault("conflict-drops-second", "conflict-resolution", "A second tool of the same name is dropped.")
def _(value: Json, output: Json, profile: str) -> Json:
    kept = [entry for entry in output["registry"] if "__" not in entry["name"]]
    return {**output, "registry": kept}


@fault("schema-keeps-dollar-schema", "schema-sanitisation", "`$schema` stays at the root.")
def _(value: Json, output: Json, profile: str) -> Json:
    schema = object_of(value.get("inputSchema")) or {}
    if profile == "documented" and "$schema" in schema and "parameters" in output:
        return {"parameters": {**output["parameters"], "$schema": schema["$schema"]}}
    return output


@fault("schema-flat", "schema-sanitisation", "Only the root is sanitised.")
def _(value: Json, output: Json, profile: str) -> Json:
    if profile != "documented" or "parameters" not in output:
        return output
    root = {k: v for k, v in value["inputSchema"].items() if k not in ("$schema", "additionalProperties")}
    return {"parameters": root}


def _without(value: Json, names: tuple[str, ...]) -> Json:
    members, items = object_of(value), list_of(value)
    if members is not None:
        return {key: _without(member, names) for key, member in members.items() if key not in names}
    return value if items is None else [_without(item, names) for item in items]


@fault("schema-blind", "schema-sanitisation", "The keywords are removed wherever they stand, names and values too.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _without(output, ("$schema", "additionalProperties")) if profile == "documented" else output


@fault("schema-all-defaults", "schema-sanitisation", "Every default is removed.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _without(output, ("default",))


@fault("schema-upper-types", "schema-sanitisation", "Types are made upper case.")
def _(value: Json, output: Json, profile: str) -> Json:
    if "parameters" in output:
        return {"parameters": {**output["parameters"], "type": "OBJECT"}}
    return output


@fault("schema-no-wait", "schema-sanitisation", "Current declarations lack `wait_for_previous`.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _without(output, ("wait_for_previous",))


@fault("schema-nullable-kept", "schema-sanitisation", "Two-element types stay as they are in the current profile.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _without(output, ("nullable",))


@fault("schema-bad-root-accepted", "schema-sanitisation", "A tool without an object schema is registered.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"parameters": {"type": "object"}} if output.get("registered") is False else output


@fault("expansion-unset-empty", "env-expansion", "A documented variable that is not set becomes empty.")
def _(value: Json, output: Json, profile: str) -> Json:
    text = output.get("value")
    return {"value": re.sub(r"\$\{?NOPE\}?", "", text)} if isinstance(text, str) else output


@fault("expansion-no-braces", "env-expansion", "`${NAME}` is not understood.")
def _(value: Json, output: Json, profile: str) -> Json:
    key = next((key for key in ("value", "arg") if key in value), None)
    return {key: value[key]} if key and "${" in value[key] else output


@fault("expansion-env-only", "env-expansion", "Only `env` is expanded, `args` are not.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"arg": value["arg"]} if "arg" in value else output


@fault("environment-leaks", "env-expansion", "Current servers see the host's secrets.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"visibleInServer": True} if "hostVariable" in value else output


@fault("environment-preload", "env-expansion", "A current server's `env` may set LD_PRELOAD and its like.")
def _(value: Json, output: Json, profile: str) -> Json:
    return dict(value["env"]) if "host" in value else output


@fault("transport-url-first", "transport", "`url` wins over `httpUrl`.")
def _(value: Json, output: Json, profile: str) -> Json:
    config = dict(value.get("config", {}))
    if config.get("url") and config.get("httpUrl"):
        config.pop("httpUrl")
        return _asked("transport", {**value, "config": config}, profile)
    return output


@fault("transport-url-http", "transport", "A documented `url` is reached by streamable HTTP.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "transport": "StreamableHTTPClientTransport"} if "url" in output else output


@fault("transport-no-headers", "transport", "`headers` are not sent.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {key: inner for key, inner in output.items() if key != "headers"}


@fault("server-command-naive", "transport", "mcp.serverCommand is split at spaces.")
def _(value: Json, output: Json, profile: str) -> Json:
    if "serverCommand" not in value:
        return output
    first, *rest = value["serverCommand"].split()
    return {"mcpServers": {"mcp": {"command": first, "args": rest}}}


@fault("discovery-first-page", "discovery", "The documented profile reads the first page of tools only.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "tools": output["tools"][:1]} if "tools" in output else output


@fault("discovery-empty-stays", "discovery", "A documented server with nothing usable stays connected.")
def _(value: Json, output: Json, profile: str) -> Json:
    if output.get("finalStatus") == "disconnected":
        return {**output, "finalStatus": "connected", "statusEvents": ["connecting", "connected"]}
    return output


@fault("discovery-never-completes", "discovery", "A failed server leaves discovery in progress.")
def _(value: Json, output: Json, profile: str) -> Json:
    if output.get("messages"):
        return {**output, "discoveryState": output["discoveryState"][:2]}
    return output


@fault("confirmation-trust-ignored", "confirmation", "Trusted servers are confirmed too.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _asked("confirmation", {**value, "trust": False}, profile) if "trust" in value else output


@fault("confirmation-once-is-always", "confirmation", "Proceeding once is remembered.")
def _(value: Json, output: Json, profile: str) -> Json:
    if value.get("outcome") == "proceed_once":
        return _asked("confirmation", {**value, "outcome": "proceed_always_tool"}, profile)
    return output


@fault("confirmation-tool-is-server", "confirmation", "Allowing a tool allows its whole server.")
def _(value: Json, output: Json, profile: str) -> Json:
    if value.get("outcome") == "proceed_always_tool":
        return _asked("confirmation", {**value, "outcome": "proceed_always_server"}, profile)
    return output


@fault("content-not-joined", "content-to-parts", "Several texts are sent as parts of their own.")
def _(value: Json, output: Json, profile: str) -> Json:
    if profile == "documented" and isinstance(output["modelParts"], list):
        return {**output, "modelParts": [output["modelParts"][0], *output["llmContent"]]}
    return output


@fault("content-drops-images", "content-to-parts", "Images do not reach the model.")
def _(value: Json, output: Json, profile: str) -> Json:
    parts = list_of(output.get("modelParts"))
    return output if parts is None else {**output, "modelParts": parts[:1]}


@fault("content-unguarded", "content-to-parts", "Current text is not wrapped.")
def _(value: Json, output: Json, profile: str) -> Json:
    text = str(output).replace("<untrusted_context>", "")
    return {**output, "llmContent": text} if profile == "current" else output


@fault("prompt-no-quotes", "prompt-args", "Quotes around positional words are not understood.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _asked("prompt-args", {**value, "args": value["args"].replace('"', "'")}, profile)


@fault("prompt-required-only", "prompt-args", "Documented words never fill optional arguments.")
def _(value: Json, output: Json, profile: str) -> Json:
    optional = {a["name"] for a in value.get("promptArguments", []) if not a.get("required")}
    named = set(re.findall(r"--([^=]+)=", value["args"]))
    if "arguments" in output:
        kept = {k: v for k, v in output["arguments"].items() if k not in optional or k in named}
        return {"arguments": kept}
    return output


@fault("prompt-missing-ignored", "prompt-args", "Missing required arguments are no error.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"arguments": {}} if "error" in output else output


@fault("prompt-text-quoted", "prompt-args", "Documented prompt text is sent as a JSON string.")
def _(value: Json, output: Json, profile: str) -> Json:
    result = output.get("result", {})
    if result.get("type") == "submit_prompt" and profile == "documented":
        return {**output, "result": {**result, "content": f'"{result["content"]}"'}}
    return output


@fault("resource-last-colon", "resources", "A reference is split at its last colon.")
def _(value: Json, output: Json, profile: str) -> Json:
    return (
        {**output, "parts": [{"text": value["prompt"]}], "resourcesRead": []}
        if value["prompt"].count(":") > 1
        else output
    )


@fault("resource-no-footer", "resources", "The injected part has no footer.")
def _(value: Json, output: Json, profile: str) -> Json:
    parts = output["parts"]
    return {**output, "parts": parts[:-1]} if parts and len(parts) > 1 else output


@fault("resource-failure-ignored", "resources", "A resource that cannot be read is passed over.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "parts": [{"text": value["prompt"]}], "exit": 0} if output["parts"] is None else output


@fault("add-splits-equals", "mcp-add", "`-e A=x=y` keeps `x` in the documented profile.")
def _(value: Json, output: Json, profile: str) -> Json:
    if profile != "documented":
        return output
    cut = [[re.sub(r"^(\w+=[^=]*)=.*", r"\1", word) for word in command] for command in value["commands"]]
    return {**_asked("mcp-add", {**value, "commands": cut}, profile), "steps": output.get("steps")}


@fault("add-forgets-others", "mcp-add", "Adding a server drops what else is in the file.")
def _(value: Json, output: Json, profile: str) -> Json:
    return _asked("mcp-add", {**value, "files": {}}, profile) if value.get("files") else output


@fault("add-default-user", "mcp-add", "The scope is `user` unless it is given.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "projectSettings": output["userSettings"], "userSettings": output["projectSettings"]}


@fault("settings-first-wins", "settings-validation", "One bad server loses all the others.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "servers": []} if output.get("problems") else output


@fault("settings-silent", "settings-validation", "Nothing is ever said of a settings file.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {**output, "stderr": ""} if "stderr" in output else {**output, "problems": []}


@fault("oauth-no-pkce", "oauth", "The authorization URL has no challenge.")
def _(value: Json, output: Json, profile: str) -> Json:
    return {"url": re.sub(r"&code_challenge[^&]*", "", output["url"])} if "pkce" in value else output


@fault("oauth-no-buffer", "oauth", "A token is good until its very end.")
def _(value: Json, output: Json, profile: str) -> Json:
    return value["expiresInMs"] is not None and value["expiresInMs"] <= 0 if "expiresInMs" in value else output


@fault("oauth-rejected-kept", "oauth", "A rejected token stays stored.")
def _(value: Json, output: Json, profile: str) -> Json:
    members = object_of(output) or {}
    return {**members, "tokenStillStored": True} if "tokenStillStored" in members else output


@fault("oauth-open-file", "oauth", "The token file can be read by everybody.")
def _(value: Json, output: Json, profile: str) -> Json:
    members = object_of(output) or {}
    return {**members, "mode": "644"} if "mode" in members else output
