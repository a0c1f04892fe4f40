"""Write to etcd, or watch it, over its JSON gateway; runs in a node with nothing but Python.

etcd_client.py put ADDRESS COUNT      COUNT puts of one key; prints the last revision
etcd_client.py watch ADDRESS FROM     prints the revision of each event that a watch from FROM gets, and
                              when, in seconds of CLOCK_MONOTONIC
etcd_client.py revision ADDRESS       prints the revision that the member has applied
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
import threading
import time
from typing import Any

PORT = 2379
KEY = base64.b64encode(b"k").decode()
WRITERS = 16
LONGEST_S = 100.0
# One for each thread.
_connections = threading.local()


class Refused(Exception):
    """The member answers with an error, or not at all: perhaps there is no leader."""


def post(address: str, path: str, body: dict[str, object]) -> Any:
    """Return the answer to one request.

    Raises: Refused: there is none.
    """
    try:
        connection = _connections.connection
    except AttributeError:
        connection = _connections.connection = http.client.HTTPConnection(address, PORT, timeout=10)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        # It connects again at the next request.
        connection.close()
        raise Refused(str(error)) from error
    if answer.status != http.client.OK:
        raise Refused(f"{path}: {answer.status}: {content.decode()}")
    return json.loads(content)


def put(address: str, count: int) -> None:
    """Put one key `count` times or a few times more, by several writers at once."""
    revisions = []
    deadline = time.monotonic() + LONGEST_S

    def write() -> None:
        left = count // WRITERS
        while left and time.monotonic() < deadline:
            value = base64.b64encode(str(left).encode()).decode()
            try:
                answer = post(address, "/v3/kv/put", {"key": KEY, "value": value})
            except Refused:
                # An election takes a second or two.
                time.sleep(0.1)
                continue
            revisions.append(int(answer["header"]["revision"]))
            left -= 1

    writers = [threading.Thread(target=write) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    if len(revisions) != count // WRITERS * WRITERS:
        raise SystemExit(f"only {len(revisions)} of {count} puts were answered within {LONGEST_S:g} s")
    print(max(revisions))


def watch(address: str, start: int) -> None:
    """Print what a watch gets, until it is ended."""
    connection = http.client.HTTPConnection(address, PORT)
    create = {"create_request": {"key": KEY, "start_revision": str(start)}}
    connection.request("POST", "/v3/watch", json.dumps(create))
    for line in connection.getresponse():
        result = json.loads(line).get("result")
        if result is None:  # The member ends.
            break
        if result.get("created"):
            print("created", flush=True)
        for event in result.get("events", ()):
            print(event["kv"]["mod_revision"], time.monotonic(), flush=True)


def revision(address: str) -> None:
    """Print the revision of a member, without asking the others."""
    answer = post(address, "/v3/kv/range", {"key": KEY, "serializable": True})
    print(answer["header"]["revision"])


if __name__ == "__main__":
    verb, at, *numbers = sys.argv[1:]
    if verb == "put":
        put(at, int(numbers[0]))
    elif verb == "watch":
        watch(at, int(numbers[0]))
    else:
        revision(at)
