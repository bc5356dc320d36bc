"""`add`, `remove`, `enable` and `disable`: writes the files that were changed, each whole or not at all. Effect."""

from collections.abc import Sequence

from gemini_mcp.host.command import mcp_commands as commands
from gemini_mcp.host.command.context import OK, USAGE, Context
from gemini_mcp.host.settings.files import read_json, read_texts, replace_text
from gemini_mcp.host.settings.jsonc import BrokenJson
from gemini_mcp.host.settings.standing import identifier
from gemini_mcp.spec.values import JsonObject, table


async def preview(context: Context, arguments: Sequence[str]) -> int:
    """Show what `add` or `remove` would leave in the files, and write nothing."""
    ran = commands.run(arguments, read_texts(context.where), context.rules)
    context.say(*(f"{scope} settings:\n{text}" for scope, text in ran.texts.items()), ran.said)
    return USAGE if ran.exit else OK


def switch(context: Context, command: str, name: str, is_session: bool = False) -> int:
    """Enable or disable a server in the file that Gemini CLI reads. Its own command in 0.61.0 finds no server.

    For a session nothing is written: as with Gemini CLI, the session of a command ends with it.
    """
    known = {identifier(server.name) for server in context.settings().servers}
    if identifier(name) not in known:
        context.complain(f"There is no server {name!r}. Configured are: {', '.join(sorted(known)) or 'none'}.")
        return USAGE
    file = context.where.enablement
    done: JsonObject = {"server": name, "enabled": command == "enable"}
    if is_session:
        context.show({**done, "file": None}, commands.session_switched(command, identifier(name)))
        context.complain("That holds for this command only, which is a session of its own; nothing is written.")
        return OK
    before = dict(table(read_json(file)))
    texts = commands.kept(command, identifier(name), before)
    for text in texts.values():
        replace_text(file, text)
    context.show({**done, "file": str(file)}, f"{name}: {command}d in {file}")
    return OK


def run(context: Context, arguments: Sequence[str]) -> int:
    """Run `add` or `remove` with these words."""
    texts = read_texts(context.where)
    try:
        files = {scope: str(context.where.files[scope]) for scope in texts}
        ran = commands.run(arguments, texts, context.rules, files=files)
    except BrokenJson as error:
        files = ", ".join(str(context.where.files[scope]) for scope in texts)
        context.complain(f"{files}: {error}. Correct the file; it was left as it is.")
        return USAGE
    for scope, text in ran.texts.items():
        # The project's file would be the user's. 0.21.3 says this; 0.61.0 writes nothing, and says that it did.
        if scope not in context.where.files:
            context.complain("Error: Please use --scope user to edit settings in the home directory.")
            return USAGE
        replace_text(context.where.files[scope], text)
    if context.is_json:
        written = [str(context.where.files[scope]) for scope in ran.texts]
        context.show({"exit": ran.exit, "said": ran.said, "warned": ran.warned, "files": written})
        return USAGE if ran.exit else OK
    if ran.warned:
        context.complain(ran.warned)
    is_said = context.rules.output == "stdout" or ran.is_help
    if ran.said:
        (context.say if is_said and not ran.is_complaint else context.complain)(ran.said)
    return USAGE if ran.exit else OK
