"""The socket through which `crosswind set` and `crosswind exec` reach a running `crosswind up`.

One JSON line in, one out, then the connection closes. The socket lies in a folder that only its user may
enter and is itself closed to others: whoever may connect may run commands in the nodes.
"""

import contextlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from crosswind.errors import CrosswindError, Exit
from crosswind.testbed.folders import runtime_folder

_REPLY_S = 30.0
_LINE_BYTES_MAX = 1 << 20

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


class NothingUp(CrosswindError):
    """There is no running fabric to talk to, or more than one."""

    exit = Exit.USAGE


class ControlServer:
    """Listens while the block runs; `serve_one` answers one connection.

    Args:
        answer: maps a request to the `ok` part of its reply; a CrosswindError becomes an `error`.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._path = runtime_folder() / f"up-{os.getpid()}.sock"

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        # The mode is set before anybody could connect: bind makes the file, listen opens the door.
        self._socket.bind(str(self._path))
        self._path.chmod(0o600)
        self._socket.listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def fileno(self) -> int:
        """Return the descriptor to wait for connections on."""
        return self._socket.fileno()

    def serve_one(self) -> None:
        """Answer one connection; a client that talks nonsense or goes away harms nobody."""
        connection, _ = self._socket.accept()
        with connection, contextlib.suppress(OSError):
            connection.settimeout(_REPLY_S)
            try:
                request = json.loads(connection.makefile("rb").readline(_LINE_BYTES_MAX))
                reply: dict[str, Any] = {"ok": self._answer(request)}
            except CrosswindError as error:
                reply = {"error": str(error)}
            except (ValueError, KeyError, TypeError) as error:
                reply = {"error": f"malformed request: {error}; is this the same version of crosswind?"}
            connection.sendall(json.dumps(reply).encode() + b"\n")


def ask(request: Mapping[str, Any], pid: int | None = None) -> dict[str, Any]:
    """Ask the running `up` and return its answer.

    Args:
        pid: process id of the `up` that is meant; may be left out when there is only one.
    Raises: NothingUp: there is none, or several and no `pid`. CrosswindError: it refused.
    """
    with _connect(pid) as connection:
        connection.settimeout(_REPLY_S)
        connection.sendall(json.dumps(dict(request)).encode() + b"\n")
        line = connection.makefile("rb").readline()
    if not line:
        raise NothingUp("the running `crosswind up` ended before it answered")
    reply = json.loads(line)
    if "error" in reply:
        raise CrosswindError(reply["error"])
    answer: dict[str, Any] = reply["ok"]
    return answer


def stale_sockets() -> list[Path]:
    """Return the sockets on which nobody listens any more."""
    return [path for path in _sockets() if _try(path) is None]


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


def _try(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        return None
    return connection
