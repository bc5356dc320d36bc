"""The yardstick: what the SDK alone can do, one tool that runs gemini and hands back what it printed.

Nothing may be added: a server that does less cannot be faster.
"""

from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

Context = ServerRequestContext[Any, Any]
CHAT = Tool(name="chat", input_schema={"type": "object", "properties": {"prompt": {"type": "string"}}})


async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[CHAT])


async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
    prompt = (params.arguments or {})["prompt"]
    gemini = await anyio.run_process(["gemini", prompt, "--output-format", "json"])
    return CallToolResult(content=[TextContent(type="text", text=gemini.stdout.decode("utf-8"))])


async def serve() -> None:
    server = Server[Any]("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
