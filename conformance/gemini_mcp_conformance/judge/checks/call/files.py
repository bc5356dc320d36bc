"""How an argument is handed over in a file, and what is left of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping

from gemini_mcp.spec.families import Subject
from gemini_mcp_conformance.judge.expectation import is_call, specified
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import of_tool, reaches
from gemini_mcp_conformance.play.fake.journal import NOTHING, Call, Given
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.witness import bytes_shown


def directory_pattern(exchange: Exchange) -> re.Pattern[str]:
    """What the directory of a file is called: the prefix, and characters by chance."""
    temporary = exchange.spec.invocation.temporary
    return re.compile(f"{re.escape(temporary.prefix)}[^/]{{{temporary.random},}}")


def expected(exchange: Exchange) -> Mapping[str, bytes]:
    """What the file of each variable must hold."""
    call = specified(exchange)
    return {} if call is None else {name: text.encode("utf-8", "replace") for name, text in call.files.items()}


def has_file(exchange: Exchange) -> bool:
    """Whether the call hands over an argument in a file."""
    return is_call(exchange) and bool(expected(exchange))


def given(exchange: Exchange) -> list[tuple[Call, str, Given]]:
    """The runs that were given a file of the specification, with its variable."""
    return [(run.call, name, file) for run in exchange.runs for name, file in run.call.given.items()]


def is_given(exchange: Exchange) -> bool:
    return has_file(exchange) and bool(given(exchange))


def is_due(exchange: Exchange) -> bool:
    if not has_file(exchange):
        return False
    names = exchange.spec.files(exchange.tool or "")
    return reaches(exchange, *(name for name in names if name in exchange.arguments))


@check("system:content", judges=is_due, about="file")
def file_holds_the_argument(exchange: Exchange) -> list[str]:
    if not exchange.runs:
        return ["The port did not run gemini for a call with an argument that goes into a file, and should."]
    found = [
        not_held(run.call, name, run.call.given.get(name), needed)
        for run in exchange.runs
        for name, needed in expected(exchange).items()
        if run.call.given.get(name, NOTHING).content != needed
    ]
    return found[:1]


@check("system:{tool}", judges=lambda exchange, subject: of_tool(exchange, subject) and is_due(exchange), about="file")
def file_of_a_reply_holds_the_argument(exchange: Exchange, subject: Subject) -> list[str]:
    return file_holds_the_argument(exchange)


def not_held(call: Call, variable: str, found: Given | None, needed: bytes) -> str:
    if found is None:
        return f"The port ran gemini without {variable}, and should name a file that holds {bytes_shown(needed)}."
    if found.content is None:
        return f"There is no file at {found.path!r}, and it should hold {bytes_shown(needed)}."
    return f"The file that {variable} names holds {bytes_shown(found.content)}, and should hold {bytes_shown(needed)}."


@check("system:file-name", judges=is_given)
def file_is_named_as_specified(exchange: Exchange) -> list[str]:
    template = exchange.spec.template(exchange.tool or "")
    return [
        f"{name} is {file.path!r}, and should name a file {template.env[name]!r}."
        for _, name, file in given(exchange)
        if name in template.env and os.path.basename(file.path) != template.env[name]
    ][:1]


@check("system:directory", judges=is_given)
def file_lies_in_a_directory_of_its_own(exchange: Exchange) -> list[str]:
    tmp, pattern = exchange.place.tmp, directory_pattern(exchange)
    return [
        f"{name} is {path!r}, and should lie in a directory of {tmp!r} whose name matches {pattern.pattern!r}."
        for call, name, file in given(exchange)
        if (path := os.path.normpath(os.path.join(call.cwd, file.path)))
        and (
            os.path.dirname(os.path.dirname(path)) != tmp
            or not pattern.fullmatch(os.path.basename(os.path.dirname(path)))
        )
    ][:1]


@check("system:mode", judges=lambda exchange: is_given(exchange) and bool(modes(exchange)))
def file_is_private(exchange: Exchange) -> list[str]:
    allowed = exchange.spec.invocation.temporary.file_mode
    open_modes = [mode for mode in modes(exchange) if mode & ~allowed & 0o777]
    return [
        f"The file of an argument has the mode {mode:04o}, and should have {allowed:04o}." for mode in open_modes[:1]
    ]


def modes(exchange: Exchange) -> list[int]:
    return [file.mode for _, _, file in given(exchange) if file.mode is not None]


@check("system:life", judges=lambda exchange: bool(ended(exchange)), about="file")
def file_stays_until_gemini_ends(exchange: Exchange) -> list[str]:
    wrong = [(name, file) for name, file in ended(exchange) if file.at_end != file.content]
    return [
        f"At gemini's end the file of {name} held {bytes_shown(file.at_end)}, and at its start something else."
        if file.at_end is not None
        else f"The file of {name} was gone before gemini had ended, and should be there until then."
        for name, file in wrong[:1]
    ]


def ended(exchange: Exchange) -> list[tuple[str, Given]]:
    """The files that held what they should, of runs that ended by themselves."""
    if not is_call(exchange):
        return []
    needed = expected(exchange)
    return [
        (name, file)
        for call, name, file in given(exchange)
        if call.ended is not None and name in needed and file.content == needed[name]
    ]


@check("system:absent", judges=lambda exchange: is_call(exchange) and reaches(exchange) and not _is_complete(exchange))
def nothing_is_set_without_the_argument(exchange: Exchange) -> list[str]:
    return [
        f"Without its argument {name} is {file.path!r}, and should not be set."
        for _, name, file in given(exchange)
        if name not in expected(exchange)
    ][:1]


def _is_complete(exchange: Exchange) -> bool:
    """Whether a call gives every argument that goes into a file."""
    return expected(exchange).keys() >= set(exchange.spec.variables)


@check_all("system:leak", judges=lambda seen: bool(followers(seen)))
def earlier_file_is_not_seen(observation: Observation) -> list[str]:
    return [
        f"A call without the argument was given {file.path!r} of an earlier call, and should be given none."
        for before, exchange in followers(observation)
        for _, _, file in given(exchange)
        if file.path in paths(before) or file.content in {held for each in before for held in expected(each).values()}
    ][:1]


def followers(observation: Observation) -> list[tuple[list[Exchange], Exchange]]:
    """The runs without a file, each with the calls before it that had one."""
    found: list[tuple[list[Exchange], Exchange]] = []
    earlier: list[Exchange] = []
    for exchange in observation.calls:
        if has_file(exchange):
            earlier.append(exchange)
        elif earlier and exchange.runs and is_call(exchange) and not _names_file(exchange):
            found.append((list(earlier), exchange))
    return found


def _names_file(exchange: Exchange) -> bool:
    return is_call(exchange) and not exchange.spec.files(exchange.tool or "").keys().isdisjoint(exchange.arguments)


def paths(exchanges: Iterable[Exchange]) -> set[str]:
    return {file.path for exchange in exchanges for _, _, file in given(exchange)}


@check_all("system:isolation", judges=lambda seen: len(together(seen)) > 1)
def concurrent_calls_see_their_own(observation: Observation) -> list[str]:
    return [
        complaint
        for exchange in together(observation)
        for complaint in file_holds_the_argument(exchange) or file_stays_until_gemini_ends(exchange)
    ][:1]


def together(observation: Observation) -> list[Exchange]:
    """The calls with a file that were open at the same time as another one, and ran."""
    return [each for each in observation.calls if has_file(each) and not each.alone and each.runs]


def kept(names: Iterable[str], exchanges: Iterable[Exchange]) -> list[str]:
    """Those of the names that are directories of a file."""
    exchanges = list(exchanges)
    own = {os.path.basename(os.path.dirname(path)) for path in paths(exchanges) if path}
    prefixes = tuple({each.spec.invocation.temporary.prefix for each in exchanges})
    return [name for name in names if name in own or (prefixes and name.startswith(prefixes))]


def is_over(exchange: Exchange) -> bool:
    return _names_file(exchange) and exchange.alone and exchange.answer is not None


@check(
    "system:removed:success", judges=lambda exchange: is_over(exchange) and is_given(exchange) and exchange.is_success
)
@check("system:removed:failure", judges=lambda exchange: is_over(exchange) and exchange.is_error)
def nothing_is_left(exchange: Exchange) -> list[str]:
    named = kept(exchange.leftovers, [exchange])
    return [f"After the call {name!r} is left in the temporary directory, and should be gone." for name in named[:1]]


def stopped(how: str) -> Callable[[Observation], bool]:
    """Conversations in which this stopped a call with a file."""

    def accepts(observation: Observation) -> bool:
        exit = observation.exit.asked if observation.exit is not None else None
        silence = "cancelled" if how == "cancel" else "ended"
        cut = [each for each in observation.calls if each.silence == silence and has_file(each) and each.runs]
        return bool(cut) and exit == (None if how == "cancel" else how)

    return accepts


@check_all("system:removed:cancel", judges=stopped("cancel"))
@check_all("system:removed:stdin-end", judges=stopped("stdin"))
@check_all("system:removed:sigterm", judges=stopped("TERM"))
def nothing_is_left_of_a_call_that_was_stopped(observation: Observation) -> list[str]:
    named = kept(observation.leftovers, observation.calls)
    return [f"After the call {name!r} is left in the temporary directory, and should be gone." for name in named[:1]]
