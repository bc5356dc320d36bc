"""Made-up configurations such as people write, with one thing out of place now and then. Pure."""

import json
from random import Random

from declared import odd

from gemini_mcp.spec.values import Json, JsonObject

_URLS = (
    *("http://127.0.0.1:9/mcp", "https://h.invalid/sse", "http://h.invalid:8080", "HTTPS://H.Invalid/A B", "", " "),
    *("localhost:3000", "ws://h.invalid/", "//h", "http://", "https://user:pw@h.invalid/x", "http://h.invalid/$V/é"),
    *("https://bücher.invalid/", "http://[::1]:9/", "http://1.2.3/", "https://x.googleapis.com/a", "http://h:99999/"),
)
_TEXTS = (
    *("x", "", "$V", "${V}", "${V:-d}", "${NOPE:-d e}", "${NOPE-d}", "a$V.b", "$$V", "\\$V", "${V", "$", "${}", "$1"),
    *("${NOPE:+x}", "${V:=x}", "%V%", "Bearer $TOKEN", "$TOKEN$V", "${ V }", "$V_X", "$Vé", "${NOPE:-$V}", "é", "$v"),
    *("${NOPE:-${V}}", "$NOPE", "a\nb", "~/x", "{V}", "$(V)", "`V`", "${V}${NOPE}", "${NOPE:-}", "${NOPE:-a}b}"),
)
_VARIABLES = {"V": "val", "TOKEN": "t $V", "HOME": "/home/u", "CYCLE": "c", "EMPTY": "", "X_Y": "1", "v": "small"}
_NAMES = ("s", "a.b", "my server", "é", "1", "S", "s ", "ext:s", "s-1", "mcp", "toString")


def _headers(chance: Random) -> Json:
    names = ("Authorization", "X-A", "x-a", "Content-Type", "Accept", "X-Goog-User-Project", "é", "A B", "", "Cookie")
    return odd(chance, {name: chance.choice(_TEXTS) for name in chance.sample(names, chance.randrange(1, 4))}, 0.1)


def _oauth(chance: Random) -> Json:
    made: JsonObject = {"enabled": chance.random() < 0.5, "clientId": "c", "clientSecret": "s", "scopes": ["a", "b"]}
    made |= {"authorizationUrl": "https://a/", "tokenUrl": "https://t/", "redirectUri": "http://localhost:7777/x"}
    made |= {"audiences": ["u"], "tokenParamName": "t", "registrationUrl": "https://r/", "issuer": "https://i/"}
    return odd(chance, {key: made[key] for key in chance.sample(sorted(made), chance.randrange(1, 5))}, 0.15)


def config(chance: Random) -> JsonObject:
    """The configuration of one server."""
    made: JsonObject = {
        "command": chance.choice(("no-such", "node", "./x", "", "$V", "a b", "~/x")),
        "args": [chance.choice(_TEXTS) for _ in range(chance.randrange(4))],
        "env": {name: chance.choice(_TEXTS) for name in chance.sample(("A", "B_KEY", "PATH", "é", ""), 2)},
        "cwd": chance.choice(("/", "/nowhere", ".", "", "$HOME")),
        "url": chance.choice(_URLS),
        "httpUrl": chance.choice(_URLS),
        "tcp": "ws://h",
        "type": chance.choice(("stdio", "sse", "http", "HTTP", "streamable-http", "")),
        "headers": _headers(chance),
        "timeout": chance.choice((5000, 0, -1, "5000", 1.5)),
        "trust": chance.choice((True, False, "true", "false", "TRUE", "yes", 1)),
        "description": "d",
        "includeTools": ["a", "b(x)"],
        "excludeTools": [],
        "authProviderType": chance.choice(
            ("dynamic_discovery", "google_credentials", "service_account_impersonation", "x")
        ),
        "targetAudience": chance.choice(("aud", "")),
        "targetServiceAccount": chance.choice(("a@b.iam.gserviceaccount.com", "é/x")),
        "oauth": _oauth(chance),
        "extension": {"name": "e"},
        "frob": 1,
    }
    ways = chance.choices(("command", "url", "httpUrl"), k=chance.choice((0, 1, 1, 1, 1, 2, 3)))
    others = chance.sample(sorted(set(made) - {"command", "url", "httpUrl"}), chance.randrange(4))
    return {key: made[key] for key in (*dict.fromkeys(ways), *others)}


def transports(chance: Random) -> JsonObject:
    """A configuration, and variables."""
    made = {key: odd(chance, value, 0.05) for key, value in config(chance).items()}
    return {"config": made, "environment": _VARIABLES}


def variables(chance: Random) -> JsonObject:
    """A value with variables in it, or the variables of a server."""
    text = "".join(chance.choices(_TEXTS, k=chance.randrange(1, 4)))
    names = ("GITHUB_TOKEN", "MY_API_KEY", "PATH", "LANG", "LC_ALL", "NODE_OPTIONS", "GEMINI_CLI_X", "X_SECRET", "é")
    values = ("ghp_" + "a" * 36, "plain", "AIza" + "b" * 35, "-----BEGIN RSA PRIVATE KEY-----", "eyJhbGciOi.x.y", "")
    values = (*values, "postgres://u:p@h/d", "sk-" + "c" * 40, "xoxb-1-2-abc", "AKIA" + "D" * 16, "Bearer abc")
    host = {**_VARIABLES, chance.choice(names): chance.choice(values)}
    name = chance.choice((*names, "DB_URL", "CERT", "AUTHOR", "api_key"))
    return chance.choice(
        (
            {"value": text, "environment": _VARIABLES},
            {"arg": text, "environment": _VARIABLES},
            {"hostVariable": name, "hostValue": chance.choice(values)},
            {"host": host, "env": {"A": text, "PATH": "$PATH:x", "é": "$V"}},
        )
    )


def settings(chance: Random) -> JsonObject:
    """A settings file: servers, lists and other sections, as a value or as somebody wrote it."""
    servers = {name: config(chance) for name in chance.sample(_NAMES, chance.choice((0, 1, 1, 2, 3)))}
    lists = {key: chance.sample((*_NAMES, "*", "S "), chance.randrange(3)) for key in ("allowed", "excluded")}
    mcp: JsonObject = {key: lists[key] for key in chance.sample(sorted(lists), chance.choice((0, 0, 1, 2)))}
    if chance.random() < 0.1:
        mcp["serverCommand"] = chance.choice(("no-such x", "", "a && b", 5))
    made: JsonObject = {"mcpServers": servers, **({"mcp": mcp} if mcp else {})}
    if chance.random() < 0.1:
        made["allowMCPServers"] = ["s"]
    made = odd(chance, made, 0.4)
    if chance.random() < 0.8:
        return {"settings": made}
    text = json.dumps(made, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 2, 4)))
    place = chance.randrange(len(text) + 1)
    pieces = ("// c\n", "/* c */", "", ",", "\ufeff", "\t", "}", '"', "\n", "#", "\x00", "'")
    written = text[:place] + chance.choice(pieces) + text[place:]
    return {"settings": chance.choice((written, text[:place], text + "\n// x"))}


def lists(chance: Random) -> JsonObject:
    """The names of servers, and which of them are wanted."""
    names = chance.sample((*_NAMES, "a", "b", "__proto__", "", "10", "9", "A"), chance.randrange(1, 6))
    listed = {key: chance.sample((*names, "x", "*", "S"), chance.randrange(3)) for key in ("allowed", "excluded")}
    mcp = {key: odd(chance, listed[key], 0.1) for key in chance.sample(sorted(listed), chance.randrange(3))}
    made: JsonObject = {"servers": names, "settings": {"mcp": mcp} if mcp else {}}
    if chance.random() < 0.3:
        made["flag_allowed_mcp_server_names"] = chance.sample((*names, "x", ""), chance.randrange(3))
    return made
