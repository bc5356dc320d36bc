"""Odd structures: which processes and threads stand between the server and gemini. Linux only."""

import ctypes
import json
import os
import pickle
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from odd.record import odd
from port import SIGNALS
from steps import before

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_FS, PR_SET_PDEATHSIG = 0x200, 1
START = os.getcwd()
LENGTH = struct.Struct("!Q")
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child")
ROOM = 4
"""Descriptors that come with a request: stdin, stdout, stderr, and where to answer."""

SUPERVISOR = """
import ctypes, os, resource, signal, sys
ctypes.CDLL(None).prctl(36, 1)
numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
for number in numbers:
    signal.signal(number, lambda *_: None)
child = os.fork()
if child == 0:
    for number in (*numbers, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(sys.argv[1], sys.argv[1:])
    except OSError as error:
        os.write(2, f"{sys.argv[1]}: {error.strerror}".encode())
        os._exit(126)
ended = None
while ended != child:
    ended, status = os.wait()
code = os.waitstatus_to_exitcode(status)
if code < 0:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""Becomes the parent of gemini and of its orphans, and ends as gemini does."""


class Spawned:
    """A process that was started without the library."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Remote:
    """A process that another process has started, and of which it tells."""

    def __init__(self, pid: int, told: IO[bytes]) -> None:
        self.pid, self.told = pid, told

    def wait(self) -> int:
        with self.told:
            return json.loads(self.told.readline() or b"-9")


def found(program: str, path: str | None = None) -> str:
    path = shutil.which(program, path=path)
    if path is None:
        raise FileNotFoundError
    return os.path.abspath(path)


def passed_over(number: int, frame: Any) -> None:
    """Do nothing."""


def supervised(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real((sys.executable, "-I", "-S", "-c", SUPERVISOR, found(argv[0]), *argv[1:]), **options)


def under_timeout(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    timeout = found("timeout", f"{os.environ['PATH']}:{os.defpath}")
    return real((timeout, "--kill-after=5", "900", found(argv[0]), *argv[1:]), **options)


def begins_starter(port: Any) -> None:
    """Fork the process that starts all geminis, before there is a thread."""
    ours, theirs = socket.socketpair()
    port.memory["starter"], port.memory["lock"] = ours, threading.Lock()
    if os.fork() == 0:
        ours.close()
        try:
            Starter(theirs).serve()
        finally:
            os._exit(0)
    theirs.close()


class Starter:
    """Starts what it is asked to, with the descriptors it is sent. It ends when the server does."""

    def __init__(self, requests: socket.socket) -> None:
        self.requests, self.leaders = requests, set[int]()

    def serve(self) -> None:
        for number in SIGNALS:
            # A handler, unlike SIG_IGN, is not inherited.
            signal.signal(number, passed_over)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        while (request := socket.recv_fds(self.requests, LENGTH.size, ROOM))[0]:
            argv, options = pickle.loads(self.read(LENGTH.unpack(request[0])[0]))
            threading.Thread(target=self.start, args=(argv, options, request[1]), daemon=True).start()
        for leader in list(self.leaders):
            with suppress(ProcessLookupError):
                os.killpg(leader, signal.SIGKILL)

    def read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            data += self.requests.recv(size - len(data))
        return bytes(data)

    def start(self, argv: tuple[str, ...], options: dict[str, Any], descriptors: list[int]) -> None:
        streams = dict(zip(("stdin", "stdout", "stderr"), descriptors, strict=False))
        with open(descriptors[-1], "wb", buffering=0) as answer:
            try:
                process = subprocess.Popen[bytes](argv, **options, **streams)
            except OSError as error:
                answer.write(b"%d\n" % -(error.errno or 1))
                return
            finally:
                for descriptor in descriptors[:-1]:
                    os.close(descriptor)
            self.leaders.add(process.pid)
            with suppress(OSError):
                answer.write(b"%d\n" % process.pid)
                answer.write(b"%d\n" % process.wait())
            self.leaders.discard(process.pid)


def started_elsewhere(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    ours, theirs = os.pipe()
    streams = [options.pop(name).fileno() for name in ("stdin", "stdout", "stderr")]
    request = pickle.dumps((argv, options))
    with port.memory["lock"]:
        socket.send_fds(port.memory["starter"], [LENGTH.pack(len(request))], [*streams, theirs])
        port.memory["starter"].sendall(request)
    os.close(theirs)
    told = open(ours, "rb")  # noqa: SIM115
    pid = int(told.readline() or b"-1")
    if pid < 0:
        told.close()
        raise OSError(-pid, os.strerror(-pid))
    return Remote(pid, told)


def in_own_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The thread of the call takes leave of the directory that all threads share, and enters its own."""
    program = found(argv[0])
    if LIBC.unshare(CLONE_FS) != 0:
        # A container may forbid it.
        return real(argv, **options)
    os.chdir(os.path.join(START, options["cwd"] or ""))
    names = enumerate(("stdin", "stdout", "stderr"))
    actions = [(os.POSIX_SPAWN_DUP2, options[name].fileno(), number) for number, name in names]
    quiet = (signal.SIGPIPE, signal.SIGXFSZ)
    env = options["env"]
    return Spawned(os.posix_spawn(program, argv, env, file_actions=actions, setsid=True, setsigdef=quiet))


def in_namespace(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """A shell that reads no argument is the first process there."""
    program = found(argv[0])
    if "namespace" not in port.memory:
        tried = subprocess.run((*NAMESPACE, "true"), check=False, stdin=subprocess.DEVNULL, capture_output=True)
        port.memory["namespace"] = tried.returncode == 0
    # A container may forbid it.
    around = (*NAMESPACE, "/bin/sh", "-c", '"$0" "$@"; exit $?') if port.memory["namespace"] else ()
    return real((*around, program, *argv[1:]), **options)


def launched(port: Any, real: Any) -> None:
    """The server is a child, and ends should its launcher be killed."""
    child = os.fork()
    if child == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        real()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    for number in SIGNALS:
        signal.signal(number, lambda received, _: os.kill(child, received))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


odd("supervised", "Lets a supervisor start gemini: it leads the group, adopts orphans, and ends as gemini does.")(
    spawn=supervised
)
odd("under-timeout", "Starts gemini through the program `timeout`, which stays its parent.")(spawn=under_timeout)
odd("starter-process", "Lets a process that it has forked at its start run every gemini, and sends it descriptors.")(
    serve=before(begins_starter), spawn=started_elsewhere
)
odd("threads-in-directories", "Enters the directory of a call in the call's thread, and starts gemini by posix_spawn.")(
    spawn=in_own_directory
)
odd("behind-launcher", "Is the child of a launcher that passes signals on and waits.")(serve=launched)
odd("in-namespace", "Runs gemini in a namespace of processes, where it has other numbers.")(spawn=in_namespace)
