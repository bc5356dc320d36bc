"""Carries out calls of tools: runs gemini, and holds what calls share. Effect.

It only puts the steps in order, and knows nothing of MCP. What a step decides belongs to the step's own module.
"""

import logging
import traceback
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from time import monotonic
from typing import TypeAlias, TypeVar

from gemini_mcp.call import open_files, temporary
from gemini_mcp.call.invocation import Invocation, environment, plan
from gemini_mcp.call.listing import newest_session
from gemini_mcp.call.live import News
from gemini_mcp.call.outcome import (
    Answer,
    Failure,
    NotStarted,
    Outcome,
    answer_result,
    failure_result,
    read,
    refusal_result,
    size,
)
from gemini_mcp.call.paths import find_directory, find_program, held, is_place, native, real_path
from gemini_mcp.call.process import Command, Limits, run
from gemini_mcp.call.progress import Progress
from gemini_mcp.call.redaction import Secrets, forms_of, keys_in
from gemini_mcp.call.session_locks import SessionLocks, Turn, Way
from gemini_mcp.call.stream import read_live
from gemini_mcp.call.threads import apart
from gemini_mcp.errors import CallerError, UnknownTool
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import ServerSpec, ToolSpec
from gemini_mcp.spec.live import told_live
from gemini_mcp.spec.values import Json

T = TypeVar("T")
Hear: TypeAlias = Callable[[bytes], None]

log = logging.getLogger(__name__)

CLOSING_GRACE = 1.0
"""Seconds that gemini gets to end when the server is ending too."""

STDERR_KEPT = 1 << 20
"""Bytes from the end of stderr that are kept, to search them for causes and secrets; only the last few are shown."""

MUCH = 1 << 16
"""Characters of output that are read in a thread: to search them may take long, and other calls must not wait."""

LONGEST_ESCAPE = 12
"""The most bytes that JSON uses for one character: two escapes such as `\\ud83e`."""


class Calls:
    """The calls of one server."""

    def __init__(self, spec: ServerSpec, options: Options, environ: Mapping[str, str]) -> None:
        self._spec = spec
        self._options = options
        self._live = spec.live if options.live else None
        self._invocation = told_live(spec.invocation, self._live) if self._live else spec.invocation
        self._tools: dict[str, ToolSpec] = {tool.name: tool for tool in spec.tools}
        self._environ = options.environment(environ, spec.invocation.withhold)
        # gemini is also found where it does not get PATH itself.
        self._searched = {**environ, **self._environ}
        self._keys = keys_in({name: value for name, value in environ.items() if not is_place(value)}, spec.outcome)
        # Where clients connect, half of the open files are theirs.
        files = open_files.free() // (1 if options.transport == "stdio" else 2)
        self._session_locks = SessionLocks(open_files.calls(options.max_concurrency, files))
        self._is_closing = False

    def close(self) -> None:
        """From now on, give gemini little time to end."""
        self._is_closing = True

    async def call(self, name: str, arguments: Mapping[str, Json], progress: Progress) -> Json:
        """The result of one call. It raises nothing but `UnknownTool`."""
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name, tuple(self._tools))
        try:
            return await self._carry_out(tool, arguments, progress)
        except CallerError as error:
            return refusal_result(error, self._spec.outcome)
        except Exception as error:
            # Not the message of the error: it may quote what the caller wrote.
            log.error("%s in a call of %s\n%s", type(error).__name__, name, _traceback(error))
            return self._failed(Failure("fault", {"reason": type(error).__name__}), ())

    async def _carry_out(self, tool: ToolSpec, arguments: Mapping[str, Json], progress: Progress) -> Json:
        invocation = plan(tool, arguments, self._invocation, self._options.extras)
        directory = find_directory(invocation.cwd, self._options.allow_cwd)
        if isinstance(directory, NotStarted):
            return self._not_started(directory, tool, invocation)
        turn = Turn(real_path(directory), _way(invocation), invocation.resumes)
        async with progress.repeating(), self._session_locks.hold(turn, progress.say):
            await progress.say("gemini is running")
            began = monotonic()
            answer = await self._ask(invocation, directory, progress)
            turn.answered = answer.session if isinstance(answer, Answer) else None
            log.info("%s: %s after %.3f s", tool.name, type(answer).__name__, monotonic() - began)
        if isinstance(answer, NotStarted):
            return self._not_started(answer, tool, invocation)
        if isinstance(answer, Failure):
            named = replace(answer, fields={**answer.fields, "directory": repr(real_path(directory))})
            return await _apart(len(answer.stderr or ""), lambda: self._failed(named, invocation.private))
        return answer_result(answer, self._spec.outcome, self._options.view)

    async def _ask(self, invocation: Invocation, directory: str, progress: Progress) -> Answer | Failure | NotStarted:
        program = find_program(self._options.gemini or self._spec.invocation.program, self._searched)
        if isinstance(program, NotStarted):
            return program
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(temporary.files(invocation.files, self._spec.invocation.temporary))
            except OSError as error:
                return NotStarted("no-temporary-file", {"reason": error.strerror or str(error)})
            cwd = stack.enter_context(held(directory, self._options.allow_cwd))
            if isinstance(cwd, NotStarted):
                return cwd
            environ = environment(self._environ, invocation, folder)
            return await self._answer(invocation, Command((program,), cwd, environ), progress)

    async def _answer(self, invocation: Invocation, gemini: Command, progress: Progress) -> Answer | Failure:
        command = replace(
            gemini,
            argv=(*gemini.argv, *map(native, invocation.argv)),
            stdin=None if invocation.stdin is None else invocation.stdin.encode("utf-8"),
            stdout_limit=self._options.max_output_bytes or self._spec.outcome.stdout_bytes,
            stderr_limit=STDERR_KEPT + sum(LONGEST_ESCAPE * len(text) for text in invocation.private),
        )
        async with self._hearing(progress, invocation.private) as hear:
            outcome = await run(replace(command, on_stdout=hear), Limits(self._options.timeout, self._grace))
        answer = await _apart(size(outcome), lambda: self._read(outcome))
        if isinstance(answer, Answer) and answer.session is None:
            return replace(answer, session=await self._session_after(invocation, gemini))
        return answer

    @asynccontextmanager
    async def _hearing(self, progress: Progress, private: tuple[str, ...]) -> AsyncGenerator[Hear | None]:
        """What hears gemini's stdout, to tell of it while the body runs; None where nobody is told."""
        if self._live is None or not progress.is_wanted:
            yield None
            return
        spec = self._spec.outcome
        forms = await _apart(sum(map(len, private)), lambda: forms_of(Secrets(private, self._keys), spec))
        news = News(self._live, spec, forms)
        async with progress.following(news.take, self._live.seconds) as say:
            yield lambda data: say() if news.add(data) else None

    def _read(self, outcome: Outcome) -> Answer | Failure:
        if self._live is None:
            return read(outcome, self._spec.outcome)
        return read_live(outcome, self._spec.outcome, self._live, self._options.max_response_chars)

    async def _session_after(self, invocation: Invocation, gemini: Command) -> str | None:
        """The session of an answer that does not name its session."""
        # A session that is resumed keeps its id.
        if invocation.resumes_by_id:
            return invocation.resumes
        # Only where nothing else names the session: to list, gemini may ask the API and delete old sessions.
        listing = self._spec.invocation.listing
        limits = Limits(min(listing.timeout, self._options.timeout), self._grace)
        return newest_session(await run(replace(gemini, argv=(*gemini.argv, *listing.argv)), limits), listing.entry)

    def _grace(self) -> float:
        return min(self._options.kill_grace, CLOSING_GRACE) if self._is_closing else self._options.kill_grace

    def _not_started(self, why: NotStarted, tool: ToolSpec, invocation: Invocation) -> Json:
        named = self._spec.invocation.tools[tool.name].cwd or ""
        return self._failed(Failure(why.condition, {**why.fields, "argument": named}), invocation.private)

    def _failed(self, failure: Failure, private: tuple[str, ...]) -> Json:
        return failure_result(failure, self._spec.outcome, Secrets(private, self._keys))


async def _apart(characters: int, function: Callable[[], T]) -> T:
    """What the function returns that has so much to read. If the call is cancelled, nobody waits for it."""
    return await apart(function) if characters > MUCH else function()


def _way(invocation: Invocation) -> Way:
    """How a call names its session. Gemini CLI takes a number for a place in the list of sessions."""
    if invocation.resumes is None:
        return "new"
    if not invocation.resumes_by_id:
        return "latest"
    return "number" if invocation.resumes.strip().isdecimal() else "id"


def _traceback(error: BaseException) -> str:
    """Where an error was raised, without its message."""
    return "".join(traceback.format_tb(error.__traceback__))
