"""Evidence: turns the bytes of a conversation and the journal of the fake into texts for a report. Pure.

Equal runs must give equal texts, so directories, which differ from run to run, are replaced by names.
"""

import re
from collections.abc import Iterable, Mapping

from gemini_mcp_conformance.judge.judgement import Evidence, Run
from gemini_mcp_conformance.see.call import Call

HEAD, TAIL = 1500, 500
"""Characters that are kept of a longer text, from its beginning and from its end."""


def evidence(
    did: str,
    sent: Iterable[bytes],
    received: Iterable[bytes],
    calls: Iterable[Call],
    places: Mapping[str, str],
    asked: Iterable[int] = (),
) -> Evidence:
    """What the suite did, and what was sent, received and run; `places` maps directories to names."""
    return Evidence(
        did=did,
        sent=tuple(shown(line, places) for line in sent),
        received=tuple(shown(line, places) for line in received),
        runs=tuple(_run(call, places) for call in calls),
        asked=tuple(asked),
    )


def shown(data: str | bytes, places: Mapping[str, str]) -> str:
    """`data` as text: bytes that are not UTF-8 as `\\xNN`, directories by name, long texts without their middle."""
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    return _cut(_named(data.decode("utf-8", "backslashreplace"), places))


def _run(call: Call, places: Mapping[str, str]) -> Run:
    return Run(
        argv=tuple(shown(element, places) for element in call.argv),
        cwd=shown(call.cwd, places),
        stdin_kind=call.stdin_kind,
        stdin=None if call.stdin is None else shown(call.stdin, places),
        system_file=None if call.file.content is None else shown(call.file.content, places),
    )


def _named(text: str, places: Mapping[str, str]) -> str:
    if not places:
        return text
    # The directory of a port is the beginning of its other directories.
    longest_first = sorted(places, key=lambda place: (-len(place), place))
    return re.sub("|".join(map(re.escape, longest_first)), lambda match: places[match[0]], text)


def _cut(text: str) -> str:
    if len(text) <= HEAD + TAIL:
        return text
    return f"{text[:HEAD]} […{len(text) - HEAD - TAIL:,} characters left out…] {text[-TAIL:]}"
