"""Finds a server's authorization server: which metadata documents to ask for, in which order. Pure.

The caller of `discover` fetches the documents; what the endpoints are used for is in `grants`.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urljoin

from gemini_mcp.host.oauth.endpoints import InsecureEndpoint, checked, is_local
from gemini_mcp.host.rules.javascript import UNDEFINED, template, trim, truthy
from gemini_mcp.host.rules.urls import InvalidUrl, Url, parse
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, items, table, texts_of

_PROTECTED = "/.well-known/oauth-protected-resource"
_AUTHORIZATION = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"

Fetch: TypeAlias = Generator[str, Json, "Endpoints | None"]

_NAMES = {
    "authorizationUrl": "authorization_endpoint",
    "issuer": "issuer",
    "tokenUrl": "token_endpoint",
    "scopes": "scopes_supported",
    "registrationUrl": "registration_endpoint",
}
"""The members of a configuration, by those of the metadata that they come of."""


class Mismatch(Exception):
    """A metadata document speaks of another resource, or another issuer, than the one it was asked about."""


@dataclass(frozen=True)
class Endpoints:
    """The endpoints of an authorization server, and the metadata that names them."""

    authorization_url: str
    token_url: str
    scopes: tuple[str, ...] = ()
    registration_url: str | None = None
    issuer: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def to_json(self, rules: Rules) -> JsonObject:
        """The configuration as Gemini CLI makes it of the metadata, whatever that holds."""
        left_out = () if rules.keeps_issuer else ("issuer", "registrationUrl")
        scopes: Json = self.metadata.get("scopes_supported") or []
        given = {**self.metadata, "scopes_supported": scopes}
        return {key: given[name] for key, name in _NAMES.items() if name in given and key not in left_out}


def well_known(url: str, way: str) -> dict[str, str]:
    """Where the metadata of a server at the URL is looked for first, by its `origin` or its `path`."""
    address = parse(url)
    path = address.path.removesuffix("/") if way == "path" else ""
    return {
        "protectedResource": str(parse(f"{address.origin}{_PROTECTED}{path}")),
        "authorizationServer": str(parse(f"{address.origin}{_AUTHORIZATION}{path}")),
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
    """Find a server's endpoints by its `origin` or `path`: yields each document to get, and is sent its JSON, or None.

    By the path it raises Mismatch and InsecureEndpoint.
    """
    try:
        return (yield from _DISCOVERIES[way](server_url))
    except (InvalidUrl, Unreadable):
        return None


def challenged(document: str, server_url: str, way: str) -> Fetch:
    """Find a server's endpoints by the document that its 401 names: yields and is sent the same as `discover`.

    It raises Mismatch and Unreadable, and by the path InsecureEndpoint.
    """
    resource = yield document if way == "origin" else _own_document(document, server_url)
    if way == "path" and truthy(resource):
        _check_resource(template(table(resource).get("resource", UNDEFINED)), server_url)
    server = authorization_server(resource)
    found = None if server is None else (yield from published(server, server_url, way))
    if found is not None and found.issuer is not None and base_url(found.issuer) != base_url(server or ""):
        raise Mismatch(f"the metadata of {server} names the issuer {found.issuer}")
    return found


def published(server: str, server_url: str, way: str) -> Fetch:
    """Find the endpoints that an authorization server publishes; by the path it raises InsecureEndpoint."""
    for document in server_documents(parse(allowed(trim(server), server_url, way))):
        metadata = yield allowed(document, server_url, way)
        if truthy(metadata):
            return endpoints(metadata)
    return None


def allowed(url: str, server_url: str, way: str) -> str:
    """The address of something that OAuth is sent to for a server; by the path it raises InsecureEndpoint."""
    return url if way == "origin" else checked(url, is_local(server_url))


def endpoints(metadata: Json) -> Endpoints:
    """The endpoints an authorization server's metadata names."""
    given = table(metadata)
    return Endpoints(
        template(given.get("authorization_endpoint") or ""),
        template(given.get("token_endpoint") or ""),
        texts_of(given.get("scopes_supported")) or (),
        given.get("registration_endpoint"),
        given.get("issuer"),
        given,
    )


def authorization_server(resource: Json) -> str | None:
    """The authorization server that a protected resource's metadata names first."""
    servers = table(resource).get("authorization_servers")
    listed: Sequence[Json] = servers if isinstance(servers, str) else items(servers)
    if listed and not isinstance(listed[0], str):
        raise Unreadable
    return listed[0] if listed else None


class Unreadable(Exception):
    """The metadata holds something that Gemini CLI cannot read; its search ends without a word."""


REFUSALS = (Mismatch, InsecureEndpoint, Unreadable)
"""What ends a search, or a flow, because of what the documents say."""


def _discover_at_origin(server_url: str) -> Fetch:
    places = well_known(server_url, "origin")
    server = authorization_server((yield places["protectedResource"]))
    if server is not None:
        metadata = yield f"{base_url(server)}{_AUTHORIZATION}"
        if truthy(metadata):
            return endpoints(metadata)
    metadata = yield places["authorizationServer"]
    return endpoints(metadata) if truthy(metadata) else None


def _discover_at_path(server_url: str) -> Fetch:
    address = parse(server_url)
    allows_local = is_local(server_url)
    resource = yield checked(well_known(server_url, "path")["protectedResource"], allows_local, address.origin)
    # Servers from before RFC 9728 have the document at their root only.
    if not truthy(resource) and address.path != "/":
        resource = yield f"{address.origin}{_PROTECTED}"
    if truthy(resource):
        # RFC 9728, 7.3: metadata of another resource must not be used.
        _check_resource(template(table(resource).get("resource", UNDEFINED)), server_url)
    server = authorization_server(resource)
    for place in (server_url,) if server is None else (server, server_url):
        found = yield from published(place, server_url, "path")
        if found is not None:
            return found
    return None


def _own_document(document: str, server_url: str) -> str:
    """The address of a document that a server names; it may be relative, and must be of the server's origin."""
    whole = urljoin(server_url, trim(document))
    return checked(whole, is_local(server_url), parse(server_url).origin)


_DISCOVERIES = {"origin": _discover_at_origin, "path": _discover_at_path}


def server_documents(address: Url) -> Sequence[str]:
    """Where the metadata of an authorization server is looked for, best first."""
    path = address.path
    # RFC 8414 puts the path behind the well-known part; OpenID Connect Discovery puts it before.
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
