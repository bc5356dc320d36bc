"""`call`, `prompt`, `read`, `expand`: what passes between the model and a server. Effect."""

import json
from collections.abc import Sequence

from gemini_mcp.host.command.context import FINDING, OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.command.servers import outcome
from gemini_mcp.host.prompts import prompts
from gemini_mcp.host.prompts.execution import expand_references, invoke_prompt
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.servers.status import NOT_EXECUTING
from gemini_mcp.host.tools import content, execution
from gemini_mcp.host.tools.confirmation import AllowList, Outcome, Question
from gemini_mcp.host.tools.registry import RegisteredTool
from gemini_mcp.spec.values import Json, JsonObject, object_of


class UsageError(Exception):
    """The command line does not say what to do."""


async def call(context: Context, name: str, pairs: Sequence[str], whole: str | None) -> int:
    """Call a tool as the model would, and show what it and the user get."""
    async with context.host() as (settings, host):
        arguments = read_arguments(pairs, whole, host.registry.find(name))
        try:
            called = await execution.call(host, name, arguments, AllowList(), confirmation(context))
        except execution.NotCalled as error:
            context.complain(str(error))
            context.complain_all(host.messages())
            return FINDING
        _show(context, called.tool, called.rendered)
        return FINDING if called.rendered.is_error else USAGE if settings.is_faulty else OK


async def prompt(context: Context, line: str) -> int:
    """Invoke a prompt and show what is sent to the model."""
    async with context.host() as (_, host):
        result = await invoke_prompt(host, line)
        if context.is_json:
            context.say(stringify(result.to_json(), 2))
        elif isinstance(result, prompts.Submit) or result.kind == "info":
            context.say(result.content)
        else:
            context.complain(result.content)
            context.complain_all(host.messages())
        is_error = isinstance(result, prompts.Message) and result.kind == "error"
        return FINDING if is_error else OK


async def expand(context: Context, text: str, is_reading: bool) -> int:
    """Expand the references of a prompt; when reading, show only what was read."""
    async with context.host() as (settings, host):
        expanded = await expand_references(host, text)
        if expanded.parts is None:
            context.complain(expanded.error or "")
            return FINDING
        parts = list(expanded.parts)
        if is_reading and len(parts) == 1:
            known = ", ".join(f"@{r.server}:{r.uri}" for r in host.resources()) or "none"
            context.complain(f"{text!r} refers to no listed resource. Listed are: {known}.")
            return FINDING if outcome(host, settings) != SERVER_FAILED else SERVER_FAILED
        shown = parts[3:-1] if is_reading else parts
        context.say(stringify(shown, 2) if context.is_json else "\n".join(str(part.get("text", "")) for part in shown))
        return OK


def read_arguments(pairs: Sequence[str], whole: str | None, tool: RegisteredTool | None) -> JsonObject:
    """The arguments of `--args` and `--arg`; a value is JSON unless the tool wants a string."""
    try:
        given = object_of(json.loads(whole)) if whole is not None else {}
    except ValueError as error:
        raise UsageError(f"`--args` is {whole!r}, it should be a JSON object: {error}.") from error
    if given is None:
        raise UsageError(f"`--args` is {whole!r}, it should be a JSON object.")
    schema = object_of(tool.offer.schema) if tool is not None and tool.offer is not None else None
    properties = object_of((schema or {}).get("properties")) or {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"`--arg` is {pair!r}, it should be NAME=VALUE.")
        given[name] = _value(text, object_of(properties.get(name)) or {})
    return given


def confirmation(context: Context) -> execution.Confirm:
    """How a call is confirmed here: by a flag, by the person at the terminal, or not at all."""

    def confirm(asked: Question) -> Outcome:
        if context.is_yes:
            return Outcome.PROCEED_ONCE
        if not context.has_terminal:
            subject = f"{asked.display_name!r} of server {asked.server!r}"
            context.complain(
                f"{subject} needs confirmation, and there is no terminal. Pass --yes, or trust the server."
            )
            return Outcome.CANCEL
        return _ask(context, asked)

    return confirm


def _ask(context: Context, asked: Question) -> Outcome:
    context.complain(f"{asked.display_name} (server {asked.server}, tool {asked.tool})")
    context.complain(f"arguments: {stringify(asked.arguments)}")
    choices = asked.choices()
    for number, (_, label) in enumerate(choices, 1):
        context.complain(f"  {number}. {label}")
    try:
        answer = input("> ").strip()
    except EOFError:
        return Outcome.CANCEL
    return choices[int(answer) - 1][0] if answer in {str(n + 1) for n in range(len(choices))} else Outcome.CANCEL


def _show(context: Context, tool: RegisteredTool, rendered: content.Rendered) -> None:
    parts = content.model_parts(tool.name, "call-1", rendered, context.rules)
    if context.is_json:
        shown = {"display": rendered.display, "llmContent": rendered.llm_content, "modelParts": parts}
        context.say(stringify({**shown, "isError": rendered.is_error}, 2))
        return
    context.say(f"Display:\n{rendered.display}\n\nModel parts:\n{stringify(parts, 2)}")
    if rendered.is_error:
        context.complain("\n".join(f"- {advice}" for advice in NOT_EXECUTING))


def _value(text: str, schema: JsonObject) -> Json:
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
