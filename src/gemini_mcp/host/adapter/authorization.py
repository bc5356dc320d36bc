"""Vectors about OAuth: URLs, headers, tokens, metadata discovery and refresh; pure.

Several recorded questions have the same input, a URL; the first word of the vector's id, or `function`, says which.
"""

import re
from collections.abc import Callable, Mapping

from gemini_mcp.host.oauth import metadata
from gemini_mcp.host.oauth import tokens as rules
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.profiles import Profile
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of

NOW = 1_000_000
TOKEN_FILE = "~/.gemini/mcp-oauth-tokens.json"
BASE = "http://base.invalid"
CONFIG: JsonObject = {"clientId": "cid", "clientSecret": "sec", "scopes": ["a"], "audiences": ["u"]}

_PREFIX = re.compile(r"^(?:seed|documented|current)-")
_TOKEN: Mapping[Profile, int] = {Profile.DOCUMENTED: 123, Profile.CURRENT: 4_102_444_800_000}


def oauth(value: JsonObject, profile: Profile, name: str) -> Json:
    """The answer to a question about OAuth."""
    for key, answer in _BY_KEY.items():
        if key in value:
            return answer(value, profile)
    if "url" in value:
        asked = value.get("function") or _PREFIX.sub("", name).partition(" ")[0]
        return _of_url(str(asked), value["url"], profile)
    secrets = rules.pkce(bytes(32), bytes(16))
    return {
        "codeVerifierLength": len(secrets.verifier),
        "codeChallengeLength": len(secrets.challenge),
        "stateLength": len(secrets.state),
        "alphabet": "base64url",
    }


def _of_url(asked: str, url: str, profile: Profile) -> Json:
    answers: Mapping[str, Callable[[], Json]] = {
        "wellknown": lambda: metadata.well_known(url, profile),
        "baseurl": lambda: metadata.base_url(url),
        "resource-param": lambda: metadata.resource_parameter(url, profile),
        "is-sse": lambda: metadata.is_sse_endpoint(url),
    }
    try:
        return answers[asked]()
    except InvalidUrl as error:
        return {"throws": f"TypeError: {error}"}


def _header(value: JsonObject, profile: Profile) -> Json:
    return metadata.metadata_url(value["header"], profile)


def _expiry(value: JsonObject, profile: Profile) -> Json:
    left = value["expiresInMs"]
    return rules.Token("at", expires_at=None if left is None else NOW + left).is_expired(NOW)


def _authorization_url(value: JsonObject, profile: Profile) -> Json:
    given = value["pkce"]
    secrets = rules.Pkce(given["codeVerifier"], given["codeChallenge"], given["state"])
    return {"url": rules.authorization_url(rules.config_of(value["config"]), secrets, value["mcpServerUrl"], profile)}


def _token_file(value: JsonObject, profile: Profile) -> Json:
    given = {"accessToken": "at", "refreshToken": "rt", "scope": "a b", "expiresAt": _TOKEN[profile]}
    entry: JsonObject = {
        "serverName": value["serverName"],
        "token": object_of(value.get("token")) or given,
        "clientId": value.get("clientId", "cid"),
        "tokenUrl": value.get("tokenUrl", "https://as/token"),
        "mcpServerUrl": value.get("mcpServerUrl", "https://h/mcp"),
        "updatedAt": value.get("now", "__now_ms__"),
    }
    credentials = rules.credentials_of(entry)
    entries = [] if credentials is None else [rules.credentials_json(credentials)]
    if profile is Profile.CURRENT:
        return {"files": [{"path": TOKEN_FILE, "mode": "600", "text": stringify(entries, 2)}]}
    return {"path": TOKEN_FILE, "mode": "600", "json": entries}


def _discovery(value: JsonObject, profile: Profile) -> Json:
    documents: JsonObject = value["documents"]
    steps = metadata.discover(value["serverUrl"].replace("<BASE>", BASE), profile)
    requests: list[str] = []
    answer: JsonObject | None = None
    is_started = False
    while True:
        try:
            url = steps.send(answer) if is_started else next(steps)
        except StopIteration as end:
            found = None if end.value is None else end.value.to_json(profile)
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


def _refresh(value: JsonObject, profile: Profile) -> Json:
    config = rules.config_of(object_of(value.get("config")) or CONFIG)
    is_rejected = value.get("tokenEndpoint", 200) != 200
    refresh_token = value.get("refreshToken", "RT" if is_rejected else None)
    token = rules.Token("AT", refresh_token=refresh_token, expires_at=0 if value["expired"] else None)
    stored = rules.Credentials("s", token, config.client_id, f"{BASE}/t", f"{BASE}/mcp")
    step = rules.next_step(stored, config, NOW, profile)
    if isinstance(step, rules.Use):
        return {"token": step.token.access_token}
    if isinstance(step, rules.Discard) or is_rejected:
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


def _token_parameter(value: JsonObject, profile: Profile) -> Json:
    return {"url": rules.with_token_parameter(value["sseUrl"], value["tokenParameter"], value["accessToken"])}


_BY_KEY: Mapping[str, Callable[[JsonObject, Profile], Json]] = {
    "tokenParameter": _token_parameter,
    "header": _header,
    "expiresInMs": _expiry,
    "pkce": _authorization_url,
    "call": _token_file,
    "documents": _discovery,
    "expired": _refresh,
}
