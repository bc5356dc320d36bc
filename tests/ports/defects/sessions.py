"""Defects in finding the session when gemini does not name it."""

from __future__ import annotations

import dataclasses
import re

from answering import Answer, Outcome
from defects.record import breaks
from planning import Plan
from port import Port
from running import TIMEOUT, Call
from speaking import Message


@breaks("fallback:list-sessions")
class NoListing(Port):
    """Never asks for the list of sessions."""

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        return None


@breaks("fallback:list-sessions")
class ListingRemembered(Port):
    """Asks for the list once and remembers it."""

    listing: Outcome | None = None

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        self.listing = self.listing or super().list_sessions(call, plan)
        return self.listing


@breaks("fallback:last")
class FirstEntryTaken(Port):
    """Takes the first entry of the list for the newest."""

    def newest_entry(self, entries: list[tuple[int, str]]) -> tuple[int, str]:
        return entries[0]


@breaks("fallback:last")
class IndexComparedAsText(Port):
    """Takes entry 9 for newer than entry 10."""

    def newest_entry(self, entries: list[tuple[int, str]]) -> tuple[int, str]:
        return max(entries, key=lambda entry: str(entry[0]))


@breaks("fallback:brackets")
class FirstBracketsTaken(Port):
    """Takes the first brackets of an entry for the id."""

    def entry_pattern(self) -> re.Pattern[str]:
        return re.compile(r"\s*(\d+)\.\s[^\[]*\[([^\]]+)\].*")


@breaks("fallback:stderr")
class ListingOnStdoutOnly(Port):
    """Reads the list from stdout only."""

    def list_text(self, listing: Outcome) -> str:
        return self.decode(listing.stdout)


@breaks("fallback:list-sessions")
class ListingOnStderrOnly(Port):
    """Reads the list from stderr only, where old versions print it."""

    def list_text(self, listing: Outcome) -> str:
        return self.decode(listing.stderr)


@breaks("fallback:cwd")
class ListingElsewhere(Port):
    """Asks for the list in its own directory."""

    def listing_cwd(self, plan: Plan) -> str | None:
        return None


@breaks("fallback:failure")
class ListingFailureFails(Port):
    """Fails the call when the list fails."""

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        listing = super().list_sessions(call, plan)
        if listing is not None:
            self.read(dataclasses.replace(listing, stdout=b"x"))
        return listing


@breaks("fallback:failure")
class ListingWaitsForever(Port):
    """Waits for the list as long as for an answer."""

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        arguments = (plan.argv[0], "--list-sessions")
        return self.run(call, arguments, plan.cwd, self.environment(None), None, TIMEOUT)


@breaks("fallback:none")
class UnknownSessionNamed(Port):
    """Names the session `unknown` when it finds none."""

    def success(self, answer: Answer) -> Message:
        return super().success(dataclasses.replace(answer, session=answer.session or "unknown"))


@breaks("fallback:none")
class UnknownSessionNull(Port):
    """Sends null as the session when it finds none."""

    def success(self, answer: Answer) -> Message:
        result = super().success(answer)
        return {**result, "_meta": {"sessionId": None, **result.get("_meta", {})}}


@breaks("fallback:unneeded")
class ListedEveryTime(Port):
    """Asks for the list after every call."""

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        if answer.session:
            self.list_sessions(call, plan)
        return answer


@breaks("fallback:unneeded")
class ListedAfterReplies(Port):
    """Asks for the list after every reply."""

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        if call.tool == "chat-reply" and answer.session:
            self.list_sessions(call, plan)
        return answer


@breaks("fallback:by-id")
class ListedForReplyById(Port):
    """Asks for the list after a reply by id without a session in the JSON."""

    def with_session(self, call: Call, plan: Plan, answer: Answer) -> Answer:
        return super().with_session(call, dataclasses.replace(plan, session=None), answer)
