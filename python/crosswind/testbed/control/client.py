"""Ask a running `crosswind up` for something, and find the sockets of those that have ended."""

import socket
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from crosswind.errors import CrosswindError, Exit
from crosswind.testbed.control.messages import LINE_BYTES_MAX, Reply, Request, sockets

_REPLY_S = 30.0

_NO_ANSWER = (
    f"the running `crosswind up` does not answer within {_REPLY_S:g} s; "
    "continue it if it is stopped (Ctrl-Z), or end it and start another"
)
_Answered = TypeVar("_Answered", bound=BaseModel)


class NothingUp(CrosswindError):
    """There is no running fabric to talk to, or more than one."""

    exit = Exit.USAGE


def ask(request: Request, answer: type[_Answered], pid: int | None = None) -> _Answered:
    """Send a request to the running `up` and return its answer.

    Args:
        answer: the model of the answer.
        pid: process id of `up`; may be left out when only one runs.
    Raises: NothingUp: none runs, or several run and there is no `pid`, or it does not answer. CrosswindError:
        it refused, or the request is too long.
    """
    line = request.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise CrosswindError(
            f"the condition has {len(line)} bytes once resolved, at most {LINE_BYTES_MAX} can be set; "
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
    reply = Reply.model_validate_json(reply_line)
    if reply.error is not None:
        raise CrosswindError(reply.error)
    return answer.model_validate(reply.ok)


def stale_sockets() -> list[Path]:
    """Return the sockets on which no process listens any more."""
    return [path for path in sockets() if _is_stale(path)]


def _connect(pid: int | None) -> socket.socket:
    wanted = [path for path in sockets() if pid is None or path.stem == f"up-{pid}"]
    connections = {path: connection for path in wanted if (connection := _try(path)) is not None}
    if len(connections) == 1:
        return next(iter(connections.values()))
    for connection in connections.values():
        connection.close()
    if connections:
        pids = ", ".join(path.stem.removeprefix("up-") for path in connections)
        raise NothingUp(f"several fabrics are up; name one with --up PID (running: {pids})")
    raise NothingUp("no fabric is up; start one with `crosswind up FILE` in another terminal")


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
