"""Many ports on one page: each is run within its own budget, and a port that hangs or dies costs nobody else."""

import asyncio
import os
import re
import select
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sample_report import HOSTILE, broken, kept, report_of

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.run.processes import Runner, run_all, suite
from gemini_mcp_conformance.tell import report_file
from gemini_mcp_conformance.tell.matrix import ports
from gemini_mcp_conformance.tell.matrix.pages import LEGEND, Column, render_html, render_markdown, rows
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import Command, Report, Url

SUITE = """
import os, subprocess, sys, time
own, target = sys.argv[:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
path = next(option.removeprefix("json=") for option in own if option.startswith("json="))
behaviour = target[0]
if behaviour == "hang":
    fifo = os.open(target[1], os.O_WRONLY)
    subprocess.Popen(["sleep", "600"], pass_fds=[fifo])
    os.write(fifo, b"started")
    time.sleep(600)
if behaviour == "die":
    sys.exit("no such port")
open(path, "w").write(target[1])
"""
"""Stands for the suite: the target says what it does."""


def port(name: str, *argv: str, budget: float = 60) -> Port:
    return Port(name, Command(argv), budget=budget)


def stand_in(tmp_path: Path, grace: float = 5) -> Runner:
    program = tmp_path / "suite.py"
    program.write_text(SUITE, encoding="utf-8")
    return suite((sys.executable, str(program)), grace=grace)


def test_ports_are_read_with_what_they_need():
    text = """
    [[port]]
    name = "node"
    command = ["node", "server.js"]
    env = { LOG = "off" }
    budget = 30
    [[port]]
    name = "http"
    url = "http://127.0.0.1:8000/mcp"
    fake = "fake"
    """
    assert ports.parse(text, "PORTS.toml") == (
        Port("node", Command(("node", "server.js")), {"LOG": "off"}, 30.0),
        Port("http", Url("http://127.0.0.1:8000/mcp"), {}, 300.0, "fake"),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x", "'PORTS.toml' is no list of ports: "),
        ("", "a table [[port]] for each port"),
        ("port = 1", "a table [[port]] for each port"),
        ("port = [1]", "port 1 is no table"),
        ("title = 'x'\n[[port]]\nname='a'\ncommand=['x']", "and nothing else"),
        ("[[port]]\ncommand=['x']", "port 1 has no `name`"),
        ("[[port]]\nname='a'\ncommand='x y'", "port 'a' should have either `command`, a list of strings, or `url`"),
        ("[[port]]\nname='a'\ncommand=[]", "either `command`"),
        ("[[port]]\nname='a'\ncommand=['x']\nurl='http://x'", "either `command`"),
        ("[[port]]\nname='a'\nurl='file:///x'", "either `command`"),
        ("[[port]]\nname='a'\ncommand=['x']\nbugdet=1", "port 'a' has the key 'bugdet'; the keys are name, command"),
        ("[[port]]\nname='a'\ncommand=['x']\nbudget=0", "`budget` of port 'a' is 0"),
        ("[[port]]\nname='a'\ncommand=['x']\nbudget=true", "`budget` of port 'a' is True"),
        ("[[port]]\nname='a'\ncommand=['x']\nenv={A=1}", "`env` of port 'a' should map names to strings"),
        ("[[port]]\nname='a'\ncommand=['x']\nfake='f'", "`fake` of port 'a'"),
        ("[[port]]\nname='a'\ncommand=['x']\n[[port]]\nname='a'\ncommand=['x']", "two ports of the name 'a'"),
    ],
)
def test_a_list_of_ports_that_is_wrong_says_how(text: str, complaint: str):
    with pytest.raises(UsageError) as caught:
        ports.parse(text, "PORTS.toml")
    assert complaint in str(caught.value)


async def test_each_port_gives_its_own_report(tmp_path: Path):
    reports = [report_of(kept("one")), report_of(broken("one"), exit=1)]
    listed = [port(str(number), "report", report_json(report)) for number, report in enumerate(reports)]
    assert await run_all(listed, stand_in(tmp_path), jobs=2) == tuple(reports)


def report_json(report: Report) -> str:
    return report_file.dump(report).encode("utf-8", "backslashreplace").decode()


class Line:
    """A line that the stand-in and all its children hold open while they live."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "line"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def next(self) -> bytes:
        """What was written to it; nothing when all have ended."""
        assert select.select([self._end], [], [], 30)[0] == [self._end]
        return os.read(self._end, 100)


async def test_a_port_that_hangs_costs_only_its_own_budget(tmp_path: Path):
    line = Line(tmp_path)
    good = report_of(kept("one"))
    listed = (port("hangs", "hang", str(line.path), budget=1), port("good", "report", report_json(good)))
    hung, other = await run_all(listed, stand_in(tmp_path, grace=0.5))
    assert (hung, other) == (Failure("The suite did not end within the budget of 1 s."), good)
    assert (line.next(), line.next()) == (b"started", b"")


async def test_an_interrupted_matrix_leaves_no_process(tmp_path: Path):
    line = Line(tmp_path)
    running = asyncio.create_task(run_all((port("hangs", "hang", str(line.path)),), stand_in(tmp_path)))
    assert await asyncio.to_thread(line.next) == b"started"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert line.next() == b""


async def test_a_run_that_dies_repeats_its_last_words(tmp_path: Path):
    (failure,) = await run_all((port("dies", "die"),), stand_in(tmp_path))
    assert failure == Failure("The suite ended with 1 and without a report. no such port")


async def test_a_report_that_is_none_is_a_failure(tmp_path: Path):
    (failure,) = await run_all((port("odd", "report", "{}"),), stand_in(tmp_path))
    assert isinstance(failure, Failure)
    assert failure.reason.startswith("'report.json' is not a report of this suite")


async def test_a_suite_that_is_not_there_is_a_failure(tmp_path: Path):
    (failure,) = await run_all((port("any", "x"),), suite((str(tmp_path / "missing"),)))
    assert isinstance(failure, Failure)
    assert failure.reason.startswith("The suite could not be started")


async def test_no_more_ports_run_at_once_than_there_are_jobs():
    busy = most = 0

    async def runner(_: Port) -> Failure:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0)
        busy -= 1
        return Failure("")

    await run_all([port(str(number), "x") for number in range(6)], runner, jobs=2)
    assert most == 2


async def test_the_suite_is_given_what_the_port_needs(tmp_path: Path):
    program = tmp_path / "suite.py"
    program.write_text("import sys; sys.exit(repr(sys.argv[1:]))", encoding="utf-8")
    runner = suite((sys.executable, str(program)), ("--strict",))
    listed = (
        Port("stdio", Command(("node", "s.js")), {"A": "b c"}, 30),
        Port("http", Url("http://localhost/mcp"), {}, 30, "fake"),
    )
    told = [failure.reason for failure in await run_all(listed, runner) if isinstance(failure, Failure)]
    assert "'--budget', '30'" in told[0]
    assert told[0].endswith("'--strict', '--env', 'A=b c', '--', 'node', 's.js']")
    assert told[1].endswith("'--strict', '--url', 'http://localhost/mcp', '--fake', 'fake']")


COLUMNS = (
    Column(port("good", "x"), report_of(kept("one"), kept("two"))),
    Column(port("<b>bad|", "x"), report_of(broken("one", message=HOSTILE), exit=1)),
    Column(port("hangs", "x"), Failure("The suite did not end.")),
)


def test_a_row_holds_each_ports_verdict_and_none_where_there_is_no_report():
    verdicts = [[judgement and judgement.verdict for judgement in row.judgements] for row in rows(COLUMNS)]
    assert verdicts == [["pass", "fail", None], ["pass", None, None]]


def test_the_markdown_matrix_has_a_column_for_every_port():
    lines = render_markdown(COLUMNS).splitlines()
    assert ["|".join(cell.strip() for cell in line.split("|")) for line in lines if "area:one" in line] == [
        "|`area:one`|MUST|✓|✗|?|"
    ]
    assert any(line.startswith("| `hangs`") and "| The suite did not end." in line for line in lines)


@pytest.mark.parametrize("render", [render_markdown, render_html])
def test_a_legend_says_what_each_sign_means(render: Callable[[Sequence[Column]], str]):
    assert all(sign in render([]) and meaning in render([]) for sign, meaning in LEGEND.items())


def test_the_page_has_a_row_for_every_requirement_and_a_column_for_every_port():
    page = render_html(COLUMNS)
    assert re.findall(r'data-verdict="([^"]*)"', page) == ["pass fail could-not-run", "pass could-not-run"]
    assert page.count('<th scope="col">') == 1 + len(COLUMNS)


def test_the_page_escapes_what_ports_say():
    page = render_html(COLUMNS)
    assert page.count("<script>") == 1
    assert "&lt;b&gt;bad|" in page
