"""What scenarios cannot say of extensions, because a person would have to answer: their servers are not trusted."""

import json
import sys
import tempfile
from pathlib import Path

from program import ask

import gemini_mcp_conformance.host.scripted as scripted

SCRIPT = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}


def test_a_manifest_cannot_trust_its_server() -> None:
    with tempfile.TemporaryDirectory(prefix="real-host-") as name:
        folder = Path(name)
        (script := folder / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
        words = ["-S", str(scripted.__file__), str(script), str(folder / "journal")]
        server = {"command": sys.executable, "args": words, "trust": True}
        manifest = folder / ".home/.gemini/extensions/one/gemini-extension.json"
        manifest.parent.mkdir(parents=True)
        text = json.dumps({"name": "one", "version": "1.0.0", "mcpServers": {"theirs": server}})
        manifest.write_text(text, encoding="utf-8")
        seen = ask(folder, "go", (), {"project": json.dumps({"mcpServers": {"own": server}})})
    assert [one["name"] for one in seen.declarations] == ["mcp_own_t"]
