"""What a port writes to its stdout and stderr."""

from gemini_mcp_conformance.observation import Observation
from gemini_mcp_conformance.registry import check_all


def writes(observation: Observation) -> bool:
    return observation.transport == "stdio" and any(True for _ in observation.received)


@check_all("stdio:framing", judges=writes)
def every_line_is_one_message(observation: Observation) -> list[str]:
    open_lines = [line.data for line in observation.received if not line.ended and observation.died is None]
    return [f"The port ended with {open_lines[0]!r} and no newline behind it."] if open_lines else []


@check_all("stdio:stdout", judges=writes)
def nothing_but_messages(observation: Observation) -> list[str]:
    other = [line.data[:200] for line in observation.received if not line.table and line.ended]
    return [f"The port wrote {other[0]!r} to stdout, which is no message."] if other else []


@check_all("stdio:encoding", judges=writes)
def every_message_is_utf_8(observation: Observation) -> list[str]:
    broken = [line.data[:200] for line in observation.received if not _is_text(line.data)]
    return [f"The port wrote {broken[0]!r} to stdout, which is not UTF-8."] if broken else []


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
