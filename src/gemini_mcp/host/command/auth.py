"""`auth`: lists the servers that ask for authentication, or authenticates with one of them. Effect."""

from gemini_mcp.host.command.context import OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.oauth.authorization import NotAuthorized
from gemini_mcp.host.servers.host import open_host


async def auth(context: Context, name: str | None) -> int:
    """Authenticate with a server, or list those that need it."""
    if name is None:
        return await _list(context)
    settings = context.settings()
    server = settings.find(name)
    if server is None:
        known = ", ".join(other.name for other in settings.servers) or "none"
        context.complain(f"There is no server {name!r}. Configured are: {known}.")
        return USAGE
    try:
        await context.authorizer().obtain(server)
    except NotAuthorized as error:
        context.complain(f"{name}: not authenticated: {error}")
        return SERVER_FAILED
    return OK


async def _list(context: Context) -> int:
    remote = [server for server in context.started(context.settings()) if server.address is not None]
    async with open_host(context.plan(remote, is_interactive=False)) as host:
        asking = [server.config.name for server in host.servers.values() if server.needs_authentication]
    lines = [f"{name} needs authentication: gemini-mcp-host auth {name}" for name in asking]
    context.show(asking, *(lines or ["No server asks for authentication."]))
    return OK
