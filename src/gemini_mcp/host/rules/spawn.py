"""What `child_process.spawn` of Node says of a process that does not start. Pure.

Only its words belong here; `stdio` starts the process.
"""

import errno
from collections.abc import Mapping

from gemini_mcp.host.rules.javascript import template
from gemini_mcp.spec.values import Json, items, list_of, type_of

_OF_COMMAND = frozenset((errno.ENOENT, errno.EACCES, errno.EAGAIN, errno.EMFILE, errno.ENFILE))
"""Errors that Node reports of the command; the others it throws, and then does not name it."""

_CWD = "an instance of Buffer or URL"


def refused(command: Json, args: Json, cwd: Json, environment: Mapping[str, str]) -> str | None:
    """Why Node refuses the values before it starts anything; nothing when it does not."""
    if not isinstance(command, str):
        return f'The "file" argument must be of type string. Received {_received(command)}'
    if "\0" in command:
        return f"The argument 'file' must be a string without null bytes. Received {_quoted(command)}"
    for place, word in enumerate(items(args)):
        if isinstance(word, str) and "\0" in word:
            return f"The argument 'args[{place}]' must be a string without null bytes. Received {_quoted(word)}"
    if cwd is not None and not isinstance(cwd, str):
        return f'The "options.cwd" property must be of type string or {_CWD}. Received {_received(cwd)}'
    if cwd is not None and "\0" in cwd:
        must = "must be a string, Uint8Array, or URL without null bytes"
        return f"The property 'options.cwd' {must}. Received {_quoted(cwd)}"
    name = next((name for name, value in environment.items() if "\0" in value), None)
    if name is None:
        return None
    must = "must be a string without null bytes"
    return f"The property 'options.env['{name}']' {must}. Received {_quoted(environment[name])}"


def failed(command: str, number: int | None) -> str:
    """What is said of a command that the system does not start, by the number of its error."""
    code = errno.errorcode.get(number or 0, "UNKNOWN")
    return f"spawn {command} {code}" if number in _OF_COMMAND else f"spawn {code}"


def _received(value: Json) -> str:
    if isinstance(value, bool | int | float):
        return f"type {type_of(value)} ({template(value)})"
    return "an instance of Array" if list_of(value) is not None else "an instance of Object"


def _quoted(text: str) -> str:
    """The text as `util.inspect` writes it."""
    mark = next((mark for mark in "'\"`" if mark not in text), "'")
    escaped = text.replace("\\", "\\\\").replace("\0", "\\x00").replace("\n", "\\n").replace("\t", "\\t")
    return mark + (escaped.replace("'", "\\'") if mark == "'" else escaped) + mark
