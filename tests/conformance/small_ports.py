"""Ports for the tests of the command: `python small_ports.py NAME`. Each is correct but for what its name says."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "ports"))

from port import SIGNALS, Port
from running import Call

Message = dict[str, Any]


class WrongPing(Port):
    """Answers a ping with what nobody asked for."""

    def ping(self) -> Message:
        return {"pong": True}


class SilentPing(Port):
    """Never answers a ping; a path that it is given is written when it is asked."""

    def result(self, request: Message, params: Mapping[str, Any], stateless: bool) -> Message | None:
        if request["method"] != "ping":
            return super().result(request, params, stateless)
        if len(sys.argv) > 2:
            Path(sys.argv[2]).write_text(str(os.getpid()), encoding="ascii")
        return None


class SilentInSession(SilentPing):
    """Never answers a ping in a session that has begun with a greeting."""

    is_greeted = False

    def initialize(self, params: Mapping[str, Any]) -> Message:
        self.is_greeted = True
        return super().initialize(params)

    def result(self, request: Message, params: Mapping[str, Any], stateless: bool) -> Message | None:
        if not self.is_greeted:
            return Port.result(self, request, params, stateless)
        return super().result(request, params, stateless)


class WrongThenSilent(WrongPing):
    """Answers a ping wrongly, and an unknown method never."""

    def result(self, request: Message, params: Mapping[str, Any], stateless: bool) -> Message | None:
        return None if request["method"].startswith("no/") else super().result(request, params, stateless)


class EndsAfterList(Port):
    """Ends as soon as it has listed its tools."""

    def requested(self, request: Message) -> None:
        super().requested(request)
        if request["method"] == "tools/list":
            os._exit(0)


class Panics(Port):
    """Ends with a trace on stderr when a tool is called."""

    def requested(self, request: Message) -> None:
        if request["method"] == "tools/call":
            sys.stderr.write("panic: runtime error\n\ngoroutine 1 [running]:\n")
            sys.stderr.flush()
            os._exit(2)
        super().requested(request)


class SplitsPrompt(Port):
    """Hands a prompt that begins with a dash to gemini in an element of its own, which gemini refuses."""

    def prompt_form(self, prompt: str) -> tuple[tuple[str, ...], str | None]:
        return (("-p", prompt), None) if prompt.startswith("-") else super().prompt_form(prompt)


class Old(Port):
    """Speaks the oldest revision only."""

    def versions(self) -> tuple[str, ...]:
        return ("2024-11-05",)


class Follows(Port):
    """Reads the word for the last session in the specification whose directory it is told."""

    def resume_option(self, texts: Mapping[str, str]) -> tuple[str, ...]:
        invocation = json.loads(Path(sys.argv[2], "server/invocation.json").read_text(encoding="utf-8"))
        last = invocation["tools"]["chat-reply"]["resumes"]["default"]
        option, session = super().resume_option(texts)
        return (option, last if session == "latest" else session)


class Chatty(Port):
    """Says what is no message, and nothing else."""

    def serve(self) -> None:
        print("Listening on stdio.", flush=True)
        threading.Event().wait()


class NoTools(Port):
    """Lists no tools."""

    def tools(self) -> list[Message]:
        return []


class Foreign(Port):
    """Serves tools of other names."""

    def tools(self) -> list[Message]:
        return [{**self.tool("chat"), "name": name} for name in ("ask-gemini", "brainstorm")]


class TellsIgnored(Port):
    """Answers a ping with the signals that it was started to ignore, if there are any."""

    def __init__(self) -> None:
        super().__init__()
        self.ignored = [each for each in (*SIGNALS, signal.SIGQUIT) if signal.getsignal(each) is signal.SIG_IGN]

    def ping(self) -> Message:
        return {"ignored": self.ignored} if self.ignored else {}


class Silent(Port):
    """Says nothing at all."""

    def receive(self, line: bytes) -> None:
        threading.Event().wait()


class SlowStart(Port):
    """Takes as many seconds to start as it is told."""

    def serve(self) -> None:
        time.sleep(float(sys.argv[2]))
        super().serve()


class SlowCall(Port):
    """Takes as many seconds longer for a call as it is told."""

    def execute(self, call: Call) -> Message:
        time.sleep(float(sys.argv[2]))
        return super().execute(call)


class SilentCall(Port):
    """Never answers a call."""

    def begin_call(self, identity: Any, params: Mapping[str, Any], stateless: bool) -> Message | None:
        return None


class Floods(Port):
    """Writes to stderr as fast as it can."""

    def serve(self) -> None:
        threading.Thread(target=self.flood, daemon=True).start()
        super().serve()

    def flood(self) -> None:
        while True:
            os.write(2, b"[debug] still here\n" * 4096)


PORTS: Mapping[str, type[Port]] = {
    "correct": Port,
    "wrong-ping": WrongPing,
    "silent-ping": SilentPing,
    "silent-in-session": SilentInSession,
    "wrong-then-silent": WrongThenSilent,
    "ends-after-list": EndsAfterList,
    "panics": Panics,
    "splits-prompt": SplitsPrompt,
    "old": Old,
    "follows": Follows,
    "no-tools": NoTools,
    "foreign": Foreign,
    "tells-ignored": TellsIgnored,
    "silent": Silent,
    "chatty": Chatty,
    "slow-start": SlowStart,
    "slow-call": SlowCall,
    "silent-call": SilentCall,
    "floods": Floods,
}

if __name__ == "__main__":
    PORTS[sys.argv[1]]().serve()
