"""A small HTTP server for one user on this machine. It refuses every request that might come from elsewhere.

A page from anywhere may send requests to 127.0.0.1, and a name that somebody else controls may lead there
(DNS rebinding). So `Host` and `Origin` must be this server's own, and everything below /api needs the token,
which stands in the fragment of the address: browsers never send that part.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, JsonValue

from crosswind.errors import CrosswindError

# The longest is a request to move every slider of a large network.
BODY_BYTES_MAX = 64 << 10
CONNECTIONS_MAX = 64
# A request arrives within this time, and what is sent is taken within it.
CLIENT_S = 10.0

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Page:
    """A part of the page that anybody on this machine may read: it says nothing about the network."""

    content_type: str
    content: bytes


@dataclass(frozen=True)
class Answer:
    """What a request gets: JSON, or text with a file name of its own."""

    content: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: BaseModel | JsonValue) -> Answer:
        """Return a value as JSON."""
        if isinstance(value, BaseModel):
            return cls(value.model_dump_json(by_alias=True).encode())
        return cls(json.dumps(value, separators=(",", ":")).encode())


Parameters = Mapping[str, str]
Get = Callable[[Parameters], Answer]
Post = Callable[[JsonValue], Answer]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Routes:
    """What the server answers: pages by path, and below /api what needs the token.

    Attributes:
        pages: parts of the page.
        open: by path; what every user of this machine may read, without the token.
        get: by path; takes the parameters of the address.
        post: by path; takes the JSON of the body.
        lines: by path; yields lines until the client has gone.
    """

    pages: Mapping[str, Page] = field(default_factory=dict)
    open: Mapping[str, Get] = field(default_factory=dict)
    get: Mapping[str, Get] = field(default_factory=dict)
    post: Mapping[str, Post] = field(default_factory=dict)
    lines: Mapping[str, Callable[[], Generator[bytes, None, None]]] = field(default_factory=dict)


class Refused(Exception):
    """A request that gets no answer."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves `routes` on a port of 127.0.0.1, from `start` to `close`; 0 is one that the system chooses."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS_MAX

    def __init__(self, routes: Routes, client_s: float = CLIENT_S, port: int = 0) -> None:
        self.routes = routes
        self.client_s = client_s
        self.token = secrets.token_urlsafe(32)
        self._free = threading.Semaphore(CONNECTIONS_MAX)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        """The port."""
        return self.server_port

    @property
    def url(self) -> str:
        """The address for a browser, with the token."""
        return f"http://127.0.0.1:{self.port}/#{self.token}"

    def start(self) -> None:
        """Serve from now on, on threads of its own."""
        # How long `close` waits at most; the thread wakes that often.
        serve = partial(self.serve_forever, poll_interval=0.1)
        threading.Thread(target=serve, daemon=True, name="http").start()

    def close(self) -> None:
        """Serve no more."""
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a new thread; with too many connections, close this one at once."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a client that has gone or is too slow is no error of ours."""


class _Arriving(io.RawIOBase):
    """What a client sends, as long as it is there in time: not each piece, but all of it."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection = connection
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """One connection, with one request."""

    server: Server
    server_version = "crosswind"
    sys_version = ""
    # Errors of the base class (a malformed request, another method) have no page of their own.
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(message)s\n"
    _secured: ClassVar[Mapping[str, str]] = _HEADERS

    def setup(self) -> None:
        super().setup()
        arriving = _Arriving(self.connection, time.monotonic() + self.server.client_s)
        self.rfile = io.BufferedReader(arriving)

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def end_headers(self) -> None:
        for name, value in self._secured.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *words: Any) -> None:
        """Log nothing: standard error is the user's terminal."""

    def _answer(self, work: Callable[[], None]) -> None:
        try:
            self._require_own_page()
            work()
        except Refused as refused:
            self._send(Answer.of({"error": str(refused)}), refused.status)
        except CrosswindError as error:
            self._send(Answer.of({"error": str(error)}), HTTPStatus.UNPROCESSABLE_ENTITY)

    def _get(self) -> None:
        routes, address = self.server.routes, urlsplit(self.path)
        if address.path in routes.pages:
            page = routes.pages[address.path]
            self._send(Answer(page.content, page.content_type))
            return
        if address.path in routes.open:
            self._send(routes.open[address.path](_parameters(address.query)))
            return
        self._require_token()
        if address.path in routes.lines:
            self._send_lines(routes.lines[address.path]())
            return
        answer = _found(routes.get, address.path)
        self._send(answer(_parameters(address.query)))

    def _post(self) -> None:
        self._require_token()
        answer = _found(self.server.routes.post, urlsplit(self.path).path)
        self._send(answer(self._body()))

    def _require_own_page(self) -> None:
        own = [f"{host}:{self.server.port}" for host in ("127.0.0.1", "localhost")]
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        if len(hosts) != 1 or hosts[0] not in own:
            raise Refused(HTTPStatus.FORBIDDEN, f"Host must be {own[0]}")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another page")

    def _require_token(self) -> None:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            raise Refused(HTTPStatus.UNAUTHORIZED, "open the address that `crosswind` printed")

    def _body(self) -> JsonValue:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "a body needs its length")
        if len(length) > 9 or int(length) > BODY_BYTES_MAX:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {BODY_BYTES_MAX} bytes")
        try:
            body: JsonValue = json.loads(self.rfile.read(int(length)))
            return body
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None

    def _send(self, answer: Answer, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.connection.settimeout(self.server.client_s)
        self.send_response(status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.content)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    def _send_lines(self, lines: Generator[bytes, None, None]) -> None:
        self.connection.settimeout(self.server.client_s)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        with contextlib.closing(lines):
            for line in lines:
                self.wfile.write(line + b"\n")


def _parameters(query: str) -> Parameters:
    return dict(parse_qsl(query, max_num_fields=20))


def _found(routes: Mapping[str, Found], path: str) -> Found:
    if path not in routes:
        raise Refused(HTTPStatus.NOT_FOUND, f"{path}: there is nothing here")
    return routes[path]
