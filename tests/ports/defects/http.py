"""Defects of a port over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from answering import Answer
from defects.record import breaks
from http_port import HttpPort
from posting import Post
from running import Call
from speaking import INVALID_REQUEST, JSON, Message, RpcError


@breaks("http:origin")
class EveryOriginAllowed(HttpPort):
    """Lets the pages of every origin in."""

    def is_allowed(self, origin: str | None) -> bool:
        return True


@breaks("http:origin")
class OriginByItsBeginning(HttpPort):
    """Lets in every origin that begins like its own."""

    def is_allowed(self, origin: str | None) -> bool:
        return super().is_allowed(origin) or (origin or "").startswith("http://127.0.0.1")


@breaks("http:notification")
class NotificationAnswered(HttpPort):
    """Answers a notification with an empty result."""

    def accept(self, post: Post) -> None:
        post.reply(200, b"{}", {"Content-Type": "application/json"})


@breaks("http:notification")
class NotificationOkay(HttpPort):
    """Answers a notification with status 200 where 202 should be."""

    def accept(self, post: Post) -> None:
        post.reply(200)


@breaks("http:content-type")
class AnswerAsText(HttpPort):
    """Answers a request as plain text."""

    def headers(self, message: Message) -> dict[str, str]:
        return {**super().headers(message), "Content-Type": "text/plain"}


@breaks("http:get")
class GetNotFound(HttpPort):
    """Answers a GET as if there were nothing at its address."""

    def got(self, post: Post, body: bytes) -> None:
        post.reply(404)


@breaks("http:get")
class GetGreets(HttpPort):
    """Answers a GET with a page for people."""

    def got(self, post: Post, body: bytes) -> None:
        post.reply(200, b"<p>A server of Gemini.</p>", {"Content-Type": "text/html"})


@breaks("http:version")
class AnyVersionInTheHeader(HttpPort):
    """Serves requests of a version that it does not support."""

    def known_versions(self) -> tuple[str | None, ...]:
        return (*super().known_versions(), self.current.post.version)


@breaks("http:session:ended")
class SessionWithoutEnd(HttpPort):
    """Serves a session that its client has ended."""

    def end_session(self, session: str | None) -> None:
        """Keep it."""


@breaks("http:session:ended")
class EndedSessionAsBadRequest(HttpPort):
    """Refuses an ended session with status 400 where 404 should be."""

    def unknown_session(self) -> int:
        return 400


@breaks("http:stateless:header")
class HeadersUnread(HttpPort):
    """Does not compare the headers of a request with its body."""

    def check_headers(self, method: str, params: Mapping[str, JSON]) -> None:
        """Believe them."""


@breaks("http:stateless:header")
class MissingHeadersForgiven(HttpPort):
    """Serves a request without the headers that name its method and its tool."""

    def check_headers(self, method: str, params: Mapping[str, JSON]) -> None:
        if self.current.post.header("Mcp-Method") and self.current.post.header("Mcp-Name"):
            super().check_headers(method, params)


@breaks("http:stateless:header")
class HeaderMismatchWithoutItsCode(HttpPort):
    """Refuses headers that differ from the body as parameters that are invalid."""

    def check_headers(self, method: str, params: Mapping[str, JSON]) -> None:
        try:
            super().check_headers(method, params)
        except RpcError as error:
            raise RpcError(INVALID_REQUEST, error.error["message"]) from None


@breaks("http:stateless:version")
class VersionHeaderUnread(HttpPort):
    """Serves a request whose header names another version than its body."""

    def check_version(self, params: Mapping[str, JSON]) -> None:
        """Believe the body."""


@breaks("http:stateless:method")
class UnknownMethodFound(HttpPort):
    """Answers an unknown method with status 200."""

    def status(self, message: Message) -> int:
        status = super().status(message)
        return 200 if status == 404 else status


@breaks("http:stateless:disconnect")
class DisconnectedCallRuns(HttpPort):
    """Lets gemini run on for a client that has closed its connection."""

    def disconnected(self, call: Call) -> None:
        """Nobody knows whether the client comes back."""


@breaks("http:equivalence", "result:text")
class TextStrippedOverHttp(HttpPort):
    """Strips the text of an answer, which the port over stdio does not."""

    def whole(self, text: str) -> str:
        return super().whole(text).strip()


@breaks("http:equivalence", "result:session-id")
class SessionUnnamedOverHttp(HttpPort):
    """Does not name the session of a call, which the port over stdio does."""

    def success(self, answer: Answer) -> Message:
        return {name: value for name, value in super().success(answer).items() if name != "_meta"}
