"""The options of `lock` and `diff`, and what to run for them. Edge.

What they do is in `locking`. It is imported only when they run, because the other subcommands need no comparison of
schemas.
"""

import argparse
from collections.abc import Awaitable, Callable

from gemini_mcp.host.command import asking
from gemini_mcp.host.command.context import Context

_FORMATS = ("text", "json", "markdown", "sarif")
_REPORT = "also write this format into a file; repeatable"
_LOCK_EXAMPLE = """\
example, from the first look to the check in CI:
  $ gemini-mcp-host lock --name fs -- my-server --root .
  wrote fs.lock.json: 1 tool, 0 prompts, 0 resources
  $ git add fs.lock.json
  $ gemini-mcp-host diff fs.lock.json -- my-server --root .

exit: 0 written, 2 usage, 4 the server failed"""
_DIFF_EXAMPLE = """\
example, a tool that demands a new argument:
  $ gemini-mcp-host diff fs.lock.json -- my-server --root .
  fs.lock.json:44:27: breaking: "find": `path` is required now. [arguments-required-narrower 4fea5e771220]
      witness: {"query": ""}
      old: accepted; new: rejected
  fs.lock.json:39:29: compatible: `path` of "find": the property `path` is new. [arguments-property-added e30ca4fa1cde]
  1 breaking, 1 compatible, from fs.lock.json to my-server --root .
  What was locked is not what is offered now. Read the changes, and lock the server anew.

Without a server, the configured one is asked that has the lock's name. With a
second lock, no server is asked.
exit: 0 nothing breaks, 1 a call breaks (--strict: or what was approved has
changed), 2 usage, 4 the server failed"""

Run = Callable[[Context], Awaitable[int]]


def add(subcommand: Callable[[str, str, Callable[[argparse.Namespace], Run]], argparse.ArgumentParser]) -> None:
    """Add both subcommands."""
    lock = subcommand("lock", "write what a server declares into a file, to compare it later", _lock)
    lock.add_argument("--output", metavar="FILE", help="NAME.lock.json is the default; - is stdout")
    asking.add_options(lock)
    diff = subcommand("diff", "compare a lock with what a server declares now, or with another lock", _diff)
    diff.add_argument("lock", metavar="LOCK", help="a file that `lock` wrote")
    diff.add_argument("--format", choices=_FORMATS, default="text")
    diff.add_argument("--report", type=_report, action="append", default=[], metavar="FORMAT=FILE", help=_REPORT)
    diff.add_argument("--strict", action="store_true", help="exit 1 when anything changed that was approved")
    asking.add_options(diff)
    for parser, example in ((lock, _LOCK_EXAMPLE), (diff, _DIFF_EXAMPLE)):
        parser.epilog = example


def _lock(given: argparse.Namespace) -> Run:
    from gemini_mcp.host.command import locking

    asked = asking.asked(given)
    return lambda here: locking.lock(here, asked, given.output)


def _diff(given: argparse.Namespace) -> Run:
    from gemini_mcp.host.command import locking

    words = (*given.server, *given.after)
    other = words[0] if len(words) == 1 and words == (*given.server,) and words[0].endswith(".json") else None
    asked = asking.asked(given) if words and other is None else None
    compared = locking.Compared(given.lock, other, asked, given.format, given.report, given.strict)
    return lambda here: locking.diff(here, compared)


def _report(text: str) -> tuple[str, str]:
    form, _, file = text.partition("=")
    if form not in _FORMATS or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not FORMAT=FILE, with a format of {', '.join(_FORMATS)}")
    return form, file
