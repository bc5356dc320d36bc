"""Google Application Default Credentials, by the optional library `google-auth`. Effect."""

import importlib
from collections.abc import Sequence
from typing import Any

import anyio.to_thread

from gemini_mcp.host.servers.environment import UnusableConfig

MISSING = "google_credentials needs google-auth. Install it with `pip install gemini-mcp-server[google]`."


async def google_token(scopes: Sequence[str]) -> str:
    """An access token for the scopes; raises UnusableConfig."""
    return await anyio.to_thread.run_sync(_token, tuple(scopes))


def _token(scopes: Sequence[str]) -> str:
    try:
        auth: Any = importlib.import_module("google.auth")
        transport: Any = importlib.import_module("google.auth.transport.requests")
    except ImportError as error:
        raise UnusableConfig(MISSING) from error
    try:
        credentials, _ = auth.default(scopes=list(scopes))
        credentials.refresh(transport.Request())
    except Exception as error:
        raise UnusableConfig(f"Google Application Default Credentials are not available: {error}") from error
    return str(credentials.token)
