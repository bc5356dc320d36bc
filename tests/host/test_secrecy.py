"""Secrets of a configuration are not shown, whatever form they have, and the rest is."""

import string
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp.host.servers.secrecy import shown_words, without_secrets
from gemini_mcp.host.servers.status import described
from gemini_mcp.host.settings.loading import ServerConfig

SECRETS = st.text(string.ascii_letters + string.digits + "-_.~+/!", min_size=8, max_size=24).map(
    lambda text: f"s{text}"
)
SCHEMES = st.sampled_from(["postgres", "https", "mongodb+srv", "redis", "amqp", "mysql"])
FLAGS = st.sampled_from(["--token", "--api-key", "--password", "--client-secret", "--auth", "--access-token", "--key"])
NAMES = st.sampled_from(["API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "MY_SECRET", "AWS_SECRET_ACCESS_KEY", "PGPASS_PWD"])
HEADER_FLAGS = st.sampled_from(["-H", "--header", "--headers", "--http-header"])
HEADERS = st.sampled_from(["Authorization: Bearer {}", "X-Api-Key: {}", "Authorization: Basic {}", "cookie: a={}"])
PLAIN = st.sampled_from(
    ["run", "-y", "--verbose", "@scope/server", "server.js", "--port", "8080", "https://h.example/x"]
)


@st.composite
def secret_words(draw: st.DrawFn) -> tuple[Sequence[str], str]:
    """Words of a command line that hold a secret, and the secret."""
    secret = draw(SECRETS)
    forms = [
        [f"{draw(SCHEMES)}://user:{secret}@host.example:5432/db"],
        [f"{draw(SCHEMES)}://u:p{secret}@host.example/db?sslmode=on"],
        [f"--dsn={draw(SCHEMES)}://u:{secret}@h/db"],
        [draw(FLAGS), secret],
        [f"{draw(FLAGS)}={secret}"],
        ["-e", f"{draw(NAMES)}={secret}"],
        [draw(HEADER_FLAGS), draw(HEADERS).format(secret)],
        [f"{draw(HEADER_FLAGS)}={draw(HEADERS).format(secret)}"],
        [draw(HEADERS).format(secret)],
        [f"https://h.example/mcp?key={secret}"],
        ["-u", f"me:{secret}"],
        ["--config", f'{{"authorization": "Bearer {secret}"}}'],
        ["--config", f'{{"a": 1, "apiKey": "{secret}"}}'],
        ["--connection", f"Server=h;User=u;Password={secret};Encrypt=on"],
        ["-c", f"export {draw(NAMES)}={secret}; exec server"],
        ["-c", f"server {draw(FLAGS)} {secret} --port 80"],
        ["-c", f"curl -u me:{secret} https://h.example"],
        [f"//u:{secret.replace('/', '')}@h/db"],
        [f"u:{secret.replace('/', '')}@h:5432"],
    ]
    return draw(st.sampled_from(forms)), secret


@given(secret_words(), st.lists(PLAIN, max_size=3), st.lists(PLAIN, max_size=3))
def test_no_form_of_a_secret_is_shown(form: tuple[Sequence[str], str], before: list[str], after: list[str]) -> None:
    words, secret = form
    config = ServerConfig("s", {"command": "npx", "args": [*before, *words, *after]})
    assert secret.replace("/", "") not in described(config).replace("/", "")


@given(secret_words())
def test_no_secret_of_an_address_is_shown(form: tuple[Sequence[str], str]) -> None:
    _, secret = form
    for address in (f"https://u:{secret}@h.example/mcp", f"https://h.example/mcp?token={secret}&a=b"):
        assert secret not in described(ServerConfig("s", {"url": address}))


@given(st.lists(PLAIN, max_size=6))
def test_what_is_no_secret_is_shown_as_it_is(words: list[str]) -> None:
    assert shown_words(words) == " ".join(words)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["postgres://u:SECRET@h/db"], "postgres://***@h/db"),
        (["--header", "Authorization: Bearer SECRET"], "--header Authorization: ***"),
        (["--url", "https://h:8080/@scope/x"], "--url https://h:8080/@scope/x"),
        (["sh", "-c", "a  --api-key SECRET\n b"], "sh -c a  --api-key ***\n b"),
        (["sh", "-c", "API_KEY=SECRET a -x 1"], "sh -c API_KEY=***"),
        (["npm:name@1.2.3", "u:p@h:1"], "npm:name@1.2.3 ***@h:1"),
        (["Server=h;Password=SECRET;A=b"], "Server=h;Password=***;A=b"),
        (['{"apiKey": "SECRET", "a": "b"}'], '{"apiKey": "***", "a": "b"}'),
    ],
)
def test_what_surrounds_a_secret_stays_readable(words: list[str], shown: str) -> None:
    assert shown_words(words) == shown


def test_a_secret_that_a_server_repeats_is_masked() -> None:
    args = ["server.py", "postgres://u:hunter22@h/db", "--token=t-1234", "--header", "X-Key: k-5678", "plain"]
    values = {
        "args": args,
        "env": {"API_KEY": "e-9012", "MODE": "debug"},
        "headers": {"Authorization": "Bearer b-3456"},
    }
    said = "plain debug: no postgres://u:hunter22@h/db (hunter22), t-1234, k-5678, e-9012, b-3456"
    assert without_secrets(said, values) == "plain debug: no postgres://***@h/db (***), ***, ***, ***, ***"
