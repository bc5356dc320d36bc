"""Prints the snippet that tells a client how to start or reach the server, and on stderr what else to do. Edge.

How each client writes it is in `clients.py`.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from gemini_mcp.call.invocation import inheritable
from gemini_mcp.errors import OperatorError
from gemini_mcp.host.settings import trust
from gemini_mcp.operator.clients import CLIENTS, Client
from gemini_mcp.operator.discovery import widened_path
from gemini_mcp.operator.flags import PATH, TABLE
from gemini_mcp.operator.gemini.startup import look
from gemini_mcp.operator.launch import TOKEN, Launch, launch
from gemini_mcp.operator.options import Options
from gemini_mcp.operator.variables import OWN
from gemini_mcp.spec import load_server

PROGRAM = "gemini-mcp-server"

PATHS = {f"--{option.name}" for group in TABLE.values() for option in group if option.kind is PATH}
"""The flags whose values are paths."""

KEY_FILE = "~/.gemini/.env, which gemini reads by itself"


def show(options: Options, arguments: Sequence[str]) -> int:
    """Print the snippet on stdout, and on stderr where it goes and where secrets go."""
    client = CLIENTS[options.print_config or ""]
    spec = load_server()
    made = launch(
        _command(),
        [*_absolute(arguments), *_visible_session(client, arguments, os.environ)],
        options,
        inheritable(os.environ, options.withhold),
        # Desktop applications start servers without the PATH that a shell sets.
        widened_path((spec.invocation.program, "node"), os.environ),
        spec.outcome.secret_names,
    )
    snippet = _snippet(client, made, options)
    environ = options.environment(os.environ, spec.invocation.withhold)
    lacking = _lacking(options, environ) if made.url is None else []
    for line in (*lacking, *_remarks(client, made, options), client.place):
        print(line, file=sys.stderr)
    print(snippet)
    return 0


def _lacking(options: Options, environ: Mapping[str, str]) -> list[str]:
    """What gemini may miss where a client starts the server."""
    lines: list[str] = []
    if look(os.getcwd(), {**environ, **trust.EVERYWHERE}).sign_in.missing:
        lines.append(f"gemini is not signed in. Put GEMINI_API_KEY=... into {KEY_FILE}.")
    if not options.allow_cwd and not options.trust_workspace:
        lines.append(
            "A call without `cwd` runs where the client starts the server, and gemini has to trust that directory. "
            "Choose one that it trusts with --allow-cwd DIR."
        )
    return lines


def _absolute(arguments: Sequence[str]) -> list[str]:
    """The flags with whole paths, since a client starts the server elsewhere."""
    made: list[str] = []
    for before, argument in zip(("", *arguments), arguments, strict=False):
        flag, equals, value = argument.partition("=")
        if before in PATHS:
            made.append(_whole(before, argument))
        else:
            made.append(f"{flag}={_whole(flag, value)}" if equals and flag in PATHS else argument)
    return made


def _whole(flag: str, path: str) -> str:
    """A path from the root; a bare `--gemini NAME` is looked for on PATH."""
    is_name = flag == "--gemini" and os.sep not in path
    return path if is_name else os.path.abspath(os.path.expanduser(path))


def _snippet(client: Client, made: Launch, options: Options) -> str:
    if made.url is None:
        return client.start(made)
    if client.reach is None or made.transport not in client.transports:
        allowed = " or ".join(("stdio", *(client.transports if client.reach else ())))
        raise OperatorError(f"{options.print_config} reaches no server by {made.transport}. Use --transport {allowed}.")
    return client.reach(made)


def _remarks(client: Client, made: Launch, options: Options) -> list[str]:
    names = " and ".join(made.secrets)
    remarks: list[str] = []
    if made.url is not None:
        with_token = f", with {TOKEN} set" if options.token else ""
        remarks.append(f"Start the server yourself{with_token}: {made.line}")
    if made.secrets and client.secret is None:
        remarks.append(f"This client passes on no {names}. Put it into {KEY_FILE}.")
    elif made.secrets and client.secret:
        remarks.append(client.secret.format(names=names))
    return remarks


def _visible_session(client: Client, arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """What makes a client show its model the session, unless the operator has chosen."""
    is_chosen = any(argument.split("=")[0] == "--expose-session" for argument in arguments)
    if client.shows_meta or is_chosen or environ.get(f"{OWN}EXPOSE_SESSION"):
        return ()
    return ("--expose-session", "text")


def _command() -> str:
    """The program itself: as it was started, or beside the Python that runs it, or on PATH."""
    started_as = os.path.abspath(sys.argv[0])
    if os.path.basename(started_as) == PROGRAM:
        return started_as
    return shutil.which(PROGRAM, path=os.path.dirname(sys.executable)) or shutil.which(PROGRAM) or PROGRAM
