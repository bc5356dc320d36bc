"""What a server on stdio writes unasked, and to stderr: Gemini CLI drops it for that, and `inspect` says so."""

import json
import sys
from pathlib import Path

import pytest
from stand_in import desk

SERVER = """
import json, sys
tool = {{"name": "t", "inputSchema": {{"type": "object"}}}}
greeting = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}}}
greeting["serverInfo"] = {{"name": "s", "version": "1"}}
def say(message):
    sys.stdout.write(json.dumps(message) + "\\n")
def progress(**params):
    return {{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}}
{early}
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{"jsonrpc": "2.0", "id": asked.get("id"), "result": greeting}}
    if asked["method"] == "initialize":
        say(answer)
    if asked["method"] == "tools/list":
        answer["result"] = {{"tools": [tool]}}
        {late}
    sys.stdout.flush()
"""
FINE = "say(answer)"


def inspected(folder: Path, early: str, late: str) -> tuple[int, list[tuple[str, bool]]]:
    """The exit code, and the kinds of the findings of the current profile; the other profile loses nothing."""
    here = desk(folder)
    script = here.project / "server.py"
    script.write_text(SERVER.format(early=early, late=late), encoding="utf-8")
    words = ("inspect", "--json", "--alone", "--timeout", "9000", "--", sys.executable, "-S", str(script))
    ran = here.run(*words)
    current, documented = json.loads(ran.stdout)
    assert [tool["registered"] for tool in documented["tools"]] == ["t"]
    return ran.returncode, [(finding["kind"], finding["isLoss"]) for finding in current["findings"]]


@pytest.mark.parametrize(
    "late",
    [
        "print('listing'); say(answer)",
        "print(); say(answer)",
        "say(answer); say(answer)",
        "say({**answer, 'id': 99}); say(answer)",
        "say(progress(progressToken=9)); say(answer)",
    ],
)
def test_what_is_written_unasked_while_lists_are_read_loses_the_server(tmp_path: Path, late: str) -> None:
    code, found = inspected(tmp_path, "", late)
    assert code == 1
    assert ("stray", True) in found


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("print('starting')", FINE),
        ("", "say({**answer, 'id': str(answer['id'])})"),
        ("", "say({**answer, 'id': float(answer['id'])})"),
        ("", "say({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {}}); say(answer)"),
        ("", "say(progress(progressToken=9, progress=1)); say(answer)"),
    ],
)
def test_what_gemini_cli_overlooks_is_no_loss(tmp_path: Path, early: str, late: str) -> None:
    code, found = inspected(tmp_path, early, late)
    assert code == 0
    assert not any(is_loss for _, is_loss in found)


def test_a_server_that_floods_stderr_hangs(tmp_path: Path) -> None:
    code, found = inspected(tmp_path, "sys.stderr.write('x' * 200_000)", FINE)
    assert code == 4
    assert found == [("flooded", True)]
