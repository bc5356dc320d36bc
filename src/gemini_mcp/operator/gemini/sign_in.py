"""How Gemini CLI will sign in, and what is missing for it: settings and variables in, a `SignIn` out. Pure.

A way to sign in is a function of the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json, inside


@dataclass(frozen=True)
class SignIn:
    """The way that gemini takes, as its settings name it, and the variables that it rests on.

    `missing` says what it lacks. Where `is_certain` is false, only gemini can tell.
    """

    way: str | None
    rests_on: tuple[str, ...] = ()
    missing: str | None = None
    is_certain: bool = True


@dataclass(frozen=True)
class Kept:
    """Whether gemini has files of an earlier sign-in: a login, or its own store of keys, which only it can read."""

    login: bool = False
    store: bool = False


def sign_in(settings: Json, environ: Mapping[str, str], kept: Kept) -> SignIn:
    """What gemini will do without a terminal."""
    auth = inside(settings, "security", "auth")
    way = inside(auth, "selectedType") or _way_of_variables(environ)
    enforced = inside(auth, "enforcedType")
    if enforced and way != enforced:
        return SignIn(way, missing=f"the setting security.auth.enforcedType demands {enforced!r}")
    if not way:
        return SignIn(None, missing="nothing says how")
    if inside(auth, "useExternal"):
        return SignIn(str(way), is_certain=False)
    known = WAYS.get(str(way))
    return known(environ, kept) if known else SignIn(str(way), missing=_unknown(str(way)))


def _way_of_variables(environ: Mapping[str, str]) -> str | None:
    if environ.get("GOOGLE_GENAI_USE_GCA") == "true":
        return LOGIN
    if environ.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return VERTEX
    if environ.get("GOOGLE_GEMINI_BASE_URL"):
        return GATEWAY
    if environ.get("GEMINI_API_KEY"):
        return KEY
    on_google = environ.get("CLOUD_SHELL") == "true" or environ.get("GEMINI_CLI_USE_COMPUTE_ADC") == "true"
    return MACHINE if on_google else None


def _by_key(environ: Mapping[str, str], kept: Kept) -> SignIn:
    if environ.get("GEMINI_API_KEY"):
        return SignIn(KEY, ("GEMINI_API_KEY",))
    if kept.store:
        return SignIn(KEY, is_certain=False)
    return SignIn(KEY, missing="GEMINI_API_KEY is " + ("empty" if "GEMINI_API_KEY" in environ else "not set"))


def _by_vertex(environ: Mapping[str, str], kept: Kept) -> SignIn:
    if environ.get("GOOGLE_API_KEY"):
        return SignIn(VERTEX, ("GOOGLE_API_KEY",))
    place = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
    if lacking := [name for name in place if not environ.get(name)]:
        return SignIn(VERTEX, missing=f"{' and '.join(lacking)} or GOOGLE_API_KEY must be set")
    credentials = "GOOGLE_APPLICATION_CREDENTIALS"
    return SignIn(VERTEX, (*place, *([credentials] if environ.get(credentials) else [])), is_certain=False)


def _by_login(environ: Mapping[str, str], kept: Kept) -> SignIn:
    token = ("GOOGLE_GENAI_USE_GCA", "GOOGLE_CLOUD_ACCESS_TOKEN")
    if all(environ.get(name) for name in token):
        return SignIn(LOGIN, token, is_certain=False)
    if kept.login or kept.store or environ.get("GOOGLE_APPLICATION_CREDENTIALS"):
        return SignIn(LOGIN, is_certain=False)
    return SignIn(LOGIN, missing="nobody has logged in yet")


def _by_machine(environ: Mapping[str, str], kept: Kept) -> SignIn:
    return SignIn(MACHINE, is_certain=False)


def _unknown(way: str) -> str:
    if way == GATEWAY:
        return "GOOGLE_GEMINI_BASE_URL needs the setting security.auth.selectedType, such as 'gemini-api-key'"
    return "gemini knows no such way"


KEY, VERTEX, LOGIN, MACHINE = "gemini-api-key", "vertex-ai", "oauth-personal", "compute-default-credentials"
GATEWAY = "gateway"

WAYS: Mapping[str, Callable[[Mapping[str, str], Kept], SignIn]] = {
    KEY: _by_key,
    VERTEX: _by_vertex,
    LOGIN: _by_login,
    MACHINE: _by_machine,
}
