"""Vectors about OAuth: URLs, headers, tokens, search for metadata, refresh. Pure.

Several recorded questions have the same input, a URL: the first word of the vector's id, or `function`, says which it
is.
"""

import re
from collections.abc import Callable, Mapping

from gemini_mcp.host.oauth import grants, metadata
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

NOW = 1_000_000
TOKEN_FILE = "~/.gemini/mcp-oauth-tokens.json"
BASE = "http://base.invalid"
CONFIG: JsonObject = {"clientId": "cid", "clientSecret": "sec", "scopes": ["a"], "audiences": ["u"]}

_PREFIX = re.compile(r"^(?:seed|documented|current)-")


def oauth(value: JsonObject, rules: Rules, name: str) -> Json:
    """The answer to a question about OAuth."""
    for key, answer in _BY_KEY.items():
        if key in value:
            return answer(value, rules)
    if "url" in value:
        asked = value.get("function") or _PREFIX.sub("", name).partition(" ")[0]
        return _of_url(str(asked), value["url"], rules)
    secrets = grants.pkce(bytes(32), bytes(16))
    return {
        "codeVerifierLength": len(secrets.verifier),
        "codeChallengeLength": len(secrets.challenge),
        "stateLength": len(secrets.state),
        "alphabet": "base64url",
    }


def _of_url(asked: str, url: str, rules: Rules) -> Json:
    answers: Mapping[str, Callable[[], Json]] = {
        "wellknown": lambda: metadata.well_known(url, rules.oauth_address),
        "baseurl": lambda: metadata.base_url(url),
        "resource-param": lambda: metadata.resource_parameter(url, rules.oauth_address),
        "is-sse": lambda: metadata.is_sse_endpoint(url),
    }
    try:
        return answers[asked]()
    except InvalidUrl as error:
        return {"throws": f"TypeError: {error}"}


def _header(value: JsonObject, rules: Rules) -> Json:
    return metadata.metadata_url(value["header"], rules)


def _expiry(value: JsonObject, rules: Rules) -> Json:
    left = value["expiresInMs"]
    return grants.Token("at", expires_at=None if left is None else NOW + left).is_expired(NOW)


def _authorization_url(value: JsonObject, rules: Rules) -> Json:
    given = value["pkce"]
    secrets = grants.Pkce(given["codeVerifier"], given["codeChallenge"], given["state"])
    return {"url": grants.authorization_url(grants.config_of(value["config"]), secrets, value["mcpServerUrl"], rules)}


def _token_file(value: JsonObject, rules: Rules) -> Json:
    given = {"accessToken": "at", "refreshToken": "rt", "scope": "a b", "expiresAt": rules.vectors["tokenExpiresAt"]}
    entry: JsonObject = {
        "serverName": value["serverName"],
        "token": object_of(value.get("token")) or given,
        "clientId": value.get("clientId", "cid"),
        "tokenUrl": value.get("tokenUrl", "https://as/token"),
        "mcpServerUrl": value.get("mcpServerUrl", "https://h/mcp"),
        "updatedAt": value.get("now", "__now_ms__"),
    }
    credentials = grants.credentials_of(entry)
    entries = [] if credentials is None else [grants.credentials_json(credentials)]
    if rules.vectors["tokenFile"] == "text":
        return {"files": [{"path": TOKEN_FILE, "mode": "600", "text": stringify(entries, 2)}]}
    return {"path": TOKEN_FILE, "mode": "600", "json": entries}


def _discovery(value: JsonObject, rules: Rules) -> Json:
    documents: JsonObject = value["documents"]
    steps = metadata.discover(value["serverUrl"].replace("<BASE>", BASE), rules.oauth_address)
    requests: list[str] = []
    answer: JsonObject | None = None
    is_started = False
    while True:
        try:
            url = steps.send(answer) if is_started else next(steps)
        except StopIteration as end:
            found = None if end.value is None else end.value.to_json(rules)
            return _masked({"config": found, "requests": requests})
        except metadata.Mismatch as error:
            return _masked({"config": {"throws": f"ResourceMismatchError: {error}"}, "requests": requests})
        is_started, path = True, url.removeprefix(BASE)
        requests.append(f"GET {path}")
        answer = _document(documents.get(path))


def _document(described: Json) -> JsonObject | None:
    members = object_of(described)
    if members is None or members.get("status", 200) != 200:
        return None
    document = object_of(members.get("json"))
    return object_of(_with_base(document))


def _refresh(value: JsonObject, rules: Rules) -> Json:
    config = grants.config_of(object_of(value.get("config")) or CONFIG)
    is_rejected = value.get("tokenEndpoint", 200) != 200
    refresh_token = value.get("refreshToken", "RT" if is_rejected else None)
    token = grants.Token("AT", refresh_token=refresh_token, expires_at=0 if value["expired"] else None)
    stored = grants.Credentials("s", token, config.client_id, f"{BASE}/t", f"{BASE}/mcp")
    step = grants.next_step(stored, config, NOW, rules)
    if isinstance(step, grants.Use):
        return {"token": step.token.access_token}
    if isinstance(step, grants.Discard) or is_rejected:
        return {"token": None, "tokenStillStored": False}
    request = {"method": "POST", "url": step.token_url, "contentType": "application/x-www-form-urlencoded"}
    request["url"] = step.token_url.removeprefix(BASE)
    return _masked({"token": "AT2", "request": [{**request, "form": step.form}]})


def _masked(value: Json) -> Json:
    return _mapped(value, lambda text: text.replace(BASE, "<BASE>"))


def _with_base(value: Json) -> Json:
    return _mapped(value, lambda text: text.replace("<BASE>", BASE))


def _mapped(value: Json, change: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return change(value)
    members = object_of(value)
    if members is not None:
        return {key: _mapped(member, change) for key, member in members.items()}
    items = list_of(value)
    return value if items is None else [_mapped(item, change) for item in items]


def _token_parameter(value: JsonObject, rules: Rules) -> Json:
    return {"url": grants.with_token_parameter(value["sseUrl"], value["tokenParameter"], value["accessToken"])}


_BY_KEY: Mapping[str, Callable[[JsonObject, Rules], Json]] = {
    "tokenParameter": _token_parameter,
    "header": _header,
    "expiresInMs": _expiry,
    "pkce": _authorization_url,
    "call": _token_file,
    "documents": _discovery,
    "expired": _refresh,
}
