"""Texts: results, prompts and the references in them; pure."""

from __future__ import annotations

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.host import strategies
from gemini_mcp_conformance.host.properties.registry import demand, holds
from gemini_mcp_conformance.host.questions import Questions
from gemini_mcp_conformance.see.witness import shown


@holds(strategies.PROMPT_ARGUMENTS, "host-prompt:named")
def prompt_arguments_come_back(host: Questions, value: Json) -> None:
    line = " ".join(f'--{name}="{text}"' for name, text in value.items())
    declared = [{"name": name, "required": True} for name in value]
    answer = host.ask("prompt-args", {"args": line, "promptArguments": declared})
    demand(
        answer == {"arguments": value}, f"The host reads {shown(answer)} from {line!r}, and should read {shown(value)}."
    )


def _converted(host: Questions, content: Json) -> Json:
    asked: Json = {"server": "s", "serverTool": "t", "registeredName": "t", "args": {}}
    return host.ask("content-to-parts", {**asked, "callToolResult": {"content": content}})


@holds(strategies.TEXTS, "host-content:joined", "host-content:inline", profile="documented")
def text_is_joined(host: Questions, value: Json) -> None:
    blocks = [{"type": "text", "text": text} for text in value]
    image = {"type": "image", "data": "aW1n", "mimeType": "image/png"}
    parts = _converted(host, [*blocks, image])["modelParts"]
    output = parts[0]["functionResponse"]["response"].get("output")
    wanted = "\n".join(value)
    demand(output == wanted, f"The host joins the texts to {output!r}, and should join them to {wanted!r}.")
    inline = [part for part in parts[1:] if "inlineData" in part]
    demand(
        len(parts) == 2 and len(inline) == 1, f"The host adds {len(parts) - 1} parts, and should add the image alone."
    )


@holds(strategies.BLOCKS, "host-content:display")
def display_has_a_line_for_each_block(host: Questions, value: Json) -> None:
    lines = _converted(host, value)["returnDisplay"].split("\n")
    demand(
        len(lines) == max(1, len(value)),
        f"The host displays {len(lines)} lines for {len(value)} blocks, and should display one for each.",
    )


@holds(strategies.PROMPTS, "host-resource:unknown")
def prompts_without_references_are_kept(host: Questions, value: Json) -> None:
    asked: Json = {"prompt": value, "server": "s", "resources": [{"uri": "r:1"}], "reads": {}}
    answer = host.ask("resources", asked)
    demand(answer.get("parts") == [{"text": value}], f"The host sends {answer.get('parts')}.")
