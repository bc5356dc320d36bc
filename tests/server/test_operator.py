"""What the operator sees: options, `doctor`, client configurations, other specifications, and a fast start."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from client import Place, answer, play, text

from gemini_mcp.errors import OperatorError
from gemini_mcp.operator import flags
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import default_root, read
from gemini_mcp.spec.values import Json

VALUES: Mapping[str, tuple[str, Json]] = {
    "gemini": ("/g", "/g"),
    "timeout": ("1.5", 1.5),
    "kill-grace": ("0.5", 0.5),
    "max-concurrency": ("3", 3),
    "max-output-bytes": ("5", 5),
    "default-model": ("pro", "pro"),
    "approval-mode": ("auto_edit", "auto_edit"),
    "sandbox": ("true", True),
    "include-directories": ("/a", ("/a",)),
    "trust-workspace": ("on", True),
    "withhold": ("AWS_*", ("AWS_*",)),
    "no-fast-start": ("1", True),
    "allow-nested": ("1", True),
    "allow-cwd": ("/r", ("/r",)),
    "max-response-chars": ("9", 9),
    "expose-session": ("text", "text"),
    "live": ("true", True),
    "locale": ("ko", "ko"),
    "spec": ("/s", "/s"),
    "transport": ("sse", "sse"),
    "host": ("127.0.0.2", "127.0.0.2"),
    "port": ("0", 0),
    "token": ("t", "t"),
    "allowed-host": ("mcp.example:8443", ("mcp.example:8443",)),
    "allowed-origin": ("https://a.example", ("https://a.example",)),
    "max-sessions": ("7", 7),
    "session-timeout": ("0.5", 0.5),
    "max-connections": ("8", 8),
    "request-timeout": ("2.5", 2.5),
    "max-pending-bytes": ("9000", 9000),
    "log-level": ("debug", "debug"),
    "log-file": ("/l", "/l"),
}
OPTIONS = {option.name: option for group in flags.TABLE.values() for option in group}
SWITCHES = ("sandbox", "trust-workspace", "no-fast-start", "allow-nested", "live")

BAD = {
    "timeout": ("0", "-1", "nan", "inf", "x"),
    "kill-grace": ("0", "x"),
    "max-concurrency": ("0", "-1", "1.5"),
    "default-model": ("-x", "m\udcff"),
    "approval-mode": ("all",),
    "max-response-chars": ("0",),
    "expose-session": ("none",),
    "transport": ("ws",),
    "host": ("http://127.0.0.1", "127.0.0.1:80", "a b"),
    "port": ("-1", "65536", "x"),
    "allowed-host": ("https://mcp.example", "mcp.example/mcp", "a b", "m\udcff", "mcp.ex\xe4mple"),
    "allowed-origin": ("app.example", "https://app.example/", "https://", "https://\udcff"),
    "log-level": ("loud",),
}


def parse(*arguments: str, **environ: str) -> Options:
    return flags.parse(arguments, environ, "1.0.0")


def given(name: str, value: str) -> tuple[str, ...]:
    on_http = ("--transport", "http") if OPTIONS[name].field in flags.ONLY_HTTP else ()
    return (f"--{name}", *on_http) if name in SWITCHES else (f"--{name}", value, *on_http)


def test_every_option_is_tested_here() -> None:
    assert OPTIONS.keys() == VALUES.keys()


@pytest.mark.parametrize(("name", "value", "expected"), [(name, *value) for name, value in VALUES.items()])
def test_a_flag_and_its_variable_say_the_same(name: str, value: str, expected: Json) -> None:
    field, variable = OPTIONS[name].field, OPTIONS[name].variable
    assert getattr(parse(*given(name, value)), field) == expected
    assert getattr(parse(**{variable: value}), field) == expected
    assert getattr(parse(**{variable: ""}), field) == getattr(Options(), field)


@pytest.mark.parametrize("name", sorted(VALUES.keys() - SWITCHES))
def test_a_flag_beats_its_variable_even_a_wrong_one(name: str) -> None:
    value, expected = VALUES[name]
    assert getattr(parse(*given(name, value), **{OPTIONS[name].variable: "-"}), OPTIONS[name].field) == expected


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_value_is_told_with_what_it_should_be(name: str, value: str) -> None:
    for wrong, where in (((f"--{name}={value}",), f"--{name}"), ((), OPTIONS[name].variable)):
        with pytest.raises(OperatorError) as caught:
            parse(*wrong, **({} if wrong else {OPTIONS[name].variable: value}))
        assert where in str(caught.value)
        assert repr(value) in str(caught.value)
        assert "should be" in str(caught.value)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_another_address_demands_a_token(transport: str) -> None:
    with pytest.raises(OperatorError, match="GEMINI_MCP_TOKEN"):
        parse("--transport", transport, "--host", "0.0.0.0")


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.9", "::1", "[::1]"])
def test_a_loopback_address_needs_none(host: str) -> None:
    assert parse("--transport", "http", "--host", host).host == host.strip("[]")


@pytest.mark.parametrize("token", ["two words", "t\n", " ", "t\xfcr", "t\udcff"])
def test_a_token_that_no_client_can_send_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(OperatorError, match="GEMINI_MCP_TOKEN should be") as caught:
        parse(GEMINI_MCP_TOKEN=token)
    assert repr(token) not in str(caught.value)


def test_repeatable_flags_add_up_and_their_variables_hold_lists() -> None:
    assert parse("--allow-cwd", "/a", "--allow-cwd", "/b").allow_cwd == ("/a", "/b")
    assert parse(GEMINI_MCP_ALLOW_CWD=f"/a{os.pathsep}/b").allow_cwd == ("/a", "/b")
    assert parse(GEMINI_MCP_ALLOWED_HOST="a.example,b.example:8443").allowed_host == ("a.example", "b.example:8443")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nope",),
        ("--timeout",),
        ("--timeout", "x"),
        ("--time", "3"),
        ("serve",),
        ("--print-config", "emacs"),
        ("--json",),
        ("--fix",),
        ("doctor", "--print-config", "claude"),
        ("--spec", "/nowhere"),
        ("--locale", "../ko"),
        ("--log-file", "/nowhere/log"),
        ("--transport", "http", "--host", "0.0.0.0"),
        ("--transport", "http", "--host", "192.0.2.1", "--token", "t"),
    ],
)
def test_a_bad_command_line_is_one_sentence_and_exit_2(place: Place, arguments: tuple[str, ...]) -> None:
    done = place.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"gemini-mcp-server: [^\n]+\.\n", done.stderr) or done.stderr.endswith("`.\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", flags.ONLY_HTTP)
def test_what_only_http_knows_is_refused_on_stdio(name: str) -> None:
    option = name.replace("_", "-")
    with pytest.raises(OperatorError, match=f"--{option} needs --transport http"):
        parse(f"--{option}", VALUES[option][0])
    parse(**{OPTIONS[option].variable: VALUES[option][0]})


@pytest.mark.parametrize(
    ("wrong", "right"), [("--timout=3", "--timeout"), ("--alow-cwd", "--allow-cwd"), ("--xyzzy", ""), ("--bogus", "")]
)
def test_an_unknown_option_is_told_with_the_nearest_one(wrong: str, right: str) -> None:
    with pytest.raises(OperatorError) as caught:
        parse(wrong, "3")
    assert wrong.split("=")[0] in str(caught.value)
    assert str(caught.value).count("Did you mean") == bool(right)
    assert right in str(caught.value)


def test_the_help_fits_a_terminal(place: Place) -> None:
    done = place.run("--help", COLUMNS="80")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_unknown_variable_is_told_and_ignored(place: Place) -> None:
    server = place.start(GEMINI_MCP_TIMOUT="3")
    server.end()
    assert "GEMINI_MCP_TIMOUT is no variable of this server. Did you mean GEMINI_MCP_TIMEOUT?" in server.stderr()


def test_a_path_may_begin_with_the_home(place: Place) -> None:
    home = str(place.home)
    paths = ("gemini", "allow-cwd", "include-directories", "spec", "log-file")
    (place.home / "logs").mkdir()
    server = place.start("--log-file", "~/logs/log", GEMINI_MCP_ALLOW_CWD="~")
    place.fake.load([play(answer("a"))])
    server.chat()
    assert place.fake.calls()[0].cwd == home
    assert (place.home / "logs/log").exists()
    assert [name for name in paths if "~" in str(getattr(parse(f"--{name}", "~/x"), OPTIONS[name].field))] == []


def test_gemini_does_not_inherit_what_the_operator_withholds(place: Place) -> None:
    server = place.start("--withhold", "AWS_*", "--withhold", "*_SECRET", AWS_KEY="a", MY_SECRET="b", MY_OWN="c")
    place.fake.load([play(answer("a"))])
    server.chat()
    environ = place.fake.calls()[0].environ
    assert "MY_OWN" in environ
    assert not environ.keys() & {"AWS_KEY", "MY_SECRET"}


def test_gemini_is_found_though_it_does_not_inherit_path(place: Place) -> None:
    server = place.start("--withhold", "PATH")
    place.fake.load([play(answer("a"))])
    assert text(server.chat()) == "a"
    assert "PATH" not in place.fake.calls()[0].environ


def test_the_help_names_every_option_and_the_variables(place: Place) -> None:
    done = place.run("--help")
    assert done.returncode == 0
    assert [name for name in VALUES if f"--{name}" not in done.stdout] == []
    assert "GEMINI_MCP_KILL_GRACE" in done.stdout
    assert place.run("--version").stdout == "gemini-mcp-server 1.0.0\n"


def test_what_the_operator_adds_reaches_gemini_as_options(place: Place) -> None:
    added = ("--approval-mode", "plan", "--sandbox", "--include-directories", "/a b", "--trust-workspace")
    server = place.start(*added, "--default-model", "pro", GEMINI_CLI_TRUST_WORKSPACE="false")
    place.fake.load([play(answer("a"))])
    server.chat("hello")
    server.chat("hello", model="flash")
    first, second = place.fake.calls()
    own = (b"--approval-mode=plan", b"--sandbox", b"--include-directories=/a b")
    assert first.argv == (b"hello", b"--output-format", b"json", b"-m", b"pro", *own)
    assert second.argv == (b"hello", b"--output-format", b"json", b"-m", b"flash", *own)
    assert first.environ["GEMINI_CLI_TRUST_WORKSPACE"] == "true"


def test_a_server_that_its_own_gemini_starts_ends_at_once(place: Place) -> None:
    done = place.run(MCP_SERVER_RUN="1:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--allow-nested" in done.stderr
    place.fake.load([play(answer("a"))])
    assert text(place.start("--allow-nested", MCP_SERVER_RUN="1:1").chat()) == "a"


def test_a_fast_start_is_the_default_and_replaces_nothing() -> None:
    inherited = {"HOME": "/h", "A": "b"}
    fast = Options().environment(inherited)
    assert fast["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert fast["NODE_COMPILE_CACHE"] == "/h/.cache/gemini-mcp-server/node"
    chosen = {"GEMINI_CLI_NO_RELAUNCH": "", "NODE_COMPILE_CACHE": "/mine", "XDG_CACHE_HOME": "/x"}
    assert Options().environment(chosen) == chosen
    assert Options(no_fast_start=True).environment(inherited) == inherited


def test_directories_are_allowed_by_where_they_really_are(place: Place) -> None:
    for name in ("root", "root/below", "rootless"):
        (place.cwd / name).mkdir()
    (place.cwd / "root/out").symlink_to(place.cwd)
    (place.cwd / "in").symlink_to("root/below")
    server = place.start("--allow-cwd", "root", "--allow-cwd", "/nowhere")
    place.fake.load([play(answer("a"))])
    refused = {"rootless", "root/out", "root/..", ".", "/", "/nowhere/.."}
    for cwd in ("root", "root/below", "in", *refused):
        result = server.chat(cwd=cwd)
        assert result.get("isError", False) is (cwd in refused), cwd
        if cwd in refused:
            assert f"{cwd!r} lies outside the directories that the operator allows" in text(result)


@pytest.fixture
def spec(place: Place) -> Path:
    """A copy of the specification that may be changed."""
    return Path(shutil.copytree(default_root(), place.root / "spec"))


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": 1}', None])
def test_a_specification_that_cannot_be_used_is_told_in_one_sentence(
    place: Place, spec: Path, content: str | None
) -> None:
    path = spec / "server/tools/chat.json"
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    if content is None:
        (spec / "server/tools/chat-reply.json").unlink()
    done = place.run("--spec", str(spec))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "server/tools" in done.stderr


def test_descriptions_come_in_the_language_of_the_operator(place: Place) -> None:
    korean = read(default_root() / "server/locales/ko.json")["tools"]
    tools = place.start("--locale", "ko").ask("tools/list")["result"]["tools"]
    assert {tool["name"]: tool["description"] for tool in tools} == {
        name: texts["description"] for name, texts in korean.items()
    }
    for tool in tools:
        properties = tool["inputSchema"]["properties"]
        assert {name: schema["description"] for name, schema in properties.items()} == korean[tool["name"]][
            "properties"
        ]
