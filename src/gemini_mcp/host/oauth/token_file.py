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
from gemini_mcp.spec.values import objects_of

MODE = 0o600


class TokenFile:
    """The stored credentials, by server."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, Credentials]:
        """What is stored; a file or an entry that cannot be read counts as absent."""
        try:
            entries = objects_of(json.loads(self._file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}
        stored: dict[str, Credentials] = {}
        for entry in entries:
            with suppress(ValidationError):
                credentials = Credentials.model_validate(entry)
                stored[credentials.server_name] = credentials
        return stored

    def save(self, credentials: Credentials) -> None:
        """Store the credentials of a server."""
        self._write({**self.load(), credentials.server_name: credentials})

    def delete(self, server: str) -> None:
        """Forget a server's credentials; the file goes with the last of them."""
        stored = self.load()
        if stored.pop(server, None) is not None:
            self._write(stored)

    def _write(self, stored: dict[str, Credentials]) -> None:
        if stored:
            entries = [credentials.to_json() for credentials in stored.values()]
            replace_text(self._file, stringify(entries, 2), MODE)
        else:
            self._file.unlink(missing_ok=True)
