"""Headless Chromium over its DevTools protocol: an open page, scripts in it, and pictures of it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import pytest

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium here: apt-get install chromium"
)
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
         "--remote-debugging-pipe"]  # fmt: skip
# Where a range input is, and its scale.
_RANGE = """(() => {{
  const found = document.getElementById('{}');
  found.scrollIntoView({{block: 'nearest'}});
  const {{left, top, width, height}} = found.getBoundingClientRect();
  return [left, top + height / 2, width, +found.min, +found.max, +found.value];
}})()"""
# Of the thumb in Chromium, whose middle the mouse moves.
_THUMB_PX = 16
_DRAG_MOVES = 8


class Chromium:
    """A browser with one page; use it as a context manager.

    Messages go through two pipes, each ends with a zero byte: no port is opened.

    Attributes:
        logged: what was written to the console, with its level, and exceptions of scripts as errors.
        requested: addresses that the page has loaded.
    """

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._next_id = 0
        self._session = ""
        self._rest = b""
        self.logged: list[tuple[str, str]] = []
        self.requested: list[str] = []

    def __enter__(self) -> Self:
        from_us, self._to = os.pipe()
        self._from, to_us = os.pipe()
        # The browser reads from 3 and writes to 4; a shell moves whatever numbers the pipes have there.
        command = ["chromium", *QUIET, f"--user-data-dir={self._profile}", "about:blank"]
        script = f'exec "$@" 3<&{from_us} 4>&{to_us}'
        self._child = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        pages = self._call("Target.getTargets")["targetInfos"]
        page = next(page["targetId"] for page in pages if page["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._to)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        self._child.kill()
        self._child.wait()
        os.close(self._from)

    @property
    def errors(self) -> list[str]:
        """What the page logged as an error, and exceptions of its scripts."""
        return [what for level, what in self.logged if level == "error"]

    def forget(self) -> None:
        """Leave the page, and forget what pages have logged and loaded."""
        self._call("Page.navigate", url="about:blank")
        self.logged.clear()
        self.requested.clear()

    def open(self, url: str, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a page in a window of this size."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", media="", features=scheme)
        # An address that differs in its fragment alone would not be loaded.
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=url)
        self.await_true("location.href !== 'about:blank' && document.readyState === 'complete'")

    def cpu_s(self) -> dict[int, float]:
        """Return the CPU time of each process of the browser, s; another page may have another process."""
        family = psutil.Process(self._child.pid)
        taken = {each.pid: each.cpu_times() for each in (family, *family.children(recursive=True))}
        return {pid: each.user + each.system for pid, each in taken.items()}

    def on_paper(self) -> None:
        """Show the open page as it is printed on A4, between the margins of 14 mm."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=687, height=1000, deviceScaleFactor=1, mobile=False
        )
        self._call("Emulation.setEmulatedMedia", media="print")
        self.value("dispatchEvent(new Event('beforeprint'))")

    def value(self, script: str) -> Any:
        """Return the value of an expression in the page, or what its promise resolves to."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def run(self, body: str) -> Any:
        """Return what an async function with this body returns in the page."""
        return self.value(f"(async () => {{ {body} }})()")

    def await_true(self, script: str, timeout_s: float = 120.0) -> None:
        """Wait until an expression in the page is true; the limit is for what never is, however slow."""
        deadline = time.monotonic() + timeout_s
        while not self.value(script):
            assert time.monotonic() < deadline, f"never true: {script}"
            time.sleep(0.05)

    def slide(self, name: str, position: int) -> int:
        """Drag a slider with the mouse; return when the mouse reached the position, in ns of CLOCK_MONOTONIC.

        Args:
            name: its id.
            position: on its scale; a step may have less than a pixel, so it ends near it.
        """
        left, y, width, least, most, now = self.value(_RANGE.format(name))

        def x(at: float) -> float:
            share = (at - least) / (most - least)
            return float(left + _THUMB_PX / 2 + share * (width - _THUMB_PX))

        self._mouse("mouseMoved", x(now), y)
        self._mouse("mousePressed", x(now), y)
        for move in range(1, _DRAG_MOVES + 1):
            there_ns = time.monotonic_ns()
            self._mouse("mouseMoved", x(now + (position - now) * move / _DRAG_MOVES), y, buttons=1)
        self._mouse("mouseReleased", x(position), y)
        return there_ns

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at `start`, and release it at `end`."""
        self._mouse("mouseMoved", *start)
        self._mouse("mousePressed", *start)
        self._mouse("mouseMoved", *end, buttons=1)
        self._mouse("mouseReleased", *end)

    def _mouse(self, kind: str, x: float, y: float, buttons: int = 0) -> None:
        is_pressed = buttons or kind != "mouseMoved"
        self._call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if is_pressed else "none",
            buttons=int(kind == "mousePressed") or buttons,
            clickCount=1,
        )

    def picture(self, file: Path, whole: bool = False) -> None:
        """Write what the window shows, or the whole page, as PNG."""
        shot = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._next_id += 1
        request: dict[str, Any] = {"id": self._next_id, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._next_id:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            assert piece, "chromium has ended"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        found = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requested.append(found["request"]["url"])
            case "Runtime.exceptionThrown":
                self.logged.append(("error", json.dumps(found["exceptionDetails"])))
            case "Log.entryAdded":
                self.logged.append((found["entry"]["level"], json.dumps(found["entry"])))
            case "Runtime.consoleAPICalled":
                self.logged.append((found["type"], json.dumps(found["args"])))
