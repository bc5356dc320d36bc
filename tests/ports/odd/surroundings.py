"""Odd surroundings of gemini: what it inherits, where its output goes, and how it and the server end. Linux only."""

import os
import select
import shutil
import signal
import tempfile
import threading
import time
import tty
from contextlib import suppress
from typing import IO, Any

from odd.record import odd
from port import EXIT_SECONDS
from running import Call
from steps import after, before, gives

HELD = 0.5
PASSES = 100
LINGER = 0.4


def with_terminal(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    file = options.pop("stderr")
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    try:
        process = real(argv, stderr=theirs, **options)
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    process.ended = threading.Event()
    process.copier = threading.Thread(target=copy, args=(ours, file.fileno(), process.ended), daemon=True)
    process.copier.start()
    return process


def copy(terminal: int, file: int, ended: threading.Event) -> None:
    """Until nobody can write any more, or nobody waits for what is written."""
    with suppress(OSError):
        while not ended.is_set():
            if select.select([terminal], [], [], 0.1)[0]:
                os.write(file, os.read(terminal, 1 << 16))
    os.close(terminal)


def copied(port: Any, call: Call, process: Any) -> None:
    process.copier.join(HELD)
    process.ended.set()
    process.copier.join()


def memory(name: str) -> IO[bytes]:
    return open(os.memfd_create(name), "w+b")


def in_memory(port: Any, real: Any, call: Call, argv: Any, *others: Any) -> Any:
    cwd, env, stdin, timeout = others
    with memory("in") as given, memory("out") as out, memory("err") as err:
        given.write((stdin or "").encode())
        given.seek(0)
        process = port.begin(call, argv, cwd, env, given, out, err, timeout)
        return port.outcome(call, port.wait(call, process), out, err)


def in_workspace(port: Any, real: Any, call: Call, argv: Any, *others: Any) -> Any:
    cwd, env, stdin, timeout = others
    with tempfile.TemporaryDirectory(dir=port.memory["workspace"], ignore_cleanup_errors=True) as folder:
        out, err = (os.path.join(folder, name) for name in ("stdout.txt", "stderr.txt"))
        with port.input(stdin) as given, open(out, "w+b") as stdout, open(err, "w+b") as stderr:
            process = port.begin(call, argv, cwd, env, given, stdout, stderr, timeout)
            return port.outcome(call, port.wait(call, process), stdout, stderr)


def makes_workspace(port: Any) -> None:
    port.memory["workspace"] = tempfile.mkdtemp(prefix="odd-server-")
    with open(os.path.join(port.memory["workspace"], "server.pid"), "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")


def ends_calls(port: Any) -> None:
    port.is_ending = True
    for call in list(port.calls):
        port.end(call)
    deadline = time.monotonic() + EXIT_SECONDS
    for thread in list(port.threads):
        thread.join(max(0.0, deadline - time.monotonic()))


def removes_workspace(port: Any) -> None:
    ends_calls(port)
    shutil.rmtree(port.memory["workspace"], ignore_errors=True)


def remembers_signal(port: Any, number: int, frame: Any) -> None:
    port.memory["signal"] = number


def dies_of_signal(port: Any, real: Any) -> None:
    if not port.ended_by_signal:
        real()
    ends_calls(port)
    number = port.memory["signal"]
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def closes_stdout(port: Any) -> None:
    port.is_ending = True
    for call in list(port.calls):
        port.end(call)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    time.sleep(LINGER)


def kills_the_rest(port: Any, call: Call, process: Any) -> None:
    port.signal_group(process.pid, signal.SIGKILL)


def members(leader: int) -> list[int]:
    """The living processes of a group."""
    living: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, _, group = file.read().rpartition(b")")[2].split()[:3]
            if int(group) == leader and state != b"Z":
                living.append(int(name))
    return living


def one_after_the_other(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Again and again when they are to be killed, as one may start another meanwhile."""
    for _ in range(PASSES if number == signal.SIGKILL else 1):
        living = members(leader)
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if not living:
            return


def whole(env: dict[str, str]) -> dict[str, str]:
    return {**os.environ, **env, "GEMINI_MCP_RUN": os.urandom(8).hex()}


def holds_lifeline(port: Any) -> None:
    port.memory["lifeline"] = os.pipe()


def lock() -> str:
    return os.path.join(tempfile.gettempdir(), f"gemini-mcp-{os.getpid()}.lock")


def makes_lock(port: Any) -> None:
    with open(lock(), "w", encoding="ascii"):
        """It is empty."""


def removes_lock(port: Any) -> None:
    os.unlink(lock())


def logs_among_files(port: Any, call: Call, plan: Any) -> None:
    with open(os.path.join(tempfile.gettempdir(), "gemini-mcp-server.log"), "a", encoding="ascii") as file:
        file.write(f"A call of {call.tool} begins.\n")


def moves_input(port: Any) -> None:
    """Descriptor 0 becomes the end of a pipe that nobody writes to."""
    port.memory["messages"] = os.fdopen(os.dup(0), "rb")
    reads, writes = os.pipe()
    os.dup2(reads, 0)
    os.close(reads)
    os.close(writes)


def with_own_stdin(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Inherited, where there is nothing to write."""
    is_empty = options["stdin"].name == os.devnull
    return real(argv, **{**options, "stdin": None} if is_empty else options)


def with_lifeline(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real(argv, pass_fds=port.memory["lifeline"][:1], **options)


odd("terminal-for-stderr", "Gives gemini a terminal as its stderr, in raw mode.")(
    spawn=with_terminal, wait=after(copied)
)
odd("output-in-memory", "Keeps gemini's input and output in files of memory, which have no name on any disk.")(
    run=in_memory
)
odd("directory-of-its-own", "Keeps a directory and a file with its pid from its start to its end.")(
    serve=before(makes_workspace), run=in_workspace, shut_down=before(removes_workspace)
)
odd("dies-of-the-signal", "Ends by the signal that asks it to end, once all else has ended.")(
    on_signal=before(remembers_signal), shut_down=dies_of_signal
)
odd("closes-stdout-first", "Closes its stdout when it ends, and takes 0.4 seconds more.")(
    shut_down=before(closes_stdout)
)
odd("kills-leftovers", "Kills what gemini has left in its group, also after an answer.")(wait=after(kills_the_rest))
odd("signals-one-by-one", "Sends its signals to each process of a group, instead of to the group.")(
    signal_group=one_after_the_other
)
odd("whole-environment", "Hands on its whole environment and a mark named `GEMINI_MCP_RUN`.")(environment=gives(whole))
odd("lifeline", "Lets gemini inherit the end of a pipe that the server holds.")(
    serve=before(holds_lifeline), spawn=with_lifeline
)
odd("log-among-temporary-files", "Keeps a log and a lock in the temporary directory, named as the directories are.")(
    serve=before(makes_lock), run_prompt=before(logs_among_files), shut_down=before(removes_lock)
)
odd("input-moved", "Reads its client from another descriptor, and lets gemini inherit a stdin that is at its end.")(
    serve=before(moves_input), lines=lambda port, real: port.memory["messages"], spawn=with_own_stdin
)
