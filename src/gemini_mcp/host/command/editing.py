"""`add` and `remove`: writes the files that `mcp_commands` has changed, each whole or not at all. Effect."""

from collections.abc import Sequence

from gemini_mcp.host.command import mcp_commands as commands
from gemini_mcp.host.command.context import OK, USAGE, Context
from gemini_mcp.host.settings.files import read_texts, replace_text
from gemini_mcp.host.settings.jsonc import BrokenJson


async def preview(context: Context, arguments: Sequence[str]) -> int:
    """Show what `add` or `remove` would leave in the files, and write nothing."""
    ran = commands.run(arguments, read_texts(context.where), context.rules)
    context.say(*(f"{scope} settings:\n{text}" for scope, text in ran.texts.items()), ran.said)
    return USAGE if ran.exit else OK


def run(context: Context, arguments: Sequence[str]) -> int:
    """Run `add` or `remove` with these words."""
    texts = read_texts(context.where)
    try:
        ran = commands.run(arguments, texts, context.rules)
    except BrokenJson as error:
        files = ", ".join(str(context.where.files[scope]) for scope in texts)
        context.complain(f"{files}: {error}. Correct the file; it was left as it is.")
        return USAGE
    for scope, text in ran.texts.items():
        if scope not in context.where.files:
            context.complain("Error: Please use --scope user to edit settings in the home directory.")
            return USAGE
        replace_text(context.where.files[scope], text)
    is_said = context.rules.output == "stdout" or ran.is_help
    (context.say if is_said and not ran.is_complaint else context.complain)(ran.said)
    return USAGE if ran.exit else OK
