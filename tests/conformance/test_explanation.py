"""One fault fails few requirements: what explains the failures of a run, on made findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gemini_mcp.spec import Requirement, load_requirements
from gemini_mcp_conformance.judge.explanation import explained
from gemini_mcp_conformance.judge.finding import Finding

KNOWN = {each.id: each for each in load_requirements()}


def requirements(*ids: str) -> list[Requirement]:
    return [KNOWN[id] for id in ids]


def finding(requirement: str, conversation: str = "c", step: int | None = 0, **more: Any) -> Finding:
    return Finding(requirement, conversation, "check", more.pop("outcome", "fail"), step=step, **more)


def failing(findings: Iterable[Finding], *ids: str) -> list[str]:
    found = explained(list(findings), requirements(*ids))
    return sorted({each.requirement for each in found if each.outcome == "fail"})


def passes(requirement: str, count: int) -> list[Finding]:
    return [finding(requirement, "fine", step, outcome="pass") for step in range(count)]


def test_the_requirement_that_fails_wherever_it_is_judged_explains_the_fault() -> None:
    found = [
        *passes("result:text", 9),
        finding("result:text", about="text"),
        finding("result:text:blanks", about="text"),
    ]
    assert failing(found, "result:text", "result:text:blanks") == ["result:text:blanks"]


def test_complaints_about_different_things_are_different_faults() -> None:
    found = [finding("result:text", about="text"), finding("cwd:default", about="directory")]
    assert failing(found, "result:text", "cwd:default") == ["cwd:default", "result:text"]


def test_no_should_explains_what_breaks_a_must() -> None:
    found = [*passes("result:text", 9), finding("result:text", about="text"), finding("result:json:last", about="text")]
    assert failing(found, "result:text", "result:json:last") == ["result:text"]


def test_what_rests_on_an_unlisted_property_is_told_by_what_fails_most_if_nothing_asks_to_list_it() -> None:
    uses = frozenset({"tools:chat:model"})
    found = [
        finding("tools:chat:model", about="tools:chat:model"),
        *(finding("command:chat:model", step=step, about="command", uses=uses) for step in range(2)),
        *(finding(id, "d", about="served", uses=uses) for id in ("arguments:optional:type", "arguments:surrogate")),
    ]
    ids = ("command:chat:model", "arguments:optional:type", "arguments:surrogate")
    assert failing(found, *ids) == ["command:chat:model"]
    assert failing(found, "tools:chat:model", *ids) == ["tools:chat:model"]


def test_a_property_that_several_tools_lack_is_told_once() -> None:
    names = ("chat:model", "chat:cwd", "chat-reply:model", "chat-reply:session-id", "chat-reply:required")
    ids = tuple(f"tools:{name}" for name in names)
    found = [finding(id, "list", None, about=id) for id in ids]
    found.append(finding("command:chat-reply:model", about="command", uses=frozenset({"tools:chat-reply:model"})))
    others = ["tools:chat-reply:required", "tools:chat-reply:session-id", "tools:chat:cwd", "tools:chat:model"]
    assert failing(found, *ids, "command:chat-reply:model") == others
    settled = explained(found, requirements(*ids, "command:chat-reply:model"))
    assert {each.cause for each in settled if each.requirement.endswith("reply:model")} == {"tools:chat:model"}


def test_a_prefix_that_no_error_has_is_told_once() -> None:
    found = [finding("error:prefix", step=step, about="prefix") for step in range(20)]
    found.append(finding("arguments:refused:prefix", "other", about="prefix"))
    assert failing(found, "arguments:refused:prefix", "error:prefix") == ["error:prefix"]


def test_silence_is_told_by_what_the_conversation_was_made_for() -> None:
    found = [
        *(finding("command:chat", "c", step, about="unanswered") for step in range(5)),
        finding("concurrency:after-failure", "c", None, about="unanswered", is_meant=True),
        finding("cancel:late", "later", None, about="unanswered", is_meant=True),
    ]
    ids = ("command:chat", "concurrency:after-failure", "cancel:late")
    assert failing(found, *ids) == ["concurrency:after-failure"]


def test_a_line_that_is_no_message_explains_the_silence_of_its_conversation() -> None:
    found = [
        finding("stdio:encoding", "c", None, about="line", is_meant=True),
        finding("result:text:unicode", "c", about="unanswered", is_meant=True),
    ]
    assert failing(found, "stdio:encoding", "result:text:unicode") == ["stdio:encoding"]


def test_a_wrong_session_explains_what_waits_beside_it() -> None:
    found = [
        finding("command:chat:new-session", "c", about="resumed"),
        finding("concurrency:calls", "c", None, about="order", is_meant=True),
        finding("system:content", "c", 1, about="unanswered", is_meant=True),
        finding("concurrency:latest", "other", None, about="order", is_meant=True),
    ]
    ids = ("command:chat:new-session", "concurrency:calls", "system:content", "concurrency:latest")
    assert failing(found, *ids) == ["command:chat:new-session", "concurrency:latest"]


def test_a_wrong_token_explains_what_is_told_of_the_calls_beside_it() -> None:
    found = [
        finding("progress:token", "c", None, about="progress", is_own=True),
        finding("progress:start", "c", about="told", is_meant=True),
        finding("progress:end", "other", about="told", is_meant=True),
    ]
    ids = ("progress:token", "progress:start", "progress:end")
    assert failing(found, *ids) == ["progress:end", "progress:token"]


def test_a_line_that_is_no_message_explains_no_silence_elsewhere() -> None:
    found = [
        finding("stdio:encoding", "c", None, about="line"),
        finding("result:text:unicode", "other", about="unanswered"),
    ]
    assert len(failing(found, "stdio:encoding", "result:text:unicode")) == 2


def test_what_no_requirement_explains_well_is_told_by_the_one_that_forbids_it() -> None:
    found = [
        *passes("result:success", 90),
        *passes("result:text:newline", 9),
        finding("result:success", about="failed", is_own=True),
        finding("result:text:newline", about="failed", is_meant=True),
    ]
    assert failing(found, "result:success", "result:text:newline") == ["result:success"]


def test_else_by_the_one_that_the_call_was_made_for() -> None:
    found = [
        *passes("injection:shell:prompt", 90),
        *passes("prompt:verbatim:quotes", 9),
        finding("injection:shell:prompt", about="command", is_meant=True),
        finding("prompt:verbatim:quotes", about="command"),
    ]
    assert failing(found, "injection:shell:prompt", "prompt:verbatim:quotes") == ["injection:shell:prompt"]


def test_what_is_broken_everywhere_explains_also_what_it_does_not_judge() -> None:
    found = [
        *(finding("result:json:pretty", "c", step, about="text") for step in range(20)),
        finding("result:json:last", "other", about="text"),
    ]
    assert failing(found, "result:json:pretty", "result:json:last") == ["result:json:pretty"]


def test_a_call_of_what_is_not_listed_shows_nothing() -> None:
    found = [
        finding("tools:chat", "list", None, about="tools:chat"),
        finding("command:chat", about="not run", uses=frozenset({"tools:chat"})),
    ]
    assert failing(found, "tools:chat", "command:chat") == ["tools:chat"]


def test_a_list_that_once_did_not_come_hides_no_fault_of_calls() -> None:
    found = [
        *passes("tools:chat", 9),
        finding("tools:chat", "list", None, about="unanswered"),
        finding("command:chat:model", about="command", is_own=True, uses=frozenset({"tools:chat"})),
    ]
    assert "command:chat:model" in failing(found, "tools:chat", "command:chat:model")


def test_what_nobody_explains_well_is_told_once() -> None:
    found = [
        *passes("command:once", 90),
        *passes("prompt:verbatim:quotes", 90),
        finding("command:once", about="not run", is_own=True),
        finding("prompt:verbatim:quotes", "other", about="not run", is_meant=True),
    ]
    assert failing(found, "command:once", "prompt:verbatim:quotes") == ["command:once"]


def test_what_a_must_tells_is_not_told_by_a_should_again() -> None:
    found = [
        *passes("command:once", 90),
        finding("command:once", about="not run", is_own=True),
        finding("prompt:long", "other", about="not run"),
    ]
    assert failing(found, "command:once", "prompt:long") == ["command:once"]


def test_what_is_explained_well_is_told_beside_what_is_not() -> None:
    found = [
        *passes("command:once", 90),
        finding("command:once", about="not run", is_own=True),
        *(finding("prompt:verbatim:dash", "dashes", step, about="not run") for step in range(9)),
        finding("prompt:verbatim:quotes", "quotes", about="not run"),
        *passes("prompt:verbatim:quotes", 90),
    ]
    ids = ("command:once", "prompt:verbatim:dash", "prompt:verbatim:quotes")
    assert failing(found, *ids) == ["command:once", "prompt:verbatim:dash"]


def test_what_failed_in_another_way_does_not_count_as_a_share() -> None:
    found = [
        *(finding("command:chat:no-model", "model", step, about="command model") for step in range(9)),
        finding("arguments:unknown", "model", 0, about="command model"),
        *passes("arguments:unknown", 1),
    ]
    assert failing(found, "command:chat:no-model", "arguments:unknown") == ["command:chat:no-model"]


def test_values_of_many_arguments_that_are_served_are_told_one_by_one() -> None:
    kinds = ("missing", "null", "type", "value")
    ids = [f"arguments:{name}:{kind}" for name in ("prompt", "cwd") for kind in kinds]
    made = [Requirement(id, "server", "MUST", "", {}, "1.0.0", None) for id in ids]
    told = [(id, step) for number, id in enumerate(ids) for step in range(40 if number == 0 else 3)]
    found = [
        *(finding(id, id, step, about="served") for id, step in told),
        *(finding("arguments:refused:not-started", id, step, about="served", is_own=True) for id, step in told),
        *(finding(id, "fine", outcome="pass") for id in ids),
        *passes("arguments:refused:not-started", 300),
    ]
    every = explained(found, [*requirements("arguments:refused:not-started"), *made])
    assert {each.requirement for each in every if each.outcome == "fail"} == set(ids)


def test_a_cause_that_is_never_named_does_not_explain_another() -> None:
    found = [
        *(finding("error:exit:41", "c", step, about="cause") for step in range(30)),
        *(finding("error:exit:52", "d", step, about="cause") for step in range(3)),
    ]
    assert failing(found, "error:exit:41", "error:exit:52") == ["error:exit:41", "error:exit:52"]


def test_what_differs_over_http_is_told_by_the_transport() -> None:
    found = [
        finding("http:equivalence", "c", None, about="transport", is_own=True),
        *(finding("result:session-id", "c", step, about="transport") for step in range(20)),
    ]
    assert failing(found, "result:session-id", "http:equivalence") == ["http:equivalence"]


def test_what_is_explained_names_its_cause() -> None:
    found = [
        *passes("result:text", 9),
        finding("result:text", about="text"),
        finding("result:text:blanks", about="text"),
    ]
    last = explained(found, requirements("result:text", "result:text:blanks"))[-2]
    assert (last.outcome, last.message) == (
        "could-not-run",
        "What went wrong in the call is told by result:text:blanks.",
    )


def test_what_is_explained_by_a_list_is_no_sign_that_a_requirement_was_judged() -> None:
    """Two faults in one port: a model that is not listed hides no session that is never reported."""
    uses = frozenset({"tools:chat:model"})
    found = [
        finding("tools:chat:model", "list", None, about="tools:chat:model"),
        *(finding("result:session-id", "c", step, about="session") for step in range(20)),
        *(finding("result:session-id", "d", step, about="session", uses=uses) for step in range(9)),
        *(finding("fallback:by-id", "e", step, about="session") for step in range(9)),
    ]
    ids = ("tools:chat:model", "result:session-id", "fallback:by-id")
    assert failing(found, *ids) == ["result:session-id", "tools:chat:model"]


def test_what_rests_on_a_broken_requirement_is_told_by_that() -> None:
    rests = frozenset({"result:error-key"})
    found = [
        finding("result:error-key", "c", about="answer"),
        finding("result:json:last", "d", about="answer", uses=rests),
    ]
    assert failing(found, "result:error-key", "result:json:last") == ["result:error-key"]
    assert failing(found[1:], "result:error-key", "result:json:last") == ["result:json:last"]
