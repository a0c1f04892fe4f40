"""Make the still pages of this folder from results: `python docs/gallery/make.py RESULTS_FOLDER...`.

A report draws its figures with plotly.js, which is two megabytes and not ours to commit. Here Chromium opens
it, every figure is taken as the SVG that its button saves, and the page is written without a script, in the
colours of paper. What can only be done in the report itself (hovering, saving) is left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from markupsafe import escape

from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.report import write_report

GALLERY = Path(__file__).parent
STILL = """
(async () => {
  const made = URL.createObjectURL, blobs = new Map(), saved = new Map();
  URL.createObjectURL = (blob) => { const url = made(blob); blobs.set(url, blob); return url; };
  HTMLAnchorElement.prototype.click = function () { saved.set(this.download, blobs.get(this.href).text()); };
  // What is drawn in space comes as PNG, ten times as large as WebP.
  const shrink = async (surface) => {
    const picture = new Image(), ground = document.createElement("canvas");
    picture.src = surface.getAttribute("xlink:href");
    await picture.decode();
    [ground.width, ground.height] = [picture.width, picture.height];
    ground.getContext("2d").drawImage(picture, 0, 0);
    surface.setAttribute("xlink:href", ground.toDataURL("image/webp", 0.9));
  };
  const buttons = [...document.querySelectorAll("button.svg")];
  buttons.forEach((button) => button.click());
  while (saved.size < buttons.length) await new Promise((next) => setTimeout(next, 20));
  for (const button of buttons) {
    const canvas = button.closest("figure").querySelector(".canvas");
    canvas.removeAttribute("style");
    canvas.innerHTML = await saved.get(`${button.dataset.figure}.svg`);
    for (const surface of canvas.querySelectorAll("image")) await shrink(surface);
  }
  // Plotly's own styles of what can be moved and hovered; and what has no use on a still page.
  const useless = "script, noscript, .downloads, .tools, .live, .raw, style[id], #js-plotly-tester";
  document.querySelectorAll(useless).forEach((part) => part.remove());
  document.querySelectorAll("a:not([href^='#'])").forEach((link) => link.replaceWith(...link.childNodes));
  document.documentElement.className = "printing";
  const style = document.createElement("style");
  // Plotly writes the style at each of 400 dots, and classes for its script. Each style is said once.
  const names = new Map();
  for (const part of document.querySelectorAll(".canvas svg, .canvas svg *")) {
    const said = part.getAttribute("style");
    part.removeAttribute("class");
    part.removeAttribute("style");
    if (!said) continue;
    if (!names.has(said)) names.set(said, `s${names.size}`);
    part.setAttribute("class", names.get(said));
  }
  style.textContent = [...names].map(([said, name]) => `.${name} { ${said} }`).join(" ") +
    " .canvas > svg { display: block; width: 100%; height: auto; }";
  document.head.append(style);
  document.querySelector("header .meta").insertAdjacentHTML("beforeend", MADE);
})();
"""


def main(folders: list[str]) -> int:
    """Write a page for every folder and return the exit status."""
    if not folders:
        print("usage: docs/gallery/make.py RESULTS_FOLDER...", file=sys.stderr)
        return 2
    for folder in map(Path, folders):
        summary = summarise(folder)
        page = GALLERY / f"{summary.name}.html"
        page.write_text(
            still(write_report(folder).read_text(encoding="utf-8"), made(summary)), encoding="utf-8"
        )
        print(f"wrote {page.name}: {page.stat().st_size / 1000:.0f} kB")
    return 0


def made(summary: Summary) -> str:
    """Return with what command, when and on what machine the results came about, as HTML."""
    before = summary.provenance.before
    assert before is not None
    kernel = re.match(r"\d+\.\d+", before.kernel or "")
    machine = f"{before.cpu}, {before.cores} cores, Linux {kernel[0] if kernel else '?'}"
    return (
        f"<br>Made with <code>crosswind run {escape(summary.name)}</code> on {(before.time or '')[:10]}: "
        f"{escape(machine)}. A still copy of <code>report.html</code>."
    )


def still(report: str, told: str) -> str:
    """Return a report as a page without scripts, with `told` in its head."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        script = STILL.replace("MADE", repr(told))
        page.write_text(report.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        command = [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder}/profile",
        ]
        # So high that every figure is near the screen, and drawn.
        command += [
            "--window-size=1300,30000",
            "--virtual-time-budget=600000",
            "--dump-dom",
            f"file://{page}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    if "<script" in done.stdout:
        raise SystemExit("the page was not made still within the time; is plotly.js whole?")
    # A tenth of a pixel is finer than a screen, and a fifth of the page smaller than a hundredth; and plotly
    # says of every line what lines are anyhow.
    still = re.sub(
        r' (?:d|transform)="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), done.stdout
    )
    return re.sub(
        r'(?<=["; ])(?:vector-effect: none|(?:stroke-|fill-)?opacity: 1|stroke-miterlimit: 2);? ?', "", still
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
