"""`gemini-mcp-host`: reads the words, runs the subcommand, ends in order when a signal asks for it. Effect.

What a subcommand does is in its own module; only the words and the comparison of profiles belong here.
"""

import argparse
import difflib
import io
import logging
import signal
import sys
import textwrap
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import anyio

from gemini_mcp import standard_streams
from gemini_mcp.host.command import asking, calls, comparing, editing, inspecting, policy, results, servers
from gemini_mcp.host.command import auth as auth
from gemini_mcp.host.command.context import USAGE, Context, context
from gemini_mcp.host.command.examples import EXAMPLES
from gemini_mcp.host.rules.javascript import STACK
from gemini_mcp.host.rules.profiles import DEFAULT, profiles
from gemini_mcp.host.tools import hidden

Run = Callable[[Context], Awaitable[int]]
Subcommand = Callable[[str, str, Callable[[argparse.Namespace], Run]], argparse.ArgumentParser]

_WIDTH, _HELP_WIDTH = 60, 79
_MODES = next(rules.policy.modes for rules in profiles().values() if rules.policy is not None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    sys.setrecursionlimit(STACK)
    return standard_streams.run(lambda: _told(list(sys.argv[1:] if arguments is None else arguments)))


def _told(words: list[str]) -> int:
    try:
        return _run(words)
    except standard_streams.Unwritten:
        raise
    except (asking.UsageError, OSError) as error:
        print(hidden.printed(str(error)), file=sys.stderr)
        return USAGE


def _run(words: list[str]) -> int:
    options, rest = _leading(words)
    # Not by argparse: their words are read as Gemini CLI reads them, which the profile decides.
    if rest[:1] in (["add"], ["remove"]):
        here = context(profiles()[options.profile], is_json=options.json)
        return _compare(here, partial(editing.preview, arguments=rest)) if options.compare else editing.run(here, rest)
    mark = words.index("--") if "--" in words else len(words)
    given = _parser().parse_args(words[:mark] if {*asking.SUBCOMMANDS} & {*words[:mark]} else words)
    given.after = words[mark + 1 :]
    if given.command is None:
        _parser().print_help(sys.stderr)
        return USAGE
    here = context(
        profiles()[given.profile],
        is_debug=given.debug,
        is_verbose=given.verbose,
        is_json=given.json,
        is_yes=given.yes,
        is_trusting=given.trust,
        is_folder_trusted=given.trust_folder,
        named=_named(given.allowed_mcp_server_names),
    )
    if not given.debug:
        # What the SDK logs is told as the failure of a server.
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
    run: Run = given.run(given)
    return _compare(here, run) if given.compare else anyio.run(_until_signal, here, run)


def _leading(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options before the subcommand, and the rest."""
    parser = standard_streams.Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--profile", choices=profiles(), default=DEFAULT)
    for flag in ("--compare", "--debug", "--trust-folder", "--json"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--allowed-mcp-server-names")
    place = next((index for index, word in enumerate(words) if word in ("add", "remove")), len(words))
    options, unknown = parser.parse_known_args(words[:place])
    return options, words[place:] if not unknown else []


def _inspect(given: argparse.Namespace) -> Run:
    asked = replace(asking.asked(given), page=given.html, is_alone=given.alone, budget=given.budget)
    return lambda here: inspecting.run(here, asked)


def _switch(command: str) -> Callable[[argparse.Namespace], Run]:
    async def run(here: Context, name: str, is_session: bool) -> int:
        return editing.switch(here, command, name, is_session)

    return lambda given: partial(run, name=given.server, is_session=given.session)


def _policy(given: argparse.Namespace) -> Run:
    return lambda here: policy.run(here, policy.Session(given.mode, given.headless))


def _call(given: argparse.Namespace) -> Run:
    # A faulty argument is refused before any server is started.
    calls.read_arguments(given.arg, given.args, None)
    return lambda here: calls.call(here, given.tool, given.arg, given.args)


async def _until_signal(here: Context, run: Run) -> int:
    """Run, and end every server when a signal asks this process to end."""
    code = 0
    received: list[int] = []

    async def watch_signals(tasks: anyio.abc.TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async for one in signals:
                # A shell has 128 and the number of the signal as exit code of what a signal ended.
                received.append(128 + one)
                tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_signals, tasks)
            code = await run(here)
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # A task group wraps every error, also the UsageError that `main` tells.
        raise _only(group) from None
    return received[-1] if received else code


def _only(error: BaseException) -> BaseException:
    """The one exception inside nested groups, or the group."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _only(inner[0]) if len(inner) == 1 else error


def _compare(here: Context, run: Run) -> int:
    """Run in every profile, and show each beside the default one."""
    texts: dict[str, list[str]] = {}
    codes: list[int] = []
    for name, rules in profiles().items():
        out = io.StringIO()
        codes.append(anyio.run(_until_signal, replace(here, rules=rules, out=out, is_comparing=True), run))
        texts[name] = out.getvalue().splitlines()
    first, *others = texts
    here.say(*(side_by_side(first, texts[first], other, texts[other]) for other in others))
    return max(codes)


def side_by_side(name: str, left: list[str], other: str, right: list[str]) -> str:
    """Two texts in columns under their names, each differing line marked."""
    if left == right:
        return "\n".join([*left, "(the same in both profiles)"])
    lines = [f"  {name:{_WIDTH}} │ {other}"]
    matcher = difflib.SequenceMatcher(a=left, b=right, autojunk=False)
    for _, start, end, from_, to in matcher.get_opcodes():
        for index in range(max(end - start, to - from_)):
            ours = left[start + index] if start + index < end else ""
            theirs = right[from_ + index] if from_ + index < to else ""
            lines.append(f"{'  ' if ours == theirs else '≠ '}{ours:{_WIDTH}} │ {theirs}".rstrip())
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = standard_streams.Parser(
        prog="gemini-mcp-host",
        description="Gemini CLI's MCP host layer: configure, discover, inspect and call MCP servers.",
        epilog="exit: 0 done, 1 a finding or a tool's error, 2 usage or settings, 4 a server failed",
    )
    common = _common(standard_streams.Parser(add_help=False, argument_default=argparse.SUPPRESS))
    _common(parser)
    parser.set_defaults(profile=DEFAULT, verbose=False, yes=False, trust=False, trust_folder=False)
    subcommands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, says in (("add", "add a server to a settings file"), ("remove", "remove a server from a settings file")):
        subcommands.add_parser(name, help=f"{says}, as `gemini mcp {name}` does")

    def subcommand(name: str, says: str, run: Callable[[argparse.Namespace], Run]) -> argparse.ArgumentParser:
        added = subcommands.add_parser(
            name,
            help=says,
            description=textwrap.fill(says, _HELP_WIDTH),
            epilog=EXAMPLES.get(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
        )
        added.set_defaults(run=run)
        return added

    _add_views(subcommand)
    comparing.add(subcommand)
    _add_calls(subcommand)
    return parser


def _add_views(subcommand: Subcommand) -> None:
    """The subcommands that show what servers offer."""
    subcommand("list", "try to connect to every server, and list them", lambda given: servers.list_servers)
    for name in ("enable", "disable"):
        switch = subcommand(name, f"{name} a server for Gemini CLI, in the file that it reads", _switch(name))
        switch.add_argument("server")
        switch.add_argument("--session", action="store_true", help="for this session only, which writes nothing")
    status = subcommand("status", "the servers, their states and what they offer", lambda given: servers.status)
    status.add_argument("--verbose", action="store_true", help="with the tools' descriptions")
    says = "the registered tools: name, server, and the server's own name"
    tools = subcommand("tools", says, lambda given: lambda here: servers.tools(here, given.server))
    tools.add_argument("server", nargs="?")
    tools.add_argument("--verbose", action="store_true", help="with descriptions")
    subcommand("resources", "the resources of all servers", lambda given: servers.resources)
    subcommand("context", "what the model is told of the servers: their instructions", lambda given: servers.told)
    says = "what becomes of a call of each tool before anybody is asked: allow, ask_user or deny, and by which rule"
    judged = subcommand("policy", says, _policy)
    judged.add_argument("--mode", choices=_MODES, default=_MODES[0], help="the approval mode")
    judged.add_argument("--headless", action="store_true", help="as `gemini -p`, where nobody can be asked")
    subcommand("prompts", "the prompts of all servers", lambda given: servers.prompts)
    _add_inspect(subcommand)


def _add_inspect(subcommand: Subcommand) -> None:
    says = "what Gemini CLI will make of a server: `-- COMMAND…`, a URL, or the name of a configured one"
    inspect = subcommand("inspect", says, _inspect)
    inspect.add_argument("--html", metavar="FILE", help="write the inspection as a page")
    inspect.add_argument("--alone", action="store_true", help="without the configured servers")
    inspect.add_argument("--verbose", action="store_true", help="with the changes of each schema")
    inspect.add_argument("--budget", type=int, metavar="TOKENS", help="exit 1 when all servers' tools take more")
    asking.add_options(inspect)


def _add_calls(subcommand: Subcommand) -> None:
    """The subcommands that send something to servers."""
    call = subcommand("call", "call a tool, and show what the model and the user get", _call)
    call.add_argument("tool", metavar="TOOL", help="the tool")
    call.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="one argument; repeatable")
    call.add_argument("--args", metavar="JSON", help="the arguments as an object")
    call.add_argument("--yes", action="store_true", help="confirm the call")
    call.add_argument("--trust", action="store_true", help="trust every server for this call")
    says = "read calls from standard input, one JSON object a line; what an answer allows stays allowed"
    subcommand("session", says, lambda given: lambda here: calls.session(here, sys.stdin))
    says = "invoke a prompt, such as '/name --title=\"x\"'"
    subcommand("prompt", says, lambda given: lambda here: calls.prompt(here, given.line)).add_argument("line")
    says = "read a resource, such as '@server:file:///data.txt'"
    read = subcommand("read", says, lambda given: lambda here: calls.expand(here, given.reference, True))
    read.add_argument("reference")
    says = "show a prompt with the resources it refers to"
    subcommand("expand", says, lambda given: lambda here: calls.expand(here, given.text, False)).add_argument("text")
    says = "what the model gets of each kind of result, here and in other hosts"
    subcommand("results", says, lambda given: results.results)
    says = "authenticate with a server, or list those that need it"
    subcommand("auth", says, lambda given: lambda here: auth.auth(here, given.server)).add_argument("server", nargs="?")


def _common(parser: standard_streams.Parser) -> standard_streams.Parser:
    parser.add_argument("--profile", choices=profiles(), help=f"{DEFAULT} is the default")
    parser.add_argument("--compare", action="store_true", help="show both profiles where they differ")
    parser.add_argument("--debug", action="store_true", help="show all that servers write to stderr")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--trust-folder", action="store_true", help="as if Gemini CLI trusted this folder")
    parser.add_argument(
        "--allowed-mcp-server-names",
        action="append",
        metavar="NAMES",
        help="use only these servers, in place of `mcp.allowed` and `mcp.excluded`; commas separate them",
    )
    return parser


def _named(values: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names that the flag gives, as the program reads them: no name at all names a server without a name."""
    if not values or list(values) == [""]:
        return tuple(values) if values else None
    return tuple(name for value in values for word in value.split(",") if (name := word.strip()))


if __name__ == "__main__":
    sys.exit(main())
