"""The command `gemini-mcp-spec`. Effects: it reads specifications and writes pages.

Exit: 0 nothing to complain of, 1 mistakes, refused changes or pages that drifted, 2 usage.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from gemini_mcp import standard_streams
from gemini_mcp.schema.bound import Endless, bounded
from gemini_mcp.spec.values import Json, inside, is_array
from gemini_mcp_spec.diff.comparison import diff
from gemini_mcp_spec.diff.impact import impact
from gemini_mcp_spec.files.reader import UnreadableSpec, read, read_directory
from gemini_mcp_spec.files.requirements import frozen
from gemini_mcp_spec.files.spec_files import MALFORMED
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import lint
from gemini_mcp_spec.report.comparisons import FORMATS as DIFF_FORMATS
from gemini_mcp_spec.report.complaints import FORMATS as LINT_FORMATS
from gemini_mcp_spec.report.explanations import explained, explanations, near, told
from gemini_mcp_spec.report.pages import is_page, pages

_WRITTEN: Mapping[str, Any] = {
    "action": "append",
    "default": [],
    "metavar": "FORMAT=FILE",
    "help": "write this format into a file, too; repeatable",
}
_EXIT = "exit: 0 nothing to complain of, 1 mistakes, refused changes or drifted pages,\n2 usage"
_BEGIN = """\
After a change of spec/, run `lint`, then `diff main spec`, then `docs`.

"""
_DIFF_EXAMPLES = """\
Changes that break need a higher major version, or an approval in
approved-breaks.json. `explain RULE` tells more of each line's [RULE ...].

examples:
  gemini-mcp-spec diff main spec
  gemini-mcp-spec diff main spec --impact report.json --report markdown=diff.md

"""
_EXPLAIN_EXAMPLE = """\
example:
  gemini-mcp-spec explain request-required-narrower"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    return standard_streams.run(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    try:
        with bounded(options.budget):
            return options.run(options)
    except Endless:
        print(
            f"{options.budget} seconds of work were not enough, so nothing is known. Raise --budget.", file=sys.stderr
        )
        return 2
    except UnreadableSpec as error:
        print(error, file=sys.stderr)
        return 2
    except standard_streams.Unwritten:
        raise
    except OSError as error:
        print(f"{error.filename}: {error.strerror}.", file=sys.stderr)
        return 2


_Commands: TypeAlias = "argparse._SubParsersAction[standard_streams.Parser]"  # pyright: ignore[reportPrivateUsage]


def _parser() -> argparse.ArgumentParser:
    parser = standard_streams.Parser(
        "gemini-mcp-spec",
        description="Judge changes of the specification.",
        epilog=_BEGIN + _EXIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--budget", type=int, default=10, metavar="S", help="seconds of work after which nothing is known (10)"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (_add_lint, _add_diff, _add_docs, _add_explain, _add_freeze):
        add(commands)
    return parser


def _subcommand(commands: _Commands, name: str, does: str, ending: str = _EXIT) -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=does, description=does, epilog=ending, formatter_class=formatter)


def _add_lint(commands: _Commands) -> None:
    linting = _subcommand(commands, "lint", "find the mistakes of a specification")
    linting.add_argument("spec", nargs="?", default="spec", metavar="DIR", help="a directory, git ref or wheel (spec)")
    linting.add_argument("--format", choices=[*LINT_FORMATS], default="text")
    linting.add_argument("--report", type=_format_and_path(LINT_FORMATS), **_WRITTEN)
    linting.set_defaults(run=_lint)


def _add_diff(commands: _Commands) -> None:
    does = "judge the changes from one specification to another"
    diffing = _subcommand(commands, "diff", does, _DIFF_EXAMPLES + _EXIT)
    diffing.add_argument("old", metavar="OLD", help="a directory, git ref or wheel")
    diffing.add_argument("new", metavar="NEW", help="the same")
    diffing.add_argument("--format", choices=[*DIFF_FORMATS], default="text")
    diffing.add_argument("--report", type=_format_and_path(DIFF_FORMATS), **_WRITTEN)
    diffing.add_argument(
        "--impact",
        action="append",
        default=[],
        metavar="REPORT",
        help="`gemini-mcp-conformance run --report json=REPORT` of a port; tells which verdicts change; repeatable",
    )
    diffing.add_argument("--strict", action="store_true", help="a missing minor or patch bump fails too")
    diffing.set_defaults(run=_diff)


def _add_docs(commands: _Commands) -> None:
    documenting = _subcommand(commands, "docs", "write the pages about a specification")
    documenting.add_argument(
        "spec", nargs="?", default="spec", metavar="DIR", help="a directory, git ref or wheel (spec)"
    )
    documenting.add_argument("--output", default="docs/spec", metavar="DIR", help="where the pages lie (docs/spec)")
    documenting.add_argument("--check", action="store_true", help="write nothing; fail when a page differs")
    documenting.set_defaults(run=_docs)


def _add_explain(commands: _Commands) -> None:
    does = "tell what a rule asks, why, and how to approve what it finds"
    explaining = _subcommand(commands, "explain", does, _EXPLAIN_EXAMPLE)
    explaining.add_argument("rule", nargs="?", metavar="RULE", help="its name; without one, all names are listed")
    explaining.set_defaults(run=_explain)


def _add_freeze(commands: _Commands) -> None:
    freezing = _subcommand(commands, "freeze", "keep the requirements of this version as a released list")
    freezing.add_argument("spec", nargs="?", default="spec", metavar="DIR", help="a directory (spec)")
    freezing.set_defaults(run=_freeze)


def _lint(options: argparse.Namespace) -> int:
    spec = read(options.spec)
    findings = list(located(spec, lint(spec)))
    _tell(LINT_FORMATS, options, findings)
    return 1 if findings else 0


def _diff(options: argparse.Namespace) -> int:
    old, new = read(options.old), read(options.new)
    if unreadable := [one for spec in (old, new) if spec.unreadable for one in located(spec, lint(spec))]:
        # What cannot be read is told in the format that was asked for, so that CI shows it in the same place.
        _tell({**LINT_FORMATS, "comment": LINT_FORMATS["markdown"]}, options, unreadable)
        return 1
    comparison = diff(old, new, date.today().isoformat())
    impacts = impact(comparison, [(name, _report(Path(name))) for name in options.impact])
    _tell(DIFF_FORMATS, options, comparison, impacts)
    return 1 if comparison.is_refused or (options.strict and not comparison.is_reached) else 0


def _tell(formats: Mapping[str, Callable[..., str]], options: argparse.Namespace, *found: object) -> None:
    """Print what was found in the format asked for, and write the reports."""
    for form, path in options.report:
        Path(path).write_text(formats[form](*found) + "\n", encoding="utf-8", errors="backslashreplace")
    print(formats[options.format](*found))


def _format_and_path(formats: Mapping[str, object]) -> Callable[[str], tuple[str, str]]:
    """What reads `FORMAT=FILE`."""

    def parsed(value: str) -> tuple[str, str]:
        form, _, path = value.partition("=")
        if form not in formats or not path:
            raise argparse.ArgumentTypeError(f"{value!r} is not FORMAT=FILE, with a format of {', '.join(formats)}")
        return form, path

    return parsed


def _report(path: Path) -> Json:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnreadableSpec(f"The report {str(path)!r} is no JSON: {error}.") from None
    if not is_array(inside(report, "requirements")):
        raise UnreadableSpec(f"{str(path)!r} is no report of the suite. Name one that `run --report json=PATH` wrote.")
    return report


def _docs(options: argparse.Namespace) -> int:
    folder = Path(options.output)
    spec = read(options.spec)
    try:
        wanted = pages(spec)
    except MALFORMED:
        raise UnreadableSpec(
            f"{options.spec!r} has mistakes, so no page is written. Run `gemini-mcp-spec lint`."
        ) from None
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    held = {name: text for name, text in found.items() if name in wanted or is_page(text)}
    drifted = sorted({name for name in {*wanted, *held} if wanted.get(name) != held.get(name)})
    if options.check:
        for name in drifted:
            print(f"{folder / name} is not what the specification says. Run `gemini-mcp-spec docs`.")
        return 1 if drifted else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in drifted:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return 0


def _explain(options: argparse.Namespace) -> int:
    if options.rule is None:
        print("\n".join(one.name for one in explanations()))
        return 0
    if found := explained(options.rule):
        print("\n\n".join(map(told, found)))
        return 0
    known = ", ".join(map(repr, near(options.rule)))
    advice = f"Did you mean {known}?" if known else "`gemini-mcp-spec explain` lists all."
    print(f"There is no rule {options.rule!r}. {advice}", file=sys.stderr)
    return 2


def _freeze(options: argparse.Namespace) -> int:
    root = Path(options.spec)
    path, text = frozen(read_directory(root))
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
