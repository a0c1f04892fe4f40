"""Open a report in headless Chromium: its document after scripts ran, and pictures of it."""

import base64
import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium here: report not opened"
)
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
         "--hide-scrollbars", "--force-device-scale-factor=1"]  # fmt: skip


def framed(page: str, width: int) -> str:
    """Return a page that shows `page` in a frame so wide: no window of Chromium is as narrow as a phone."""
    style = f"border: 0; width: {width}px; height: 100vh"
    return f'<!doctype html><body><iframe style="{style}" srcdoc="{html.escape(page)}"></iframe></body>'


# Of virtual time, which only timers take. The thread that unpacks plotly.js takes real time: a script that
# waits for it looks more often where it is starved. Time that nobody waits for costs nothing.
BUDGET_MS = 600_000
# Only for a browser that hangs, however slow the machine is.
HANGS_S = 400


@dataclass(frozen=True)
class Browser:
    """A browser whose files are in `folder`."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)

    def document(self, page: str, *options: str, script: str = "", fragment: str = "") -> str:
        """Return the document after its scripts, and `script` behind them, have run; no error was logged."""
        opened = self._run(
            [*options, f"--virtual-time-budget={BUDGET_MS}", "--dump-dom"], page, script, fragment
        )
        errors = [line for line in opened.stderr.splitlines() if ":CONSOLE" in line]
        assert errors == []
        return opened.stdout

    def told(self, page: str, script: str, *options: str) -> Any:
        """Return what `script`, the body of an async function, returns: as JSON, through the document."""
        told = (
            "(async () => { const element = document.createElement('pre'); element.id = 'told';"
            f"element.textContent = JSON.stringify(await (async () => {{ {script} }})());"
            "document.body.append(element); })();"
        )
        found = re.search(
            r'<pre id="told">(.*?)</pre>', self.document(page, *options, script=told), re.DOTALL
        )
        assert found is not None, "the script did not end"
        return json.loads(html.unescape(found[1]))

    def grey(self, page: str, width: int, height: int, *options: str) -> list[list[int]]:
        """Return a coarse picture of the first screen: cells of 40 by 40 pixels, 0 black, 255 white."""
        picture = self.folder / "screen.png"
        size = [f"--window-size={width},{height}", "--virtual-time-budget=8000"]
        self._run([*size, f"--screenshot={picture}", *options], page)
        encoded = base64.b64encode(picture.read_bytes()).decode()
        across, down = width // 40, height // 40
        # The browser averages pixels itself: no library for pictures is needed.
        script = f"""
          const image = new Image();
          const seen = new Promise((loaded) => {{ image.onload = loaded; }});
          image.src = "data:image/png;base64,{encoded}";
          await seen;
          const canvas = document.createElement("canvas"); canvas.width = {across}; canvas.height = {down};
          const context = canvas.getContext("2d"); context.imageSmoothingQuality = "high";
          context.drawImage(image, 0, 0, {across}, {down});
          const pixels = context.getImageData(0, 0, {across}, {down}).data;
          return [...Array({across * down}).keys()].map((i) =>
            Math.round((pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2]) / 3));"""
        cells = self.told("<!doctype html><body></body>", script)
        return [cells[row * across : (row + 1) * across] for row in range(down)]

    def _run(
        self, options: list[str], page: str, script: str = "", fragment: str = ""
    ) -> subprocess.CompletedProcess[str]:
        file = self.folder / "page.html"
        file.write_text(page.replace("</body>", f"<script>{script}</script></body>") if script else page)
        command = ["chromium", *QUIET, f"--user-data-dir={self.folder / 'profile'}", *options]
        return subprocess.run(
            [*command, f"file://{file}{fragment}"],
            capture_output=True,
            text=True,
            timeout=HANGS_S,
            check=True,
        )
