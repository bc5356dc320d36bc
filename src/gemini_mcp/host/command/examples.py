"""What the help of a subcommand ends with: examples, and what they cannot show. Pure.

The texts of `lock` and `diff` are in `comparing`: a test holds them against what these subcommands print.
"""

from collections.abc import Mapping

_CALL = """\
TOOL is SERVER:TOOL, or a name that `tools` lists. A value of --arg is JSON
unless the tool wants a text. Without --yes the call is asked about first, and
refused where there is no terminal.

examples:
  gemini-mcp-host call docs:search --arg query=mcp --arg limit=3 --yes
  gemini-mcp-host call docs:search --args '{"query": "mcp"}'

exit: 0 done, 1 the tool's error or a refusal, 2 usage or settings"""

_SESSION = """\
A line has the `name` of a tool, as for `call`, and may have `arguments` and an
`answer` to the question before the call, such as proceed_once,
proceed_always_tool or cancel.

example, where the second call needs no answer:
  $ gemini-mcp-host session <<'END'
  {"name": "fs:find", "arguments": {"at": "a"}, "answer": "proceed_always_tool"}
  {"name": "fs:find", "arguments": {"at": "b"}}
  END"""

_INSPECT = """\
examples:
  gemini-mcp-host inspect -- node server.js
  gemini-mcp-host inspect https://mcp.example/mcp --header 'X-Api-Key: KEY'
  gemini-mcp-host inspect docs --budget 5000

exit: 0 nothing is lost, 1 a tool or a part of one is, 2 usage, 4 the server
failed"""

_POLICY = """\
examples:
  gemini-mcp-host policy
  gemini-mcp-host policy --mode yolo --headless"""

EXAMPLES: Mapping[str, str] = {
    "call": _CALL,
    "session": _SESSION,
    "inspect": _INSPECT,
    "policy": _POLICY,
    "prompt": """example:\n  gemini-mcp-host prompt '/poem --title="Gemini CLI" --mood=calm'""",
    "read": "example:\n  gemini-mcp-host read @docs:file:///readme.md",
    "expand": "example:\n  gemini-mcp-host expand 'Compare @docs:file:///a.md with @docs:file:///b.md'",
}
