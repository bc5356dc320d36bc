"""What a port writes to its stdout and stderr."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from gemini_mcp.spec.values import decode, table
from gemini_mcp_conformance.judge.expectation import answer, is_call
from gemini_mcp_conformance.judge.registry import check_all
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation
from gemini_mcp_conformance.tell.witness import bytes_shown, shown

PRIVATE = 16
"""Characters from which on a text is found in a log for one reason only."""


def writes(observation: Observation) -> bool:
    return observation.transport == "stdio" and any(True for _ in observation.received)


@check_all("stdio:framing", judges=writes)
def every_line_is_one_message(observation: Observation) -> list[str]:
    received = list(observation.received)
    open_lines = [line.data for line in received if not line.ended and observation.died is None]
    if open_lines:
        return [f"The port ended with {bytes_shown(open_lines[0])} and no newline behind it."]
    spread = [run for run in _runs_of_other_lines(received) if len(run) > 1 and table(decode(b"\n".join(run)))]
    return [f"The port spread a message over {len(run)} lines, from {bytes_shown(run[0])} on." for run in spread[:1]]


@check_all("stdio:stdout", judges=writes)
def nothing_but_messages(observation: Observation) -> list[str]:
    other = [line.data[:200] for line in observation.received if not line.table and line.ended]
    return [f"The port wrote {bytes_shown(other[0])} to stdout, which is no message."] if other else []


@check_all("stdio:encoding", judges=writes)
def every_message_is_utf_8(observation: Observation) -> list[str]:
    broken = [line.data[:200] for line in observation.received if not _is_text(line.data)]
    return [f"The port wrote {broken[0]!r} to stdout, which is not UTF-8."] if broken else []


@check_all("stdio:stderr:private", judges=lambda seen: writes(seen) and bool(private(seen)))
def nothing_private_is_logged(observation: Observation) -> list[str]:
    found = [text for text in private(observation) if text.encode("utf-8", "replace") in observation.stderr]
    return [f"The port wrote {shown(found[0])} to its stderr, which is a prompt or an answer."] if found else []


def private(observation: Observation) -> list[str]:
    """The prompts and answers of a conversation that are long enough to be told from other words."""
    given = [each.arguments.get(key) for each in observation.calls for key in _private(each)]
    answers = [found.text for each in observation.calls if (found := answer(each)) is not None]
    return [text for text in (*given, *answers) if isinstance(text, str) and len(text.strip()) >= PRIVATE]


def _private(exchange: Exchange) -> tuple[str, ...]:
    """The arguments that must not be repeated."""
    return exchange.spec.template(exchange.tool or "").private if is_call(exchange) else ()


def _runs_of_other_lines(lines: Iterable[Line]) -> Iterator[list[bytes]]:
    """The lines that are no message, those together that follow each other."""
    for is_message, run in groupby(lines, key=lambda line: bool(line.table)):
        if not is_message:
            yield [line.data for line in run]


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
