"""The token file: `~/.gemini/mcp-oauth-tokens.json`, readable by its owner alone, replaced whole. Effect.

What an entry means is in `grants`.
"""

import json
from pathlib import Path

from gemini_mcp.host.oauth.grants import Credentials, credentials_json, credentials_of
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.spec.values import objects_of

MODE = 0o600


class TokenFile:
    """The stored credentials, by server."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, Credentials]:
        """What is stored; an unreadable file holds nothing."""
        try:
            entries = objects_of(json.loads(self._file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}
        known = (credentials_of(entry) for entry in entries)
        return {credentials.server: credentials for credentials in known if credentials is not None}

    def save(self, credentials: Credentials) -> None:
        """Store the credentials of a server."""
        self._write({**self.load(), credentials.server: credentials})

    def delete(self, server: str) -> None:
        """Forget a server's credentials; the file goes with the last of them."""
        stored = self.load()
        if stored.pop(server, None) is not None:
            self._write(stored)

    def _write(self, stored: dict[str, Credentials]) -> None:
        if stored:
            entries = [credentials_json(credentials) for credentials in stored.values()]
            replace_text(self._file, stringify(entries, 2), MODE)
        else:
            self._file.unlink(missing_ok=True)
