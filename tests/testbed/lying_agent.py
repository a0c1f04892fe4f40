"""A program that speaks the agent's protocol and lies: `python lying_agent.py LIE`.

Where the lie does not say otherwise, it answers as an agent of another machine would that has a fabric of two
nodes.
"""

import base64
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable

BYTES_OF_A_GIGABYTE_LINE = 2 << 30
_FLOOD = b"x" * (1 << 20)
Request = dict[str, object]


def say(line: object) -> None:
    """Print a line."""
    sys.stdout.buffer.write(json.dumps(line).encode() + b"\n")
    sys.stdout.buffer.flush()


def raw(content: bytes) -> None:
    """Print bytes."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def honest(request: Request) -> object:
    """Return what an agent answers."""
    answers: dict[object, object] = {
        "hello": {
            "protocol": 1,
            "version": "lying",
            "rootless": False,
            "kernel": "6",
            "application_uid": 0,
            "application_gid": 0,
        },
        "folder": {"made": True},
        "bind": {"address": f"{request.get('address')}:9"},
        "up": {
            "nodes": [
                {"name": name, "host": name, "address": "10.77.0.1", "pid": os.getpid()}
                for name in ("n0", "n1")
            ],
            "wait_mode": "spin",
            "domains": 1,
        },
        "start": {"process": 1},
        "stop": {"code": 0, "signal": None},
        "set": {"effective_ns": 1},
        "measure": {"started_ns": 1},
        "get": {"bytes": "", "size_bytes": 0},
        # Of the file that `grown-file` sends.
        "checksum": {"sha256": hashlib.sha256(b"x" * 10).hexdigest()},
    }
    return answers.get(request["do"], {})


def piece(request: Request, size: int, length: int | None = None) -> None:
    """Answer `get` with bytes of a file that is said to have this size."""
    asked = request["length"]
    assert isinstance(asked, int)
    content = b"x" * (asked if length is None else length)
    ok = {"bytes": base64.b64encode(content).decode(), "size_bytes": size}
    say({"id": request["id"], "ok": ok})


def flood() -> None:
    """Print a line that does not end."""
    for _ in range(BYTES_OF_A_GIGABYTE_LINE // len(_FLOOD)):
        raw(_FLOOD)
    raw(b"\n")


def steps_without_end() -> None:
    """Print steps that nobody requested, for ever."""
    while True:
        say({"event": "step", "junk": "x" * 10_000})


def answers_without_end() -> None:
    """Answer requests that nobody made, for ever."""
    for number in range(1_000, 1_000_000_000):
        say({"id": number, "ok": {"trial": "b00-p00-none", "throughput": 1e9}})


def ends_without_end() -> None:
    """Report the ends of processes that nobody started, for ever."""
    for number in range(1_000_000_000):
        say({"event": "exited", "process": number, "code": 0, "signal": None})


def complaints_without_end() -> None:
    """Print a line on standard error that does not end."""
    for _ in range(1_000):
        sys.stderr.buffer.write(_FLOOD)


def short(request: Request) -> None:
    """Answer `get` with less than the file has."""
    offset = request["offset"]
    assert isinstance(offset, int)
    piece(request, 5_000_000, None if offset == 0 else 0)


def number_of_a_million_digits(request: Request) -> None:
    """Answer with a number that no integer of a computer holds."""
    raw(b'{"id": %d, "ok": {"started_ns": %s}}\n' % (request["id"], b"9" * 1_000_000))


def nodes(*names: str) -> Callable[[Request], None]:
    """Answer `up` with nodes of these names."""
    made = [{"name": name, "host": "h0", "address": "10.77.0.1", "pid": 1} for name in names]
    return answer({"nodes": made, "wait_mode": "spin", "domains": 1})


def slower(request: Request) -> None:
    """Answer `up` with nodes in which time is a hundred times slower, whatever was requested."""
    dilation = {"factor": 100, "anchor": {"monotonic_ns": 0, "realtime_ns": 0}}
    up = honest(request)
    assert isinstance(up, dict)
    answer({**up, "dilation": dilation})(request)


def answer(ok: object) -> Callable[[Request], None]:
    """Answer any request with this."""
    return lambda request: say({"id": request["id"], "ok": ok})


def refuse(message: str) -> Callable[[Request], None]:
    """Refuse any request with this message."""
    error = {"kind": "internal", "message": message}
    return lambda request: say({"id": request["id"], "error": error})


def twice(request: Request) -> None:
    """Answer a request twice."""
    for _ in range(2):
        answer({"started_ns": 1})(request)


# The request that each lie is about, and what it does with it; every other is answered honestly.
LIES: dict[str, tuple[str, Callable[[Request], object]]] = {
    "gigabyte-line": ("measure", lambda _: flood()),
    "no-json": ("measure", lambda _: raw(b"\x00\xff{{{\n")),
    "deep-json": ("measure", lambda _: raw(b"[" * 1_000_000 + b"\n")),
    "long-number": ("measure", number_of_a_million_digits),
    "wrong-type": ("measure", answer({"started_ns": "soon"})),
    "number-of-a-request": ("measure", lambda _: say({"id": "1", "ok": {}})),
    "unasked": ("measure", lambda _: answers_without_end()),
    "answered-twice": ("measure", twice),
    "unasked-steps": ("measure", lambda _: steps_without_end()),
    "unasked-ends": ("measure", lambda _: ends_without_end()),
    "complaints": ("measure", lambda _: complaints_without_end()),
    "silent": ("measure", lambda _: time.sleep(1_000)),
    "escapes": ("measure", refuse("\x1b[2J\x1b]0;owned\x07 gone\nDONE " + "x" * 1_000_000)),
    "no-measurement": ("read", answer({"window": {"\x1b[2J": 1}})),
    "a-node-twice": ("up", nodes("n0", "n0")),
    "slower": ("up", slower),
    "another-node": ("up", nodes("../../etc")),
    "up-gigabyte-line": ("up", lambda _: flood()),
    "endless-file": ("get", lambda it: piece(it, 1 << 42)),
    "absurd-size": ("get", lambda it: piece(it, 1 << 62)),
    "negative-size": ("get", lambda it: piece(it, -1)),
    "short-file": ("get", short),
    "long-piece": ("get", lambda it: piece(it, 5_000_000, 2_000_000)),
    "no-base64": ("get", answer({"bytes": "../../etc/passwd!", "size_bytes": 100})),
    "grown-file": ("get", lambda it: piece(it, 10 if it["length"] == 0 else 1 << 40)),
    "other-content": ("get", lambda it: piece(it, 9, min(9, int(str(it["length"]))))),
    "another-address": ("bind", answer({"address": "203.0.113.9:53"})),
    "address-of-a-group": ("bind", answer({"address": "01:00:5e:00:00:01", "mtu_bytes": 1500})),
    "address-of-nobody": ("bind", answer({"address": "00:00:00:00:00:00", "mtu_bytes": 1500})),
    "one-ethernet-address": ("bind", answer({"address": "02:00:00:00:00:01", "mtu_bytes": 1500})),
    "account-of-root": ("nothing", lambda _: None),
}


def main() -> None:
    """Answer requests until the input ends, and lie as the command line says."""
    do, lie = LIES[sys.argv[1]]
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == do:
            lie(request)
        else:
            say({"id": request["id"], "ok": honest(request)})


if __name__ == "__main__":
    main()
