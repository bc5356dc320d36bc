"""`results`: what the model gets of each kind of result, here and in other hosts. Effect."""

from gemini_mcp.host.command.context import OK, Context
from gemini_mcp.host.tools import other_hosts
from gemini_mcp.spec.values import JsonObject


async def results(context: Context) -> int:
    """Show the table, in Markdown or as JSON."""
    rows: list[JsonObject] = [
        {
            "kind": kind.name,
            "result": kind.example,
            "modelParts": kind.parts(context.rules),
            "hosts": {host: cell.to_json() if cell else None for host, cell in kind.cells.items()},
        }
        for kind in other_hosts.kinds()
    ]
    context.show(rows, *other_hosts.table(context.rules))
    return OK
