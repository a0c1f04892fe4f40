"""The socket through which `crosswind set`, `fault` and `exec` reach a running `crosswind up`.

The connection closes after one answer. A process that can connect can run commands in the nodes, so only the
user can enter the socket's folder and open the socket.

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
from types import TracebackType
from typing import Self

from pydantic import BaseModel

from crosswind.errors import CrosswindError
from crosswind.spec import FabricCondition
from crosswind.testbed.control.messages import LINE_BYTES_MAX, Reply, Request
from crosswind.testbed.folders import runtime_folder

# A client writes its request at once.
_CLIENT_S = 10.0
_CLIENTS_MAX = 32


class AnyRequest(Request):
    """A request as the server reads it: `set` may bring a condition.

    Attributes:
        condition: for `set`, one that is not among those of `network`.
    """

    condition: FabricCondition | None = None


_AnswerTo = Callable[[AnyRequest], BaseModel]


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
        if not piece or b"\n" in piece or len(client.received) > LINE_BYTES_MAX:
            reply = self._reply(bytes(client.received)).model_dump(exclude_unset=True)
            client.unsent = memoryview(json.dumps(reply).encode() + b"\n")
            self._ready.modify(client.connection, selectors.EVENT_WRITE, client)

    def _reply(self, line: bytes) -> Reply:
        try:
            if len(line) > LINE_BYTES_MAX:
                raise ValueError(f"more than {LINE_BYTES_MAX} bytes")
            return Reply(ok=self._answer(AnyRequest.model_validate_json(line)).model_dump(mode="json"))
        except CrosswindError as error:
            return Reply(error=str(error))
        except ValueError as error:
            return Reply(error=f"malformed request: {error}; is this the same version of crosswind?")

    def _drop(self, client: _Client) -> None:
        self._clients.remove(client)
        self._ready.unregister(client.connection)
        client.connection.close()
