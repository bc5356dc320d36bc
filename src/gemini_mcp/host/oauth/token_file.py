"""The token file: `~/.gemini/mcp-oauth-tokens.json`, readable by its owner alone, replaced whole. Effect.

What an entry means is in `grants`.
"""

import json
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from gemini_mcp.host.oauth.grants import Credentials
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.spec.values import JsonObject, objects_of

MODE = 0o600


class TokenFile:
    """The stored credentials, by server."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, Credentials]:
        """What is stored; a file or an entry that cannot be read counts as absent."""
        stored: dict[str, Credentials] = {}
        for name, entry in self._entries().items():
            with suppress(ValidationError):
                stored[name] = Credentials.model_validate(entry)
        return stored

    def save(self, credentials: Credentials) -> None:
        """Store the credentials of a server; the other entries stay as they are."""
        self._write({**self._entries(), credentials.server_name: credentials.to_json()})

    def delete(self, server: str) -> None:
        """Forget a server's credentials; the file goes with the last of them."""
        entries = self._entries()
        if entries.pop(server, None) is not None:
            self._write(entries)

    def _entries(self) -> dict[str, JsonObject]:
        """The entries of the file by server, with members that only another program knows."""
        try:
            entries = objects_of(json.loads(self._file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}
        return {str(entry.get("serverName")): entry for entry in entries}

    def _write(self, entries: dict[str, JsonObject]) -> None:
        if entries:
            replace_text(self._file, stringify(list(entries.values()), 2), MODE)
        else:
            self._file.unlink(missing_ok=True)
