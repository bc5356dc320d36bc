"""Faults beside the answer: ports that break `cancel`, `command`, `stateless` or `system`."""

import signal
from dataclasses import replace

from conditions import REVISION, asks, speaks
from defects.record import defect
from defects.shared import retries, without_server

defect("cancel-unheard-in-2025-06-18", "Ignores the cancellations of clients of 2025-06-18.", "cancel:child")(
    initialize=REVISION,
    cancel=lambda port, real, call: None if speaks(port, "2025-06-18") and not call.stateless else real(call),
)
defect(
    "killed-gemini-retried",
    "Runs the prompt again when gemini was killed.",
    "command:once",
)(run_prompt=retries(lambda outcome: outcome.exit == -signal.SIGKILL))
defect("server-unnamed-in-errors", "Leaves its name out of results that are errors.", "stateless:server-info")(
    finished=lambda port, real, result, stateless: (
        without_server(real(result, stateless)) if stateless and result.get("isError") else real(result, stateless)
    )
)
defect(
    "stateless-system-prompt-lost", "Hands no system prompt over in a `chat` without a handshake.", "system:content"
)(ask=asks(lambda call, plan: call.stateless and call.tool == "chat", lambda plan: replace(plan, system=None)))
defect(
    "retried-as-advised",
    "Runs the prompt again when gemini fails and advises to try it again soon.",
    "command:once",
)(run_prompt=retries(lambda outcome: outcome.exit != 0 and b"retry in" in outcome.stderr))
