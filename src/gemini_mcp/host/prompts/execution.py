"""A slash command invoked, and the references of a prompt read. Effect.

What is asked and what the answer means is in `prompts` and `resources`.
"""

from gemini_mcp.host.prompts import prompts, resources
from gemini_mcp.host.servers.discovery import Refusal
from gemini_mcp.host.servers.host import Host


async def invoke_prompt(host: Host, line: str) -> prompts.Submit | prompts.Message:
    """What a slash command submits."""
    rules = host.plan.rules
    name, rest = prompts.split_command(line)
    prompt = prompts.find_prompt(host.prompts(), name, rules)
    if prompt is None:
        known = ", ".join(f"/{stored}" for stored in host.prompts()) or "none"
        return prompts.Message(f"There is no prompt {name!r}. Known are: {known}.")
    if rest.strip() == "help":
        return prompts.Message(prompts.help_text(prompt), "info")
    filled = prompts.fill(rest, prompt.arguments, rules)
    if isinstance(filled, prompts.Message):
        return filled
    try:
        answer = await host.request(prompt.server, "prompts/get", {"name": prompt.name, "arguments": filled})
    except Refusal as refusal:
        return prompts.Message(f"Error: {refusal.message}")
    return prompts.read_answer(answer, rules)


async def expand_references(host: Host, prompt: str) -> resources.Expanded:
    """The prompt with the resources it refers to."""
    wanted = resources.references(prompt, host.resources(), host.plan.rules)
    return resources.expand(prompt, [await _read(host, resource) for resource in wanted])


async def _read(host: Host, resource: resources.Resource) -> resources.Reading:
    try:
        result = await host.request(resource.server, "resources/read", {"uri": resource.uri})
    except Refusal as refusal:
        return resources.Reading(resource, {}, refusal.message)
    return resources.Reading(resource, result)
