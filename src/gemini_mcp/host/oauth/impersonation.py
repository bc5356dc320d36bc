"""Service-account impersonation: what Google's IAM is asked for an ID token, and the token in its answer. Pure."""

from collections.abc import Mapping
from urllib.parse import quote

from gemini_mcp.spec.values import Json, JsonObject, inside

IAM = "https://iamcredentials.googleapis.com"
SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
"""What the credentials need that ask."""

FAILED = "Failed to obtain authentication token."
"""What Gemini CLI says when IAM gives none; it connects without one."""

_PATH = "/v1/projects/-/serviceAccounts/{account}:generateIdToken"
_UNQUOTED = "!'()*-._~"
"""What `encodeURIComponent` leaves besides letters and digits."""


def is_wanted(values: Mapping[str, Json]) -> bool:
    """Whether the server is reached in the name of a service account."""
    return values.get("authProviderType") == "service_account_impersonation"


def token_request(values: Mapping[str, Json]) -> tuple[str, JsonObject]:
    """The path and the body of the request for a token."""
    account = quote(str(values["targetServiceAccount"]), safe=_UNQUOTED)
    return _PATH.format(account=account), {"audience": values["targetAudience"], "includeEmail": True}


def token_of(answer: Json) -> str | None:
    """The token; none when the answer has none."""
    token = inside(answer, "token")
    return token if isinstance(token, str) and token else None
