"""What a call is answered with."""

from __future__ import annotations

from gemini_mcp_conformance.expectation import Answer, answer, ending
from gemini_mcp_conformance.observation import Exchange
from gemini_mcp_conformance.registry import check
from gemini_mcp_conformance.selectors import answered
from gemini_mcp_conformance.values import inside, items
from gemini_mcp_conformance.witness import shown


def expected(exchange: Exchange) -> Answer:
    found = answer(exchange)
    assert found is not None
    return found


def names_session(exchange: Exchange) -> bool:
    found = answer(exchange)
    return found is not None and found.session is not None


def says(exchange: Exchange) -> str:
    """The answer for a complaint."""
    if exchange.answer is None:
        return f"nothing ({exchange.silence})"
    return shown(exchange.answer.get("result", exchange.answer.get("error")))


@check("result:content", judges=answered())
def content_is_texts(exchange: Exchange) -> list[str]:
    content = items(inside(exchange.result, "content"))
    if content and all(inside(item, "type") == "text" for item in content):
        return []
    return [f"The port answered {says(exchange)}, and should answer with a `content` of texts."]


@check("result:text", judges=answered())
def text_is_the_response(exchange: Exchange) -> list[str]:
    text = expected(exchange).text
    if exchange.is_success and exchange.text == text:
        return []
    return [f"The port answered {says(exchange)}, and should answer with the text {shown(text)}."]


@check("result:success", judges=answered())
def success_is_no_error(exchange: Exchange) -> list[str]:
    return [] if exchange.is_success else [f"The port answered {says(exchange)}, and should answer with a success."]


def is_chat_with_session(exchange: Exchange) -> bool:
    return exchange.tool == "chat" and names_session(exchange)


def is_reply_with_session(exchange: Exchange) -> bool:
    return exchange.tool == "chat-reply" and names_session(exchange)


def is_reply_with_other_session(exchange: Exchange) -> bool:
    return is_reply_with_session(exchange) and exchange.arguments.get("sessionId") not in (
        None,
        "",
        "latest",
        expected(exchange).session,
    )


@check("result:session-id", judges=is_chat_with_session)
@check("result:session-id:chat-reply", judges=is_reply_with_session)
@check("result:session-id:changed", judges=is_reply_with_other_session)
def session_is_that_of_gemini(exchange: Exchange) -> list[str]:
    session, found = expected(exchange).session, exchange.meta.get("sessionId")
    if found == session:
        return []
    return [f"The port reports the session {shown(found)}, and should report {shown(session)}."]


def prints_lines(exchange: Exchange) -> bool:
    return answer(exchange) is not None and b"\n" in ending(exchange.scripts[0]).stdout.strip()


def prints_one_line(exchange: Exchange) -> bool:
    return answer(exchange) is not None and b"\n" not in ending(exchange.scripts[0]).stdout.strip()


def prints_to_stderr(exchange: Exchange) -> bool:
    return answer(exchange) is not None and bool(ending(exchange.scripts[0]).stderr)


@check("result:json:pretty", judges=prints_lines)
@check("result:json:compact", judges=prints_one_line)
@check("result:stderr", judges=prints_to_stderr)
def answer_is_understood(exchange: Exchange) -> list[str]:
    return text_is_the_response(exchange)
