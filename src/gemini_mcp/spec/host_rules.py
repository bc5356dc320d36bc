"""The rules of a host's profile, `host/profiles/*.json`, as frozen records: JSON in, records out. Pure.

A field is a key of the file, in Python's spelling; `spec/meta/host-profile.schema.json` says what each one means. Only
what such a file can say belongs here; the modules of `gemini_mcp.host` obey it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json, JsonObject, is_array


@dataclass(frozen=True)
class EnvironmentRules:
    """Which variables of the host reach its servers."""

    identification: Mapping[str, str]
    always_prefix: str
    secret_values: tuple[str, ...]
    passed_prefix: str
    passed: tuple[str, ...]
    withheld: tuple[str, ...]
    secret_name: str
    strict_when: Mapping[str, str | None]
    not_configurable: tuple[str, ...]
    not_configured: str


@dataclass(frozen=True)
class ExtensionRules:
    """Where extensions are, what their manifests may say of servers, and how that meets the settings."""

    folder: str
    manifest: str
    origin: str
    enablement: str
    variables: str
    name: str
    name_rule: str
    ignored: tuple[str, ...]
    united: tuple[str, ...]
    intersected: tuple[str, ...]
    joined: tuple[str, ...]


@dataclass(frozen=True)
class PolicyRules:
    """Which rules about calls there are: of the host itself, of settings, and of the user's files."""

    folder: str
    tier: int
    modes: tuple[str, ...]
    file_schema: JsonObject
    own_rules: tuple[JsonObject, ...]
    settings: tuple[JsonObject, ...]
    denied: str
    unconfirmed: str


@dataclass(frozen=True)
class Rules:
    """Everything in which one profile may differ from another."""

    name: str
    version: str
    introductions: Mapping[str, JsonObject]
    list_introduction: JsonObject
    builtin_tools: tuple[str, ...]

    settings_schema: JsonObject
    faulty_settings: str
    allows_trailing_commas: bool
    variable: str
    empty_allow_list_allows_all: bool
    unites_lists: bool
    blocks_excluded: bool

    extensions: ExtensionRules | None
    environment: EnvironmentRules | None
    url_transports: tuple[str, ...]
    skips_without_transport: bool
    reads_type: bool
    two_addresses: str | None
    google_checks: tuple[Mapping[str, str], ...]
    impersonation_checks: tuple[Mapping[str, str], ...]
    paged_lists: tuple[str, ...]
    tools_need_capability: bool
    refuses_duplicates: bool
    missing_method: str | None
    follows_changes: bool
    instructions: str | None
    refused_list_ends_discovery: bool
    stray_ends_discovery: bool
    sends_protocol_version: bool
    stderr_limit: int | None
    leaves_empty_server: bool
    empty_server: str
    server_error: str
    needs_authentication: str
    connection_failures: tuple[Mapping[str, str], ...]
    failure_advice: str
    state_without_servers: str
    messages: JsonObject
    protocol_versions: tuple[str, ...]
    list_validator: str

    name_prefix: str
    name_limit: int
    name_head: int
    name_marker: str
    name_tail: int
    name_invalid: str
    tool_name: str
    tool_name_when_taken: str | None
    name_read_back: str | None
    overwritten: str | None
    sorts_tools_by_server: bool
    schema_steps: tuple[str, ...]
    allowed_by: Mapping[str, str]
    question_fields: tuple[str, ...]
    question_name: str
    trust_needs_folder: bool
    policy: PolicyRules | None
    sends_progress_token: bool
    reports_tool_errors: bool
    completes_structure: bool
    unknown_tool: str
    output_threshold: int | None
    model_parts: str
    tool_text: str
    tool_text_escapes: Mapping[str, str]

    hyphenates_prompt_names: bool
    named_argument: str
    unescapes_named_arguments: bool
    fills_prompts: str
    prompt_answer: str
    refuses_empty_prompt: bool
    quotes_prompt: bool
    reference: str

    authenticates_unasked: bool
    oauth_address: str
    metadata_header: str
    keeps_issuer: bool
    verifier_bytes: int
    keeps_spent_tokens: bool
    registration: JsonObject

    usage: Mapping[str, tuple[str, ...]]
    usage_error: str
    command_options: Mapping[str, JsonObject]
    add_words: str
    lays_out_settings: bool
    checks_timeout: bool
    add_keys: Mapping[str, str]
    adds_type: bool
    cuts_variables: bool
    splits_tools: bool
    stdio_line: str
    output: str

    vectors: JsonObject

    @property
    def introduction(self) -> JsonObject:
        """What the profile's host says of itself in `initialize`."""
        return self.introductions[self.version]


_RECORDS = {"environment": EnvironmentRules, "extensions": ExtensionRules, "policy": PolicyRules}


def rules_of(document: Json, schemas: Mapping[str, Json]) -> Rules:
    """Read a profile, with the schemas that it may name; `KeyError` or `TypeError` when it is not one."""
    fields = _fields(document)
    schema = fields["settings_schema"]
    fields["settings_schema"] = schemas[schema] if isinstance(schema, str) else schema
    fields["messages"] = schemas[fields["messages"]]
    for name, record in _RECORDS.items():
        fields[name] = fields[name] and record(**_fields(fields[name]))
    return Rules(**fields)


def _fields(document: Json) -> JsonObject:
    """The members with their names in Python's spelling, and arrays as tuples."""
    return {
        re.sub("[A-Z]", lambda capital: f"_{capital.group().lower()}", key): tuple(value) if is_array(value) else value
        for key, value in document.items()
    }
