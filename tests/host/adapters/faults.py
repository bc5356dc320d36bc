"""Faults a host can have: each changes what the reference answers to one behaviour, and nothing else.

A new fault is an entry of `TABLE`: a sentence that says what is wrong, and the wrong answer as a function of the input
`i`, the right answer `o` and the profile `p`.
"""

import copy
import re
from collections.abc import Callable, Mapping

from gemini_mcp.host.adapter import answer
from gemini_mcp.spec.values import Json, items, list_of, object_of, table, texts_of

Change = Callable[[Json, Json, str], Json]


def broken(fault: str) -> Callable[[Json], Json]:
    """The reference's answers with the fault in them."""
    behaviour = FAULTS[fault]

    def reply(request: Json) -> Json:
        whole = answer(copy.deepcopy(request))
        if request["behaviour"] != behaviour or "output" not in whole:
            return whole
        wrong = TABLE[behaviour][fault](request["input"], whole["output"], request["profile"])
        return {**whole, "output": wrong}

    return reply


def _answered(behaviour: str, given: Json, profile: str) -> Json:
    """What the reference answers to another input."""
    return answer({"id": "x", "behaviour": behaviour, "profile": profile, "input": given})["output"]


def _without(value: Json, *names: str) -> Json:
    """The value without the members of these names, at any depth."""
    members, entries = object_of(value), list_of(value)
    if members is not None:
        return {key: _without(member, *names) for key, member in members.items() if key not in names}
    return value if entries is None else [_without(entry, *names) for entry in entries]


def _cut_at_64(given: Json, output: Json, profile: str) -> Json:
    name = re.sub(r"[^a-zA-Z0-9_.-]", "_", given.get("tool", ""))
    return {**output, "name": name, "length": 64} if len(name) == 64 else output


def _parsed_at_last(given: Json, output: Json, profile: str) -> Json:
    server, _, tool = output["name"].removeprefix("mcp_").rpartition("_")
    return {**output, "parsed": {"serverName": server, "toolName": tool}} if "parsed" in output else output


def _without_case(given: Json, output: Json, profile: str) -> Json:
    lists = {key: texts_of(names) for key, names in given.items()}
    lowered = {key: [name.lower() for name in names] for key, names in lists.items() if names is not None}
    return _answered("tool-filter", {**lowered, "toolName": (given["toolName"] or "").lower()}, profile)


def _nothing_excluded(given: Json, output: Json, profile: str) -> Json:
    mcp = table(given["settings"].get("mcp"))
    kept = {"mcp": {"allowed": mcp["allowed"]}} if "allowed" in mcp else {}
    return _answered("server-filter", {**given, "settings": kept}, profile)


def _empty_list_swapped(given: Json, output: Json, profile: str) -> Json:
    settings = given["settings"]
    is_empty = table(settings.get("mcp")).get("allowed", settings.get("allowMCPServers")) == []
    return {**output, "used": given["servers"] if profile == "documented" else []} if is_empty else output


def _dollar_schema_kept(given: Json, output: Json, profile: str) -> Json:
    schema = table(given.get("inputSchema"))
    if profile != "documented" or "$schema" not in schema or "parameters" not in output:
        return output
    return {"parameters": {**output["parameters"], "$schema": schema["$schema"]}}


def _root_only(given: Json, output: Json, profile: str) -> Json:
    if profile != "documented" or "parameters" not in output:
        return output
    return {
        "parameters": {k: v for k, v in given["inputSchema"].items() if k not in ("$schema", "additionalProperties")}
    }


def _braces_unknown(given: Json, output: Json, profile: str) -> Json:
    key = next((key for key in ("value", "arg") if key in given), "")
    return {key: given[key]} if "${" in given.get(key, "") else output


def _url_first(given: Json, output: Json, profile: str) -> Json:
    config = table(given.get("config"))
    if not (config.get("url") and config.get("httpUrl")):
        return output
    rest = {key: value for key, value in config.items() if key != "httpUrl"}
    return _answered("transport", {**given, "config": rest}, profile)


def _split_at_spaces(given: Json, output: Json, profile: str) -> Json:
    first, *rest = given.get("serverCommand", "-").split()
    return {"mcpServers": {"mcp": {"command": first, "args": rest}}} if "serverCommand" in given else output


def _remembered_as(once: str, always: str) -> Change:
    """The answer `once` is taken for the answer `always`."""
    return lambda given, output, profile: (
        _answered("confirmation", {**given, "outcome": always}, profile) if given.get("outcome") == once else output
    )


def _texts_apart(given: Json, output: Json, profile: str) -> Json:
    is_split = profile == "documented" and isinstance(output["modelParts"], list)
    return {**output, "modelParts": [output["modelParts"][0], *output["llmContent"]]} if is_split else output


def _optional_unfilled(given: Json, output: Json, profile: str) -> Json:
    optional = {argument["name"] for argument in given.get("promptArguments", []) if not argument.get("required")}
    dropped = optional - set(re.findall(r"--([^=]+)=", given["args"]))
    return {"arguments": _without(output["arguments"], *dropped)} if "arguments" in output else output


def _text_quoted(given: Json, output: Json, profile: str) -> Json:
    result = output.get("result", {})
    is_submitted = result.get("type") == "submit_prompt" and profile == "documented"
    return {**output, "result": {**result, "content": f'"{result["content"]}"'}} if is_submitted else output


def _value_cut(given: Json, output: Json, profile: str) -> Json:
    if profile != "documented":
        return output
    cut = [[re.sub(r"^(\w+=[^=]*)=.*", r"\1", word) for word in command] for command in given["commands"]]
    return {**_answered("mcp-add", {**given, "commands": cut}, profile), "steps": output.get("steps")}


TABLE: Mapping[str, Mapping[str, Change]] = {
    "name-normalisation": {
        "Long names are not cut.": lambda i, o, p: (
            {**o, "name": re.sub(r"[^\w.-]", "_", i["tool"])} if "tool" in i else o
        ),
        "A name may have 64 characters.": _cut_at_64,
        "The documented cut uses dots.": lambda i, o, p: (
            {**o, "name": f"{o['name'][:28]}...{o['name'][31:]}"} if p == "documented" and len(o["name"]) == 63 else o
        ),
        "Hyphens are replaced too.": lambda i, o, p: {**o, "name": o["name"].replace("-", "_")},
        "A replaced character counts once, however many code units it has.": lambda i, o, p: (
            {**o, "name": o["name"][:-1]} if max(i.get("tool", ""), default="") > "\uffff" else o
        ),
        "Names are made lower case.": lambda i, o, p: {**o, "name": o["name"].lower()},
        "Current names lack `mcp_`.": lambda i, o, p: (
            {**o, "name": o["name"].removeprefix("mcp_")} if p == "current" else o
        ),
        "A current name is split at its last underscore.": _parsed_at_last,
    },
    "tool-filter": {
        "A tool on both lists is used.": lambda i, o, p: (
            {"enabled": True} if i["toolName"] in items(i.get("includeTools")) else o
        ),
        "An empty includeTools means all tools.": lambda i, o, p: (
            {"enabled": True} if i.get("includeTools") == [] else o
        ),
        "Names are compared without case.": _without_case,
        "A star in includeTools matches anything.": lambda i, o, p: (
            {"enabled": True} if "*" in str(i.get("includeTools")) else o
        ),
        "`name(…)` includes nothing.": lambda i, o, p: (
            {"enabled": i["toolName"] in i["includeTools"]} if i.get("includeTools") else o
        ),
    },
    "server-filter": {
        "mcp.excluded has no effect.": _nothing_excluded,
        "An empty allow-list means what it means in the other profile.": _empty_list_swapped,
        "Servers are used in alphabetical order backwards.": lambda i, o, p: (
            {**o, "used": sorted(o["used"], reverse=True)}
        ),
    },
    "conflict-resolution": {
        "The documented prefix has one underscore.": lambda i, o, p: (
            {**o, "declarationOrder": [name.replace("__", "_", 1) for name in o["declarationOrder"]]}
        ),
        "The last server keeps the unprefixed name.": lambda i, o, p: _answered(
            "conflict-resolution", {**i, "servers": dict(reversed(i["servers"].items()))}, p
        ),
        "A server's tool takes a built-in tool's name.": lambda i, o, p: _answered(
            "conflict-resolution", {**i, "builtin": []}, p
        ),
        "A second tool of the same name is dropped.": lambda i, o, p: (
            {**o, "registry": [entry for entry in o["registry"] if "__" not in entry["name"]]}
        ),
    },
    "schema-sanitisation": {
        "`$schema` stays at the root.": _dollar_schema_kept,
        "Only the root is sanitised.": _root_only,
        "The keywords are removed wherever they stand, names and values too.": lambda i, o, p: (
            _without(o, "$schema", "additionalProperties") if p == "documented" else o
        ),
        "Every default is removed.": lambda i, o, p: _without(o, "default"),
        "Types are made upper case.": lambda i, o, p: (
            {"parameters": {**o["parameters"], "type": "OBJECT"}} if "parameters" in o else o
        ),
        "Current declarations lack `wait_for_previous`.": lambda i, o, p: _without(o, "wait_for_previous"),
        "Two-element types stay as they are in the current profile.": lambda i, o, p: _without(o, "nullable"),
        "A tool without an object schema is registered.": lambda i, o, p: (
            {"parameters": {"type": "object"}} if o.get("registered") is False else o
        ),
    },
    "env-expansion": {
        "A documented variable that is not set becomes empty.": lambda i, o, p: (
            {"value": re.sub(r"\$\{?NOPE\}?", "", o["value"])} if isinstance(o.get("value"), str) else o
        ),
        "`${NAME}` is not understood.": _braces_unknown,
        "Only `env` is expanded, `args` are not.": lambda i, o, p: {"arg": i["arg"]} if "arg" in i else o,
        "Current servers see the host's secrets.": lambda i, o, p: (
            {"visibleInServer": True} if "hostVariable" in i else o
        ),
        "A current server's `env` may set LD_PRELOAD and its like.": lambda i, o, p: i["env"] if "host" in i else o,
    },
    "transport": {
        "`url` wins over `httpUrl`.": _url_first,
        "A documented `url` is reached by streamable HTTP.": lambda i, o, p: (
            {**o, "transport": "StreamableHTTPClientTransport"} if "url" in o else o
        ),
        "`headers` are not sent.": lambda i, o, p: {key: value for key, value in o.items() if key != "headers"},
        "mcp.serverCommand is split at spaces.": _split_at_spaces,
    },
    "discovery": {
        "The documented profile reads the first page of tools only.": lambda i, o, p: (
            {**o, "tools": o["tools"][:1]} if "tools" in o else o
        ),
        "A documented server with nothing usable stays connected.": lambda i, o, p: (
            {**o, "finalStatus": "connected", "statusEvents": ["connecting", "connected"]}
            if o.get("finalStatus") == "disconnected"
            else o
        ),
        "A failed server leaves discovery in progress.": lambda i, o, p: (
            {**o, "discoveryState": o["discoveryState"][:2]} if o.get("messages") else o
        ),
    },
    "confirmation": {
        "Trusted servers are confirmed too.": lambda i, o, p: (
            _answered("confirmation", {**i, "trust": False}, p) if "trust" in i else o
        ),
        "Proceeding once is remembered.": _remembered_as("proceed_once", "proceed_always_tool"),
        "Allowing a tool allows its whole server.": _remembered_as("proceed_always_tool", "proceed_always_server"),
    },
    "content-to-parts": {
        "Several texts are sent as parts of their own.": _texts_apart,
        "Images do not reach the model.": lambda i, o, p: (
            {**o, "modelParts": o["modelParts"][:1]} if isinstance(o.get("modelParts"), list) else o
        ),
        "Current text is not wrapped.": lambda i, o, p: (
            {**o, "llmContent": str(o).replace("<untrusted_context>", "")} if p == "current" else o
        ),
    },
    "prompt-args": {
        "Quotes around positional words are not understood.": lambda i, o, p: _answered(
            "prompt-args", {**i, "args": i["args"].replace('"', "'")}, p
        ),
        "Documented words never fill optional arguments.": _optional_unfilled,
        "Missing required arguments are no error.": lambda i, o, p: {"arguments": {}} if "error" in o else o,
        "Documented prompt text is sent as a JSON string.": _text_quoted,
    },
    "resources": {
        "A reference is split at its last colon.": lambda i, o, p: (
            {**o, "parts": [{"text": i["prompt"]}], "resourcesRead": []} if i["prompt"].count(":") > 1 else o
        ),
        "The injected part has no footer.": lambda i, o, p: (
            {**o, "parts": o["parts"][:-1]} if len(items(o["parts"])) > 1 else o
        ),
        "A resource that cannot be read is passed over.": lambda i, o, p: (
            {**o, "parts": [{"text": i["prompt"]}], "exit": 0} if o["parts"] is None else o
        ),
    },
    "mcp-add": {
        "`-e A=x=y` keeps `x` in the documented profile.": _value_cut,
        "Adding a server drops what else is in the file.": lambda i, o, p: (
            _answered("mcp-add", {**i, "files": {}}, p) if i.get("files") else o
        ),
        "The scope is `user` unless it is given.": lambda i, o, p: (
            {**o, "projectSettings": o["userSettings"], "userSettings": o["projectSettings"]}
        ),
    },
    "settings-validation": {
        "One bad server loses all the others.": lambda i, o, p: {**o, "servers": []} if o.get("problems") else o,
        "Nothing is ever said of a settings file.": lambda i, o, p: (
            {**o, "stderr": ""} if "stderr" in o else {**o, "problems": []}
        ),
    },
    "oauth": {
        "The authorization URL has no challenge.": lambda i, o, p: (
            {"url": re.sub(r"&code_challenge[^&]*", "", o["url"])} if "pkce" in i else o
        ),
        "Anybody is asked for metadata.": lambda i, o, p: (
            {**o, "config": None} if "OAuthSecurityError" in str(table(o).get("config")) else o
        ),
        "A token is good until its very end.": lambda i, o, p: (
            i["expiresInMs"] is not None and i["expiresInMs"] <= 0 if "expiresInMs" in i else o
        ),
        "A rejected token stays stored.": lambda i, o, p: (
            {**o, "tokenStillStored": True} if "tokenStillStored" in table(o) else o
        ),
        "The token file can be read by everybody.": lambda i, o, p: {**o, "mode": "644"} if "mode" in table(o) else o,
    },
}
FAULTS = {fault: behaviour for behaviour, changes in TABLE.items() for fault in changes}
"""The behaviour that each fault breaks."""
