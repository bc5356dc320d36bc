"""OAuth grants without the network: the forms that are sent, the tokens that come back, and their next step. Pure.

What needs a socket, a clock, a browser or a file is in `authorization` and `token_file`; endpoints are in `metadata`.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gemini_mcp.host.oauth.metadata import resource_parameter
from gemini_mcp.host.rules.profiles import setting_default
from gemini_mcp.host.rules.urls import InvalidUrl, parse, with_query
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, texts_of, without_none

EXPIRY_BUFFER_MS = 5 * 60 * 1000
"""A token counts as expired so long before it is, so that it lasts for a call that begins now."""

CLIENT_NAME = "Gemini CLI MCP Client"

Form: TypeAlias = dict[str, str]


@dataclass(frozen=True)
class OAuthConfig:
    """The `oauth` object of a server's configuration."""

    client_id: str | None
    client_secret: str | None
    authorization_url: str | None
    token_url: str | None
    scopes: tuple[str, ...]
    redirect_uri: str
    token_param_name: str | None
    audiences: tuple[str, ...]


@dataclass(frozen=True)
class Pkce:
    """The secrets of one authorization: the PKCE verifier with its challenge, and the state."""

    verifier: str
    challenge: str
    state: str


class _Stored(BaseModel):
    """What the token file keeps; there its names are in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Token(_Stored):
    """An access token and what came with it; never printed."""

    access_token: str = Field(repr=False, min_length=1)
    token_type: str | None = None
    refresh_token: str | None = Field(default=None, repr=False)
    scope: str | None = None
    expires_at: int | float | None = None

    def is_expired(self, now_ms: float) -> bool:
        """Whether it is used up, or will be within five minutes."""
        return bool(self.expires_at) and now_ms + EXPIRY_BUFFER_MS >= (self.expires_at or 0)


class Credentials(_Stored):
    """An entry of the token file: a server's token with what its refresh needs."""

    server_name: str
    token: Token
    client_id: str | None = None
    token_url: str | None = None
    mcp_server_url: str | None = None
    updated_at: Json = 0

    def to_json(self) -> JsonObject:
        """The entry as it is written."""
        token = self.token.model_dump(by_alias=True, exclude_none=True)
        return entry(self.server_name, token, self.client_id, self.token_url, self.mcp_server_url, self.updated_at)


def entry(
    server: str, token: JsonObject, client_id: str | None, token_url: str | None, server_url: str | None, now: Json
) -> JsonObject:
    """What the token file holds of a server; the token stands there as it was given."""
    known = without_none(serverName=server, token=token, clientId=client_id, tokenUrl=token_url)
    return {**known, **without_none(mcpServerUrl=server_url), "updatedAt": now}


@dataclass(frozen=True)
class Refresh:
    """The request for a new token: a form, and where it is sent."""

    token_url: str
    form: Form = field(repr=False)


def config_of(value: JsonObject) -> OAuthConfig:
    """The configuration of the `oauth` object."""
    return OAuthConfig(
        value.get("clientId"),
        value.get("clientSecret"),
        value.get("authorizationUrl"),
        value.get("tokenUrl"),
        texts_of(value.get("scopes")) or (),
        value.get("redirectUri") or setting_default("oauth", "redirectUri"),
        value.get("tokenParamName"),
        texts_of(value.get("audiences")) or (),
    )


def pkce(verifier: bytes, state: bytes) -> Pkce:
    """The secrets made of random bytes."""
    # RFC 7636: the challenge is the hash of the verifier as it is written, not of its bytes.
    text = _base64url(verifier)
    return Pkce(text, _base64url(hashlib.sha256(text.encode("ascii")).digest()), _base64url(state))


def authorization_url(config: OAuthConfig, secrets: Pkce, server_url: str, rules: Rules) -> str:
    """Where the user's browser is sent."""
    query = {
        "client_id": config.client_id or "",
        "response_type": "code",
        "redirect_uri": config.redirect_uri,
        "state": secrets.state,
        "code_challenge": secrets.challenge,
        "code_challenge_method": "S256",
        **_given(config, "scope", "audience"),
        **_resource(server_url, config.authorization_url, rules),
    }
    return with_query(parse(config.authorization_url or ""), query)


def exchange_form(config: OAuthConfig, code: str, secrets: Pkce, server_url: str, rules: Rules) -> Form:
    """What is posted for the first token."""
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": config.redirect_uri,
        "code_verifier": secrets.verifier,
        "client_id": config.client_id or "",
        **_given(config, "client_secret", "audience"),
        **_resource(server_url, config.token_url, rules),
    }


def refresh_form(config: OAuthConfig, credentials: Credentials, rules: Rules) -> Form:
    """What is posted for the next token."""
    return {
        "grant_type": "refresh_token",
        "refresh_token": credentials.token.refresh_token or "",
        "client_id": config.client_id or credentials.client_id or "",
        **_given(config, "client_secret", "scope", "audience"),
        **_resource(credentials.mcp_server_url or credentials.token_url or "", None, rules),
    }


def registration(config: OAuthConfig, rules: Rules) -> JsonObject:
    """What is posted to register this client."""
    return {
        "client_name": CLIENT_NAME,
        "redirect_uris": [config.redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        # A program on a user's machine cannot keep a secret (RFC 8252, 8.5).
        "token_endpoint_auth_method": "none",
        **rules.registration,
        "scope": " ".join(config.scopes),
    }


def token_of(answer: JsonObject, now_ms: float, previous: Token | None = None) -> Token:
    """The token of a token endpoint's answer; a refresh may leave out what stays as it was."""
    lifetime = answer.get("expires_in")
    return Token(
        access_token=str(answer["access_token"]),
        token_type=answer.get("token_type") or "Bearer",
        refresh_token=answer.get("refresh_token") or (previous and previous.refresh_token),
        scope=answer.get("scope") or (previous and previous.scope),
        expires_at=int(now_ms + float(lifetime) * 1000) if lifetime else None,
    )


def refresh_of(credentials: Credentials, config: OAuthConfig, rules: Rules) -> Refresh | None:
    """How a stored token is refreshed; None when it cannot be."""
    client = config.client_id or credentials.client_id
    if not (credentials.token.refresh_token and client and credentials.token_url):
        return None
    return Refresh(credentials.token_url, refresh_form(config, credentials, rules))


def with_token_parameter(url: str, name: str, token: str) -> str:
    """The SSE address with the token in its query."""
    return with_query(parse(url), {name: token})


def _resource(server_url: str, endpoint: str | None, rules: Rules) -> Form:
    """What a token is asked for; by its origin, the endpoint stands in for no address."""
    if rules.oauth_address != "path":
        return {"resource": resource_parameter(server_url or endpoint or "", rules.oauth_address)}
    try:
        return {"resource": resource_parameter(server_url, rules.oauth_address)}
    except InvalidUrl:
        return {}


def _given(config: OAuthConfig, *names: str) -> Form:
    """Those of the optional values that the configuration has."""
    values = {
        "client_secret": config.client_secret or None,
        "scope": " ".join(config.scopes) if config.scopes else None,
        "audience": " ".join(config.audiences) if config.audiences else None,
    }
    return {name: value for name in names if (value := values[name]) is not None}


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
