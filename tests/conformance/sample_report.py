"""A report with every verdict in it, and with texts that nobody should trust; for the tests of the reports."""

import json
from dataclasses import replace

from gemini_mcp_conformance.judge.judgement import Evidence, Judgement, Level, Run
from gemini_mcp_conformance.tell.report import Command, Identity, Mutants, Report
from gemini_mcp_conformance.tell.reports import Context

HOSTILE = "</script><script>alert(1)</script> & \"'|`*_@someone\n::error::no\r\x1b[31m\x00\ud800\u202e%0A ]]>"
"""What a port may answer: markup of five kinds, commands of a log, controls, half a character."""

RUN = Run(("-p", HOSTILE, ""), "{cwd}", "pipe", None, "Be brief.\n")
EVIDENCE = Evidence(
    did="It called `chat` with a prompt of two lines.",
    sent=('{"jsonrpc":"2.0","id":1,"method":"tools/call"}',),
    received=('{"jsonrpc":"2.0","id":1,"result":{}}', HOSTILE),
    runs=(RUN,),
)


def kept(name: str, level: Level = "MUST") -> Judgement:
    return Judgement(f"area:{name}", level, f"The port {level} keep {name}.", "pass", witness="It was seen.")


def broken(name: str, level: Level = "MUST", message: str = "The port answered 'a' instead of 'b'.") -> Judgement:
    sentence = f"The port {level} not break {name}."
    replay = f"gemini-mcp-conformance replay {name} -- node server.js"
    return Judgement(f"area:{name}", level, sentence, "fail", message, "The reply to id 1.", replay, evidence=EVIDENCE)


def unrun(name: str, level: Level = "MUST") -> Judgement:
    return Judgement(f"area:{name}", level, f"The port {level} run {name}.", "could-not-run", "There is no journal.")


def foreign(name: str, level: Level = "MAY") -> Judgement:
    return Judgement(f"area:{name}", level, f"The port {level} do {name}.", "not-applicable", "It is optional.")


def undecided(name: str, level: Level = "MUST") -> Judgement:
    return Judgement(f"area:{name}", level, f"The port {level} show {name}.", "undecided", "No check decides it.")


def faulty(name: str, level: Level = "SHOULD") -> Judgement:
    return Judgement(f"area:{name}", level, f"The port {level} see {name}.", "harness-error", "KeyError: 'x'")


EVERY = (
    kept("one"),
    broken("two"),
    broken("hostile", "SHOULD", HOSTILE),
    replace(broken("known"), known="The next release mends it."),
    unrun("three"),
    foreign("four"),
    faulty("five"),
    kept("six", "SHOULD"),
    undecided("seven"),
    undecided("eight", "SHOULD"),
)


def report_of(*judgements: Judgement, exit: int = 0, strict: bool = False) -> Report:
    return Report(
        spec_version="1.0.0",
        suite_version="1.0.0",
        target=Command(("node", "server.js")),
        port=Identity("gemini-mcp-server", "1.0.0"),
        profile="server",
        protocol="2025-11-25",
        seed=None,
        strict=strict,
        exit=exit,
        judgements=judgements,
        mutants=Mutants(60, 61),
    )


SAMPLE = replace(report_of(*EVERY, exit=5), notes=("area:one passes now; remove it from the baseline 'known.json'.",))
REQUIREMENTS = json.dumps({"requirements": [{"id": judgement.id} for judgement in EVERY]}, indent=2)
CONTEXT = Context(REQUIREMENTS)
