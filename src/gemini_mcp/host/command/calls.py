"""`call`, `session`, `prompt`, `read`, `expand`: what passes between the model and a server. Effect."""

import json
from collections.abc import Iterable, Sequence
from functools import partial

from gemini_mcp.host.command.asking import UsageError
from gemini_mcp.host.command.context import FINDING, OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.command.servers import outcome, reported, said
from gemini_mcp.host.prompts import prompts
from gemini_mcp.host.prompts.execution import expand_references, invoke_prompt
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.host import Host
from gemini_mcp.host.servers.status import NOT_EXECUTING
from gemini_mcp.host.tools import content, execution
from gemini_mcp.host.tools.confirmation import AllowList, Outcome, Question
from gemini_mcp.host.tools.names import registered_name
from gemini_mcp.host.tools.registry import RegisteredTool
from gemini_mcp.spec.values import Json, JsonObject, inside, object_of


async def call(context: Context, name: str, pairs: Sequence[str], whole: str | None) -> int:
    """Call a tool as the model would, and show what it and the user get."""
    async with context.host() as (settings, host):
        name = _named(context, host, name)
        arguments = read_arguments(pairs, whole, host.registry.find(name))
        try:
            called = await execution.call(host, name, arguments, AllowList(), confirmation(context))
        except execution.NotCalled as error:
            return _refused(context, host, name, str(error))
        _show(context, host, called.tool, called.rendered)
        context.complain(*said(host))
        return FINDING if called.rendered.is_error else USAGE if settings.is_faulty else OK


def _refused(context: Context, host: Host, name: str, why: str) -> int:
    """Show what the model is told of a call that did not reach a server."""
    parts = content.refusal_parts(name, "call-1", why)
    shown = reported(host, called=False, modelParts=parts, isError=True)
    context.show(shown, f"Model parts:\n{stringify(parts, 2)}")
    context.complain(*said(host))
    if not context.is_json:
        context.complain(why, *host.registry.said())
        if host.registry.find(name) is None:
            context.complain("`gemini-mcp-host tools` lists the names; SERVER:TOOL is one, too.")
    return FINDING


async def session(context: Context, lines: Iterable[str]) -> int:
    """Call tools one after the other: `{"name", "arguments"?, "answer"?}` a line; what was allowed stays allowed."""
    allowed, code = AllowList(), OK
    async with context.host() as (_, host):
        for line in lines:
            if not line.strip():
                continue
            asked = _step(line)
            answer = asked.get("answer")
            confirm = confirmation(context) if answer is None else partial(_answer, answer)
            name = _named(context, host, str(asked["name"]))
            try:
                called = await execution.call(host, name, object_of(asked.get("arguments")) or {}, allowed, confirm)
            except execution.NotCalled as refusal:
                code = _refused(context, host, name, str(refusal))
                continue
            allowed = called.allowed
            _show(context, host, called.tool, called.rendered)
            code = FINDING if called.rendered.is_error else code
    return code


def _step(line: str) -> JsonObject:
    try:
        asked = object_of(json.loads(line))
    except ValueError as error:
        raise UsageError(f"A line is {line.strip()!r}, it should be a JSON object: {error}.") from error
    if asked is None or not isinstance(asked.get("name"), str):
        raise UsageError(f"A line is {line.strip()!r}, it should be a JSON object with the `name` of a tool.")
    known = [outcome.value for outcome in Outcome]
    if asked.get("answer", known[0]) not in known:
        raise UsageError(f"`answer` is {asked['answer']!r}, it should be one of {', '.join(known)}.")
    return asked


def _answer(answer: str, asked: Question) -> Outcome:
    return Outcome(answer)


def _named(context: Context, host: Host, name: str) -> str:
    """The registered name of `SERVER:TOOL`; in a comparison, that of a name which any profile would register."""
    for tool in host.registry.tools:
        if tool.offer is None:
            continue
        names = {f"{tool.offer.server}:{tool.offer.name}"}
        # One line names the tool for all profiles, though each registers it under another name.
        if context.is_comparing:
            names |= {registered_name(tool.offer.server, tool.offer.name, rules) for rules in profiles().values()}
        if name in names:
            return tool.name
    return name


async def prompt(context: Context, line: str) -> int:
    """Invoke a prompt and show what is sent to the model."""
    async with context.host() as (_, host):
        result = await invoke_prompt(host, line)
        is_error = isinstance(result, prompts.Message) and result.kind == "error"
        context.show(reported(host, **result.to_json()), *(() if is_error else (result.content or "",)))
        if is_error and not context.is_json:
            context.complain(result.content or "")
        context.complain(*said(host))
        return FINDING if is_error else OK


async def expand(context: Context, text: str, is_reading: bool) -> int:
    """Expand the references of a prompt; when reading, show only what was read."""
    async with context.host() as (settings, host):
        expanded = await expand_references(host, text)
        if expanded.parts is None:
            return _unread(context, host, expanded.error or "")
        parts = list(expanded.parts)
        if is_reading and len(parts) == 1:
            known = ", ".join(f"@{r.server}:{r.uri}" for r in host.resources()) or "none"
            _unread(context, host, f"{text!r} refers to no listed resource. Listed are: {known}.")
            return FINDING if outcome(host, settings) != SERVER_FAILED else SERVER_FAILED
        # Before the contents stand the text, a header and the name of the resource; behind them a footer.
        shown = parts[3:-1] if is_reading else parts
        context.show(reported(host, parts=shown), "\n".join(str(part.get("text", "")) for part in shown))
        context.complain(*said(host))
        return OK


def _unread(context: Context, host: Host, why: str) -> int:
    """Say why nothing was read."""
    context.show(reported(host, error=why))
    context.complain(why, *said(host))
    return FINDING


def read_arguments(pairs: Sequence[str], whole: str | None, tool: RegisteredTool | None) -> JsonObject:
    """The arguments of `--args` and `--arg`; a value is JSON unless the tool wants a string."""
    try:
        given = object_of(json.loads(whole)) if whole is not None else {}
    except ValueError as error:
        raise UsageError(f"`--args` is {whole!r}, it should be a JSON object: {error}.") from error
    if given is None:
        raise UsageError(f"`--args` is {whole!r}, it should be a JSON object.")
    schema = tool.offer.schema if tool is not None and tool.offer is not None else None
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"`--arg` is {pair!r}, it should be NAME=VALUE.")
        # So `--arg id=007` reaches a tool that wants a string as it was written.
        given[name] = text if inside(schema, "properties", name, "type") == "string" else _value(text)
    return given


def confirmation(context: Context) -> execution.Confirm:
    """How a call is confirmed here: by a flag, by the person at the terminal, or not at all."""

    def confirm(asked: Question) -> Outcome:
        if context.is_yes:
            return Outcome.PROCEED_ONCE
        if not context.has_terminal:
            subject = f"{asked.display_name!r} of server {asked.server!r}"
            advice = "Pass --yes, or trust the server."
            context.complain(f"{subject} needs confirmation, and there is no terminal. {advice}")
            return Outcome.CANCEL
        return _ask(context, asked)

    return confirm


def _ask(context: Context, asked: Question) -> Outcome:
    choices = asked.choices()
    context.complain(
        f"{asked.display_name} (server {asked.server}, tool {asked.tool})",
        f"arguments: {stringify(asked.arguments)}",
        *(f"  {number}. {label}" for number, (_, label) in enumerate(choices, 1)),
    )
    try:
        answer = input("> ").strip()
    except EOFError:
        return Outcome.CANCEL
    return choices[int(answer) - 1][0] if answer in {str(n + 1) for n in range(len(choices))} else Outcome.CANCEL


def _show(context: Context, host: Host, tool: RegisteredTool, rendered: content.Rendered) -> None:
    parts = content.model_parts(tool.name, "call-1", rendered, context.rules)
    shown: JsonObject = {"display": rendered.display, "llmContent": rendered.llm_content, "modelParts": parts}
    text = f"Display:\n{rendered.display}\n\nModel parts:\n{stringify(parts, 2)}"
    context.show(reported(host, **shown, isError=rendered.is_error), text)
    if rendered.is_error and not context.is_json:
        context.complain(*(f"- {advice}" for advice in NOT_EXECUTING))


def _value(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text
