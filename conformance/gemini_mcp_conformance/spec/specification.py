"""Specification: the server direction as one record, and what follows from it for each tool. Reads files, once.

A question about the tools belongs here when two rooms ask it. What a port should do is for `judge`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import chain
from pathlib import Path

from gemini_mcp.gemini_cli.understanding import (
    Other,
    Understood,
    UsageError,
    effective_prompt,
    understand,
    unknown_options,
)
from gemini_mcp.gemini_cli.yargs import Option, Value
from gemini_mcp.spec import Manifest, ToolSpec, load_documents, load_former_ids, load_server
from gemini_mcp.spec.live import LiveSpec
from gemini_mcp.spec.templates import InvocationSpec, ToolTemplate
from gemini_mcp.spec.templates import Value as TemplateValue
from gemini_mcp.spec.values import Json, is_unicode, texts_in
from gemini_mcp.spec.wording import OutcomeSpec
from gemini_mcp_conformance.spec.interpreter import Specified, is_absent, refusals, size, specified
from gemini_mcp_conformance.spec.live_lines import without_live
from gemini_mcp_conformance.spec.roles import Roles, roles
from gemini_mcp_conformance.spec.schema import fitted, plainer, sample, takes_texts
from gemini_mcp_conformance.spec.script import Script

SHORT_ENOUGH = 100_000
"""Bytes that one argument can have on every system, where the specification names no limit."""

MANY = 20
"""More calls than any conversation has at once."""

LONGEST_WORD = 4096
"""Bytes of a name or an id that every operating system accepts."""


@dataclass(frozen=True)
class Heard:
    """What reaches the model, and the options it is asked with."""

    prompt: str | None
    values: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Specification:
    """The tools, what each becomes, and how an outcome is told."""

    root: Path | None
    manifest: Manifest
    tools: Mapping[str, ToolSpec]
    invocation: InvocationSpec
    outcome: OutcomeSpec
    live: LiveSpec | None
    scripts: Mapping[str, Script]
    former: frozenset[str]
    """The ids of requirements of released versions that there are no more, such as those of tools that are gone."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every tool that can be called. Tools with a prompt come first, and among them those that begin a session."""
        ranked = {name: (self.prompt(name) is None, self.resumed(name) is not None) for name in self._callable}
        return tuple(sorted(ranked, key=ranked.__getitem__))

    @property
    def _callable(self) -> tuple[str, ...]:
        return tuple(name for name in self.tools if name in self.invocation.tools)

    @cached_property
    def told_apart(self) -> tuple[str, ...]:
        """The tools of which several calls can run at once and be told apart: by their prompts and their sessions."""
        return tuple(name for name in self.names if self._is_told_apart(name))

    def _is_told_apart(self, tool: str) -> bool:
        """Whether it takes enough prompts, and enough sessions if it resumes one."""
        named = [name for name in (self.prompt(tool), self.session(tool)) if name is not None]
        is_free = all(takes_texts(self.tools[tool].properties[name], MANY) for name in named)
        return is_free and self.prompt(tool) is not None

    @property
    def begins(self) -> str | None:
        """A tool that begins a session."""
        return next((name for name in self.names if self.resumed(name) is None), None)

    @property
    def resumes(self) -> str | None:
        """A tool that resumes one."""
        return next((name for name in self.names if self.resumed(name) is not None), None)

    def template(self, tool: str) -> ToolTemplate:
        return self.invocation.tools[tool]

    def prompt(self, tool: str) -> str | None:
        """The argument whose text reaches the model."""
        return self._roles[tool].prompt

    def session(self, tool: str) -> str | None:
        """The argument that names the session to resume."""
        return self._roles[tool].session

    def latest(self, tool: str) -> str | None:
        """What is resumed when no session is named."""
        resumed = self.resumed(tool)
        return resumed.default if resumed else None

    def resumed(self, tool: str) -> TemplateValue | None:
        """The session that a tool resumes."""
        return self.template(tool).resumes if tool in self._callable else None

    def directory(self, tool: str) -> str | None:
        """The argument that names the working directory."""
        return self.template(tool).cwd if tool in self.names else None

    def files(self, tool: str) -> Mapping[str, str]:
        """The arguments that are handed over in files, with the variables that name these files."""
        return self._roles[tool].files

    def options(self, tool: str) -> tuple[str, ...]:
        """The arguments that become options of gemini, the session apart."""
        return self._roles[tool].options

    def spoken(self, tool: str) -> tuple[str, ...]:
        """The arguments that reach the command line or stdin."""
        return self._roles[tool].spoken

    @cached_property
    def _roles(self) -> Mapping[str, Roles]:
        """What the arguments of each tool are for; empty for a name that is no tool's."""
        known = {name: roles(self.template(name), self.invocation) for name in self._callable}
        known |= {
            name: replace(own, prompt=self._heard_prompt(name, own.spoken))
            for name, own in known.items()
            if own.prompt is None
        }
        return defaultdict(Roles, known)

    def _heard_prompt(self, tool: str, spoken: tuple[str, ...]) -> str | None:
        """The argument that gemini understands as the prompt, although the template hands it over behind an option."""
        given = self.everything(tool)
        heard = self.heard(self.specified(tool, given))
        asked = heard.prompt if isinstance(heard, Heard) else None
        return next((name for name in spoken if asked is not None and given.get(name) == asked), None)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that name files."""
        return tuple(dict.fromkeys(variable for name in self.names for variable in self.template(name).env))

    @cached_property
    def limit(self) -> int:
        """Bytes up to which every prompt is handed over as a short one is."""
        every = (case.longer_than for cases in self.invocation.forms.values() for case in cases)
        limits = [limit for limit in every if limit is not None]
        return min(limits, default=SHORT_ENOUGH)

    def longest(self, argument: str) -> int | None:
        """Bytes beyond which a value of an argument is refused."""
        rule = self.invocation.rules.get(argument)
        refusals = (*self.invocation.everywhere, *(rule.refusals if rule else ()))
        return min((refusal.max_bytes for refusal in refusals if refusal.max_bytes is not None), default=None)

    def settles(self, tool: str, argument: str, value: Json) -> bool:
        """Whether every port must serve that value of an argument, and in one way."""
        texts = tuple(texts_in(value))
        if is_absent(argument, value, self.invocation) or refusals(argument, value, self.invocation):
            return False
        # A port may refuse a NUL or hand it over on stdin, and a lone surrogate can be passed on in no right way.
        if not all("\0" not in text and is_unicode(text) for text in texts):
            return False
        if argument == self.prompt(tool):
            # A longer prompt may be refused: that it reaches gemini on stdin is a SHOULD.
            return all(size(text) <= max(self.limit, SHORT_ENOUGH) for text in texts)
        if argument in self.spoken(tool):
            # A port may take blanks off the ends of a name.
            return all(text == text.strip() and size(text) < LONGEST_WORD for text in texts)
        return True

    def usual(self, tool: str, argument: str, wished: Json = None) -> Json:
        """An ordinary value of an argument."""
        schema = self.tools[tool].properties[argument]
        value = sample(schema, wished if wished is not None else f"a-{argument.lower()}")
        return self.usable(tool, argument, value) if isinstance(value, str) else value

    def usable(self, tool: str, argument: str, wished: str) -> Json:
        """A text for an argument, changed where the schema does not allow it or a rule refuses it."""
        asked = tool, argument, wished
        if asked not in self._usable:
            self._usable[asked] = self._made_usable(*asked)
        return self._usable[asked]

    @cached_property
    def _usable(self) -> dict[tuple[str, str, str], Json]:
        """What was made of the texts so far; most are asked for again."""
        return {}

    def _made_usable(self, tool: str, argument: str, wished: str) -> Json:
        schema = self.tools[tool].properties[argument]
        texts = (fitted(schema, text) for text in chain((wished,), plainer(wished)))
        served = (text for text in texts if not refusals(argument, text, self.invocation))
        return next(served, fitted(schema, wished))

    def required(self, tool: str) -> dict[str, Json]:
        """Ordinary values of all that a tool requires."""
        return dict(self._required[tool])

    @cached_property
    def _required(self) -> Mapping[str, Mapping[str, Json]]:
        return {name: {each: self.usual(name, each) for each in tool.required} for name, tool in self.tools.items()}

    def everything(self, tool: str) -> dict[str, Json]:
        """Ordinary values of all that a tool declares."""
        given = {name: self.usual(tool, name) for name in self.tools[tool].properties}
        return {name: value for name, value in given.items() if value is not None}

    def specified(self, tool: str, arguments: Mapping[str, Json]) -> Specified:
        """What a call becomes when it is served."""
        return specified(self.tools[tool], arguments, self.invocation)

    @cached_property
    def new_options(self) -> tuple[Option, ...]:
        """The options that the templates give and no gemini known here has."""
        lines = [self.specified(name, self.everything(name)).argv for name in self._callable]
        return tuple(dict.fromkeys(option for line in lines for option in unknown_options(line)))

    def heard(self, call: Specified) -> Heard | UsageError | Other:
        """What gemini makes of the specified command line."""
        # A process gets bytes, which cannot carry a lone surrogate. Checks judge such a call, and must not raise.
        understood = _understand(tuple(element.encode("utf-8", "replace") for element in call.argv), self.new_options)
        stdin = None if call.stdin is None else call.stdin.encode("utf-8", "replace")
        if not isinstance(understood, Understood):
            return understood
        return Heard(effective_prompt(understood, stdin), understood.values)

    def understood(self, argv: tuple[bytes, ...]) -> Understood | UsageError | Other:
        """What gemini makes of the command line of a port."""
        return without_live(_understand(argv, self.new_options), self.live)

    @cached_property
    def unreadable(self) -> frozenset[str]:
        """The tools whose ordinary command line asks no model, such as one on which an option swallows the prompt."""
        lines = {name: self.heard(self.specified(name, self.required(name))) for name in self._callable}
        return frozenset(name for name, heard in lines.items() if not isinstance(heard, Heard))

    @cached_property
    def option_names(self) -> frozenset[str]:
        """Every option of gemini that some call gives, or leaves out on purpose."""
        return frozenset(option for name in self.names for option in self.values(name, self.everything(name)))

    @cached_property
    def session_options(self) -> frozenset[str]:
        """The options by which sessions are resumed."""
        known = [(name, session) for name in self.names if (session := self.session(name))]
        return frozenset(option for name, session in known for option in self.given_by(name, session))

    def given_by(self, tool: str, argument: str) -> frozenset[str]:
        """The options that change when an argument is given."""
        return self._given[tool, argument]

    @cached_property
    def _given(self) -> Mapping[tuple[str, str], frozenset[str]]:
        return {(tool, name): self._changed(tool, name) for tool in self.names for name in self.tools[tool].properties}

    def _changed(self, tool: str, argument: str) -> frozenset[str]:
        without = {name: value for name, value in self.required(tool).items() if name != argument}
        before = self.values(tool, without)
        after = self.values(tool, {**without, argument: self.usual(tool, argument)})
        return frozenset(name for name in {**before, **after} if before.get(name) != after.get(name))

    def constants(self, tool: str) -> frozenset[str]:
        """The options that every call of a tool gives alike."""
        return self._constants[tool]

    @cached_property
    def _constants(self) -> Mapping[str, frozenset[str]]:
        return {tool: self._unchanged(tool) for tool in self.names}

    def _unchanged(self, tool: str) -> frozenset[str]:
        changing = {option for argument in self.tools[tool].properties for option in self.given_by(tool, argument)}
        return frozenset(self.values(tool, self.required(tool))) - changing - self.session_options

    def values(self, tool: str, arguments: Mapping[str, Json]) -> Mapping[str, Value]:
        """The options that gemini understands of a call."""
        heard = self.heard(self.specified(tool, arguments))
        return heard.values if isinstance(heard, Heard) else {}


_understand = lru_cache(512)(understand)
"""A port mostly gives gemini the specified command line, so that each is asked for twice."""


@cache
def load(root: Path | None = None) -> Specification:
    """The specification at `root`, or the one that belongs to this code."""
    server = load_server(root)
    scripts = load_documents("server/scripts", root)
    return Specification(
        root=root,
        manifest=server.manifest,
        tools={tool.name: tool for tool in server.tools},
        invocation=server.invocation,
        outcome=server.outcome,
        live=server.live,
        scripts={name: Script.from_json(script) for name, script in scripts.items()},
        former=load_former_ids(root),
    )
