"""The names of Gemini CLI's own tools, with which a server's tool can collide; pure data of 0.1.18 and 0.61."""

from gemini_mcp.host.rules.profiles import Profile

_COMMON = (
    "glob",
    "google_web_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "replace",
    "run_shell_command",
    "web_fetch",
    "write_file",
)
_DOCUMENTED = ("save_memory", "search_file_content")
_CURRENT = (
    "activate_skill",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "grep_search",
    "invoke_agent",
    "list_mcp_resources",
    "read_mcp_resource",
    "update_topic",
    "write_todos",
)


def names(profile: Profile) -> tuple[str, ...]:
    """The built-in tools of the profile."""
    return tuple(sorted(_COMMON + (_DOCUMENTED if profile is Profile.DOCUMENTED else _CURRENT)))
