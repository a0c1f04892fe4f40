"""The console's server refuses what does not come from its own page, and no client can hold it up."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from crosswind.console.served import pages as static_pages
from crosswind.console.server import BODY_BYTES_MAX, CONNECTIONS_MAX, Answer, Page, Routes, Server
from crosswind.errors import CrosswindError


def lines() -> Generator[bytes, None, None]:
    yield b'{"n":1}'
    yield b'{"n":2}'


def refuse(body: object) -> Answer:
    raise CrosswindError(f"{body}: not now")


ROUTES = Routes(
    pages={"/": Page("text/html; charset=utf-8", b"<p>page</p>")},
    get={"/api/words": lambda given: Answer.of(dict(given))},
    post={"/api/echo": lambda body: Answer.of(body), "/api/refuse": refuse},
    lines={"/api/lines": lines},
)


@pytest.fixture
def server() -> Iterator[Server]:
    with_short_patience = Server(ROUTES, client_s=1.0)
    with_short_patience.start()
    yield with_short_patience
    with_short_patience.close()


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPResponse]:
    """Ask as the server's own page does, but for the headers that are given; `none` leaves one out."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    usual = {
        "Host": f"127.0.0.1:{server.port}",
        "Origin": f"http://127.0.0.1:{server.port}",
        "Authorization": f"Bearer {server.token}",
    }
    given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host=True)
    for name, value in given.items():
        if value != "none":
            connection.putheader(name, value)
    if body is not None and "Content_Length" not in headers:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content, answer


def test_the_own_page_gets_answers(server: Server) -> None:
    assert ask(server, "GET", "/")[:2] == (200, b"<p>page</p>")
    assert ask(server, "GET", "/api/words?a=1&b=%20")[:2] == (200, b'{"a":"1","b":" "}')
    assert ask(server, "POST", "/api/echo", b'{"x":[1]}')[:2] == (200, b'{"x":[1]}')
    assert ask(server, "GET", "/api/lines")[:2] == (200, b'{"n":1}\n{"n":2}\n')
    assert ask(server, "GET", "/", Origin="none")[0] == 200
    own = f"localhost:{server.port}"
    assert ask(server, "GET", "/api/words", Host=own, Origin=f"http://{own}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/api/words"])
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.:{port}", "[::1]:{port}",
     "127.0.0.1:{port}.evil.example", "user@127.0.0.1:{port}", "", "none"],
)  # fmt: skip
def test_a_foreign_host_is_refused(server: Server, path: str, host: str) -> None:
    status, content, _ = ask(server, "GET", path, Host=host.format(port=server.port), Origin="none")
    assert status == 403
    assert b"page</p>" not in content


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1", "null",
     "http://localhost:{port}", "http://127.0.0.1:{port}/", ""],
)  # fmt: skip
def test_a_foreign_origin_is_refused(server: Server, origin: str) -> None:
    for method, path in (("GET", "/"), ("GET", "/api/words"), ("POST", "/api/echo")):
        status, _, _ = ask(server, method, path, b"{}", Origin=origin.format(port=server.port))
        assert status == 403


@pytest.mark.parametrize(
    "words",
    ["none", "", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "bearer {token}",
     "Bearer \u00e9"],
)  # fmt: skip
def test_without_the_token_nothing_below_api_is_there(server: Server, words: str) -> None:
    given = words.format(token=server.token)
    for method, path in (
        ("GET", "/api/words"),
        ("POST", "/api/echo"),
        ("GET", "/api/lines"),
        ("GET", "/api/x"),
    ):
        assert ask(server, method, path, b"{}", Authorization=given)[0] == 401
    # Nor does the address say it: there it would be written into histories and logs.
    assert ask(server, "GET", f"/api/words?token={server.token}", Authorization="none")[0] == 401


def test_tokens_differ_and_are_long(server: Server) -> None:
    assert len({server.token, Server(ROUTES).token}) == 2
    assert len(server.token) >= 43
    assert server.url == f"http://127.0.0.1:{server.port}/#{server.token}"


@pytest.mark.parametrize(
    "path", ["/x", "/api/x", "/../etc/passwd", "/%2e%2e/x", "/api", "*", "/index.html/", "//x"]
)
def test_an_unknown_path_is_not_found(server: Server, path: str) -> None:
    assert ask(server, "GET", path)[0] == 404
    assert ask(server, "POST", path, b"{}")[0] == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_are_refused(server: Server, method: str) -> None:
    status, _, answer = ask(server, method, "/api/echo", b"{}")
    assert status == 501
    assert answer.getheader("Access-Control-Allow-Origin") is None


def test_a_long_body_is_refused_before_it_is_read(server: Server) -> None:
    assert ask(server, "POST", "/api/echo", json.dumps("x" * (BODY_BYTES_MAX - 2)).encode())[0] == 200
    assert ask(server, "POST", "/api/echo", b"", Content_Length=str(BODY_BYTES_MAX + 1))[0] == 413
    assert ask(server, "POST", "/api/echo", b"", Content_Length="9" * 5000)[0] == 413
    for length in ("none", "-1", "1e3", "\u00b3", "0x10"):
        assert ask(server, "POST", "/api/echo", b"", Content_Length=length)[0] == 411
    assert ask(server, "POST", "/api/echo", b"", Content_Length="2", Transfer_Encoding="chunked")[0] == 411


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 60_000, b"{} {}"])
def test_a_body_that_is_not_json_is_refused(server: Server, body: bytes) -> None:
    assert ask(server, "POST", "/api/echo", body)[0] == 400


def test_what_cannot_be_done_is_said(server: Server) -> None:
    assert ask(server, "POST", "/api/refuse", b'"x"')[:2] == (422, b'{"error":"x: not now"}')


def test_every_answer_forbids_what_a_page_does_not_need(server: Server) -> None:
    answers = [
        ask(server, "GET", "/"),
        ask(server, "GET", "/api/words"),
        ask(server, "GET", "/x"),
        ask(server, "PUT", "/x"),
        ask(server, "GET", "/api/words", Authorization="none"),
        ask(server, "GET", "/api/lines"),
    ]
    for _, _, answer in answers:
        assert (answer.getheader("Content-Security-Policy") or "").startswith("default-src 'self'")
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Cache-Control") == "no-store"
        assert answer.getheader("Access-Control-Allow-Origin") is None


def test_a_slow_client_is_dropped_however_it_drips(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        began = time.monotonic()
        client.settimeout(10)
        with contextlib.suppress(OSError):
            # A limit for each piece would never end this.
            for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 100:
                client.sendall(bytes([byte]))
                time.sleep(0.1)
        assert 0.5 < time.monotonic() - began < 8
    assert ask(server, "GET", "/")[0] == 200


def test_too_many_connections_are_closed_and_the_next_is_served(server: Server) -> None:
    clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS_MAX)]
    time.sleep(0.3)
    with socket.create_connection(("127.0.0.1", server.port)) as one_more:
        one_more.settimeout(5)
        assert one_more.recv(1) == b""
    for client in clients:
        client.close()
    deadline = time.monotonic() + 5
    while True:
        try:
            assert ask(server, "GET", "/")[0] == 200
            return
        except (http.client.HTTPException, OSError):
            assert time.monotonic() < deadline
            time.sleep(0.05)


# Each request is a connection and a thread of its own, about a millisecond.
@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.long)])
def test_many_requests_leave_nothing_behind_and_the_last_cost_no_more_than_the_first(count: int) -> None:
    server = Server(ROUTES)
    server.start()

    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    request = f"GET /api/words HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n".encode()
    allowed = request + f"Authorization: Bearer {server.token}\r\n\r\n".encode()
    seen, took_s = set(), []
    began_s = time.process_time()
    for number in range(count):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.sendall(request + b"\r\n" if number % 2 else allowed)
            seen.add(client.recv(4096).split(b"\r\n", 1)[0])
        # Of this process, server and client, for each tenth: others on this machine do not count.
        if (number + 1) % (count // 10) == 0:
            took_s.append(time.process_time() - began_s)
            began_s = time.process_time()
    assert seen == {b"HTTP/1.0 200 OK", b"HTTP/1.0 401 Unauthorized"}
    assert took_s[-1] < 2 * took_s[0]
    time.sleep(0.5)
    assert descriptors() <= before + 4
    server.close()


def test_the_page_loads_nothing_from_elsewhere_and_has_what_it_names() -> None:
    pages = static_pages()
    named = set()
    for name in ("/", *(name for name in pages if name.endswith((".css", ".js")) and "uPlot" not in name)):
        text = pages[name].content.decode()
        assert not re.search(r"https?://|<script>|<style| style=", text), name
        named |= {f"/{found}" for found in re.findall(r"(?:src=\"|href=\"|from \")\.?/([^\"]+)\"", text)}
    # `make build` fetches the charts' files.
    assert named - {"/uPlot.iife.js", "/uPlot.min.css"} <= set(pages)
    assert {"/console.js", "/charts.js", "/picture.css", "/uPlot.iife.js"} <= named
