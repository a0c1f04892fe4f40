"""The socket through which `crosswind set` and `crosswind exec` reach a running `crosswind up`.

One JSON line in, one out, then the connection closes. The socket lies in a folder that only its user may
enter and is itself closed to others: a process that may connect may run commands in the nodes.

The server never waits for a client. It takes what has come, sends what fits, and drops a client that is not
done within seconds, or the oldest one when there are too many.
"""

import json
import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from crosswind.errors import CrosswindError, Exit
from crosswind.testbed.folders import runtime_folder

_REPLY_S = 30.0
# The longest is a condition with 100,000 packets of a capture, about 2 MB.
_LINE_BYTES_MAX = 16 << 20
# A request is written at once by a program that has nothing else to do.
_CLIENT_S = 10.0
_CLIENTS_MAX = 32

_NO_ANSWER = (
    f"the running `crosswind up` does not answer within {_REPLY_S:g} s; "
    "continue it if it is stopped (Ctrl-Z), or end it and start another"
)

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


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
    """Listens while the block runs; `serve` does what can be done without waiting.

    Args:
        answer: maps a request to the `ok` part of its reply; a CrosswindError becomes an `error`. It must not
            wait for anything that a client names.
        client_s: a client that has not got its reply after this time is dropped.
    """

    def __init__(self, answer: Answer, client_s: float = _CLIENT_S) -> None:
        self._answer = answer
        self._client_s = client_s
        self._clients: list[_Client] = []
        self._path = runtime_folder() / f"up-{os.getpid()}.sock"

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        # The mode is set before anybody could connect: bind makes the file, listen opens the door.
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
            return  # It has gone again.
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
            client.unsent = memoryview(b"")  # It has gone; nobody waits for the rest.
        if client.unsent is not None and not client.unsent:
            self._drop(client)

    def _read(self, client: _Client) -> None:
        """Take what has come, and answer when that is the whole request."""
        piece = client.connection.recv(1 << 16)
        client.received += piece
        if not piece or b"\n" in piece or len(client.received) > _LINE_BYTES_MAX:
            reply = json.dumps(self._reply(bytes(client.received)))
            client.unsent = memoryview(reply.encode() + b"\n")
            self._ready.modify(client.connection, selectors.EVENT_WRITE, client)

    def _reply(self, line: bytes) -> dict[str, Any]:
        try:
            if len(line) > _LINE_BYTES_MAX:
                raise ValueError(f"more than {_LINE_BYTES_MAX} bytes")
            return {"ok": self._answer(json.loads(line))}
        except CrosswindError as error:
            return {"error": str(error)}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return {"error": f"malformed request: {error}; is this the same version of crosswind?"}

    def _drop(self, client: _Client) -> None:
        self._clients.remove(client)
        self._ready.unregister(client.connection)
        client.connection.close()


def ask(request: Mapping[str, Any], pid: int | None = None) -> dict[str, Any]:
    """Ask the running `up` and return its answer.

    Args:
        pid: process id of the `up` that is meant; may be left out when there is only one.
    Raises: NothingUp: there is none, or several and no `pid`, or it does not answer. CrosswindError: it
        refused, or the request is too long.
    """
    line = json.dumps(dict(request)).encode() + b"\n"
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
    reply = json.loads(reply_line)
    if "error" in reply:
        raise CrosswindError(reply["error"])
    answer: dict[str, Any] = reply["ok"]
    return answer


def stale_sockets() -> list[Path]:
    """Return the sockets on which nobody listens any more."""
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
        return False  # It is there, and does not answer.
    if connection is not None:
        connection.close()
    return connection is None


def _try(path: Path) -> socket.socket | None:
    """Return a connection, or None where nobody listens any more.

    Raises: NothingUp: too many wait for it already.
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
