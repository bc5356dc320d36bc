"""A call of a registered tool: checked, confirmed, sent, shown. Effect.

Whether it must be confirmed is in `confirmation`; what its result means is in `content`.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from gemini_mcp.host.rules.ajv import complaint
from gemini_mcp.host.servers.discovery import Refusal
from gemini_mcp.host.servers.host import Host
from gemini_mcp.host.tools.confirmation import AllowList, Outcome, Question, question
from gemini_mcp.host.tools.content import Rendered, render, render_failure, truncated
from gemini_mcp.host.tools.policy import ALLOW, DENY
from gemini_mcp.host.tools.registry import RegisteredTool
from gemini_mcp.host.tools.result import read_result
from gemini_mcp.host.tools.schema import parameters
from gemini_mcp.host.tools.suggestion import suggestion
from gemini_mcp.spec.values import JsonObject

Confirm = Callable[[Question], Outcome]


class NotCalled(Exception):
    """The call did not reach a server; the message is what the model is told."""


class NotConfirmed(NotCalled):
    """Nobody allowed the call."""


@dataclass(frozen=True)
class Called:
    """A call that was made: its result, its tool, and what the user's answer allows from then on."""

    rendered: Rendered
    allowed: AllowList
    tool: RegisteredTool


async def call(host: Host, name: str, arguments: JsonObject, allowed: AllowList, confirm: Confirm) -> Called:
    """Call a registered tool: validate, confirm, ask the server, render; raises NotCalled."""
    # What the server has said of its lists before decides which tools there are now.
    await host.settled()
    rules, tool = host.plan.rules, host.registry.find(name)
    if tool is None or tool.offer is None:
        known = [tool.name for tool in host.registry.tools]
        raise NotCalled(rules.unknown_tool.format(name=name, suggestion=suggestion(name, known)))
    # Arguments are judged by the schema that the model got, with `wait_for_previous` in it.
    fault = complaint(parameters(tool.offer.schema, rules), arguments, "params")
    if fault is not None:
        raise NotCalled(fault)
    if not _is_allowed(host, tool, arguments):
        allowed = _confirmed(host, tool, arguments, allowed, confirm)
    return Called(truncated(await _ask(host, tool, arguments), rules), allowed, tool)


def _is_allowed(host: Host, tool: RegisteredTool, arguments: JsonObject) -> bool:
    """Whether the policy lets the call proceed without a question; raises NotCalled where it denies the call."""
    policy, known = host.plan.policy, host.plan.rules.policy
    if policy is None or known is None:
        return False
    judged = policy.judge(tool, arguments)
    if judged.decision == DENY:
        message = judged.rule.message if judged.rule is not None else ""
        raise NotCalled(known.denied.format(message=f" {message}" if message else ""))
    return judged.decision == ALLOW


async def _ask(host: Host, tool: RegisteredTool, arguments: JsonObject) -> Rendered:
    assert tool.offer is not None
    # Servers are called by their own names of tools; the registered name is for the model.
    params: JsonObject = {"name": tool.offer.name, "arguments": arguments}
    if host.plan.rules.sends_progress_token:
        params["_meta"] = {"progressToken": str(uuid.uuid4())}
    try:
        answer = await host.ask(tool.offer.server, "tools/call", params)
        result = read_result(answer, tool.offer, host.plan.rules)
    except Refusal as refusal:
        return render_failure(tool.offer.name, arguments, refusal.message, host.plan.rules)
    return render(tool.offer.name, arguments, result, host.plan.rules)


def _confirmed(
    host: Host, tool: RegisteredTool, arguments: JsonObject, allowed: AllowList, confirm: Confirm
) -> AllowList:
    assert tool.offer is not None
    config = host.servers[tool.offer.server].config
    asked = question(tool, arguments, allowed, host.plan.rules, config.is_trusted)
    if asked is None:
        return allowed
    outcome = confirm(asked)
    if outcome in (Outcome.CANCEL, Outcome.MODIFY_WITH_EDITOR):
        raise NotConfirmed(f"The call of {tool.name!r} was not confirmed.")
    return allowed.after(outcome.value, asked.server, asked.tool, host.plan.rules)
