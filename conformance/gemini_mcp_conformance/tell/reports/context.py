"""Context: what a renderer needs in addition to the report, and sentences that several renderers share. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.tell.report import CONFORMS, DOES_NOT, Command, Report, Url, exit_code
from gemini_mcp_conformance.tell.reports.printable import one_line


@dataclass(frozen=True)
class Context:
    """`requirements` is the text of the specification's file of that name.

    `source` is the file of the port's repository at which annotations point, if there is one. `details` shows every
    failure on the terminal, `verbose` everything else too. `conforms` is what to say when nothing fails.
    """

    requirements: str
    color: bool = False
    details: bool = False
    verbose: bool = False
    source: str | None = None
    conforms: str | None = None

    def count(self, profile: str) -> int:
        """How many requirements of the profile that file holds."""
        return len(re.findall(rf'"profile"\s*:\s*"{re.escape(profile)}"', self.requirements))


CONCLUSIONS = (
    "The port conforms.",
    "The port does not conform.",
    "The run could not begin.",
    "The run is incomplete.",
    "The port never answered.",
    "The suite itself failed.",
)
"""By exit code."""

ONLY_KNOWN = "Nothing fails but what the baseline lists."
PART_CONFORMS = "What was selected conforms."
OUTDATED = "The baseline is out of date, which fails a strict run; the port adds no failure."


def conclusion(report: Report, context: Context) -> str:
    """The conclusion about the port, or about the selected part of it."""
    if report.exit == DOES_NOT and exit_code(report.judgements, report.strict) == CONFORMS:
        return OUTDATED
    if report.exit == CONFORMS and any(each.known is not None for each in report.with_verdict("fail")):
        return ONLY_KNOWN
    if report.exit == CONFORMS and context.conforms is not None:
        return context.conforms
    is_part = len(report.judgements) < context.count(report.profile)
    return PART_CONFORMS if is_part and report.exit == CONFORMS else CONCLUSIONS[report.exit]


def title(report: Report) -> str:
    """The name and version of the port, or how it was reached."""
    if report.port is None:
        return one_line(target(report))
    return one_line(f"{report.port.name} {report.port.version}")


def target(report: Report) -> str:
    """How the port was reached."""
    match report.target:
        case Command(argv):
            return " ".join(argv)
        case Url(url):
            return url


def scores(report: Report) -> str:
    """How many requirements the port meets, of each level that counts."""
    must, should = report.score("MUST"), report.score("SHOULD")
    return f"MUST {must.passed}/{must.applicable}, SHOULD {should.passed}/{should.applicable}"


def counted(judgements: Sequence[Judgement]) -> str:
    """How many requirements these are."""
    return f"{len(judgements)} requirement{'' if len(judgements) == 1 else 's'}"


def inapplicable(report: Report) -> str:
    """How many requirements do not apply, and of which areas they are; empty if all apply."""
    areas = [judgement.id.split(":")[0] for judgement in report.with_verdict("not-applicable")]
    told = ", ".join(dict.fromkeys(areas))
    return f"{len(areas)} do{'es' if len(areas) == 1 else ''} not apply ({told})" if areas else ""


def run_facts(report: Report) -> dict[str, str]:
    """Facts about the run, by name; unknown ones are left out."""
    facts = {
        "Target": target(report),
        "Profile": report.profile,
        "Protocol": report.protocol,
        "Specification": report.spec_version,
        "Suite": report.suite_version,
        "Mutants killed": report.mutants and f"{report.mutants.killed}/{report.mutants.total}",
        "Seed": None if report.seed is None else str(report.seed),
        "Strict": "yes" if report.strict else None,
        "Covered": " ".join(map(str, report.coverage)),
    }
    return {name: value for name, value in facts.items() if value}
