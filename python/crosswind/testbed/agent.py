"""One agent, on this machine or another: requests, replies, events, its lease and its end."""

import contextlib
import json
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError

from crosswind.stream import Step
from crosswind.testbed.bounded import TooLong, plain, read_line
from crosswind.testbed.errors import AgentDied, AgentRefused, FabricFault
from crosswind.testbed.replies import Hello, Message, Reply
from crosswind.testbed.transport import LocalChild, Transport

PROTOCOL = 1
# The slowest ordinary request is `up` of a thousand nodes, about 6 s on a quiet machine. An agent that takes
# ten times that is stuck.
REPLY_S = 60.0
_STDERR_LINES = 20
_STDERR_BYTES = 4096
# Of one answer; that to `up` of 65,534 nodes has 8 MB. Some answers may be longer (`most_bytes`).
LINE_BYTES_MAX = 64 << 20
# A thousand nodes of which each sends and receives are 1.3 MB. Subscriptions hold up to 600 steps.
STEP_BYTES_MAX = 4 << 20
# Account of applications on machines where root runs the agent; here files for those machines belong to it.
NOBODY = 65534

_Answer = TypeVar("_Answer", bound=BaseModel)


@dataclass(frozen=True)
class Ended:
    """How a process ended: an exit status or the number of the signal that killed it.

    `at_ns` is when the agent's report of it arrived, on CLOCK_MONOTONIC; comparisons ignore it.
    """

    code: int | None
    signal: int | None
    at_ns: int | None = field(default=None, compare=False)

    @classmethod
    def of(cls, status: int) -> "Ended":
        """Return the end that Python's `returncode` describes: negative for a signal."""
        return cls(status, None) if status >= 0 else cls(None, -status)

    def __str__(self) -> str:
        return f"killed by signal {self.signal}" if self.signal is not None else f"exit status {self.code}"


class Agent:
    """A running `crosswind-agent`; use it as a context manager.

    When its standard input closes, it undoes everything. Leaving the block, an exception and the death of
    this process therefore have the same effect. Every method may be called from any thread.

    It may run on a machine that somebody else controls. What it prints is bounded in size and number, and an
    agent that does not keep to the protocol is ended at once.

    Args:
        transport: how to reach the machine that it runs on; this machine when absent.
    Raises:
        AgentDied: from any method, once the agent ended on its own or stopped answering.
        FabricFault: from any method, once its emulator reported a fault.
    """

    def __init__(self, transport: Transport | None = None) -> None:
        self._transport = transport or LocalChild()
        self._title = self._transport.title
        self._child = self._transport.start()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._next_id = 0
        self._awaited: dict[int, int] = {}  # Requests without an answer: how long it may be.
        self._replies: dict[int, Message] = {}
        self._exits: dict[int, Ended] = {}
        self._fault: str | None = None
        self._broke: str | None = None  # How it did not keep to the protocol.
        self._ended = False
        self._closing = False
        self._listener: Callable[[Step], None] | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True, name="agent-stderr")
        self._reader = threading.Thread(target=self._read, daemon=True, name="agent-replies")
        self._stderr_reader.start()
        self._reader.start()
        try:
            self.hello = self._greet()
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._renew, daemon=True, name="agent-lease").start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def title(self) -> str:
        """What messages call it: `agent`, or `agent on NAME`."""
        return self._title

    @property
    def is_here(self) -> bool:
        """Whether it has the files of this machine."""
        return self._transport.is_here

    @property
    def application_account(self) -> tuple[int, int]:
        """The user and group id of applications, for files here.

        An agent elsewhere knows the accounts of its own machine, and must not choose one of this machine.
        """
        return (self.hello.application_uid, self.hello.application_gid) if self.is_here else (NOBODY, NOBODY)

    @property
    def pid(self) -> int:
        """The process through which the agent is reached: itself on this machine, or ssh."""
        return self._child.pid

    def request(
        self,
        do: str,
        answer: type[_Answer],
        fields: Mapping[str, object] = MappingProxyType({}),
        timeout_s: float = REPLY_S,
        most_bytes: int = LINE_BYTES_MAX,
    ) -> _Answer:
        """Send one request and return the `ok` part of its reply.

        Args:
            answer: the model of that part.
            fields: what the request has besides, as JSON can hold it.
            most_bytes: of the line with the reply.
        Raises:
            AgentRefused: the agent answered with an error.
            AgentDied: it ended, or gave no reply within `timeout_s`, or one of another form.
        """
        with self._writing:
            self._next_id += 1
            number = self._next_id
            with self._changed:
                self._awaited[number] = most_bytes
            line = json.dumps({"id": number, "do": do, **fields}, separators=(",", ":")) + "\n"
            assert self._child.stdin is not None
            try:
                self._child.stdin.write(line.encode())
                self._child.stdin.flush()
            except (OSError, ValueError):
                raise self._death() from None
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._replies or self._ended, timeout_s):
                raise AgentDied(
                    f"{self._title}: no answer to {do!r} within {timeout_s:g} s; is the machine overloaded?"
                )
            reply = self._replies.pop(number, None)
            fault = self._fault
        if reply is None:
            raise self._death()
        if fault is not None:
            raise FabricFault(f"emulator: {fault}; nothing measured since then is valid")
        if reply.error is not None:
            raise AgentRefused(do, reply.error.kind, plain(reply.error.message), self._title)
        try:
            return answer.model_validate(reply.ok)
        except ValidationError as error:
            raise AgentDied(
                f"{self._title}: its answer to {do!r} has another form ({_first(error)}); reinstall so that "
                "the agent and this crosswind come from the same version"
            ) from error

    def watch(self, listener: Callable[[Step], None]) -> None:
        """Hand every step of the fabric that is up to `listener`, until the fabric goes.

        Args:
            listener: is called on the thread that reads replies: it must return at once, and never raise.
        """
        self._listener = listener
        self.request("watch", Reply)

    def check(self) -> None:
        """Raise AgentDied or FabricFault if the fabric is gone."""
        with self._changed:
            fault, ended = self._fault, self._ended
        if fault is not None:
            raise FabricFault(f"emulator: {fault}")
        if ended:
            raise self._death()

    def wait_exit(self, process: int, timeout_s: float) -> Ended | None:
        """Wait for a process of a node to end; return None when it still runs after `timeout_s`.

        Raises: FabricFault: the emulator died in the meantime.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: process in self._exits or self._fault is not None or self._ended, timeout_s
            )
            if self._fault is not None:
                raise FabricFault(f"emulator: {self._fault}; nothing measured since then is valid")
            if process in self._exits:
                return self._exits[process]
            ended = self._ended
        if ended:
            raise self._death()
        return None

    def exit_of(self, process: int) -> Ended | None:
        """Return how a process ended, or None while it runs."""
        with self._changed:
            return self._exits.get(process)

    def close(self) -> None:
        """Make the agent undo everything and end; kill it if that takes more than ten seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        assert self._child.stdin is not None
        # A dead agent has closed its end, and there is nothing to flush.
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._reader.join(1)
        self._stderr_reader.join(1)

    def _greet(self) -> Hello:
        hello = self.request("hello", Hello, timeout_s=10)
        if hello.protocol != PROTOCOL:
            raise AgentDied(
                f"{self._title}, version {hello.version}: speaks protocol {hello.protocol}, this crosswind "
                f"speaks {PROTOCOL}; reinstall so that both come from the same version"
            )
        self.request("lease", Reply, {"seconds": self._transport.lease_s})
        return hello

    def _read(self) -> None:
        assert self._child.stdout is not None
        broke = None
        try:
            while line := read_line(self._child.stdout, self._most_bytes):
                self._take(line)
        except (TooLong, _BrokeProtocol) as error:
            broke = str(error)
        except ValidationError as error:
            broke = f"it printed a line of another form ({_first(error)})"
        if broke is not None:
            # Before others learn of it: what they do next finds it dead.
            self._child.kill()
        with self._changed:
            self._broke, self._ended = broke, True
            self._changed.notify_all()

    def _most_bytes(self) -> int:
        with self._changed:
            return max(LINE_BYTES_MAX, *self._awaited.values(), 0)

    def _take(self, line: bytes) -> None:
        """Take in a line of the agent.

        Raises: ValidationError, _BrokeProtocol: it is none that an agent prints now.
        """
        message = Message.model_validate_json(line)
        if message.event == "step":
            if self._listener is not None:
                if len(line) > STEP_BYTES_MAX:
                    raise _BrokeProtocol(f"it printed a step of more than {STEP_BYTES_MAX} bytes")
                self._listener(Step.model_validate_json(line))
            return
        with self._changed:
            if message.event == "exited" and message.process is not None:
                self._exits[message.process] = Ended(message.code, message.signal, time.monotonic_ns())
                if len(self._exits) > self._next_id:
                    raise _BrokeProtocol("it reported the end of more processes than it was to start")
            elif message.event == "fault":
                self._fault = plain(message.message)
            elif message.id is not None:
                if self._awaited.pop(message.id, None) is None:
                    raise _BrokeProtocol(f"it answered request {message.id}, which is not waiting for it")
                self._replies[message.id] = message
            self._changed.notify_all()

    def _read_stderr(self) -> None:
        assert self._child.stderr is not None
        while line := self._child.stderr.readline(_STDERR_BYTES):
            self._stderr.append(plain(line.decode(errors="replace").rstrip()))

    def _renew(self) -> None:
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._ended or self._closing, self._transport.lease_s / 4):
                    return
            try:
                self.request("lease", Reply, {"seconds": self._transport.lease_s})
            except (AgentDied, AgentRefused):
                # The main thread meets the same failure at its next request and reports it.
                return

    def _death(self) -> AgentDied:
        # The child may need a moment between closing its pipes and being reaped.
        deadline = time.monotonic() + 2
        while self._child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        self._stderr_reader.join(1)
        status = self._child.poll()
        if self._broke is not None:
            return AgentDied(
                f"{self._title}: {self._broke}; it was ended, because another program answers there, or "
                "another version: reinstall crosswind here and there, or leave the machine out"
            )
        explained = self._transport.explained(status, self._stderr)
        if explained is not None:
            return AgentDied(f"{self._title}: {explained}")
        how = "it closed its output" if status is None else str(Ended.of(status))
        tail = " | ".join(self._stderr)
        printed = f"it printed: {tail}" if tail else "it printed nothing"
        return AgentDied(f"{self._title}: ended while in use ({how}); {printed}")


class _BrokeProtocol(Exception):
    """A line of an agent that is none at this moment."""


def _first(error: ValidationError) -> str:
    """Return the first error of a document, and its place."""
    found = error.errors(include_url=False)[0]
    return plain(": ".join(filter(None, (".".join(map(str, found["loc"])), found["msg"]))))
