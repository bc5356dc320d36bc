"""Makes messages of what gemini tells while it runs: pieces of its stdout in, one message at a time out. Pure.

Who reads the pieces and sends the messages is elsewhere. What a message shows is masked as in errors; since it shows
an end of a text that still grows, parts of what is private count too.
"""

from collections.abc import Iterator

from gemini_mcp.call.redaction import Forms, mask, withhold_parts
from gemini_mcp.call.stream import event_in, strip
from gemini_mcp.call.surrogates import without_surrogates
from gemini_mcp.spec.live import LiveSpec
from gemini_mcp.spec.wording import OutcomeSpec

LONGEST_LINE = 1 << 20
"""Bytes of a line that is read at once; what a longer one tells is read when gemini has ended."""

SEARCHED = 1 << 14
"""Characters at the end of the text that are searched for keys; more than any key has."""

WORD = "".join(map(chr, range(ord("!"), ord("~") + 1)))
"""The characters of keys. The last word of a text may be the beginning of one; it is shown when more has come."""

CUT = "\N{HORIZONTAL ELLIPSIS}"


class Lines:
    """Cuts bytes that come in pieces into lines, and drops lines that are too long."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._is_dropped = False

    def add(self, data: bytes) -> Iterator[str]:
        """The lines that a piece completes."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._keep(line)
            if not self._is_dropped:
                yield self._rest.decode("utf-8", "replace")
            self._rest.clear()
            self._is_dropped = False
        self._keep(rest)

    def _keep(self, data: bytes) -> None:
        self._is_dropped |= len(self._rest) + len(data) > self._longest
        if self._is_dropped:
            self._rest.clear()
        else:
            self._rest += data


class News:
    """What one run has told and nobody has been told yet: its session, then the tools that it uses, then the text."""

    def __init__(self, live: LiveSpec, spec: OutcomeSpec, private: Forms) -> None:
        self._live, self._spec, self._private = live, spec, private
        self._lines = Lines()
        self._session: str | None = None
        self._tools: list[str] = []
        self._text = ""
        self._is_new = False

    def add(self, data: bytes) -> bool:
        """Read a piece of stdout; tell whether there is something to say."""
        for line in self._lines.add(data):
            event = event_in(line, self._live)
            match event and (event.kind, event.value):
                case ("session", str(session)):
                    self._session = session
                case ("tool", str(tool)):
                    self._tools.append(tool)
                    self._text, self._is_new = "", False
                case ("text", str(text)):
                    self._text, self._is_new = (self._text + text)[-SEARCHED:], True
                case _:
                    pass
        return self._session is not None or bool(self._tools) or self._is_new

    def take(self) -> str | None:
        """The next message, if there is one."""
        if self._session is not None:
            said, self._session = self._live.session.replace("{session}", self._session), None
            return self._shown(said)
        if self._tools:
            said, self._tools = self._live.tool.replace("{tool}", ", ".join(self._tools)), []
            return self._shown(said)
        if self._is_new:
            self._is_new = False
            return self._end_of_text()
        return None

    def _shown(self, text: str) -> str:
        shown = mask(withhold_parts(without_surrogates(text[:SEARCHED]), self._private), self._spec)
        return shown[: self._live.max_characters]

    def _end_of_text(self) -> str | None:
        text = mask(without_surrogates(strip(self._text.rstrip(WORD), self._live)), self._spec)
        most = self._live.max_characters
        is_cut = len(text) > most
        end = withhold_parts(text[-most:], self._private)[-most + is_cut :].strip()
        return (CUT + end if is_cut else end) or None
