"""What `inspect` says of any servers beside what the unmodified Gemini CLI declares of them; one row for each. Effect.

`REAL_GEMINI_CLI=DIRECTORY python tests/realhost/public_servers.py SERVERS.json`, where the file holds an `mcpServers`
object. Install the servers before; nothing is fetched. Exit 1 when a row has a difference.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from program import MODEL, Seen, run, settings_text

from gemini_mcp.spec.values import Json, JsonObject

SECONDS = 120
WORDS = ("-m", MODEL, "--approval-mode", "yolo", "-p", "go")
"""Headless, a tool that a person would have to allow is not declared at all, unless everything is allowed."""

PARAMETERS = "parametersJsonSchema"


@dataclass(frozen=True)
class Row:
    """One server: what was counted, and every difference."""

    name: str
    declarations: int
    findings: int
    differences: Sequence[str]

    def __str__(self) -> str:
        said = "; ".join(self.differences) or "none"
        return f"| {self.name} | {self.declarations} | {self.findings} | {said} |"


def compared(name: str, config: Json) -> Row:
    """Put one server to both."""
    with tempfile.TemporaryDirectory(prefix="public-") as folder:
        inspection = _inspected(Path(folder), name, config)
    with tempfile.TemporaryDirectory(prefix="public-") as folder:
        seen = run(Path(folder), WORDS, settings={"project": settings_text({name: config})})
    ours = [
        {"name": tool["registered"], "description": tool["description"], PARAMETERS: tool["after"]}
        for tool in inspection["tools"]
        if "registered" in tool
    ]
    differences = [*_differences(ours, seen.declarations), *_context(inspection, seen)]
    return Row(name, len(seen.declarations), len(inspection["findings"]), differences)


def _inspected(folder: Path, name: str, config: Json) -> JsonObject:
    """What the current profile makes of the server."""
    file = folder / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text(settings_text({name: config}), encoding="utf-8")
    environment = {**os.environ, "HOME": str(folder / "home"), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    words = [sys.executable, "-m", "gemini_mcp.host.command.main", "inspect", "--alone", "--json", name]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    return json.loads(done.stdout)[0]


def _differences(ours: Sequence[JsonObject], theirs: Sequence[JsonObject]) -> Iterator[str]:
    """Names, their order, descriptions and schemas, as they stand in the request to the model."""
    names, others = ([one["name"] for one in side] for side in (ours, theirs))
    if names != others:
        yield (
            f"`inspect` names {sorted(set(names) - set(others))}, the program {sorted(set(others) - set(names))}"
            if (sorted(names) != sorted(others))
            else "another order"
        )
    by_name = {one["name"]: one for one in theirs}
    for tool in ours:
        other = by_name.get(tool["name"], tool)
        for key in ("description", PARAMETERS):
            if json.dumps(tool[key]) != json.dumps(other.get(key)):
                yield f"`{key}` of {tool['name']}: {json.dumps(tool[key])} and {json.dumps(other.get(key))}"


def _context(inspection: JsonObject, seen: Seen) -> Iterator[str]:
    """The server's instructions, which the program puts before the user's first words."""
    said = inspection.get("instructions")
    texts = [part.get("text", "") for content in seen.requests[0]["contents"] for part in content["parts"]]
    if said and not any(said.strip() in text for text in texts):
        yield "the instructions do not reach the model"


def main() -> int:
    parser = argparse.ArgumentParser(description="inspect beside the unmodified Gemini CLI")
    parser.add_argument("servers", type=Path, metavar="SERVERS.json")
    servers: Json = json.loads(parser.parse_args().servers.read_text(encoding="utf-8"))["mcpServers"]
    rows = [compared(name, config) for name, config in servers.items()]
    print("| server | declarations | findings | differences |", "|---|---|---|---|", *rows, sep="\n")
    return int(any(row.differences for row in rows))


if __name__ == "__main__":
    sys.exit(main())
