"""The socket through which `crosswind set`, `fault` and `exec` reach a running `crosswind up`.

The client sends one JSON line and gets one back; then the connection closes. A process that can connect can
run commands in the nodes, so only the user can enter the socket's folder and open the socket.

The server never waits for a client. It reads what has arrived, sends what fits, and drops a client that takes
longer than seconds, or the oldest one when there are too many.
"""

import json
import os
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, RootModel

from crosswind.errors import CrosswindError, Exit
from crosswind.spec import FabricCondition
from crosswind.spec.resolved import Answer
from crosswind.testbed.folders import runtime_folder

_REPLY_S = 30.0
# The longest is a condition with 100,000 packets of a capture, about 2 MB.
_LINE_BYTES_MAX = 16 << 20
# A client writes its request at once.
_CLIENT_S = 10.0
_CLIENTS_MAX = 32

_NO_ANSWER = (
    f"the running `crosswind up` does not answer within {_REPLY_S:g} s; "
    "continue it if it is stopped (Ctrl-Z), or end it and start another"
)


class Request(BaseModel):
    """What a client asks `crosswind up` to do.

    Attributes:
        do: `nodes`, `network`, `set` or `fault`.
        own: for `set`, the name of one of the conditions of `network`.
        condition: for `set`, another condition.
        node: for `nodes`, the one in which a program is about to start.
        fault: what a hand does: `partition`, `isolate`, `cut`, `heal`, `pause`, `resume`, `kill` or
            `restart`.
        value: of a fault, as a step of a file has it.
        answer: what senders of a cut learn: `silence` or `reset`.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    do: str
    node: str | None = None
    own: str | None = None
    condition: FabricCondition | None = None
    fault: str | None = None
    value: JsonValue = None
    answer: Answer = "silence"


class NodePids(RootModel[dict[str, int]]):
    """The answer to `nodes`: the process id of each node's init, by the node's name."""


class NetworkUp(BaseModel):
    """The answer to `network`: topology and scale as written, and names that `set` knows."""

    network: dict[str, JsonValue]
    conditions: tuple[str, ...]


class ConditionChanged(BaseModel):
    """The answer to `set`: the condition, and the instant from which it is active, on CLOCK_MONOTONIC."""

    condition: str
    effective_ns: int


class FaultDone(BaseModel):
    """The answer to `fault`: what was done, in words, and the instant from which it holds."""

    words: str
    effective_ns: int


class _Reply(BaseModel):
    """A line of the server."""

    ok: JsonValue = None
    error: str | None = None


_AnswerTo = Callable[[Request], BaseModel]
_Answered = TypeVar("_Answered", bound=BaseModel)


class NothingUp(CrosswindError):
    """There is no running fabric to talk to, or more than one."""

    exit = Exit.USAGE


@dataclass(eq=False)
class _Client:
    connection: socket.socket
    until: float  # On the monotonic clock.
    received: bytearray = field(default_factory=bytearray)
    unsent: memoryview | None = None  # The rest of the reply, once there is one.


class ControlServer:
    """Listens while the block runs; `serve` does all work that needs no waiting.

    Args:
        answer: maps a request to its answer; a CrosswindError becomes an error. It must not wait for anything
            that a client names.
        client_s: a client that has no reply after this time is dropped.
    """

    def __init__(self, answer: _AnswerTo, client_s: float = _CLIENT_S) -> None:
        self._answer = answer
        self._client_s = client_s
        self._clients: list[_Client] = []
        self._path = runtime_folder() / f"up-{os.getpid()}.sock"

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        # The mode is set before a client can connect: bind makes the file, and only listen accepts clients.
        self._socket.bind(str(self._path))
        self._path.chmod(0o600)
        self._socket.listen()
        self._socket.setblocking(False)
        self._ready = selectors.EpollSelector()
        self._ready.register(self._socket, selectors.EVENT_READ)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._clients:
            self._drop(self._clients[0])
        self._ready.close()
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def fileno(self) -> int:
        """Return the descriptor that is readable when `serve` has something to do."""
        return self._ready.fileno()

    def serve(self) -> None:
        """Accept, read, answer and send as far as that needs no waiting; no client can harm another."""
        for key, _ in self._ready.select(0):
            if key.data is None:
                self._accept()
            elif key.data in self._clients:
                self._go_on(key.data)
        now = time.monotonic()
        for client in [client for client in self._clients if client.until < now]:
            self._drop(client)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return  # The client has left.
        connection.setblocking(False)
        client = _Client(connection, time.monotonic() + self._client_s)
        self._clients.append(client)
        self._ready.register(connection, selectors.EVENT_READ, client)
        if len(self._clients) > _CLIENTS_MAX:
            self._drop(self._clients[0])

    def _go_on(self, client: _Client) -> None:
        try:
            if client.unsent is None:
                self._read(client)
            if client.unsent is not None:
                client.unsent = client.unsent[client.connection.send(client.unsent) :]
        except BlockingIOError:
            return
        except OSError:
            client.unsent = memoryview(b"")  # The client has left.
        if client.unsent is not None and not client.unsent:
            self._drop(client)

    def _read(self, client: _Client) -> None:
        """Read what has arrived, and answer when the request is complete."""
        piece = client.connection.recv(1 << 16)
        client.received += piece
        if not piece or b"\n" in piece or len(client.received) > _LINE_BYTES_MAX:
            reply = self._reply(bytes(client.received)).model_dump(exclude_unset=True)
            client.unsent = memoryview(json.dumps(reply).encode() + b"\n")
            self._ready.modify(client.connection, selectors.EVENT_WRITE, client)

    def _reply(self, line: bytes) -> _Reply:
        try:
            if len(line) > _LINE_BYTES_MAX:
                raise ValueError(f"more than {_LINE_BYTES_MAX} bytes")
            return _Reply(ok=self._answer(Request.model_validate_json(line)).model_dump(mode="json"))
        except CrosswindError as error:
            return _Reply(error=str(error))
        except ValueError as error:
            return _Reply(error=f"malformed request: {error}; is this the same version of crosswind?")

    def _drop(self, client: _Client) -> None:
        self._clients.remove(client)
        self._ready.unregister(client.connection)
        client.connection.close()


def ask(request: Request, answer: type[_Answered], pid: int | None = None) -> _Answered:
    """Send a request to the running `up` and return its answer.

    Args:
        answer: the model of the answer.
        pid: process id of `up`; may be left out when only one runs.
    Raises: NothingUp: none runs, or several run and there is no `pid`, or it does not answer. CrosswindError:
        it refused, or the request is too long.
    """
    line = request.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    if len(line) > _LINE_BYTES_MAX:
        raise CrosswindError(
            f"the condition has {len(line)} bytes once resolved, at most {_LINE_BYTES_MAX} can be set; "
            "shorten the files that it names"
        )
    with _connect(pid) as connection:
        try:
            connection.sendall(line)
            reply_line = connection.makefile("rb").readline()
        except TimeoutError:
            raise NothingUp(_NO_ANSWER) from None
        except OSError:
            reply_line = b""
    if not reply_line:
        raise NothingUp("the running `crosswind up` ended before it answered; start it again")
    reply = _Reply.model_validate_json(reply_line)
    if reply.error is not None:
        raise CrosswindError(reply.error)
    return answer.model_validate(reply.ok)


def stale_sockets() -> list[Path]:
    """Return the sockets on which no process listens any more."""
    return [path for path in _sockets() if _is_stale(path)]


def _connect(pid: int | None) -> socket.socket:
    wanted = [path for path in _sockets() if pid is None or path.stem == f"up-{pid}"]
    connections = {path: connection for path in wanted if (connection := _try(path)) is not None}
    if len(connections) == 1:
        return next(iter(connections.values()))
    for connection in connections.values():
        connection.close()
    if connections:
        pids = ", ".join(path.stem.removeprefix("up-") for path in connections)
        raise NothingUp(f"several fabrics are up; name one with --up PID (running: {pids})")
    raise NothingUp("no fabric is up; start one with `crosswind up FILE` in another terminal")


def _sockets() -> list[Path]:
    return sorted(runtime_folder().glob("up-*.sock"))


def _is_stale(path: Path) -> bool:
    try:
        connection = _try(path)
    except NothingUp:
        return False  # It runs, and does not answer.
    if connection is not None:
        connection.close()
    return connection is None


def _try(path: Path) -> socket.socket | None:
    """Return a connection, or None where no process listens any more.

    Raises: NothingUp: too many clients wait for it already.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_REPLY_S)
    try:
        connection.connect(str(path))
    except BlockingIOError:
        connection.close()
        raise NothingUp(_NO_ANSWER) from None
    except OSError:
        connection.close()
        return None
    return connection
