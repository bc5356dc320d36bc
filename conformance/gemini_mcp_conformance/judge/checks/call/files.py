"""How an argument is handed over in a file, and what is left of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.expectation import is_call, specified
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import reaches
from gemini_mcp_conformance.see.call import Call, Given
from gemini_mcp_conformance.see.observation import Exchange, Observation, Silence
from gemini_mcp_conformance.see.witness import bytes_shown


def expected(exchange: Exchange) -> Mapping[str, bytes]:
    """What the file of each variable must hold."""
    call = specified(exchange) if is_call(exchange) else None
    return {} if call is None else {name: text.encode("utf-8", "replace") for name, text in call.files.items()}


def has_file(exchange: Exchange) -> bool:
    """Whether the call hands over an argument in a file."""
    return bool(expected(exchange))


def given(exchange: Exchange) -> list[tuple[Call, str, Given]]:
    """The files that the runs of gemini were given, each with its run and its variable."""
    return [(run.call, name, file) for run in exchange.runs for name, file in run.call.given.items()]


def is_given(exchange: Exchange) -> bool:
    return has_file(exchange) and bool(given(exchange))


def reaches_with_file(exchange: Exchange) -> bool:
    """Calls that hand over an argument in a file and reach gemini."""
    return has_file(exchange) and reaches(exchange, *arguments(exchange))


def arguments(exchange: Exchange) -> list[str]:
    """The arguments of the call that go into a file, whatever their values."""
    return [name for name in exchange.spec.files(exchange.tool) if name in exchange.arguments]


@check("system:content", "system:{tool}", judges=reaches_with_file, about="file")
def file_holds_the_argument(exchange: Exchange) -> Complaints:
    if not exchange.runs:
        yield "The port did not run gemini for a call with an argument that goes into a file, and should."
    for run in exchange.runs:
        for name, needed in expected(exchange).items():
            file, wanted = run.call.given.get(name), bytes_shown(needed)
            if file is None:
                yield f"The port ran gemini without {name}, and should name a file that holds {wanted}."
            elif file.content is None:
                yield f"The port named no file at {file.path!r}, and should name one that holds {wanted}."
            elif file.content != needed:
                held = bytes_shown(file.content)
                yield f"The port named a file as {name} that holds {held}, and should name one that holds {wanted}."


@check("system:file-name", judges=is_given)
def file_is_named_as_specified(exchange: Exchange) -> Complaints:
    names = exchange.spec.template(exchange.tool).env
    for _, variable, file in given(exchange):
        if variable in names and os.path.basename(file.path) != names[variable]:
            yield f"The port named the file {file.path!r} as {variable}, and should name a file {names[variable]!r}."


@check("system:directory", judges=is_given)
def file_lies_in_a_directory_of_its_own(exchange: Exchange) -> Complaints:
    tmp, temporary = exchange.place.tmp, exchange.spec.invocation.temporary
    # A library chooses the name: Go's `os.MkdirTemp` writes a number, of one digit or of ten.
    pattern = f"{re.escape(temporary.prefix)}[^/]+"
    for call, name, file in given(exchange):
        path = absolute(call, file)
        parent, directory = os.path.split(os.path.dirname(path))
        if parent != tmp or not re.fullmatch(pattern, directory):
            wanted = f"a directory of its TMPDIR {tmp!r} whose name matches {pattern!r}"
            yield f"The port put the file of {name} at {path!r}, and should put it into {wanted}."


def absolute(call: Call, file: Given) -> str:
    """Where the file lies. A port may name it by a path from the directory in which gemini runs."""
    return os.path.normpath(os.path.join(call.cwd, file.path))


@check_all("system:directory", judges=lambda seen: len(together(seen)) > 1)
def calls_share_no_directory(observation: Observation) -> Complaints:
    """A name may come again when its directory is gone, but not while the file of another call lies in it."""
    users: dict[str, list[tuple[Exchange, Call]]] = {}
    for exchange in together(observation):
        for call, name, file in given(exchange):
            directory = os.path.dirname(absolute(call, file))
            for other, its in users.setdefault(directory, []):
                if other is not exchange and ran_together(call, its):
                    told = f"the directory {directory!r} for the files of two calls at the same time"
                    yield f"The port took {told}, and should make a new one for each {name}."
            users[directory].append((exchange, call))


def ran_together(one: Call, other: Call) -> bool:
    """Whether both are known to have run at some moment."""
    if one.ended is None or other.ended is None:
        return False
    return max(one.started, other.started) < min(one.ended, other.ended)


def modes(exchange: Exchange) -> list[int]:
    return [file.mode for _, _, file in given(exchange) if file.mode is not None] if has_file(exchange) else []


@check("system:mode", judges=lambda exchange: bool(modes(exchange)))
def file_is_private(exchange: Exchange) -> Complaints:
    allowed = exchange.spec.invocation.temporary.file_mode
    for mode in modes(exchange):
        # Fewer rights are as private: a port may make the file read-only.
        if mode & ~allowed & 0o777:
            yield f"The port gave the file of an argument the mode {mode:04o}, and should give it {allowed:04o}."


def ended(exchange: Exchange) -> list[tuple[str, Given]]:
    """The files that held what they should, of runs that ended by themselves."""
    right = [(call, name, file) for call, name, file in given(exchange) if file.content is not None]
    needed = expected(exchange)
    return [(name, file) for call, name, file in right if call.ended is not None and file.content == needed.get(name)]


@check("system:life", judges=lambda exchange: bool(ended(exchange)), about="file")
def file_stays_until_gemini_ends(exchange: Exchange) -> Complaints:
    for name, file in ended(exchange):
        if file.at_end is None:
            yield f"The port removed the file of {name} before gemini had ended, and should keep it until then."
        elif file.at_end != file.content:
            held, wanted = bytes_shown(file.at_end), bytes_shown(file.content or b"")
            yield f"The port let the file of {name} hold {held} when gemini ended, and should let it hold {wanted}."


def lacks_file(exchange: Exchange) -> bool:
    """Calls that reach gemini without one of the arguments that go into a file."""
    return reaches(exchange) and not expected(exchange).keys() >= set(exchange.spec.variables)


@check("system:absent", judges=lacks_file)
def nothing_is_set_without_the_argument(exchange: Exchange) -> Complaints:
    for run in exchange.all_runs:
        for name, file in run.call.given.items():
            if name not in expected(exchange):
                yield f"The port set {name} to {file.path!r} for a call without its argument, and should not set it."


@check_all("system:leak", judges=lambda seen: any(True for _ in followers(seen)))
def earlier_file_is_not_seen(observation: Observation) -> Complaints:
    for before, exchange in followers(observation):
        for _, _, file in given(exchange):
            if file.path in paths(before) or (file.content or b"").strip() in contents(before):
                yield f"The port gave {file.path!r} of an earlier call to one without a file, and should give none."


def followers(observation: Observation) -> Iterator[tuple[list[Exchange], Exchange]]:
    """The runs without a file, each with the calls before it that had one."""
    earlier: list[Exchange] = []
    for exchange in observation.calls:
        if has_file(exchange):
            earlier.append(exchange)
        elif earlier and exchange.runs and is_call(exchange) and not arguments(exchange):
            yield list(earlier), exchange


def paths(exchanges: Iterable[Exchange]) -> set[str]:
    return {file.path for exchange in exchanges for _, _, file in given(exchange)}


def contents(exchanges: Iterable[Exchange]) -> set[bytes]:
    """What their files must hold, without the blanks at its ends, which a port may take off."""
    return {held.strip() for each in exchanges for held in expected(each).values()} - {b""}


@check_all("system:isolation", judges=lambda seen: len(together(seen)) > 1)
def concurrent_calls_see_their_own(observation: Observation) -> Complaints:
    for exchange in together(observation):
        yield from file_holds_the_argument(exchange)
        yield from file_stays_until_gemini_ends(exchange)


def together(observation: Observation) -> list[Exchange]:
    """The calls with a file that were open at the same time as another one, and ran."""
    return [each for each in observation.calls if has_file(each) and not each.alone and each.runs]


def directories(exchanges: Iterable[Exchange]) -> set[str]:
    """The names of the directories in which their files lay."""
    return {os.path.basename(os.path.dirname(path)) for path in paths(exchanges) if path}


def left_behind(names: Iterable[str], exchanges: Iterable[Exchange]) -> Complaints:
    """Those of the names that are directories of a file."""
    exchanges = list(exchanges)
    own = directories(exchanges)
    prefixes = tuple({each.spec.invocation.temporary.prefix for each in exchanges})
    for name in names:
        if name in own or (prefixes and name.startswith(prefixes)):
            yield f"The port left {name!r} in the temporary directory after the call, and should remove it."


def is_over(exchange: Exchange) -> bool:
    return bool(arguments(exchange)) and exchange.answer is not None


@check("system:removed:success", judges=lambda each: is_over(each) and is_given(each) and each.is_success, about="left")
@check("system:removed:failure", judges=lambda each: is_over(each) and each.is_error, about="left")
def nothing_is_left(exchange: Exchange) -> Complaints:
    own = directories([exchange])
    # What else is new may belong to a call beside it.
    return left_behind([name for name in exchange.leftovers if exchange.alone or name in own], [exchange])


def still_runs(observation: Observation) -> bool:
    """Whether the port itself had to be killed, or left a gemini running, which may need its files."""
    is_killed = observation.exit is not None and observation.exit.code is None
    return is_killed or any(run.survivors for run in observation.runs)


def stopped(silence: Silence, asked: str | None) -> Callable[[Observation], bool]:
    """Conversations in which a call with a file was stopped so, and the port was asked so to end."""

    def accepts(observation: Observation) -> bool:
        exit = observation.exit.asked if observation.exit is not None else None
        cut = [each for each in observation.calls if each.silence == silence and has_file(each)]
        return bool(cut) and exit == asked and not still_runs(observation)

    return accepts


@check_all("system:removed:cancel", judges=stopped("cancelled", None), about="left")
@check_all("system:removed:stdin-end", judges=stopped("ended", "stdin"), about="left")
@check_all("system:removed:sigterm", judges=stopped("ended", "TERM"), about="left")
def nothing_is_left_of_a_call_that_was_stopped(observation: Observation) -> Complaints:
    return left_behind(observation.leftovers, observation.calls)
