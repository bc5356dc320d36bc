"""Defects that show when two or three things meet: arguments, the way of the prompt, the outcome, the era, a token."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure
from conditions import altering, asks, ends, failed, has_model, is_flagged, is_named, lacking, results
from defects.answer.outputs import reads
from defects.call.commands import prompt_in_double_quotes, through_shell
from defects.call.system import keeps
from defects.record import defect
from http_port import HttpPort
from planning import ARGUMENT_LIMIT, Plan
from running import Call
from steps import Step, only, without


def is_long(call: Call) -> bool:
    prompt = call.arguments.get("prompt")
    return isinstance(prompt, str) and len(prompt.encode("utf-8", "replace")) > ARGUMENT_LIMIT


def unflagged(plan: Plan) -> Plan:
    return replace(plan, argv=tuple(word.removeprefix("--prompt=") for word in plan.argv))


def without_directory(plan: Plan) -> Plan:
    return replace(plan, cwd=None)


def in_temporary_directory(plan: Plan) -> Plan:
    return replace(plan, cwd=os.path.join(tempfile.gettempdir(), plan.cwd or ""))


def asked_session_with_warnings(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    return replace(answer, session=plan.session) if answer.warnings and is_named(plan) else answer


def broken_is_text_beside_stderr(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        if "incomplete" in failure.sentence and stderr.strip():
            return Answer(stdout)
        raise


def through_shell_when(*names: str) -> Step:
    """Hands the command line to a shell when the run has a directory and these words; quotes the model wrongly."""
    shell: Any = through_shell(lambda before, word: word if before == "-m" else None)

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        is_meant = options.get("cwd") and set(names) <= set(argv)
        return (shell(port, real, argv, **options)) if is_meant else real(argv, **options)

    return spawn


def through_shell_with_system_prompt(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    shell: Any = through_shell(prompt_in_double_quotes)
    is_meant = "GEMINI_SYSTEM_MD" in options["env"] and "-m" in argv
    return shell(port, real, argv, **options) if is_meant else real(argv, **options)


def models_are_text_in_named_sessions(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    model = arguments.get("model")
    is_meant = "sessionId" in arguments and isinstance(model, int | float)
    return real(tool, {**arguments, "model": str(model)} if is_meant else arguments)


def missing_directory_overlooked(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_overlooked = "model" in texts and "cwd" in texts and not os.path.exists(texts["cwd"])
    return None if is_overlooked else real(tool, texts)


defect(
    "model-lost-beside-system-prompt-on-stdin",
    "Loses the model of a call with a system prompt whose prompt goes to stdin.",
    "command:chat:model",
)(ask=asks(lambda call, plan: plan.system is not None and plan.stdin is not None, lacking("-m")))
defect(
    "session-quoted-beside-directory",
    "Puts quotes around the session of a reply that names a directory.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: is_named(plan) and bool(plan.cwd), altering("-r", lambda id: f'"{id}"')))
defect(
    "reply-model-lost-beside-both",
    "Loses the model of a reply that has a system prompt and a directory.",
    "command:chat-reply:model",
)(ask=asks(lambda call, plan: bool(plan.session and plan.system and plan.cwd), lacking("-m")))
defect(
    "directory-lost-beside-flagged-prompt-and-model",
    "Runs a `chat` with a model and a risky prompt in its own directory.",
    "cwd:used",
)(ask=asks(lambda call, plan: not plan.session and is_flagged(plan) and has_model(plan), without_directory))
defect("reply-directory-lost-on-stdin", "Runs a reply in its own directory when the prompt is long.", "cwd:chat-reply")(
    ask=asks(lambda call, plan: plan.session is not None and plan.stdin is not None, without_directory)
)
defect(
    "reply-system-prompt-lost-on-stdin-beside-model",
    "Hands no system prompt over in a reply with a model and a long prompt.",
    "system:chat-reply",
)(
    ask=asks(
        lambda call, plan: bool(plan.session and plan.stdin and has_model(plan)),
        lambda plan: replace(plan, system=None),
    )
)
defect(
    "latest-forgotten-beside-model",
    "Starts a new session for a reply that names a model and no session.",
    "command:chat-reply:latest",
)(ask=asks(lambda call, plan: plan.session == "latest" and has_model(plan), lacking("-r")))
defect(
    "format-lost-on-stdin-beside-directory",
    "Asks for no output format when a long prompt meets a directory.",
    "command:chat",
)(ask=asks(lambda call, plan: plan.stdin is not None and plan.cwd is not None, lacking("--output-format")))
defect(
    "risky-prompt-positional-in-named-session",
    "Passes a risky prompt as it is in a reply by id that has a model.",
    "injection:option:prompt",
    "prompt:verbatim:dash",
)(ask=asks(lambda call, plan: is_named(plan) and has_model(plan), unflagged))
defect(
    "long-prompt-ends-line-beside-model",
    "Ends a long prompt with a newline of its own in a reply with a model.",
    "prompt:long",
)(
    ask=asks(
        lambda call, plan: bool(plan.session and plan.stdin and has_model(plan)),
        lambda plan: replace(plan, stdin=f"{plan.stdin}\n"),
    )
)
defect(
    "relative-directory-beside-system-prompt",
    "Resolves a relative directory against the temporary one when there is a system prompt.",
    "cwd:relative",
)(
    ask=asks(
        lambda call, plan: plan.system is not None and plan.cwd is not None and not os.path.isabs(plan.cwd),
        in_temporary_directory,
    )
)
defect(
    "exit-42-swallowed-in-named-session",
    "Calls exit code 42 a success in a reply that names its session.",
    "error:exit",
    "error:is-error",
)(
    execute=results(
        lambda call, result: "sessionId" in call.arguments and "exit code 42" in str(result["content"]),
        without("isError"),
    )
)
defect(
    "signal-swallowed-behind-answer-of-reply",
    "Believes the answer of a reply whose gemini has then died of a signal.",
    "error:signal",
)(
    run_prompt=ends(
        lambda call, run: call.tool == "chat-reply" and run.exit < 0 and b'"response"' in run.stdout,
        lambda run: replace(run, exit=0),
    )
)
defect(
    "stateless-progress-lost-for-text-ids",
    "Tells no progress without a handshake when the id of the call is a string.",
    "progress:start",
)(report_progress=only(lambda call: not (call.stateless and isinstance(call.id, str))))
defect(
    "stateless-failure-is-success-beside-token",
    "Returns a failure without isError when a call without a handshake asks for progress.",
    "error:is-error",
)(
    execute=results(
        lambda call, result: call.stateless and call.token is not None and failed(call, result), without("isError")
    )
)
defect(
    "stateless-session-lost-beside-text-token",
    "Names no session in a reply without a handshake whose progress token is a string.",
    "result:session-id:chat-reply",
)(
    execute=results(
        lambda call, result: call.stateless and call.tool == "chat-reply" and isinstance(call.token, str),
        without("_meta"),
    )
)
defect(
    "kept-after-failure-in-directory",
    "Keeps the system prompt of a call that failed in a directory of its own.",
    "system:removed:failure",
)(remove_system=keeps(lambda port, call, run: run is not None and run.exit != 0 and "cwd" in call.arguments))
defect(
    "kept-after-cancel-on-stdin",
    "Keeps the system prompt of a cancelled call whose prompt was long.",
    "system:removed:cancel",
)(remove_system=keeps(lambda port, call, run: call.is_cancelled and not port.is_ending and is_long(call)))
defect(
    "kept-after-latest-beside-model",
    "Keeps the system prompt of a reply to the latest session that names a model.",
    "system:removed:success",
)(
    remove_system=keeps(
        lambda port, call, run: (
            call.tool == "chat-reply" and "model" in call.arguments and "sessionId" not in call.arguments
        )
    )
)
defect(
    "named-replies-uncancellable-beside-token",
    "Does not cancel a reply by id that asks for progress.",
    "cancel:child",
)(cancel=only(lambda call: call.token is None or "sessionId" not in call.arguments))
defect(
    "listing-elsewhere-beside-system-prompt",
    "Asks for the list in its own directory when the call has a system prompt.",
    "fallback:cwd",
)(listing_cwd=lambda port, real, plan: None if plan.system else real(plan))
defect(
    "changed-session-lost-beside-warnings",
    "Names the session that a reply asked for when gemini changes it with a warning.",
    "result:session-id:changed",
)(ask=asked_session_with_warnings)
defect(
    "error-overlooked-beside-warnings",
    "Overlooks an error in JSON that has warnings and a response beside it.",
    "result:error-key",
)(read_json=reads(lambda value: {**value, "error": None} if value.get("warnings") and "response" in value else value))
defect(
    "truncated-is-text-beside-stderr",
    "Returns JSON that breaks off as text when gemini says something on stderr.",
    "result:truncated",
)(read_stdout=broken_is_text_beside_stderr)
defect(
    "model-through-shell-beside-directory-in-reply",
    "Runs a reply with a model and a directory through a shell, and leaves the model unquoted.",
    "injection:shell:model",
)(spawn=through_shell_when("-m", "-r"))
defect(
    "prompt-through-shell-beside-system-prompt",
    "Runs a call with a system prompt and a model through a shell, the prompt between double quotes.",
    "injection:shell:prompt",
)(spawn=through_shell_with_system_prompt)
defect(
    "numbers-are-models-in-named-sessions",
    "Makes text of a model that is a number in a reply by id.",
    "arguments:optional:type",
)(texts=models_are_text_in_named_sessions)
defect(
    "missing-directory-overlooked-beside-model",
    "Runs a call with a model in its own directory when the one it names does not exist.",
    "cwd:missing",
)(cwd=missing_directory_overlooked)
defect(
    "session-unnamed-in-streams",
    "Names no session in an answer over HTTP behind progress notifications.",
    "http:equivalence",
    "result:session-id",
)(HttpPort, execute=results(lambda call, result: call.token is not None, without("_meta")))
