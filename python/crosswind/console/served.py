"""A page that is served while a block runs."""

from __future__ import annotations

from importlib import resources
from types import TracebackType
from typing import Self

from crosswind.console.server import Page, Routes, Server
from crosswind.topology.svg import style

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


class Served:
    """Serves a page while the block runs; `url` is the address for a browser."""

    def __init__(self, routes: Routes) -> None:
        self._server = Server(routes)

    @property
    def url(self) -> str:
        """The address for a browser; anybody who has it can do what the page can."""
        return self._server.url

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()


def pages() -> dict[str, Page]:
    """Return the files of the page by their paths; the picture's and the report's colours are one of them."""
    folder = resources.files("crosswind.console") / "static"
    found = {
        f"/{file.name}": Page(_TYPES[suffix], file.read_bytes())
        for file in folder.iterdir()
        if (suffix := file.name[file.name.rfind(".") :]) in _TYPES
    }
    return {**found, "/": found["/index.html"], "/picture.css": Page(_TYPES[".css"], style().encode())}
