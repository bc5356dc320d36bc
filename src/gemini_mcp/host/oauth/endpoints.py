"""Which addresses OAuth may be sent to: HTTPS, or this machine when the server is on it; no private network. Pure.

Gemini CLI also looks names up and refuses those with a private address. That is not done here.
"""

import ipaddress

from gemini_mcp.host.rules.urls import InvalidUrl, Url, parse

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_INTERNAL = (".localhost", ".local", ".internal")


class InsecureEndpoint(Exception):
    """An address that Gemini CLI sends nothing of OAuth to; the message is the one it gives."""


def is_local(url: str) -> bool:
    """Whether the URL is one of this machine."""
    try:
        return _name(parse(url)) in _THIS_MACHINE
    except InvalidUrl:
        return False


def checked(url: str, allows_local: bool, origin: str | None = None) -> str:
    """The address as it is asked; raises InsecureEndpoint."""
    try:
        address = parse(url)
    except InvalidUrl as error:
        raise InsecureEndpoint(f'Invalid OAuth endpoint URL "{url}": {error}') from None
    if address.scheme not in ("http", "https"):
        only = "Only HTTPS (and HTTP for local development) is supported."
        raise InsecureEndpoint(f'Invalid OAuth endpoint protocol "{address.scheme}:". {only}')
    name = _name(address)
    if address.scheme == "http" and not (allows_local and name in _THIS_MACHINE):
        advice = "OAuth endpoints must use HTTPS unless connecting to localhost."
        raise InsecureEndpoint(f'Insecure HTTP OAuth endpoint "{url}" is not allowed. {advice}')
    if origin is not None and address.origin != origin:
        raise InsecureEndpoint(f'OAuth endpoint origin "{address.origin}" does not match expected origin "{origin}".')
    if name in _THIS_MACHINE and not allows_local:
        raise InsecureEndpoint(f'Loopback OAuth endpoint "{url}" is not allowed for remote MCP servers.')
    if name not in _THIS_MACHINE and _is_private(name):
        raise InsecureEndpoint(f'OAuth endpoint "{url}" points to private or reserved IP address which is blocked.')
    return str(address)


def _name(address: Url) -> str:
    return address.hostname.removeprefix("[").removesuffix("]")


def _is_private(name: str) -> bool:
    if name.endswith(_INTERNAL):
        return True
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        return False
    # `::ffff:10.0.0.1` is 10.0.0.1 written as IPv6, and leads into the same network.
    mapped = getattr(found, "ipv4_mapped", None)
    return not (mapped or found).is_global
