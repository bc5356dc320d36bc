"""Directories: the working directory of a call, absolute and relative, behind links, and as none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gemini_mcp.spec.families import kebab
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.interpreter import is_absent
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.plays import SESSION
from gemini_mcp_conformance.talk.sources import Sources, ToolMaker
from gemini_mcp_conformance.talk.steps import Arrange, call, path
from gemini_mcp_conformance.talk.texts import BLANKS, canaries

ORDER = 81

DIRECTORIES: Mapping[str, str] = {
    "plain": "demo",
    "deep": "demo/a/b/c",
    "blank": "with a blank",
    "blank-ends": " blank ",
    "unicode": "é 日本 😀",
    "quotes": 'it\'s "quoted"',
    "backslash": "back\\slash",
    "dash": "-demo",
}
"""Directories that exist, by the name they have below the port's own."""
RELATIVE = ("plain", "deep", "dash", "home", "tilde", "substitution")
"""Directories that are given as a relative path too."""

NEAR = ("near", "near\n", "near ", " near", "near\t", "near.", "near%20", "near\\", "~near", "'near'", "near,", "-near",
        "near1", "near[1]")  # fmt: skip
"""Directories that exist side by side, one of which a port takes for the other if it changes the name, or if it takes
the last one for a pattern."""

MADE: Mapping[str, str | None] = {"demo": None, "demo/file": "x"}
"""What the paths below are about."""

PATHS: Mapping[str, Json] = {
    "dot": ".",
    "parent": "demo/..",
    "trailing-slash": path("demo/"),
    "empty": "",
    "nul": "demo\0x",
    "too-long": "x" * 5000,
}
"""Other ways to write a working directory, and values that cannot be one."""

REFERRING = "$$ $& $1 {0} %s %%"
"""What is filled in where a path is put into a sentence by a function that replaces texts."""

PATTERNS = ("dem*", "d?mo", "[d]emo", "{demo,x}")
"""What matches a directory that exists, and names none."""

PROGRAM = "#!/bin/sh\nexit 70\n"
"""What nobody may run because it lies in a directory."""

MISSING = ("substitution", "backticks", "semicolon")
"""Hostile names of directories that do not exist."""

REFUSED = ("cwd:missing", "cwd:file", "cwd:reason", "arguments:refused:not-started", "system:removed:failure")
"""What a directory that is none shows."""


def conversations(sources: Sources) -> Iterable[Conversation]:
    for tool in sources.spec.names:
        if (name := sources.spec.directory(tool)) is not None:
            yield from Directories(sources, tool, name).every()


class Directories(ToolMaker):
    """The working directories of one tool; `name` is the argument that gives them."""

    phase, prefix = "boundaries", ""

    def __init__(self, sources: Sources, tool: str, name: str) -> None:
        super().__init__(sources, tool)
        self.name, self.key, self.hostile = name, kebab(name), canaries(name)
        self.given = {**self.usual, **dict.fromkeys(sources.spec.files(tool), "Be brief.")}
        self.shows = ("cwd:used", f"cwd:{kebab(tool)}", "cwd:relative", f"injection:shell:{self.key}")

    def every(self) -> Iterator[Conversation]:
        yield from self._existing()
        yield from self._odd()
        yield self._none()
        yield self._listed()
        yield self._linked()
        yield self._near()
        if self.spec.session(self.tool) is not None:
            yield self._left()
        for folder in ("no-such/a", "demo/file"):
            kind = f"{self.key}-relative-{folder.replace('/', '-')}"
            yield self.one(kind, {self.name: folder}, REFUSED, files=MADE)

    def _existing(self) -> Iterator[Conversation]:
        # A name with a slash would be two directories.
        hostile = {kind: text for kind, text in self.hostile.items() if "/" not in text}
        for kind, folder in self.own(self.name, {**DIRECTORIES, **hostile}).items():
            forms: dict[str, Json] = {"absolute": path(folder), **({"relative": folder} if kind in RELATIVE else {})}
            for form, cwd in forms.items():
                yield self.one(f"{self.key}-{form}-{kind}", {self.name: cwd}, self.shows, files={folder: None})

    def _odd(self) -> Iterator[Conversation]:
        missing = {f"no-such-{kind}": f"no-such-{self.hostile[kind]}" for kind in MISSING}
        for kind, cwd in {**PATHS, **self.own(self.name, missing)}.items():
            also = (f"arguments:empty:{self.key}",) if cwd == "" else ("arguments:nul",) if kind == "nul" else ()
            yield self.one(f"{self.key}-{kind}", {self.name: cwd}, (*self.shows, *also), files=MADE)

    def _none(self) -> Conversation:
        wrong = (path("no-such"), path("demo/file"), path("demo/file/x"), "file:///", f"no-such {REFERRING}")
        wrong = (*wrong, path("demo/nowhere"), "/dev/null", *map(path, ("demo/file/", "demo/file/..", "no-such/..")))
        wrong = (*wrong, "-", path("no-such-서울-é"), *(path(pattern) for pattern in PATTERNS))
        wrong = (*wrong, *(each for each in BLANKS[1:3] if not is_absent(self.name, each, self.spec.invocation)))
        steps = (call(self.tool, {**self.given, self.name: cwd}, self.answer) for cwd in wrong)
        arranged = Arrange(links={"demo/nowhere": "no-such"}, gone=("demo/nowhere",))
        title = "Working directories that are missing, a file, below or above one, a device, and a link to nowhere."
        last = call(self.tool, self.given, self.answer)
        return self.conversation(f"{self.tool}-{self.key}-none", title, (arranged, *steps, last), *REFUSED, files=MADE)

    def _listed(self) -> Conversation:
        """Directories with hostile names, in which the list of sessions must be asked for."""
        folders = [text for text in self.own(self.name, self.hostile).values() if "/" not in text]
        unnamed = self.sources.listed("No session is named here.", SESSION)
        steps = (call(self.tool, {**self.given, self.name: path(folder)}, unnamed) for folder in folders)
        title = "Working directories with hostile names, and a list of sessions in each."
        shows, files = (*self.shows, "fallback:cwd"), dict.fromkeys(folders)
        return self.conversation(f"{self.tool}-{self.key}-listed", title, steps, *shows, files=files)

    def _linked(self) -> Conversation:
        ways = (path("demo/link"), "/", path("demo//./real/"), path("demo/link/inner"), path("demo/deep/.."), "..")
        unnamed = self.sources.listed("No session is named here.", SESSION)
        there = (call(self.tool, {**self.given, self.name: cwd}, unnamed) for cwd in ways)
        links = {"demo/link": "real", "demo/deep": "real/inner"}
        # A stranger's program of that name lies in one of them.
        files = {"demo/real/inner": None, f"demo/real/{self.spec.invocation.program}": PROGRAM}
        arranged = Arrange(files, links, tuple(links))
        moved = Arrange(links={"demo/link": "real/inner"}, gone=("demo/link",))
        moved_there = call(self.tool, {**self.given, self.name: path("demo/link")}, self.answer)
        steps = (arranged, *there, moved, moved_there)
        title = "Working directories behind links, one of which leads elsewhere later, at the root, and in other forms."
        return self.conversation(f"{self.tool}-{self.key}-links", title, steps, *self.shows, "fallback:cwd")

    def _near(self) -> Conversation:
        paths: tuple[Json, ...] = (*map(path, NEAR), NEAR[-1])
        steps = (call(self.tool, {**self.given, self.name: cwd}, self.answer) for cwd in paths)
        id, title = f"{self.tool}-{self.key}-near", "Working directories whose names are nearly the same."
        return self.conversation(id, title, steps, *self.shows, files=dict.fromkeys(NEAR))

    def _left(self) -> Conversation:
        """A session that began in one directory is resumed in no named one, in another, and in none again."""
        begun = self.ask(self.first, "I begin in a directory.", self.answer, directory=path("demo"))
        ways: tuple[Json, ...] = ({}, {self.name: path("demo/a")}, {})
        replies = (self.ask(self.tool, "I go on.", self.answer, session=SESSION, also=also) for also in ways)
        title = "A session that begins in a directory, and goes on where no directory is named."
        shows, files = ("cwd:default", *self.shows), {"demo/a": None}
        return self.conversation(f"{self.tool}-{self.key}-left", title, (begun, *replies), *shows, files=files)
