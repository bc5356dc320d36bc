"""`policy`: what becomes of a call of each tool, in an approval mode, with a person or headless. Effect."""

from dataclasses import dataclass

from gemini_mcp.host.command.context import OK, Context
from gemini_mcp.host.command.servers import ended, reported
from gemini_mcp.host.servers.host import open_host
from gemini_mcp.host.tools.policy import ASK, Policy, powerless
from gemini_mcp.host.tools.registry import RegisteredTool
from gemini_mcp.spec.values import JsonObject


@dataclass(frozen=True)
class Session:
    """How the session runs in which the calls are made."""

    mode: str = "default"
    is_headless: bool = False


async def run(context: Context, session: Session) -> int:
    """Every tool, what is decided about a call without arguments, and by which rule."""
    settings = context.settings()
    policy = context.policy(settings, session.mode, not session.is_headless)
    if policy is None:
        context.complain(f"The {context.rules.name} profile has no policy: `call` asks unless the server is trusted.")
        return OK
    async with open_host(context.plan(context.started(settings))) as host:
        rows = [_row(tool, policy) for tool in host.registry.tools if tool.offer is not None]
        for rule in powerless(policy, host.registry.tools):
            context.complain(f"{rule.source}: the rule about {rule.tool!r} covers no tool of server {rule.server!r}.")
        context.show(
            reported(host, tools=rows), *("{name}  {decision}{shown}  ({rule})".format_map(row) for row in rows)
        )
        return ended(context, settings, host)


def _row(tool: RegisteredTool, policy: Policy) -> JsonObject:
    assert tool.offer is not None
    judged = policy.judge(tool, {})
    declared = policy.declares(tool)
    refused = ", refused headless" if judged.decision == ASK and not policy.is_interactive else ""
    return {
        "name": tool.name,
        "server": tool.offer.server,
        "tool": tool.offer.name,
        "decision": judged.decision,
        "rule": judged.why,
        "declared": declared,
        "shown": refused if declared else ", not declared to the model",
    }
