"""Options of a chat that come from an earlier call: ports that break `command:chat`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import altering, failed, lacking, refused
from defects.past.shared import (
    cancels_noting,
    kept_after_times,
    kept_argument,
    kept_by,
    kept_when,
    leaves,
    noted,
    of_sibling,
    others,
    reused,
)
from defects.record import defect
from planning import Plan, Refusal
from running import Call, Cancelled
from speaking import Message, RpcError, as_object


def stdin_of_before(port: Any, real: Any, text: str | None) -> Any:
    earlier, port.memory["stdin"] = port.memory.get("stdin"), text
    return real(text or earlier)


def spares_same_model(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, before = real(tool, texts), port.memory.get("model")
    port.memory["model"] = option
    return () if option == before else option


def model_once_failed(port: Any, real: Any, tool: str, texts: Any) -> tuple[str, ...]:
    """Falls back to a model that is cheaper when the one that was asked for has failed twice."""
    failures = port.memory.get("failures", {}).get(texts.get("model"), 0)
    return ("-m", "gemini-2.5-flash") if "model" in texts and failures > 1 else real(tool, texts)


def counts_failures(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    model, failures = call.arguments.get("model"), port.memory.setdefault("failures", {})
    if isinstance(model, str) and failed(call, result):
        failures[model] = failures.get(model, 0) + 1
    return result


def eight_models(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, known = real(tool, texts), port.memory.setdefault("models", list[str]())
    if option and option[1] not in known:
        known.append(option[1])
    return ("-m", known[known.index(option[1]) % 8]) if option else option


def model_of_first(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Keeps the options of gemini in a place that all calls share, until the last of them has ended."""
    models = [other.arguments["model"] for other in others(port, call) if other.arguments.get("model")]
    return real(call, altering("-m", lambda model: models[0])(plan) if models else plan)


def resumes_failed(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes the same prompt for another attempt."""
    if plan.session is not None:
        return real(call, plan)
    prompt = call.arguments["prompt"]
    if port.memory.pop("failed", None) == prompt:
        plan = replace(plan, argv=(plan.argv[0], "-r", "latest", *plan.argv[1:]))
    try:
        return real(call, plan)
    except (Failure, Cancelled):
        port.memory["failed"] = prompt
        raise


def model_of_flagged(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option = real(tool, texts)
    if not port.is_risky(texts["prompt"]):
        return option
    port.memory["model"] = kept = option or port.memory.get("model", ())
    return kept


def notes_unknown_model(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    try:
        return real(identity, params, stateless)
    except RpcError:
        port.memory["model"] = (as_object(params.get("arguments")) or {}).get("model")
        raise


def with_model_of_unknown(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts, model = real(tool, arguments), port.memory.pop("model", None)
    return {"model": model, **texts} if isinstance(model, str) else texts


def keeps_model_of_refused(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    try:
        return real(tool, texts)
    except Refusal:
        if "model" in texts:
            port.memory[tool] = texts["model"]
        raise


def takes_model_of_refused(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    left = port.memory.pop(tool, None)
    return real(tool, texts if left is None else {"model": left, **texts})


def is_broken_off(outcome: Outcome) -> bool:
    return outcome.exit == 0 and outcome.stdout.startswith(b"{") and not outcome.stdout.rstrip().endswith(b"}")


def spares_model(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """A reply that meets an exhausted quota opens the breaker of its model, and only new sessions ask it."""
    spent = port.memory.setdefault("spent", set[Any]())
    model = call.arguments.get("model")
    outcome = real(call, lacking("-m")(plan) if call.tool == "chat" and model in spent else plan)
    if call.tool == "chat-reply" and model and outcome.exit == 173:
        spent.add(model)
    return outcome


defect("stdin-left-by-long-prompt", "Sends a long prompt once more on the stdin of the next run.", "command:chat")(
    input=stdin_of_before
)
defect(
    "repeated-model-spared",
    "Passes no model when the call before has had the same one.",
    "command:chat:model",
)(model_option=spares_same_model)
defect(
    "model-replaced-after-two-failures",
    "Passes another model when two calls have failed with the one that is asked for.",
    "command:chat:model",
)(model_option=model_once_failed, execute=counts_failures)
defect(
    "ninth-model-is-first", "Knows eight models, and passes the first in the place of a ninth.", "command:chat:model"
)(model_option=eight_models)
defect(
    "models-crossed",
    "Passes the model of a call that runs to one that names another.",
    "command:chat:model",
)(ask=model_of_first)
defect(
    "breaker-opened-by-reply",
    "Leaves the model out of `chat` once a reply with this model has ended for lack of quota.",
    "command:chat:model",
)(run_prompt=spares_model)
defect(
    "failed-prompt-resumes-latest",
    "Resumes the latest session in a `chat` that has the same prompt as the `chat` before, which has failed.",
    "command:chat:new-session",
)(ask=resumes_failed)
defect(
    "model-left-by-cancel",
    "Passes the model of a call that was cancelled to later calls without one.",
    "command:chat:no-model",
)(cancel=cancels_noting("model"), model_option=noted("model"))
defect(
    "model-left-by-failure",
    "Passes the model of a call that failed to later calls without one.",
    "command:chat:no-model",
)(execute=leaves("model", failed), texts=reused("model"))
defect(
    "model-left-by-refusal",
    "Passes the model of a call that it refused to later calls without one.",
    "command:chat:no-model",
)(execute=leaves("model", refused), texts=reused("model"))
defect(
    "model-of-directory-kept",
    "Passes the model that was last named in a directory to a call there without one.",
    "command:chat:no-model",
)(texts=kept_by("cwd", "model"))
defect(
    "model-of-system-prompt-kept",
    "Passes the model that had a system prompt last to a call with that system prompt and no model.",
    "command:chat:no-model",
)(texts=kept_by("systemPrompt", "model"))
defect(
    "model-of-prompt-kept",
    "Passes the model that had a prompt last to a call with that prompt and no model.",
    "command:chat:no-model",
)(texts=kept_by("prompt", "model"))
defect("model-stays-after-four", "Keeps a model that four calls in a row have named.", "command:chat:no-model")(
    texts=kept_after_times("model", 4)
)
defect(
    "model-left-by-flagged-prompt",
    "Passes the model of a call with a risky prompt to the next such call without one.",
    "command:chat:no-model",
)(model_option=model_of_flagged)
defect("model-of-running-sibling", "Passes the model of a call that runs to one without.", "command:chat:no-model")(
    plan=of_sibling("model")
)
defect(
    "model-left-by-unknown-tool",
    "Passes the model of a call of an unknown tool to the next call without one.",
    "command:chat:no-model",
)(new_call=notes_unknown_model, texts=with_model_of_unknown)
defect(
    "model-of-refused-lingers",
    "Passes the model of a call that was refused for its `cwd` when the next call of the tool names none.",
    "command:chat:no-model",
    "command:chat-reply:no-model",
)(cwd=keeps_model_of_refused, model_option=takes_model_of_refused)
defect(
    "model-left-by-broken-off-answer",
    "Passes the model of a call whose answer broke off to the next call without one.",
    "command:chat:no-model",
)(run_prompt=kept_when(is_broken_off), texts=kept_argument("model"))
