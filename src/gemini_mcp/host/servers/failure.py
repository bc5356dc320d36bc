"""Why a server cannot be used: the cause, in words for its author, and one remedy. Pure.

The profile's own wording of a failure is in `discovery`; what is shown here is the same in every profile.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.messages import Issue, leaves
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.rules.zod import received
from gemini_mcp.host.servers.environment import UnusableConfig
from gemini_mcp.spec.values import JsonObject, is_array, object_of

SHOWN_LINES = 10
SHOWN_ISSUES = 3


@dataclass(frozen=True)
class Failure:
    """A cause by its name, what happened, and what to do about it."""

    cause: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        end = "\n   " if "\n" in self.sentence else "."
        return f"{self.sentence}{end} {self.remedy}"

    def to_json(self) -> JsonObject:
        return {"kind": self.cause, "sentence": self.sentence, "remedy": self.remedy}


def not_found(command: str) -> Failure:
    """The command of a stdio server is not there."""
    return Failure("not-found", f"{command!r} was not found", "Install it, or give its whole path as `command`.")


def not_started(command: str, why: str) -> Failure:
    """The command of a stdio server is there and does not start."""
    return Failure("not-started", f"{command!r} cannot be started: {why}", "Make it an executable program.")


def no_folder(folder: str) -> Failure:
    """The directory of a stdio server is not there."""
    return Failure("no-directory", f"the directory {folder!r} is not there", "Create it, or change `cwd`.")


def exited(code: int, step: str, stderr: Sequence[str]) -> Failure:
    """A stdio server ended while it was asked."""
    how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    said = _wrote(stderr) or " and wrote nothing"
    return Failure("exited", f"it {how} before it answered `{step}`{said}", "Run the command by hand and mend that.")


def _wrote(stderr: Sequence[str]) -> str:
    lines = "".join(f"\n    {line}" for line in stderr[-SHOWN_LINES:])
    return f" and wrote:{lines}" if lines else ""


def closed(step: str) -> Failure:
    """The connection was closed."""
    return Failure("closed", f"it closed the connection before it answered `{step}`", "Look into the server's own log.")


def timed_out(step: str, seconds: float, stderr: Sequence[str] = ()) -> Failure:
    """A step took too long."""
    sentence = f"it did not answer `{step}` within {seconds:g} s{_wrote(stderr)}"
    return Failure("timed-out", sentence, "Give it more time with `timeout`, or look what it waits for.")


def no_host(host: str) -> Failure:
    """The host's name has no address."""
    return Failure("dns", f"the host {host!r} has no address", "Correct the host in the URL.")


def refused(where: str) -> Failure:
    """Nobody listens."""
    return Failure("refused", f"nobody listens at {where}", "Start the server, or correct the port in the URL.")


def tls(why: str) -> Failure:
    """The encrypted connection did not come about."""
    return Failure("tls", f"the TLS connection failed: {why}", "Mend the certificate, or use the right scheme.")


def broken(why: str) -> Failure:
    """The network failed in another way."""
    return Failure("network", f"the connection failed: {why.rstrip('.')}", "Check the URL and the network.")


def http_status(status: int, body: str) -> Failure:
    """The server refused the request."""
    first = next(iter(body.strip().splitlines()), "")
    said = f": {first[:200]}" if first else ""
    hints = {404: "Correct the path of the URL.", 403: "Give it the right credentials with `headers`."}
    moved = "Give the URL that it redirects to." if 300 <= status < 400 else "Look into the server's own log."
    remedy = hints.get(status, moved)
    return Failure("http-status", f"it answered HTTP {status}{said}", remedy)


def needs_authentication(server: str, challenge: str) -> Failure:
    """A 401, with the value of its `WWW-Authenticate`, which may be empty."""
    kind = "OAuth" if "resource_metadata" in challenge else challenge.split(" ")[0].strip(",")
    is_oauth = kind == "OAuth"
    remedy = f"Run `gemini-mcp-host auth {server}`." if is_oauth else "Pass the credentials with `headers`."
    said = f" ({kind})" if kind else ", and does not say of which kind"
    return Failure("authentication", f"it needs authentication{said}", remedy)


def blocked(address: str, remedy: str) -> Failure:
    """An address that Gemini CLI does not connect to."""
    return Failure("blocked", f"Gemini CLI does not connect to {address!r}", remedy)


def not_mcp(why: str) -> Failure:
    """What came was no answer of MCP."""
    return Failure(
        "not-mcp", f"its answer is not MCP: {why}", "Check that the URL or command is that of an MCP server."
    )


def flooded(limit: int) -> Failure:
    """It wrote more to stderr than Gemini CLI, which reads none of it, has room for."""
    sentence = (
        f"it wrote more than {limit // 1024} KiB to stderr, which Gemini CLI does not read, so that it hangs there"
    )
    return Failure("flooded", sentence, "Let it log less, or into a file.")


def stray(text: str) -> Failure:
    """Between its introduction and the end of its lists it wrote what nobody waited for."""
    sentence = f"it wrote {text!r} to stdout, which no request waited for; Gemini CLI drops the server for that"
    return Failure("stray", sentence, "Write to stdout only what answers a request, and anything else to stderr.")


def stray_response(text: str) -> Failure:
    """The same over HTTP."""
    sentence = f"it sent {text!r}, which no request waited for; Gemini CLI drops the server for that"
    return Failure("stray", sentence, "Answer each request once, with one message.")


def no_stream(how: str) -> Failure:
    """It refused the request for a stream of its own, which is optional."""
    sentence = f"it {how} the GET for a stream of its own; Gemini CLI drops the server for that"
    return Failure("no-stream", sentence, "Answer that with HTTP 405, or with a stream.")


def stream_ended() -> Failure:
    """The stream that brings the answers ended, over the older transport."""
    sentence = "it ended the stream that brings its answers; Gemini CLI drops the server for that"
    return Failure("stream-ended", sentence, "Keep the stream open as long as the client reads it.")


def unanswered(step: str) -> Failure:
    """The response to a request was over, and no answer in it."""
    sentence = f"its response to `{step}` ended without an answer, for which Gemini CLI waits until the time is over"
    return Failure("unanswered", sentence, "Answer each request, in its body or in a stream.")


def unsupported_version(version: str, known: Sequence[str]) -> Failure:
    """It wants to speak a revision that the host does not know."""
    sentence = f"it answers with the protocol version {version!r}, which Gemini CLI refuses"
    return Failure("version", sentence, f"Answer with the version that was asked for, or one of {', '.join(known)}.")


def refusal(step: str, message: str) -> Failure:
    """A JSON-RPC error."""
    bare = re.sub(r"^MCP error -?\d+: ", "", message)
    return Failure("refusal", f"it answered `{step}` with an error: {bare}", "Look into the server's own log.")


def duplicate(name: str) -> Failure:
    """Two tools of one name, or one of a name that every object of JavaScript has."""
    sentence = (
        f"Gemini CLI refuses its `tools/list`: the name {name!r} is taken twice, and the server loses all its tools"
    )
    return Failure("list-refused", sentence, "Give each tool a name of its own.")


def endless(step: str, cursor: str) -> Failure:
    """A list whose pages go round."""
    sentence = f"its `{step}` gives the cursor {cursor!r} again, so that Gemini CLI asks for ever and does not start"
    return Failure("endless", sentence, "Leave `nextCursor` out on the last page.")


def misshapen(step: str, issues: Sequence[Issue]) -> Failure:
    """An answer that breaks the protocol's schema."""
    found = list(leaves(tuple(issues)))
    more = f", and {len(found) - SHOWN_ISSUES} more" if len(found) > SHOWN_ISSUES else ""
    said = "; ".join(map(told, found[:SHOWN_ISSUES]))
    return Failure("misshapen", f"its answer to `{step}` is refused: {said}{more}", "Correct it in the server.")


def unusable(error: UnusableConfig | InvalidUrl) -> Failure:
    """The configuration gives nothing to connect to."""
    remedy = error.remedy if isinstance(error, UnusableConfig) else "Correct the address in `url` or `httpUrl`."
    return Failure("settings", str(error).rstrip("."), remedy)


def nothing_offered() -> Failure:
    """A server without tools, prompts and resources."""
    return Failure("empty", "it offers no tools, prompts or resources", "Let it declare and list what it has.")


def told(issue: Issue) -> str:
    """What is wrong with a value, and what it should be."""
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in issue.path).removeprefix(".")
    value = f"{issue.value!r}" if isinstance(issue.value, str) and len(issue.value) < 40 else received(issue.value)
    wanted = " or ".join(map(repr, issue.expected)) if is_array(issue.expected) else repr(issue.expected)
    known = {"const": wanted, "enum": wanted, "contentEncoding": "base64", "custom": "an object"}
    should = known.get(issue.keyword, _TYPES.get(str(issue.expected), str(issue.expected)))
    missing = received(issue.value) == "undefined"
    if should == "an object" and object_of(issue.value) is not None:
        return f"`{where}` has a member named 'constructor', by which it is taken for no plain object"
    return f"`{where}` is missing, it should be {should}" if missing else f"`{where}` is {value}, it should be {should}"


_TYPES = {
    "string": "a string",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "number": "a number",
}
