"""The environment a stdio server is started with: all of the host's, or what the current profile lets through; pure.

The lists are data of Gemini CLI 0.61; nothing of our own belongs in them.
"""

import re
from collections.abc import Mapping

from gemini_mcp.host.rules.profiles import Profile
from gemini_mcp.host.settings.expansion import expand_late

IDENTIFICATION = ("GEMINI_CLI", "1")

ALWAYS = frozenset(
    [
        "PATH",
        "SYSTEMROOT",
        "COMSPEC",
        "PATHEXT",
        "WINDIR",
        "TEMP",
        "TMP",
        "USERPROFILE",
        "SYSTEMDRIVE",
        "HOME",
        "LANG",
        "SHELL",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "TERM",
        "COLORTERM",
        "ADDITIONAL_CONTEXT",
        "AVAILABLE_LABELS",
        "BRANCH_NAME",
        "DESCRIPTION",
        "EVENT_NAME",
        "GITHUB_ENV",
        "IS_PULL_REQUEST",
        "ISSUES_TO_TRIAGE",
        "ISSUE_BODY",
        "ISSUE_NUMBER",
        "ISSUE_TITLE",
        "PULL_REQUEST_NUMBER",
        "REPOSITORY",
        "TITLE",
        "TRIGGERING_ACTOR",
    ]
)
NEVER = frozenset(
    [
        "CLIENT_ID",
        "DB_URI",
        "CONNECTION_STRING",
        "AWS_DEFAULT_REGION",
        "AZURE_CLIENT_ID",
        "AZURE_TENANT_ID",
        "SLACK_WEBHOOK_URL",
        "TWILIO_ACCOUNT_SID",
        "DATABASE_URL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_ACCOUNT",
        "FIREBASE_PROJECT_ID",
    ]
)
SECRET_NAME = re.compile("TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT")
SECRET_VALUES = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        r"-----BEGIN (RSA|OPENSSH|EC|PGP) PRIVATE KEY-----",
        r"-----BEGIN CERTIFICATE-----",
        r"(https?|ftp|smtp)://[^:\s]{1,1024}:[^@\s]{1,1024}@",
        r"(ghp|gho|ghu|ghs|ghr|github_pat)_[a-zA-Z0-9_]{36,}",
        r"AIzaSy[a-zA-Z0-9_\\-]{33}",
        r"AKIA[A-Z0-9]{16}",
        r"eyJ[a-zA-Z0-9_-]{0,10240}\.[a-zA-Z0-9_-]{0,10240}\.[a-zA-Z0-9_-]{0,10240}",
        r"(s|r)k_(live|test)_[0-9a-zA-Z]{24}",
        r"xox[abpr]-[a-zA-Z0-9-]+",
    )
)
NEVER_OVERRIDDEN = frozenset(
    [
        "NODE_OPTIONS",
        "NODE_CLI_FLAGS",
        "_FORCE_NODE_OPTIONS",
        "NODE_PATH",
        "ELECTRON_RUN_AS_NODE",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "RUBYOPT",
        "RUBYLIB",
        "PERL5OPT",
        "PERL5LIB",
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_DEBUG",
        "LD_PROFILE",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_FORCE_FLAT_NAMESPACE",
        "DYLD_LIBRARY_PATH",
        "DYLD_FRAMEWORK_PATH",
        "DYLD_FALLBACK_LIBRARY_PATH",
        "DYLD_FALLBACK_FRAMEWORK_PATH",
        "BASH_ENV",
        "ENV",
        "PERL5DB",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CLASSPATH",
        "DOTNET_STARTUP_HOOKS",
        "CORECLR_PROFILER_PATH",
        "CORECLR_ENABLE_PROFILING",
    ]
)


def is_inherited(name: str, value: str, profile: Profile, is_strict: bool = False) -> bool:
    """Whether a variable of the host reaches the servers it starts; strict is the rule on GitHub runners."""
    if profile is Profile.DOCUMENTED:
        return True
    upper = name.upper()
    if upper.startswith("GEMINI_CLI_"):
        return True
    if any(pattern.search(value.upper()) for pattern in SECRET_VALUES):
        return False
    if upper.startswith("GIT_CONFIG_") or upper in ALWAYS:
        return True
    return upper not in NEVER and not is_strict and not SECRET_NAME.search(upper)


def inherited(host: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """The host's variables that reach the servers it starts."""
    is_strict = bool(host.get("GITHUB_SHA")) or host.get("SURFACE") == "Github"
    return {name: value for name, value in host.items() if is_inherited(name, value, profile, is_strict)}


def server_environment(configured: Mapping[str, str], host: Mapping[str, str], profile: Profile) -> dict[str, str]:
    """The whole environment of a stdio server, from its configured `env` and the host's own."""
    if profile is Profile.DOCUMENTED:
        return {**host, **configured}
    visible = inherited(host, profile)
    allowed = {name: value for name, value in configured.items() if name.upper() not in NEVER_OVERRIDDEN}
    expanded = {name: expand_late(value, visible) for name, value in allowed.items()}
    return {IDENTIFICATION[0]: IDENTIFICATION[1], **visible, **expanded}


def withheld(host: Mapping[str, str], profile: Profile) -> tuple[str, ...]:
    """The names of the host's variables that its servers do not get."""
    return tuple(sorted(set(host) - set(inherited(host, profile))))
