"""Files of system prompts that are shared, left open or not made: ports that break `system`."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure
from defects.record import defect
from planning import Plan, Refusal
from running import LIST, LISTING_TIMEOUT, Call, Environment
from steps import always, before, for_tool, gives, latest_repeated, takes


def blank_kept_beside_stdin(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return plan if plan.stdin is None else replace(plan, system=arguments.get("systemPrompt") or None)


def same_system_left_out(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    is_known = plan.system is not None and port.memory.get(plan.session) == plan.system
    answer = real(call, replace(plan, system=None) if is_known else plan)
    if plan.system is not None and answer.session is not None:
        port.memory[answer.session] = plan.system
    return answer


def below_its_own(port: Any, real: Any) -> str:
    path = os.path.join(os.getcwd(), f"gemini-mcp-{os.urandom(3).hex()}")
    os.mkdir(path, 0o700)
    return path


def unnamed(port: Any, real: Any) -> str:
    named = real()
    path = named.replace("gemini-mcp-", "tmp")
    os.rename(named, path)
    return path


def path_shared(port: Any, real: Any, path: str | None) -> Environment:
    if path is None:
        return real(None)
    os.environ["GEMINI_SYSTEM_MD"] = path
    time.sleep(0.1)
    return real(os.environ.pop("GEMINI_SYSTEM_MD", path))


def shared_file(port: Any, real: Any, text: str) -> str:
    directory = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{os.getpid() % 1_000_000:06}")
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb") as file:
        file.write(port.system_bytes(text))
    time.sleep(0.1)
    return path


def keeps_system(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    """Reads the system prompt before it looks at the directory, and forgets it after a run."""
    try:
        plan = real(tool, arguments)
    except Refusal as refusal:
        if "`cwd`" in str(refusal):
            port.memory["system"] = arguments.get("systemPrompt", "").strip() or None
        raise
    kept = port.memory.pop("system", None)
    return plan if plan.system else replace(plan, system=kept)


def removed_early(port: Any, real: Any, text: str) -> str:
    path = real(text)
    timer = threading.Timer(0.3, shutil.rmtree, (os.path.dirname(path), True))
    timer.daemon = True
    timer.start()
    return path


def readable(path: str) -> str:
    os.chmod(path, 0o644)
    os.chmod(os.path.dirname(path), 0o755)
    return path


def list_with_empty_variable(port: Any, real: Any, call: Call, plan: Any) -> Any:
    if plan.system is not None:
        return real(call, plan)
    env = {"GEMINI_SYSTEM_MD": "", **port.environment(None)}
    try:
        return port.run(call, (plan.argv[0], LIST), port.listing_cwd(plan), env, None, LISTING_TIMEOUT)
    except Failure:
        return None


defect(
    "blank-system-beside-stdin",
    "Writes a system prompt of blanks into a file when the prompt goes to stdin.",
    "system:absent",
    "arguments:empty:system-prompt",
)(plan=blank_kept_beside_stdin)
defect("system-always-set", "Sets GEMINI_SYSTEM_MD in every call.", "system:absent")(
    environment=takes(lambda path: path or "false")
)
defect(
    "same-system-prompt-left-out",
    "Leaves the system prompt of a reply out when the session had the same one before.",
    "system:chat-reply",
)(ask=same_system_left_out)
defect("reply-ignores-system-prompt", "Ignores the system prompt of a reply.", "system:chat-reply")(
    system=for_tool("chat-reply", always(None))
)
defect(
    "system-prompt-lost-at-latest-by-name",
    "Hands over no system prompt to a reply whose session is `latest` by that word.",
    "system:chat-reply",
)(
    system=lambda port, real, tool, texts: None if texts.get("sessionId") == "latest" else real(tool, texts),
)
defect(
    "system-file-in-working-directory", "Writes the system prompt into a directory below its own.", "system:directory"
)(new_directory=below_its_own)
defect("system-directory-unnamed", "Names the temporary directory without `gemini-mcp-`.", "system:directory")(
    new_directory=unnamed
)
defect("system-file-lower-case", "Names the file `system.md`.", "system:file-name")(system_name=always("system.md"))
defect("system-path-shared", "Sets GEMINI_SYSTEM_MD in its own environment while a call starts.", "system:isolation")(
    environment=path_shared
)
defect(
    "system-file-shared",
    "Writes the system prompt of every call to the same file.",
    "system:isolation",
    "system:life",
)(write_system=shared_file)
defect(
    "system-outlives-refusal",
    "Hands the system prompt of a call that was refused for its `cwd` over to the next call that has none.",
    "system:leak",
)(plan=keeps_system)
defect(
    "system-path-stays", "Sets GEMINI_SYSTEM_MD in its own environment, where it stays.", "system:leak", "system:absent"
)(environment=before(lambda port, path: path and os.environ.update(GEMINI_SYSTEM_MD=path)))
defect(
    "system-prompt-remembered",
    "Hands the system prompt of an earlier call over again in a reply without one.",
    "system:leak",
)(system=latest_repeated("chat-reply"))
defect("system-file-removed-early", "Removes the system prompt while gemini runs.", "system:life")(
    write_system=removed_early
)
defect("system-file-for-everybody", "Lets everybody read the system prompt.", "system:mode")(
    write_system=gives(readable)
)
defect(
    "empty-variable-in-list",
    "Sets an empty GEMINI_SYSTEM_MD when it asks for the list of sessions after a call without a system prompt.",
    "system:absent",
)(list_sessions=list_with_empty_variable)
