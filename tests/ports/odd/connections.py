"""Odd connections: how long one lasts over HTTP, and what stands around an answer on it."""

from typing import Any

from http_port import HttpPort
from odd.posts import answered_by
from odd.record import odd
from odd.replies import Chunks
from posting import LENGTH, SESSION, Post
from speaking import INVALID_REQUEST, Message, RpcError

PIECE, PIECES = 5, 40


class Brief(Chunks):
    """Keeps a connection for half a second that nobody uses, as a busy server does."""

    timeout = 0.5  # pyright: ignore[reportAssignmentType]

    def handle_one_request(self) -> None:
        self.connection.settimeout(self.timeout)
        super().handle_one_request()

    def parse_request(self) -> bool:
        # A client that is busy may take longer to send a body, or to read an answer.
        self.connection.settimeout(None)
        return super().parse_request()


class Closing(Post):
    """Speaks HTTP/1.1, closes each connection behind its answer, and gives no length: the end of it is the end."""

    protocol_version = "HTTP/1.1"

    def head(self, status: int, headers: dict[str, str]) -> None:
        lengthless = {name: value for name, value in headers.items() if name != LENGTH}
        super().head(status, {**(lengthless if status == 200 else headers), "Connection": "close"})
        self.close_connection = True


class Extended(Chunks):
    """Sends whole answers in chunks too, with extensions, zeros before their sizes, and fields behind the last."""

    def reply(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        if not body:
            super().reply(status, body, headers)
            return
        self.is_answered = True
        self.head(status, {**(headers or {}), "Transfer-Encoding": "chunked", "Trailer": "Server-Timing"})
        size = max(PIECE, len(body) // PIECES)
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            self.wfile.write(b'00%X;part="%d"\r\n%s\r\n' % (len(piece), start, piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\nServer-Timing: all;dur=1\r\n\r\n")

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, "" if code != 202 else "Noted, thank you")


class Dressed(Chunks):
    """Names the session in every answer, and adds what proxies and frameworks add."""

    def head(self, status: int, headers: dict[str, str]) -> None:
        session = self.session
        named = {SESSION: session} if session and SESSION not in headers else {}
        added = {"Set-Cookie": "affinity=1; Path=/; HttpOnly", "Vary": "Origin", "X-Accel-Buffering": "no"}
        shared = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": SESSION,
            "Keep-Alive": "timeout=5",
        }
        super().head(status, {**headers, **named, **added, **shared})


class Hasty(Chunks):
    """Refuses a request before it has read its body, and closes the connection then."""

    def do_POST(self) -> None:
        if self.server.receiver.is_refused(self):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            self.close_connection = True
        else:
            super().do_POST()


def says_nothing_of_deletion(port: Any, real: Any, post: Post, body: bytes) -> None:
    if not port.is_refused(post):
        port.end_session(post.session)
        post.reply(204)


def while_none_is_open(port: Any, real: Any, params: Message) -> Message:
    if port.sessions:
        raise RpcError(INVALID_REQUEST, "The server has a session, and can have no other before that is ended.")
    return real(params)


odd("http-brief", "Closes a connection that nobody has used for half a second.")(HttpPort, serve=answered_by(Brief))
odd("http-closing", "Closes each connection behind an answer without a length.")(HttpPort, serve=answered_by(Closing))
odd("http-extended", "Sends answers in chunks with extensions and trailers, and says nothing beside a status.")(
    HttpPort, serve=answered_by(Extended)
)
odd("http-dressed", "Names the session in every answer, and adds what proxies and frameworks add.")(
    HttpPort, serve=answered_by(Dressed), deleted=says_nothing_of_deletion
)
odd("http-hasty", "Refuses a request before it has read its body.")(HttpPort, serve=answered_by(Hasty))
odd("http-one-session", "Begins no session while another one is open.")(HttpPort, initialize=while_none_is_open)
