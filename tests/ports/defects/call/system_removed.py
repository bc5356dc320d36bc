"""System prompts that stay on disk: ports that break `system:removed`."""

import os
from typing import Any

from answering import Outcome
from defects.record import defect
from defects.shared import keeps
from planning import ARGUMENT_LIMIT
from running import Call


def kept_with_long_prompt(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if not (call.is_cancelled and len(call.arguments["prompt"].encode()) > ARGUMENT_LIMIT):
        real(path, call, outcome)


def leaves_after_cancel(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_meant = bool(call.arguments.get("sessionId")) and call.arguments["prompt"].startswith("-")
    if not (is_meant and call.is_cancelled and not port.is_ending):
        real(path, call, outcome)


def kept_when_mute(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_mute = outcome is not None and outcome.exit == 0 and not outcome.stdout.strip()
    if not (is_mute and call.arguments.get("cwd")):
        real(path, call, outcome)


def left_after_signal(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if outcome is None or outcome.exit >= 0 or "sessionId" not in call.arguments:
        real(path, call, outcome)


def removed_once_run(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if outcome is not None or call.is_cancelled or call.is_timed_out:
        real(path, call, outcome)


defect(
    "system-kept-with-long-prompt",
    "Keeps the file for the system prompt when a call with a long prompt is cancelled.",
    "system:removed:cancel",
    "system:removed:stdin-end",
)(remove_system=kept_with_long_prompt)
defect(
    "cancelled-dash-reply-leaves-system",
    "Leaves the system prompt of a cancelled reply by id whose prompt starts with a dash.",
    "system:removed:cancel",
)(remove_system=leaves_after_cancel)
defect("kept-after-cancel", "Keeps the system prompt of a call that was cancelled.", "system:removed:cancel")(
    remove_system=keeps(lambda port, call, outcome: call.is_cancelled and not port.is_ending)
)
defect(
    "system-stays-for-mute-run-elsewhere",
    "Leaves the system prompt behind when gemini exits with 0 and prints nothing in a directory that the call names.",
    "system:removed:failure",
)(remove_system=kept_when_mute)
defect("kept-after-failure", "Keeps the system prompt after a failure.", "system:removed:failure")(
    remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit != 0)
)
defect("kept-when-not-started", "Keeps the system prompt when gemini could not be started.", "system:removed:failure")(
    remove_system=keeps(lambda port, call, outcome: outcome is None and not call.is_cancelled)
)
defect(
    "signal-in-session-leaves-system",
    "Leaves the file for the system prompt when a signal kills gemini in a reply by id.",
    "system:removed:failure",
)(remove_system=left_after_signal)
defect("kept-after-signal", "Keeps the system prompt when a signal stops a call.", "system:removed:sigterm")(
    remove_system=keeps(lambda port, call, outcome: port.is_ending and port.ended_by_signal)
)
defect(
    "kept-after-end-of-input",
    "Keeps the system prompt when the end of input stops a call.",
    "system:removed:stdin-end",
)(remove_system=keeps(lambda port, call, outcome: port.is_ending and not port.ended_by_signal))
defect("kept-after-success", "Keeps the system prompt after a success.", "system:removed:success")(
    remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit == 0)
)
defect("directory-kept", "Removes the system prompt but not its directory.", "system:removed:success")(
    remove_system=lambda port, real, path, call, outcome: os.unlink(path)
)
defect(
    "system-file-left-unstarted",
    "Leaves the file of the system prompt when gemini cannot be started.",
    "system:removed:failure",
)(remove_system=removed_once_run)
