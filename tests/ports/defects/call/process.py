"""What gemini inherits, and the pipes it reads and writes: ports that break `process`."""

import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import Outcome
from conditions import is_fed, stdin_open, without_variables
from defects.call.shared import Piped
from defects.record import defect
from planning import Plan
from running import Call
from steps import Step, gives, takes

LONG = 60
PAUSE = 0.05


def notes_system(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    port.memory["unset"] = port.memory.get("unset") or plan.system is not None
    return outcome


def unsets_system(port: Any, real: Any, system_path: str | None) -> dict[str, str]:
    environ = real(system_path)
    if system_path is None and port.memory.get("unset"):
        environ.pop("GEMINI_SYSTEM_MD", None)
    return environ


def last_of_each_case(variables: Mapping[str, str]) -> dict[str, str]:
    names = {name.upper(): name for name in variables}
    return {name: variables[name] for name in names.values()}


def with_filled_values(variables: dict[str, str]) -> dict[str, str]:
    return {name: os.path.expandvars(value) for name, value in variables.items()}


def with_variables(**variables: str) -> Step:
    return gives(lambda environ: {**environ, **variables})


def waits_for_group_of_failure(port: Any, real: Any, call: Call, process: subprocess.Popen[bytes]) -> int:
    exit, end = real(call, process), time.monotonic() + LONG
    with suppress(ProcessLookupError):
        while exit != 0 and not call.is_cancelled and time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(PAUSE)
    return exit


def with_stdin(stdin: int | None, word: str = "gemini") -> Step:
    """Gives gemini another stdin when this word is on its command line."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        return real(argv, **{**options, **({"stdin": stdin} if word in argv else {})})

    return spawn


def appends_prompt(argv: tuple[str, ...]) -> bool:
    """gemini appends its prompt to what stands on stdin."""
    return "-r" in argv and any(word.startswith("--prompt=") for word in argv)


def stdin_kept(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Puts the server's own stdin aside, as a program does that moves a file to 0 before it starts another."""
    if not is_fed(options["stdin"]):
        return real(argv, **options)
    kept = os.dup(0)
    try:
        return real(argv, pass_fds=(kept,), **options)
    finally:
        os.close(kept)


defect(
    "own-system-unset",
    "Withholds the GEMINI_SYSTEM_MD of its own environment after a call that had a system prompt.",
    "process:environment",
)(run_prompt=notes_system, environment=unsets_system)
defect(
    "variables-without-case",
    "Hands on one of several variables whose names differ in case alone.",
    "process:environment",
)(environment=gives(last_of_each_case))
defect(
    "variables-filled-into-variables",
    "Fills variables into the values of others that write `$NAME`.",
    "process:environment",
)(environment=gives(with_filled_values))
defect(
    "variables-with-mcp-withheld",
    "Hands no variable on in whose name `MCP_` stands, wherever that is.",
    "process:environment",
)(environment=without_variables(lambda name, value: "MCP_" in name))
defect("language-of-gemini-set", "Gives gemini the language C.", "process:environment")(
    environment=with_variables(LANG="C", LC_ALL="C")
)
defect("node-variables-lost", "Hands no variable on that begins with `NODE_` or `npm_`.", "process:environment")(
    environment=without_variables(lambda name, value: name.startswith(("NODE_", "npm_")))
)
defect("secrets-lost", "Hands no variable on whose name speaks of a secret.", "process:environment")(
    environment=without_variables(lambda name, value: "SECRET" in name or "TOKEN" in name)
)
defect("known-variables-only", "Hands on the variables that it knows gemini to read.", "process:environment")(
    environment=without_variables(
        lambda name, value: not name.startswith(("GEMINI_", "GOOGLE_", "HOME", "PATH", "TMPDIR", "PWD", "LANG"))
    )
)
defect("environment-filtered", "Passes on HOME and PATH and nothing else.", "process:environment")(
    environment=without_variables(lambda name, value: name not in ("HOME", "PATH", "GEMINI_SYSTEM_MD", "TMPDIR"))
)
defect("api-key-emptied", "Empties the API key in gemini's environment.", "process:environment")(
    environment=gives(lambda all: {name: "" if name.endswith("_KEY") else value for name, value in all.items()})
)
defect("waits-for-end-of-output", "Waits until nobody holds gemini's output any more.", "process:held-output")(Piped)
defect(
    "failure-waits-for-its-group",
    "Answers a call that failed when all that gemini started has ended.",
    "process:held-output",
)(wait=waits_for_group_of_failure)
defect("stdin-inherited", "Lets gemini read the server's stdin.", "process:stdin")(spawn=with_stdin(None))
defect("reply-inherits-stdin", "Lets gemini read the server's stdin, in replies only.", "process:stdin")(
    spawn=with_stdin(None, "-r")
)
defect(
    "stdin-open-behind-flag-in-reply",
    "Gives gemini an open pipe as stdin in a reply whose prompt follows `--prompt=`.",
    "process:stdin:ended",
)(spawn=stdin_open(appends_prompt))
defect("stdin-left-open", "Gives gemini an open pipe as stdin and never closes it.", "process:stdin:ended")(
    spawn=with_stdin(subprocess.PIPE), prompt_form=takes(lambda prompt: prompt[:100_000])
)
defect(
    "stdin-open-under-another-number",
    "Leaves the server's own stdin open in gemini under another number when the prompt goes to stdin.",
    "process:stdin",
)(spawn=stdin_kept)
