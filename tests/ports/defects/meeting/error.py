"""Failures that are told wrongly where two things meet: ports that break `error`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import EXITS, KEYS, NO_NODE, QUOTA, Failure, Outcome
from conditions import REVISION, ends, failed, results, speaks
from defects.meeting.shared import failing, is_latest, is_long
from defects.record import defect
from defects.shared import names
from running import Call
from speaking import Message
from steps import Step, notes, without


def saying(sentence: str) -> Callable[[Failure], Failure]:
    return lambda failure: replace(failure, sentence=sentence)


def failed_run_is_success(call: Call, outcome: Outcome) -> bool:
    return outcome.exit == 1 and is_long(call) and b'"response"' in outcome.stdout


def unread_beside_wide(port: Any, real: Any, stderr: str) -> str | None:
    return real(stderr) if stderr.isascii() else None


def said_in_order(port: Any, real: Any, failure: Failure) -> Any:
    """Withholds in what gemini says the texts in the order of the arguments."""
    said = failure.said
    for secret in failure.private if said and all(len(text) >= 8 for text in failure.private) else ():
        said = said.replace(secret, "[withheld]") if said else said
    return real(replace(failure, said=said))


def hides_latest(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows the prompt of the call that failed, and the system prompt of the latest."""
    return real(text, (*private[:1], *port.memory.get("system", ())))


def server_fault_first(port: Any, real: Any, exit: int, stderr: str) -> str:
    return EXITS[exit] if exit in (244, 247) else real(exit, stderr)


def without_quota(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, QUOTA.sub("", stderr) if exit in EXITS else stderr)


def knowing_only(pattern: re.Pattern[str], word: str) -> Step:
    """Of `exit_sentence`: knows one spelling of several."""

    def exit_sentence(port: Any, real: Any, exit: int, stderr: str) -> str:
        return real(exit, pattern.sub(lambda found: found[0] if word in found[0] else "", stderr))

    return exit_sentence


def masked_but_in(revision: str) -> Step:
    return lambda port, real, text: text if speaks(port, revision) else real(text)


def first_key_of_line(port: Any, real: Any, text: str) -> str:
    return "\n".join(KEYS.sub("[masked]", line, count=1) for line in text.split("\n"))


def told_unmasked(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says of its failure is shown as it is."""
    result = real(replace(failure, said=None))
    said = failure.said and f" Gemini CLI says: {port.withheld(failure.said, failure.private)}"
    sentence, label, stderr = result["content"][0]["text"].partition("\nStderr: ")
    return {**result, "content": port.content(f"{sentence}{said or ''}{label}{stderr}")}


def names_failed(call: Call, result: Message) -> bool:
    return failed(call, result) and isinstance(call.arguments.get("sessionId"), str) and "model" in call.arguments


def named_though_failed(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    return {**result, "_meta": {"sessionId": call.arguments["sessionId"]}} if names_failed(call, result) else result


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
    "exit-41-unexplained-beside-system-prompt",
    "Does not explain the exit code 41 of a call with a system prompt.",
    "error:exit:41",
)(ask=failing(names("systemPrompt"), "exit code 41", saying("gemini failed.")))
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
    "exit-1-swallowed-behind-answer-to-long-prompt",
    "Takes the answer to a long prompt for a success although gemini exits with 1.",
    "error:is-error",
    "error:exit",
)(run_prompt=ends(failed_run_is_success, lambda outcome: replace(outcome, exit=0)))
defect(
    "json-on-stderr-unread-for-latest-beside-directory",
    "Does not read the JSON error on stderr in a reply to the latest session of a directory.",
    "error:json-on-stderr",
)(ask=failing(lambda call, plan: is_latest(plan) and plan.cwd, "gemini", lambda failure: replace(failure, said=None)))
defect(
    "message-unread-beside-wide-text",
    "Reads no JSON error in a stderr that is not ASCII.",
    "error:json-on-stderr",
)(said=unread_beside_wide)
defect(
    "said-withheld-in-order",
    "Leaves the rest of a system prompt that holds the prompt in the message that it takes from a JSON error.",
    "error:prompt",
)(error=said_in_order)
defect(
    "system-prompt-of-latest-withheld",
    "Withholds from an error the system prompt of the call that began last, not that of the one that failed.",
    "error:prompt",
)(plan=notes("system", lambda plan: plan.private[1:]), redacted=hides_latest)
defect(
    "quota-unexplained-beside-long-prompt",
    "Speaks of no quota when the prompt was long.",
    "error:quota",
)(ask=failing(lambda call, plan: plan.stdin is not None, "quota", saying("gemini failed.")))
defect(
    "quota-behind-server-fault",
    "Does not name the quota of which stderr speaks when the exit code is 244 or 247.",
    "error:quota",
)(exit_sentence=server_fault_first)
defect(
    "quota-of-known-exits-unexplained",
    "Looks for a quota in stderr when it does not know the exit code.",
    "error:quota",
)(exit_sentence=without_quota)
defect("capacity-is-no-quota", "Knows an exhausted quota by `RESOURCE_EXHAUSTED` alone.", "error:quota")(
    exit_sentence=knowing_only(QUOTA, "RESOURCE_EXHAUSTED")
)
defect("node-missed-in-one-shell", "Knows a missing Node by the words of `env` alone.", "error:saying:no-node")(
    exit_sentence=knowing_only(NO_NODE, "env")
)
defect("keys-unmasked-in-2024-11-05", "Masks no keys for clients of 2024-11-05.", "error:secrets")(
    initialize=REVISION, masked=masked_but_in("2024-11-05")
)
defect("first-key-of-line-masked", "Masks the first key of each line.", "error:secrets")(masked=first_key_of_line)
defect("key-in-json-error", "Shows a key that stands in the JSON of a failure.", "error:secrets")(error=told_unmasked)
defect(
    "seventeenth-key",
    "Masks no more than 16 keys in a text.",
    "error:secrets",
)(masked=lambda port, real, text: KEYS.sub("[masked]", text, count=int(re.DOTALL)))
defect(
    "session-gone-unexplained-beside-model-and-directory",
    "Takes a session that is gone for other wrong input in a reply with a model and a directory.",
    "error:session-gone",
)(ask=failing(names("model", "cwd"), "does not know this session", saying(EXITS[42])))
defect(
    "failed-session-named-beside-model",
    "Names the session of a reply by id with a model that failed.",
    "error:session-id",
)(execute=named_though_failed)
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
