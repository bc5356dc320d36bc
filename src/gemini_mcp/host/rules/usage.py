"""The usage texts of `gemini mcp`, which its errors print; pure data of Gemini CLI 0.1.19 and 0.61."""

from gemini_mcp.host.rules.profiles import Profile

SCOPES = ("user", "project")
TRANSPORTS = ("stdio", "sse", "http")

_SCOPE = 'Configuration scope (user or project)  [string] [choices: "user", "project"] [default: "project"]'
_HELP = ("-h, --help", "Show help  [boolean]")
_DEBUG = ("-d, --debug", "Run in debug mode (open debug console with F12)  [boolean] [default: false]")
_HEADER = (
    'Set HTTP headers for SSE and HTTP transports (e.g. -H "X-Api-Key: abc123" '
    '-H "Authorization: Bearer abc123")  [array]'
)


def add_usage(profile: Profile) -> str:
    """The usage of `gemini mcp add`."""
    transport = "-t, --transport" if profile is Profile.DOCUMENTED else "-t, --transport, --type"
    choices = '[string] [choices: "stdio", "sse", "http"] [default: "stdio"]'
    options = [
        ("-s, --scope", _SCOPE),
        (transport, f"Transport type (stdio, sse, http)  {choices}"),
        ("-e, --env", "Set environment variables (e.g. -e KEY=value)  [array]"),
        ("-H, --header", _HEADER),
        ("    --timeout", "Set connection timeout in milliseconds  [number]"),
        ("    --trust", "Trust the server (bypass all tool call confirmation prompts)  [boolean]"),
        ("    --description", "Set the description for the server  [string]"),
        ("    --include-tools", "A comma-separated list of tools to include  [array]"),
        ("    --exclude-tools", "A comma-separated list of tools to exclude  [array]"),
        _HELP,
    ]
    return (
        "Usage: gemini mcp add [options] <name> <commandOrUrl> [args...]\n\nPositionals:\n"
        "  name          Name of the server  [string] [required]\n"
        "  commandOrUrl  Command (stdio) or URL (sse, http)  [string] [required]\n\n"
        f"{_options(options, profile)}"
    )


def remove_usage(profile: Profile) -> str:
    """The usage of `gemini mcp remove`."""
    return (
        "Usage: gemini mcp remove [options] <name>\n\nPositionals:\n"
        f"  name  Name of the server  [string] [required]\n\n{_options([('-s, --scope', _SCOPE), _HELP], profile)}"
    )


def group_usage(profile: Profile) -> str:
    """The usage of `gemini mcp`."""
    commands = [
        ("add <name> <commandOrUrl> [args...]", "Add a server"),
        ("remove <name>", "Remove a server"),
        ("list", "List all configured MCP servers"),
    ]
    if profile is Profile.CURRENT:
        commands += [("enable <name>", "Enable an MCP server"), ("disable <name>", "Disable an MCP server")]
    width = max(len(form) for form, _ in commands) + 2
    lines = "".join(f"  gemini mcp {form.ljust(width)}{says}\n" for form, says in commands)
    return f"gemini mcp\n\nManage MCP servers\n\nCommands:\n{lines}\n{_options([_HELP], profile)}"


def refused(usage: str, complaint: str, profile: Profile) -> str:
    """The usage with what was wrong: below it in the documented profile, above it in the current one."""
    return f"{usage}\n{complaint}\n" if profile is Profile.DOCUMENTED else f"{complaint}\n{usage}"


def _options(options: list[tuple[str, str]], profile: Profile) -> str:
    shown = options if profile is Profile.DOCUMENTED else [_DEBUG, *options]
    width = max(len(flags) for flags, _ in shown) + 2
    return "Options:\n" + "".join(f"  {flags.ljust(width)}{says}\n" for flags, says in shown)
