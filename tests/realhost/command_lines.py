"""Made-up lines of `gemini mcp`, each from a source of chance, on settings that may be there. Pure."""

from random import Random

from gemini_mcp.spec.values import JsonObject

_NAMES = ("a", "b", "my srv", "1", "007", "1e3", "-1", "", " ", "é", "a.b", "__proto__", "A", "mcpServers", "-", "x=y")
_TARGETS = ("cmd", "./no such", "http://127.0.0.1:9/mcp", "https://h.invalid/sse", "5", "0x10", "a=b", "")
_FLAGS = (
    *("scope", "s", "transport", "t", "type", "env", "e", "header", "H", "timeout", "trust", "description"),
    *("include-tools", "exclude-tools", "includeTools", "excludeTools", "debug", "d", "help", "h", "session"),
    *("no-trust", "no-debug", "no-session", "no-x", "x", "y", "foo-bar", "env.a", "version", "v", "S", "name", "args"),
)
_VALUES = (
    *("user", "project", "global", "stdio", "sse", "http", "A=b", "A=b=c", "=x", "A", "X: y", "X:y:z", ":y", "5", "-5"),
    *("1e3", "0x10", "abc", "", " ", "true", "false", "a,b", " a , b ", "é", "--x", "-", "1.50", "NaN", "007", '"q"'),
)
_FILES = (
    *("{}", "", " ", "{", "[]", "null", '{"mcpServers": {}}', '{"mcpServers": null}', '{"mcpServers": {"a": null}}'),
    '{"mcpServers": {"a": {"command": "no-such"}, "1": {"url": "http://127.0.0.1:9/"}}}',
    '{\n\t// kept\n\t"mcpServers": {"b": {"httpUrl": "http://127.0.0.1:9/", "x": 1,}, },\n\t"ui": {"theme": "x"}\n}\n',
    '{"mcpServers": {"a": {"command": "no-such"}}, "mcp": {"excluded": ["a"]}}',
    '{"mcpServers": {"a": {"command": "no-such"}, "ext:b": {"command": "no-such"}}, "mcp": {"allowed": ["B ", "x"]}}',
    '{"mcpServers": {"a": {"command": "no-such"}}, "mcp": {"allowed": ["a", null]}}',
    *(
        '{"mcp": {"excluded": 5}}',
        '{"mcpServers": {"": {"command": "x", "trust": true}}}',
        '{"mcp": {"allowed": [""]}}',
    ),
)


_COMMANDS = {"add": 12, "remove": 3, "list": 2, "enable": 2, "disable": 2, "other": 1, "": 1}
"""How often each comes."""


def lines(chance: Random) -> JsonObject:
    """One to three lines of `gemini mcp`, on settings that may be there."""
    files = {scope: chance.choice(_FILES) for scope in ("project", "user") if chance.random() < 0.25}
    said = [["gemini", "mcp", *_line(chance)] for _ in range(chance.choice((1, 1, 2, 3)))]
    return {"commands": said, **({"files": files} if files else {})}


def _line(chance: Random) -> list[str]:
    command = chance.choices(list(_COMMANDS), list(_COMMANDS.values()))[0]
    line = _words(chance, command)
    if chance.random() < 0.1:
        line = line[:-1] if chance.random() < 0.5 else [*line, "more"]
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        place = chance.randrange(len(line) + 1)
        line = line[:place] + _flag(chance) + line[place:]
    if chance.random() < 0.1:
        line.insert(chance.randrange(len(line) + 1), "--")
    return [command, *line] if command else line


def _words(chance: Random, command: str) -> list[str]:
    if command in ("", "list"):
        return []
    name = chance.choice(_NAMES)
    more = chance.choices((*_VALUES, *_NAMES), k=chance.randrange(3))
    return [name, chance.choice(_TARGETS), *more] if command == "add" else [name]


def _flag(chance: Random) -> list[str]:
    name, value = chance.choice(_FLAGS), chance.choice(_VALUES)
    dashes = "-" if len(name) == 1 else "--"
    if chance.random() < 0.05:
        dashes = chance.choice(("-", "--", "---"))
    several = [value] * chance.choice((1, 1, 1, 0, 2))
    return [f"{dashes}{name}={value}"] if chance.random() < 0.3 else [dashes + name, *several]
