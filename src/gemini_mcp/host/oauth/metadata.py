"""Where a server's authorization server is: metadata documents, in the order they are looked for. Pure.

The caller of `discover` gets the documents; what the endpoints are used for is in `grants`.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.host.rules.javascript import UNDEFINED, template
from gemini_mcp.host.rules.urls import InvalidUrl, Url, parse
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import JsonObject, items, texts_of, without_none

_PROTECTED = "/.well-known/oauth-protected-resource"
_AUTHORIZATION = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"

Fetch: TypeAlias = Generator[str, JsonObject | None, "Endpoints | None"]


class Mismatch(Exception):
    """A metadata document speaks of another resource, or another issuer, than the one it was asked about."""


@dataclass(frozen=True)
class Endpoints:
    """The endpoints of an authorization server."""

    authorization_url: str
    token_url: str
    scopes: tuple[str, ...] = ()
    registration_url: str | None = None
    issuer: str | None = None

    def to_json(self, rules: Rules) -> JsonObject:
        """The configuration as Gemini CLI makes it of the metadata."""
        scopes = list(self.scopes)
        if not rules.keeps_issuer:
            return {"authorizationUrl": self.authorization_url, "tokenUrl": self.token_url, "scopes": scopes}
        return without_none(
            authorizationUrl=self.authorization_url or None,
            issuer=self.issuer,
            tokenUrl=self.token_url or None,
            scopes=scopes,
            registrationUrl=self.registration_url or None,
        )


def well_known(url: str, way: str) -> dict[str, str]:
    """Where the metadata of a server at the URL is looked for first, by its `origin` or its `path`."""
    address = parse(url)
    path = address.path.removesuffix("/") if way == "path" else ""
    return {
        "protectedResource": f"{address.origin}{_PROTECTED}{path}",
        "authorizationServer": f"{address.origin}{_AUTHORIZATION}{path}",
    }


def base_url(url: str) -> str:
    """The scheme and host of the URL."""
    return parse(url).origin


def is_sse_endpoint(url: str) -> bool:
    """Whether Gemini CLI takes the URL for an SSE endpoint."""
    return "/sse" in url or "/mcp" not in url


def resource_parameter(url: str, way: str) -> str:
    """The `resource` that a token is asked for, by the `origin` of the server or its `path`."""
    address = parse(url)
    return address.origin + (address.path if way == "path" else "")


def metadata_url(header: str, rules: Rules) -> str | None:
    """The metadata document a `WWW-Authenticate` header points to."""
    match = re.search(rules.metadata_header, header)
    return next((group for group in match.groups() if group), None) if match else None


def discover(server_url: str, way: str) -> Fetch:
    """Find a server's endpoints by its `origin` or `path`: yields each document to get, and is sent it, or None."""
    return _DISCOVERIES[way](server_url)


def endpoints(metadata: JsonObject) -> Endpoints:
    """The endpoints an authorization server's metadata names."""
    return Endpoints(
        metadata.get("authorization_endpoint", ""),
        metadata.get("token_endpoint", ""),
        texts_of(metadata.get("scopes_supported")) or (),
        metadata.get("registration_endpoint"),
        metadata.get("issuer"),
    )


def authorization_servers(resource: JsonObject | None) -> tuple[str, ...]:
    """The authorization servers a protected resource's metadata names."""
    return tuple(str(server) for server in items((resource or {}).get("authorization_servers")))


def _discover_at_origin(server_url: str) -> Fetch:
    places = well_known(server_url, "origin")
    for server in authorization_servers((yield places["protectedResource"]))[:1]:
        metadata = yield f"{base_url(server)}{_AUTHORIZATION}"
        if metadata is not None:
            return endpoints(metadata)
    metadata = yield places["authorizationServer"]
    return None if metadata is None else endpoints(metadata)


def _discover_at_path(server_url: str) -> Fetch:
    address = parse(server_url)
    resource = yield well_known(server_url, "path")["protectedResource"]
    if resource is None and address.path != "/":
        resource = yield f"{address.origin}{_PROTECTED}"
    if resource is not None:
        _check_resource(template(resource.get("resource", UNDEFINED)), server_url)
    for place in (*authorization_servers(resource)[:1], server_url):
        for document in server_documents(parse(place)):
            metadata = yield document
            if metadata is not None:
                return endpoints(metadata)
    return None


_DISCOVERIES = {"origin": _discover_at_origin, "path": _discover_at_path}


def server_documents(address: Url) -> Sequence[str]:
    """Where the metadata of an authorization server is looked for, best first."""
    path = address.path
    at_path = [f"{_AUTHORIZATION}{path}", f"{_OPENID}{path}", f"{path}{_OPENID}"] if path != "/" else []
    return [address.origin + place for place in (*at_path, _AUTHORIZATION, _OPENID)]


def _check_resource(claimed: str, server_url: str) -> None:
    expected = resource_parameter(server_url, "path")
    try:
        is_same = resource_parameter(claimed, "path") == expected
    except InvalidUrl:
        is_same = claimed == expected
    if not is_same:
        raise Mismatch(f"Protected resource {claimed} does not match expected {expected}")
