"""Vectors about configuration: settings, expansion, transports, server lists and `gemini mcp`. Pure."""

import json
from collections.abc import Mapping

from gemini_mcp.host.command import mcp_commands as commands
from gemini_mcp.host.oauth import impersonation
from gemini_mcp.host.rules.javascript import as_parsed, cut_units, in_key_order, length, stringify, truthy
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers.environment import UnusableConfig, server_environment
from gemini_mcp.host.servers.transport import Remote, Sse, Stdio, choose
from gemini_mcp.host.settings import server_command
from gemini_mcp.host.settings.expansion import expand
from gemini_mcp.host.settings.loading import Layer, load
from gemini_mcp.host.tools.filters import ServerLists, names_of, select_servers
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, table, texts_of

SETTINGS_FILE = "<ROOT>/proj/.gemini/settings.json"
FILES = {"user": "<ROOT>/home/.gemini/settings.json", "project": SETTINGS_FILE}
ENVIRONMENT = {"HOME": "<ROOT>/home"}
"""What of the environment the vectors let show."""

OLDER = {"allowed": "allow", "excluded": "exclude"}
"""How the names in the settings of 0.1.19 begin that stand for those in `mcp`."""

EXCERPT = 700
"""How much of a longer text the vectors quote."""


def env_expansion(value: JsonObject, rules: Rules) -> Json:
    """A value of `env` or `args` expanded, or what of the host's environment a server sees."""
    try:
        return _expanded(value, rules)
    except UnusableConfig as error:
        return {"error": str(error)}


def _expanded(value: JsonObject, rules: Rules) -> Json:
    if "hostVariable" in value:
        name = value["hostVariable"]
        return {"visibleInServer": name in server_environment({}, {name: value["hostValue"]}, rules)}
    if "arg" in value:
        return {"arg": expand(value["arg"], value["environment"], rules)}
    if "value" in value:
        return {"value": _given({"value": value["value"]}, value["environment"], rules)["value"]}
    if "host" in value:
        given = _given(value["env"], value["host"], rules)
        return {name: given.get(name) for name in value["env"]}
    return {"GEMINI_CLI": server_environment({}, {}, rules).get("GEMINI_CLI")}


def _given(env: Mapping[str, str], host: Mapping[str, str], rules: Rules) -> Mapping[str, str]:
    """What a server gets whose settings have this `env`."""
    return server_environment({name: expand(text, host, rules) for name, text in env.items()}, host, rules)


def transport(value: JsonObject, rules: Rules) -> Json:
    """`{config}` to its transport, `{serverCommand}` to the server it configures."""
    environment: Mapping[str, str] = value["environment"]
    if value.get("serverCommand") == "":
        return {"mcpServers": {}}
    if "serverCommand" in value:
        try:
            config = server_command.server_config(value["serverCommand"], environment)
        except server_command.UnusableCommand as error:
            return {"mcpServers": {"error": str(error)}}
        return {"mcpServers": {server_command.SERVER_NAME: config}}
    try:
        chosen = choose(value["config"], environment, rules, has_google=False)
    except (UnusableConfig, InvalidUrl) as error:
        return {"error": str(error)}
    if isinstance(chosen, Stdio):
        shown = {"command": chosen.command, "args": chosen.args, "cwd": chosen.cwd, "stderr": "pipe"}
        return {"transport": "StdioClientTransport", **shown}
    shown = _shown(chosen, rules, value["config"].get("headers"))
    return {**shown, **_impersonated(value["config"], value["iam"])} if "iam" in value else shown


def _impersonated(config: JsonObject, answer: Json) -> JsonObject:
    """What IAM is asked, and the token that comes of its answer; no answer is a refusal."""
    path, body = impersonation.token_request(config)
    token = impersonation.token_of(answer)
    tokens = {"access_token": token, "token_type": "Bearer"} if token else None
    return {"tokenRequest": {"url": impersonation.IAM + path, "method": "POST", "data": body}, "tokens": tokens}


def _shown(chosen: Remote, rules: Rules, given: Json) -> JsonObject:
    kind = "SSEClientTransport" if isinstance(chosen, Sse) else "StreamableHTTPClientTransport"
    shown: JsonObject = {"transport": kind, "url": chosen.url}
    if rules.vectors["showsEmptyHeaders"]:
        shown["headers"] = chosen.headers
    elif truthy(given) and not chosen.auth_provider:
        # A profile without rules for the environment hands on what the settings say, whatever it is.
        shown["headers"] = given
    if chosen.auth_provider:
        shown["authProvider"] = chosen.auth_provider
    return shown


def server_filter(value: JsonObject, rules: Rules) -> Json:
    """`{servers, settings}` to the servers used and those shown as blocked."""
    settings: JsonObject = value["settings"]
    # The names of 0.1.19, which 0.61 does not read.
    older = {} if rules.unites_lists else {key: settings.get(f"{verb}MCPServers") for key, verb in OLDER.items()}
    mcp = {**older, **table(settings.get("mcp"))}
    lists = ServerLists(
        names_of(mcp.get("allowed")),
        names_of(mcp.get("excluded")),
        texts_of(value.get("flag_allowed_mcp_server_names")),
    )
    chosen = select_servers(in_key_order(dict.fromkeys(value["servers"])), lists, rules)
    return {"used": list(chosen.used), rules.vectors["blockedKey"]: list(chosen.blocked)}


def settings_validation(value: JsonObject, rules: Rules) -> Json:
    """`{settings}`, a value or a text, to what is used and what is said of it."""
    given = value["settings"]
    text = given if isinstance(given, str) else stringify(given, 2)
    if rules.faulty_settings == "warn":
        return _warned(text, rules)
    loaded = load([Layer("project", SETTINGS_FILE, text)], {}, rules)
    problems = [{"path": list(problem.path), "isFatal": problem.is_fatal} for problem in loaded.problems]
    return {"servers": [server.name for server in loaded.servers], "problems": problems}


def _warned(text: str, rules: Rules) -> JsonObject:
    ran = commands.run(["list"], {"project": text}, rules, files={"project": SETTINGS_FILE}, environment=ENVIRONMENT)
    return {"exit": ran.exit, "stdout": "", "stderr": ran.warned + ran.said}


def mcp_add(value: JsonObject, rules: Rules) -> Json:
    """`{commands, files?, connected?}` to what each printed, and the settings they leave."""
    texts: dict[str, str] = dict(value.get("files", {}))
    connected = dict.fromkeys(value.get("connected", ()), "connected")
    steps: list[JsonObject] = []
    for command in value["commands"]:
        ran = commands.run(command[2:], texts, rules, connected, FILES, ENVIRONMENT)
        texts.update(ran.texts)
        steps.append({"argv": command[2:], "exit": ran.exit, **_streams(ran, rules)})
    if value.get("as") == "text":
        return {"projectSettings": texts.get("project"), "userSettings": texts.get("user")}
    project, user = (_read(texts.get(scope)) for scope in ("project", "user"))
    return {"steps": steps, "projectSettings": project, "userSettings": user}


def _read(text: str | None) -> Json:
    """The settings that a text holds; of one that is no JSON, as with comments, the text itself."""
    try:
        return as_parsed(json.loads(text)) if text else text
    except ValueError:
        return text


def _streams(ran: commands.Ran, rules: Rules) -> JsonObject:
    is_on_stderr = ran.is_complaint or (rules.output == "stderr" and not ran.is_help)
    out, err = ("", ran.warned + ran.said) if is_on_stderr else (ran.said, ran.warned)
    return {"stdout": _excerpt(out), "stderr": _excerpt(err)}


def _excerpt(text: str) -> str:
    return text if length(text) <= EXCERPT else cut_units(text, 0, EXCERPT) + "..."
