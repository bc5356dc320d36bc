"""Vectors about OAuth: URLs, headers, tokens, search for metadata, refresh. Pure.

Several recorded questions have the same input, a URL: the first word of the vector's id, or `function`, says which it
is.
"""

import json
import re
from collections.abc import Callable, Mapping

from gemini_mcp.host.oauth import grants, metadata
from gemini_mcp.host.oauth.endpoints import InsecureEndpoint, is_local
from gemini_mcp.host.rules.javascript import stringify, truthy
from gemini_mcp.host.rules.urls import InvalidUrl, parse
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, object_of, table

NOW = 1_700_000_000_000
"""Any time: the vectors say how long a token is left."""

TOKEN_FILE = "~/.gemini/mcp-oauth-tokens.json"
BASE = "http://127.0.0.1:1"
"""An address of this machine, as in the recordings; nothing is sent to it."""
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
    secrets = grants.pkce(bytes(rules.verifier_bytes), bytes(16))
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
    return grants.Token(access_token="at", expires_at=None if left is None else NOW + left).is_expired(NOW)


def _authorization_url(value: JsonObject, rules: Rules) -> Json:
    given = value["pkce"]
    secrets = grants.Pkce(given["codeVerifier"], given["codeChallenge"], given["state"])
    return {"url": grants.authorization_url(grants.config_of(value["config"]), secrets, value["mcpServerUrl"], rules)}


def _token_file(value: JsonObject, rules: Rules) -> Json:
    given = {
        "accessToken": "at",
        "tokenType": "Bearer",
        "refreshToken": "rt",
        "scope": "a b",
        "expiresAt": rules.vectors["tokenExpiresAt"],
    }
    is_text = rules.vectors["tokenFile"] == "text"
    token = object_of(value.get("token")) or given
    if is_text and not token.get("refreshToken"):
        # 0.61.0 keeps the token that it had in place of an empty one, and here it had none.
        token = {key: member for key, member in token.items() if key != "refreshToken"}
    entry = grants.entry(
        value["serverName"],
        token,
        value.get("clientId", "cid"),
        value.get("tokenUrl", "https://as/token"),
        value.get("mcpServerUrl", "https://h/mcp"),
        value.get("now", "__now_ms__"),
    )
    entries = [entry]
    if is_text:
        return {"files": [{"path": TOKEN_FILE, "mode": "600", "text": stringify(entries, 2)}]}
    return {"path": TOKEN_FILE, "mode": "600", "json": entries}


def _discovery(value: JsonObject, rules: Rules) -> Json:
    documents: JsonObject = value["documents"]
    steps = metadata.discover(value["serverUrl"].replace("<BASE>", BASE), rules.oauth_address)
    requests: list[str] = []
    answer: Json = None
    while True:
        try:
            url = _reached(steps.send(answer), rules)
        except StopIteration as end:
            found = None if end.value is None else end.value.to_json(rules)
            return _replaced({"config": found, "requests": requests}, BASE, "<BASE>")
        except (metadata.Mismatch, InsecureEndpoint) as error:
            found = {"throws": f"{_ERRORS[type(error)]}: {error}"}
            return _replaced({"config": found, "requests": requests}, BASE, "<BASE>")
        # Nobody records what other addresses are asked, and none of them answers.
        is_own = url == BASE or url.startswith(f"{BASE}/")
        path = url.removeprefix(BASE)
        requests += [f"GET {path}"] if is_own else []
        answer = _document(documents.get(path)) if is_own else None


def _reached(url: str, rules: Rules) -> str:
    """The address that is asked; raises InsecureEndpoint where the name is looked up before, which finds none here."""
    name = parse(url).hostname
    is_number = name.endswith("]") or name.rpartition(".")[2].isdecimal()
    if rules.oauth_address == "path" and not is_number and not is_local(url):
        found = f"getaddrinfo ENOTFOUND {name}"
        raise InsecureEndpoint(f'DNS lookup failed for OAuth endpoint host "{name}": {found}')
    return url


_ERRORS = {metadata.Mismatch: "ResourceMismatchError", InsecureEndpoint: "OAuthSecurityError"}


def _document(described: Json) -> Json:
    """The JSON of a recorded answer; one that says nothing of it is an empty object."""
    status = table(described).get("status", 200)
    # An answer 204 has no body, whatever the recording says of it.
    if not truthy(described) or not 200 <= status < 300 or status == 204:
        return None
    return _replaced(table(described).get("json", {}), "<BASE>", BASE)


def _refresh(value: JsonObject, rules: Rules) -> Json:
    config = grants.config_of(value.get("config", CONFIG))
    is_rejected = value.get("tokenEndpoint", 200) != 200
    refresh_token = value.get("refreshToken", "RT" if is_rejected else None)
    if not value["expired"]:
        return {"token": "AT"}
    token = grants.Token(access_token="AT", refresh_token=refresh_token)
    stored = grants.Credentials(
        server_name="s",
        token=token,
        client_id=config.client_id,
        token_url=f"{BASE}/t",
        mcp_server_url=f"{BASE}/mcp",
    )
    step = grants.refresh_of(stored, config, rules)
    if step is None or is_rejected:
        return {"token": None, "tokenStillStored": step is None and rules.keeps_spent_tokens}
    request = {"method": "POST", "url": "/t", "contentType": "application/x-www-form-urlencoded", "form": step.form}
    return _replaced({"token": "AT2", "request": [request]}, BASE, "<BASE>")


def _replaced(value: Json, old: str, new: str) -> Json:
    """The value with one text put for another wherever it stands."""
    return json.loads(json.dumps(value).replace(old, new))


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
