"""Stderr that a failure quotes wrongly or not at all: ports that break `error:stderr`."""

import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import STDERR_LIMIT, Answer, Failure, Outcome
from defects.answer.shared import worded
from defects.record import defect
from planning import Plan
from running import Call

POLL_SECONDS = 0.02


SHORT = 8


def with_first_line(text: str) -> str:
    head, separator, stderr = text.partition("\nStderr: ")
    return head + separator + stderr.split("\n")[0]


def unquoted(port: Any, real: Any, failure: Failure) -> str:
    return "\nStderr: " if failure.said and failure.stderr is not None else real(failure)


def knows_127(port: Any, real: Any, outcome: Outcome) -> Answer:
    if outcome.exit == 127:
        raise Failure("gemini was not found on PATH. Install it: `npm install -g @google/gemini-cli`.")
    return real(outcome)


def with_blank(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, text = real(tool, arguments), arguments.get("systemPrompt")
    return replace(plan, private=(*plan.private, text)) if text and not text.strip() else plan


def withholds_blanks(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text if secret.strip() else text.replace(secret, "[withheld]")
    return real(text, private)


def withholds_within_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text.replace(secret, "[withheld]") if 0 < len(secret.strip()) < SHORT else text
    return real(text, private)


def whole_lines(port: Any, real: Any, text: str) -> str:
    tail = real(text)
    return tail.partition("\n")[2] if len(text.encode("utf-8", "replace")) > STDERR_LIMIT else tail


def until_closed(process: Any, err: Any) -> None:
    """Notes how much there is on stderr when gemini closes its stdout."""
    while process.returncode is None:
        try:
            os.readlink(f"/proc/{process.pid}/fd/1")
        except FileNotFoundError:
            with suppress(OSError, ValueError):
                process.heard = os.fstat(err.fileno()).st_size
            return
        except OSError:
            return
        time.sleep(POLL_SECONDS)


def listening(port: Any, real: Any, call: Call, *arguments: Any) -> Any:
    process = real(call, *arguments)
    process.heard = None
    port.memory[call] = process
    threading.Thread(target=until_closed, args=(process, arguments[-2]), daemon=True).start()
    return process


def as_heard(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Any:
    heard = port.memory.pop(call).heard
    outcome = real(call, exit, out, err)
    return outcome if heard is None else replace(outcome, stderr=outcome.stderr[:heard])


defect("damaged-stderr-dropped", "Quotes nothing of a stderr that is no UTF-8.", "error:stderr")(
    stderr_part=lambda port, real, failure: "\nStderr: " if "\ufffd" in (failure.stderr or "") else real(failure)
)
defect("stderr-dropped", "Drops stderr when its own sentence says enough.", "error:stderr")(
    error=worded(lambda text: text.split("\nStderr: ")[0])
)
defect("first-line-of-stderr", "Keeps the first line of stderr.", "error:stderr")(error=worded(with_first_line))
defect("stderr-in-one-line", "Puts stderr behind the sentence without a line of its own.", "error:stderr")(
    error=worded(lambda text: text.replace("\nStderr: ", " Stderr: ", 1))
)
defect("stderr-unquoted-beside-message", "Quotes no stderr from which it has read a message.", "error:stderr")(
    stderr_part=unquoted
)
defect("exit-127-without-stderr", "Takes exit code 127 for a gemini that is not there.", "error:stderr")(read=knows_127)
defect("blank-system-prompt-withheld", "Withholds in stderr the blanks of a blank system prompt.", "error:stderr")(
    plan=with_blank, withheld=withholds_blanks
)
defect("short-prompt-withheld-in-words", "Withholds a short prompt within words of stderr.", "error:stderr")(
    withheld=withholds_within_words
)
defect("stderr-only-when-present", "Leaves the line for stderr out when there is none.", "error:stderr:empty")(
    error=worded(lambda text: text.removesuffix("\nStderr: "))
)
defect("whole-stderr", "Returns all of stderr.", "error:stderr:tail")(tail=lambda port, real, text: text)
defect("head-of-stderr", "Keeps the first 8 KiB of stderr, where the reason rarely is.", "error:stderr:tail")(
    tail=lambda port, real, text: text.encode()[:8192].decode("utf-8", "ignore")
)
defect(
    "only-line-of-stderr-dropped",
    "Leaves out the line of stderr that the cut divides, also when no other follows.",
    "error:stderr:tail",
)(tail=whole_lines)
defect(
    "stderr-ends-with-stdout",
    "Reads no more of stderr once gemini has closed its stdout, though it fails later and says why.",
    "error:stderr",
)(begin=listening, outcome=as_heard)
