"""Properties as checks: an invariant tried on inputs that hypothesis makes; a failure is shrunk. Pure.

A property is an invariant, what it is tried on, the profiles and the requirements that it decides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from gemini_mcp_conformance.host import invariants, strategies
from gemini_mcp_conformance.host.checking import Check, GivenUp, NoAnswer, Questions, Unsupported
from gemini_mcp_conformance.host.invariants import Ask, Broken
from gemini_mcp_conformance.host.values import Json


@dataclass(frozen=True)
class Property:
    """One invariant, and where it is tried."""

    name: str
    requirements: tuple[str, ...]
    profiles: tuple[str, ...]
    inputs: st.SearchStrategy[Json]
    holds: Callable[[Ask, str, Json], None]


class _Stop(BaseException):
    """Ends a search at once: hypothesis would shrink any other error, with a hang for every step."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


BOTH, DOCUMENTED, CURRENT = ("documented", "current"), ("documented",), ("current",)

P = Property
PROPERTIES: tuple[Property, ...] = (
    P("name-short", ("host-name:limit",), DOCUMENTED, strategies.TOOL_NAMES, invariants.name_is_short),
    P("name-short-current", ("host-name:limit:current",), CURRENT, strategies.TOOL_NAMES, invariants.name_is_short),
    P("name-allowed", ("host-name:characters",), DOCUMENTED, strategies.TOOL_NAMES, invariants.name_is_allowed),
    P(
        "name-allowed-current",
        ("host-name:qualified:current",),
        CURRENT,
        strategies.TOOL_NAMES,
        invariants.name_is_allowed,
    ),
    P("name-stable", ("host-name:fits",), DOCUMENTED, strategies.TOOL_NAMES, invariants.name_is_stable),
    P("name-kept", ("host-name:fits",), DOCUMENTED, strategies.GOOD_NAMES, invariants.short_name_is_kept),
    P(
        "schema-idempotent",
        ("host-schema:unchanged",),
        DOCUMENTED,
        strategies.SCHEMAS,
        invariants.sanitising_is_idempotent,
    ),
    P(
        "schema-removed",
        ("host-schema:dollar-schema", "host-schema:additional-properties", "host-schema:any-of-default"),
        DOCUMENTED,
        strategies.SCHEMAS,
        invariants.sanitising_removes,
    ),
    P(
        "schema-unchanged",
        ("host-schema:unchanged", "host-schema:names", "host-schema:values", "host-schema:recursion"),
        DOCUMENTED,
        strategies.SCHEMAS,
        invariants.sanitising_changes_nothing_else,
    ),
    P("schema-cycles", ("host-schema:cycles",), BOTH, strategies.SCHEMAS, invariants.sanitising_ends),
    P("schema-waits", ("host-schema:wait:current",), CURRENT, strategies.SCHEMAS, invariants.every_declaration_waits),
    P(
        "filter-order",
        ("host-tools:include", "host-tools:exclude"),
        BOTH,
        strategies.FILTERS,
        invariants.filters_ignore_order,
    ),
    P("filter-exclusion", ("host-tools:exclude",), BOTH, strategies.FILTERS, invariants.exclusion_wins),
    P(
        "servers-split",
        ("host-servers:allowed", "host-servers:excluded"),
        BOTH,
        strategies.SERVER_LISTS,
        invariants.servers_are_split,
    ),
    P(
        "expansion-plain",
        ("host-expansion:plain",),
        BOTH,
        strategies.PLAIN_TEXTS,
        invariants.plain_text_is_not_expanded,
    ),
    P(
        "expansion-spellings",
        ("host-expansion:dollar", "host-expansion:brace", "host-expansion:everywhere"),
        BOTH,
        strategies.VARIABLES,
        invariants.braces_and_dollar_agree,
    ),
    P("prompt-named", ("host-prompt:named",), BOTH, strategies.PROMPT_ARGUMENTS, invariants.prompt_arguments_come_back),
    P(
        "content-joined",
        ("host-content:joined", "host-content:inline"),
        DOCUMENTED,
        strategies.TEXTS,
        invariants.text_is_joined,
    ),
    P(
        "content-display",
        ("host-content:display",),
        BOTH,
        strategies.BLOCKS,
        invariants.display_has_a_line_for_each_block,
    ),
    P("add-env", ("host-mcp-add:env",), BOTH, strategies.ENVIRONMENTS, invariants.added_env_comes_back),
    P(
        "add-remove",
        ("host-mcp-remove:removes",),
        BOTH,
        strategies.NAMED_ARGUMENTS,
        invariants.adding_and_removing_leaves_nothing,
    ),
    P(
        "add-arguments",
        ("host-mcp-add:flags:after",),
        DOCUMENTED,
        strategies.ARGUMENTS,
        invariants.stdio_arguments_come_back,
    ),
    P(
        "authorization-url",
        ("host-oauth:pkce", "host-oauth:scopes"),
        DOCUMENTED,
        strategies.AUTHORIZATIONS,
        invariants.authorization_url_holds_what_it_was_given,
    ),
    P("expiry", ("host-oauth:expiry",), BOTH, strategies.LIFETIMES, invariants.expiry_is_monotone),
    P(
        "no-reference",
        ("host-resource:unknown",),
        BOTH,
        strategies.PROMPTS,
        invariants.prompts_without_references_are_kept,
    ),
    P(
        "first-wins",
        ("host-conflict:first", "host-conflict:prefix"),
        DOCUMENTED,
        strategies.RIVALS,
        invariants.first_registration_wins,
    ),
)


def checks(profile: str, max_examples: int, start: int) -> Iterator[Check]:
    """A check for every property of the profile; none without examples."""
    for one in PROPERTIES if max_examples else ():
        if profile in one.profiles:
            complaint = partial(_complaint, one, profile, max_examples, start)
            yield Check(f"property {one.name}", one.requirements, complaint)


def _complaint(one: Property, profile: str, max_examples: int, start: int, questions: Questions) -> str | None:
    def holds(value: Json) -> None:
        questions.begin_example()
        try:
            one.holds(questions.ask, profile, value)
        except (Unsupported, NoAnswer, GivenUp) as reason:
            raise _Stop(reason) from None
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise Broken(f"the answer has another shape than expected: {error!r}") from error

    try:
        _search(holds, one.inputs, max_examples, start)
    except Broken as broken:
        return str(broken)
    except Flaky:
        return "the host answers the same question now so and now otherwise"
    except _Stop as stop:
        raise stop.reason from None
    return None


def _search(holds: Callable[[Json], None], inputs: st.SearchStrategy[Json], max_examples: int, start: int) -> None:
    run = settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        report_multiple_bugs=False,
    )(seed(start)(given(inputs)(holds)))
    run()
