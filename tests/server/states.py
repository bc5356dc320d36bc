"""States of a home, a directory and variables, each with how Gemini CLI ends in it, and how they come to be. Effect.

`{root}` stands for where home and directory lie. No state has two faults. That Gemini CLI ends so is shown in
`tests/real`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gemini_mcp.spec.values import Json

NO_SIGN_IN, BROKEN, UNTRUSTED = 41, 52, 55

USER, OWN, FOLDERS = "home/.gemini/settings.json", "cwd/.gemini/settings.json", "home/.gemini/trustedFolders.json"
USERS_ENV, KEY = "home/.gemini/.env", "GEMINI_API_KEY=none\n"

QUICK: Json = {"general": {"maxAttempts": 1}}


@dataclass(frozen=True)
class State:
    """Files, links and variables; `exit` is one of the three codes, or None where gemini goes on to ask the API."""

    exit: int | None = None
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    links: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Scene:
    """A state on disk."""

    cwd: Path
    environ: Mapping[str, str]


def set_up(state: State, root: Path, path: str) -> Scene:
    """Write the files of a state below `root`; `path` is the PATH."""
    for name in ("home", "cwd", "tmp"):
        (root / name).mkdir()
    for name, text in state.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("{root}", str(root)), encoding="utf-8")
    for name, target in state.links.items():
        (root / name).symlink_to(root / target)
    named = {name: value.replace("{root}", str(root)) for name, value in state.variables.items()}
    return Scene(root / "cwd", {"PATH": path, "HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), **named})


def settings(**more: Json) -> str:
    return json.dumps({**QUICK, **more})


def auth(**said: Json) -> str:
    return settings(security={"auth": said})


def signing_in(exit: int | None, files: Mapping[str, str] | None = None, **variables: str) -> State:
    """A state in which the directory is trusted."""
    return State(exit, {USER: settings(), **(files or {})}, {"GEMINI_CLI_TRUST_WORKSPACE": "true", **variables})


def trusting(exit: int | None, folders: Json = None, files: Mapping[str, str] | None = None, **variables: str) -> State:
    """A state in which gemini can sign in."""
    listed = {} if folders is None else {FOLDERS: folders if isinstance(folders, str) else json.dumps(folders)}
    return State(exit, {USER: settings(), **listed, **(files or {})}, {"GEMINI_API_KEY": "none", **variables})


def linked(state: State, **links: str) -> State:
    return State(state.exit, state.files, state.variables, links)


OFF = settings(security={"folderTrust": {"enabled": False}})

STATES: Mapping[str, State] = {
    # Sign-in by variables and settings.
    "no settings": State(NO_SIGN_IN, {}, {"GEMINI_CLI_TRUST_WORKSPACE": "true"}),
    "key": signing_in(None, GEMINI_API_KEY="none"),
    "empty key": signing_in(NO_SIGN_IN, GEMINI_API_KEY=""),
    "settings, no key": signing_in(NO_SIGN_IN, {USER: auth(selectedType="gemini-api-key")}),
    "settings and key": signing_in(None, {USER: auth(selectedType="gemini-api-key")}, GEMINI_API_KEY="none"),
    "Google key alone": signing_in(NO_SIGN_IN, GOOGLE_API_KEY="none"),
    "settings, Google key": signing_in(NO_SIGN_IN, {USER: auth(selectedType="gemini-api-key")}, GOOGLE_API_KEY="none"),
    "Vertex alone": signing_in(NO_SIGN_IN, GOOGLE_GENAI_USE_VERTEXAI="true"),
    "Vertex, not true": signing_in(NO_SIGN_IN, GOOGLE_GENAI_USE_VERTEXAI="1", GOOGLE_API_KEY="none"),
    "Vertex, project": signing_in(NO_SIGN_IN, GOOGLE_GENAI_USE_VERTEXAI="true", GOOGLE_CLOUD_PROJECT="p"),
    "Vertex, Google key": signing_in(None, GOOGLE_GENAI_USE_VERTEXAI="true", GOOGLE_API_KEY="none"),
    "Vertex in settings": signing_in(NO_SIGN_IN, {USER: auth(selectedType="vertex-ai")}, GEMINI_API_KEY="none"),
    "login in settings": signing_in(NO_SIGN_IN, {USER: auth(selectedType="oauth-personal")}),
    "login by variable": signing_in(NO_SIGN_IN, GOOGLE_GENAI_USE_GCA="true"),
    "login unchosen": signing_in(NO_SIGN_IN, {"home/.gemini/oauth_creds.json": "{}"}),
    "base URL": signing_in(NO_SIGN_IN, GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9", GEMINI_API_KEY="none"),
    "unknown way": signing_in(NO_SIGN_IN, {USER: auth(selectedType="cloud-shell")}, GEMINI_API_KEY="none"),
    "no text": signing_in(NO_SIGN_IN, {USER: auth(selectedType=5)}, GEMINI_API_KEY="none"),
    "empty way": signing_in(None, {USER: auth(selectedType="")}, GEMINI_API_KEY="none"),
    "another enforced": signing_in(NO_SIGN_IN, {USER: auth(enforcedType="vertex-ai")}, GEMINI_API_KEY="none"),
    "the same enforced": signing_in(None, {USER: auth(enforcedType="gemini-api-key")}, GEMINI_API_KEY="none"),
    "former setting": signing_in(NO_SIGN_IN, {USER: settings(selectedAuthType="gemini-api-key")}),
    "variable in settings": signing_in(
        NO_SIGN_IN, {USER: auth(selectedType="$WANTED")}, GEMINI_API_KEY="none", WANTED="vertex-ai"
    ),
    "own settings": signing_in(NO_SIGN_IN, {OWN: auth(selectedType="vertex-ai")}, GEMINI_API_KEY="none"),
    "system settings of a user": signing_in(
        None,
        {"system.json": auth(selectedType="vertex-ai")},
        GEMINI_API_KEY="none",
        GEMINI_CLI_SYSTEM_SETTINGS_PATH="{root}/system.json",
    ),
    # Sign-in by an `.env` file.
    "user's .env": signing_in(None, {USERS_ENV: KEY}),
    "home's .env": signing_in(None, {"home/.env": KEY}),
    "own .env": signing_in(None, {"cwd/.env": KEY}),
    "own .gemini/.env": signing_in(None, {"cwd/.gemini/.env": KEY}),
    "a parent's .env": signing_in(None, {".env": KEY}),
    "hidden .env": signing_in(NO_SIGN_IN, {"cwd/.env": "OTHER=1\n", USERS_ENV: KEY}),
    "empty variable": signing_in(NO_SIGN_IN, {USERS_ENV: KEY}, GEMINI_API_KEY=""),
    "excluded": signing_in(
        NO_SIGN_IN, {USER: settings(advanced={"excludedEnvVars": ["GEMINI_API_KEY"]}), "cwd/.env": KEY}
    ),
    "not excluded": signing_in(
        None, {USER: settings(advanced={"excludedEnvVars": ["GEMINI_API_KEY"]}), "cwd/.gemini/.env": KEY}
    ),
    "only the home's": signing_in(NO_SIGN_IN, {USER: settings(advanced={"ignoreLocalEnv": True}), "cwd/.env": KEY}),
    "Vertex in .env": signing_in(None, {USERS_ENV: "GOOGLE_GENAI_USE_VERTEXAI=true\nGOOGLE_API_KEY=none\n"}),
    "quoted": signing_in(None, {USERS_ENV: "# a key\nexport GEMINI_API_KEY = 'none' # here\n"}),
    "commented out": signing_in(NO_SIGN_IN, {USERS_ENV: "#GEMINI_API_KEY=none\nGEMINI_API_KEY=\n"}),
    "another home": State(
        None,
        {"other/.gemini/settings.json": settings(), "other/.gemini/.env": KEY},
        {"GEMINI_CLI_HOME": "{root}/other", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    # Files that gemini refuses.
    "broken settings": signing_in(BROKEN, {USER: "{"}, GEMINI_API_KEY="none"),
    "a comma too many": signing_in(BROKEN, {USER: '{"general": {},}'}, GEMINI_API_KEY="none"),
    "no object": signing_in(BROKEN, {USER: "[]"}, GEMINI_API_KEY="none"),
    "byte order mark": signing_in(BROKEN, {USER: "\ufeff{}"}, GEMINI_API_KEY="none"),
    "comments": signing_in(None, {USER: f"// mine\n{settings()}"}, GEMINI_API_KEY="none"),
    "broken own settings": signing_in(BROKEN, {OWN: "{"}, GEMINI_API_KEY="none"),
    "unknown level": trusting(BROKEN, {"{root}/cwd": "TRUST_FOLDER", "/x": "YES"}),
    "folders are no object": trusting(BROKEN, "[]"),
    # Trust.
    "no rule": trusting(UNTRUSTED),
    "folder": trusting(None, {"{root}/cwd/": "TRUST_FOLDER"}),
    "folder above": trusting(None, {"{root}": "TRUST_FOLDER"}),
    "parent": trusting(None, {"{root}/sibling": "TRUST_PARENT"}),
    "forbidden below": trusting(UNTRUSTED, {"{root}": "TRUST_FOLDER", "{root}/cwd": "DO_NOT_TRUST"}),
    "allowed below": trusting(None, {"{root}": "DO_NOT_TRUST", "{root}/cwd": "TRUST_FOLDER"}),
    "longer rule": trusting(None, {"{root}/cwd": "DO_NOT_TRUST", "{root}/longer": "TRUST_PARENT"}),
    "a name's start": trusting(UNTRUSTED, {"{root}/cw": "TRUST_FOLDER"}),
    "link": linked(trusting(None, {"{root}/link": "TRUST_FOLDER"}), link="cwd"),
    "longer link": linked(
        trusting(UNTRUSTED, {"{root}/longlink": "DO_NOT_TRUST", "{root}/cwd": "TRUST_FOLDER"}), longlink="cwd"
    ),
    "dots": trusting(None, {"{root}/x/../cwd": "TRUST_FOLDER"}),
    "relative": trusting(UNTRUSTED, {"cwd": "TRUST_FOLDER"}),
    "trusted by variable": trusting(None, GEMINI_CLI_TRUST_WORKSPACE="true"),
    "variable, not true": trusting(UNTRUSTED, GEMINI_CLI_TRUST_WORKSPACE="1"),
    "forbidden by variable": trusting(UNTRUSTED, {"{root}": "TRUST_FOLDER"}, GEMINI_CLI_TRUST_WORKSPACE="false"),
    "restricted": trusting(UNTRUSTED, GEMINI_RESTRICTED_MODE="true", GEMINI_CLI_TRUST_WORKSPACE="true"),
    "switched off": trusting(None, files={USER: OFF}),
    "restricted, switched off": trusting(
        None,
        files={USER: json.dumps({**QUICK, "security": {"folderTrust": {"enabled": False}}})},
        GEMINI_RESTRICTED_MODE="true",
    ),
    "switched off in own settings": trusting(UNTRUSTED, files={OWN: OFF}),
    "switched on in own settings": trusting(
        UNTRUSTED, files={USER: OFF, OWN: settings(security={"folderTrust": {"enabled": True}})}
    ),
    "trusted by own .env": trusting(UNTRUSTED, files={"cwd/.env": "GEMINI_CLI_TRUST_WORKSPACE=true\n"}),
    "forbidden by own .env": trusting(
        UNTRUSTED, {"{root}/cwd": "TRUST_FOLDER"}, {"cwd/.env": "GEMINI_CLI_TRUST_WORKSPACE=false\n"}
    ),
    "other list": trusting(
        None,
        files={"list.json": '{"{root}/cwd": "TRUST_FOLDER"}'},
        GEMINI_CLI_TRUSTED_FOLDERS_PATH="{root}/list.json",
    ),
}
