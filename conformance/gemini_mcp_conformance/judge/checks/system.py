"""How a system prompt is handed over, and what is left of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from gemini_mcp_conformance.judge.expectation import wanted
from gemini_mcp_conformance.judge.registry import check, check_all
from gemini_mcp_conformance.judge.selectors import calls, reaching
from gemini_mcp_conformance.play.fake.journal import Call
from gemini_mcp_conformance.see.observation import Exchange, Observation
from gemini_mcp_conformance.tell.witness import bytes_shown

VARIABLE = "GEMINI_SYSTEM_MD"
NAME = "SYSTEM.md"
DIRECTORY = re.compile(r"gemini-mcp-[^/]{6,}")


def has_system(exchange: Exchange) -> bool:
    """Whether the call hands over a system prompt."""
    needed = wanted(exchange) if calls()(exchange) else None
    return needed is not None and needed.system is not None


def expected(exchange: Exchange) -> bytes:
    needed = wanted(exchange)
    assert needed is not None
    assert needed.system is not None
    return needed.system.encode("utf-8", "replace")


def given(exchange: Exchange) -> list[Call]:
    """The runs that were given a system prompt."""
    return [run.call for run in exchange.runs if run.call.system_md_path is not None]


def is_given(exchange: Exchange) -> bool:
    return has_system(exchange) and bool(given(exchange))


@check("system:content", judges=reaching(None, "systemPrompt"))
@check("system:chat-reply", judges=reaching("chat-reply", "systemPrompt"))
def file_holds_the_system_prompt(exchange: Exchange) -> list[str]:
    if not exchange.runs:
        return ["The port did not run gemini for a call with a `systemPrompt`, and should."]
    wrong = [run.call for run in exchange.runs if run.call.system_md != expected(exchange)]
    return [not_held(call, call.system_md, expected(exchange)) for call in wrong[:1]]


def not_held(call: Call, found: bytes | None, needed: bytes) -> str:
    if call.system_md_path is None:
        return f"The port ran gemini without {VARIABLE}, and should name a file that holds {bytes_shown(needed)}."
    if found is None:
        return f"There is no file at {call.system_md_path!r}, and it should hold {bytes_shown(needed)}."
    return f"The file that {VARIABLE} names holds {bytes_shown(found)}, and should hold {bytes_shown(needed)}."


@check("system:file-name", judges=is_given)
def file_is_named_as_specified(exchange: Exchange) -> list[str]:
    paths = [str(call.system_md_path) for call in given(exchange)]
    return [
        f"{VARIABLE} is {path!r}, and should name a file {NAME!r}." for path in paths if os.path.basename(path) != NAME
    ][:1]


@check("system:directory", judges=is_given)
def file_lies_in_a_directory_of_its_own(exchange: Exchange) -> list[str]:
    tmp = exchange.place.tmp
    return [
        f"{VARIABLE} is {path!r}, and should lie in a directory `gemini-mcp-XXXXXX` of {tmp!r}."
        for path in (os.path.normpath(os.path.join(call.cwd, str(call.system_md_path))) for call in given(exchange))
        if os.path.dirname(os.path.dirname(path)) != tmp
        or not DIRECTORY.fullmatch(os.path.basename(os.path.dirname(path)))
    ][:1]


@check("system:mode", judges=lambda exchange: is_given(exchange) and bool(modes(exchange)))
def file_is_private(exchange: Exchange) -> list[str]:
    open_modes = [mode for mode in modes(exchange) if mode & 0o077]
    return [f"The system prompt's file has the mode {mode:04o}, and should have 0600." for mode in open_modes[:1]]


def modes(exchange: Exchange) -> list[int]:
    return [call.system_md_mode for call in given(exchange) if call.system_md_mode is not None]


@check("system:life", judges=lambda exchange: bool(ended(exchange)))
def file_stays_until_gemini_ends(exchange: Exchange) -> list[str]:
    needed = expected(exchange)
    wrong = [call for call in ended(exchange) if call.system_md_end != needed]
    return [
        f"At gemini's end {NAME} held {bytes_shown(call.system_md_end)}, and should hold {bytes_shown(needed)}."
        if call.system_md_end is not None
        else "The system prompt's file was gone before gemini had ended, and should be there until then."
        for call in wrong[:1]
    ]


def ended(exchange: Exchange) -> list[Call]:
    """The runs that began with the right file and ended by themselves."""
    if not has_system(exchange):
        return []
    return [call for call in given(exchange) if call.ended is not None and call.system_md == expected(exchange)]


@check("system:absent", judges=lambda exchange: reaching(without=("systemPrompt",))(exchange))
def nothing_is_set_without_system_prompt(exchange: Exchange) -> list[str]:
    return [
        f"Without `systemPrompt` {VARIABLE} is {call.system_md_path!r}, and should not be set."
        for call in given(exchange)
    ]


@check_all("system:leak", judges=lambda seen: bool(followers(seen)))
def earlier_system_prompt_is_not_seen(observation: Observation) -> list[str]:
    return [
        f"A call without `systemPrompt` was given {call.system_md_path!r} of an earlier call, and should be given none."
        for before, exchange in followers(observation)
        for call in given(exchange)
        if call.system_md_path in paths(before) or call.system_md in {expected(each) for each in before}
    ][:1]


def followers(observation: Observation) -> list[tuple[list[Exchange], Exchange]]:
    """The runs without a system prompt, each with the calls before it that had one."""
    found: list[tuple[list[Exchange], Exchange]] = []
    earlier: list[Exchange] = []
    for exchange in observation.calls:
        if has_system(exchange):
            earlier.append(exchange)
        elif earlier and exchange.runs and "systemPrompt" not in exchange.arguments:
            found.append((list(earlier), exchange))
    return found


def paths(exchanges: Iterable[Exchange]) -> set[str | None]:
    return {call.system_md_path for exchange in exchanges for call in given(exchange)}


@check_all("system:isolation", judges=lambda seen: len(together(seen)) > 1)
def concurrent_calls_see_their_own(observation: Observation) -> list[str]:
    return [
        complaint
        for exchange in together(observation)
        for complaint in file_holds_the_system_prompt(exchange) or file_stays_until_gemini_ends(exchange)
    ][:1]


def together(observation: Observation) -> list[Exchange]:
    """The calls with a system prompt that were open at the same time as another one, and ran."""
    return [each for each in observation.calls if has_system(each) and not each.alone and each.runs]


def kept(names: Iterable[str], exchanges: Iterable[Exchange]) -> list[str]:
    """Those of the names that are directories of a system prompt."""
    own = {os.path.basename(os.path.dirname(path)) for path in paths(exchanges) if path}
    return [name for name in names if name in own or name.startswith("gemini-mcp-")]


def left(exchange: Exchange) -> list[str]:
    named = kept(exchange.leftovers, [exchange])
    return [f"After the call {name!r} is left in the temporary directory, and should be gone." for name in named[:1]]


def is_over(exchange: Exchange) -> bool:
    return calls()(exchange) and "systemPrompt" in exchange.arguments and exchange.alone and exchange.answer is not None


@check(
    "system:removed:success", judges=lambda exchange: is_over(exchange) and is_given(exchange) and exchange.is_success
)
@check("system:removed:failure", judges=lambda exchange: is_over(exchange) and exchange.is_error)
def nothing_is_left(exchange: Exchange) -> list[str]:
    return left(exchange)


def stopped(how: str) -> Callable[[Observation], bool]:
    """Conversations in which this stopped a call with a system prompt."""

    def accepts(observation: Observation) -> bool:
        exit = observation.exit.asked if observation.exit is not None else None
        silence = "cancelled" if how == "cancel" else "ended"
        cut = [each for each in observation.calls if each.silence == silence and has_system(each) and each.runs]
        return bool(cut) and exit == (None if how == "cancel" else how)

    return accepts


@check_all("system:removed:cancel", judges=stopped("cancel"))
@check_all("system:removed:stdin-end", judges=stopped("stdin"))
@check_all("system:removed:sigterm", judges=stopped("TERM"))
def nothing_is_left_of_a_call_that_was_stopped(observation: Observation) -> list[str]:
    named = kept(observation.leftovers, observation.calls)
    return [f"After the call {name!r} is left in the temporary directory, and should be gone." for name in named[:1]]
