"""Runs all rules of `lint`. Pure.

A rule joins by being a row of `_TABLE`. The rule `meta-schema` is silent where another rule says more. What a rule
cannot read is no error of the linter: it is a complaint that the rule could not be tried.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gemini_mcp_spec.files.requirements import is_expandable
from gemini_mcp_spec.files.spec_files import MALFORMED, SpecFiles
from gemini_mcp_spec.lint import calls, examples, files, host, options, patterns, policy, requirements, server
from gemini_mcp_spec.lint.complaint import Complaint, Rule

_TABLE = (
    Rule("text", files.text, "Save the file as UTF-8 with spaces and newlines, and end it with one newline."),
    Rule("json", files.json_syntax, "Correct it there."),
    Rule("file-missing", files.file_missing, "Write it."),
    Rule("file-kind", files.file_kind, "Move it to the folder of its kind, or remove it."),
    Rule("file-name", files.file_name, "Make them equal."),
    Rule("manifest-files", files.manifest_files, "List what is there."),
    Rule("schema-valid", files.schema_valid, "Correct the keyword."),
    Rule("schema-reference", files.schema_reference, "Put what it needs below `$defs` and refer to that."),
    Rule("meta-schema", files.meta_schema, "The schema in `meta/` says what it should be."),
    Rule("pattern-readable", patterns.pattern_readable, "Write it so that both read it."),
    Rule("id-form", requirements.id_form, "Write it so."),
    Rule("id-profile", requirements.id_profile, "Begin the ids of the profile `host` with `host-`, no other."),
    Rule("id-unique", requirements.id_unique, "Give this statement another id."),
    Rule("id-apart", requirements.id_apart, "Give one of the tools, arguments or requirements another name."),
    Rule("id-removed", requirements.id_removed, "Give this statement another id."),
    Rule("level-keyword", requirements.level_keyword, "Say the level once."),
    Rule("one-sentence", requirements.one_sentence, "Say one thing in one sentence, once."),
    Rule("placeholder-known", requirements.placeholder_known, "Correct its name, or write the word itself."),
    Rule("since-version", requirements.since_version, "Name this version, or raise the manifest's."),
    Rule("source-exists", requirements.source_exists, "Cite what `sources.json` lists, or add it there."),
    Rule("source-cited", requirements.source_cited, "Add it there, or remove it here."),
    Rule("requirement-unknown", requirements.requirement_unknown, "Name one that exists."),
    Rule("frozen-set", requirements.frozen_set, "A released list never changes; `gemini-mcp-spec freeze` writes one."),
    Rule("tool-required", server.tool_required, "Add the property, or do not require it."),
    Rule("tool-example", server.tool_example, "Correct it."),
    Rule("locale-coverage", server.locale_coverage, "Make it cover what `server/tools` holds."),
    Rule("template-tool", server.template_tool, "Give every tool its template, and remove the others."),
    Rule("template-argument", server.template_argument, "Name the arguments of the tool, all of them."),
    Rule("template-resumes", server.template_resumes, "Make it equal to what stands behind gemini's flag."),
    Rule("template-type", server.template_type, "Give it the type `string`, or use it otherwise."),
    Rule("template-name", server.template_name, "Name one that the file defines."),
    Rule("output-format", options.output_format, "Give every command line `--output-format json`."),
    Rule("value-option", options.value_option, "Join it to its flag, give it a form, or refuse such values."),
    Rule("sentence-reached", server.sentence_reached, "Move it up, or remove it."),
    Rule("sentence-missing", server.sentence_missing, "Add one without `exit` and `stderr`."),
    Rule("sentence-fields", server.sentence_fields, "Write a field as `{name}`."),
    Rule("sentence-says", server.sentence_says, "Say it."),
    Rule("key-apart", server.key_apart, "Give it another key."),
    Rule("separator-apart", server.separator_apart, "Begin it with a newline, or write another."),
    Rule("call-tool", calls.call_tool, "Name a tool that exists."),
    Rule("call-arguments", calls.call_arguments, "Correct the arguments, or let nothing start."),
    Rule("call-result", calls.call_result, "The schemas in `server/results` say what it is."),
    Rule("case-outcome", calls.case_outcome, "Add what is missing, or remove the other."),
    Rule("example-contradicts", examples.example_contradicts, "Correct the example or that file."),
    Rule("stream-contradicts", examples.stream_contradicts, "Correct the stream or that file."),
    Rule("example-twice", examples.example_twice, "Correct one of them."),
    Rule("example-requirement", examples.example_requirement, "Name what it shows, or correct its calls."),
    Rule("script-exists", calls.script_exists, "Name one of `server/scripts`."),
    Rule("script-plays", calls.script_plays, "Write steps that the fake knows."),
    Rule("step-name", calls.step_name, "Name an earlier step, or what its script waits for."),
    Rule("gate-rule", policy.gate_rule, "`gemini-mcp-spec explain` lists all rules."),
    Rule("gate-deprecated", policy.gate_deprecated, "Remove the mark, or correct the name."),
    Rule("vector-id", host.vector_id, "Give this vector another id."),
    Rule("vector-exception", host.vector_exception, "Remove `exception` and `observed`, or correct them."),
    Rule("profile-known", host.profile_known, "Write one that exists."),
)

RULES: Mapping[str, Rule] = {rule.name: rule for rule in _TABLE}

_WHOLE = "manifest.json"
_GENERAL = "meta-schema"
_UNREADABLE = ("text", "json")
"""The rules that say why a file cannot be read."""
_FORM = ("file-missing", "schema-valid", "schema-reference", "meta-schema", "pattern-readable")
"""The rules that say why files can be read, but are no specification."""
_UNTRIED = "The files are so malformed that this rule cannot be tried."


def lint(spec: SpecFiles) -> list[Complaint]:
    """Every mistake of `spec`, in the order of its files.

    While files cannot be read, or their form is wrong so that nothing can be made of them, only that. A rule that their
    form keeps from being tried is no further mistake.
    """
    if spec.unreadable:
        found = [one for name in _UNREADABLE for one in _complaints(RULES[name], spec) if one.file in spec.unreadable]
        return _ordered(found)
    found = list(dict.fromkeys(one for rule in _TABLE for one in _complaints(rule, spec)))
    formal = [one for one in found if one.rule in _FORM]
    if formal and not is_expandable(spec):
        return _ordered(formal)
    found = [one for one in found if not formal or one.message != _UNTRIED]
    special = {(one.file, one.path) for one in found if one.rule != _GENERAL}
    return _ordered(one for one in found if one.rule != _GENERAL or (one.file, one.path) not in special)


def _complaints(rule: Rule, spec: SpecFiles) -> Iterator[Complaint]:
    try:
        for one in rule.check(spec):
            yield replace(one, rule=rule.name, fix=one.fix or rule.fix)
    except MALFORMED:
        yield Complaint(_WHOLE, (), _UNTRIED, "Correct the other mistakes first.", rule.name)


def _ordered(complaints: Iterable[Complaint]) -> list[Complaint]:
    # Indices are padded, so that the tenth entry comes behind the second.
    return sorted(complaints, key=lambda one: (one.file, [str(step).zfill(6) for step in one.path], one.rule))
