"""The tag of the wheel, and the script for charts that the console's page needs.

The wheel has Python code and programs, but no extension module: any Python from `requires-python` on runs it.
Its platform is the processor of the programs and the newest version of glibc that they need (PEP 600).
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PAGE = ROOT / "python" / "crosswind" / "console" / "static"
CHARTS = ("uPlot.iife.js", "uPlot.min.css")

# e_machine of the ELF header.
_PROCESSORS = {62: "x86_64", 183: "aarch64"}


def platform_of(programs: list[bytes]) -> str:
    """Return the platform tag for ELF programs.

    Versions are found as text. A text that only looks like one makes the tag ask for more, never for less.
    """
    (processor,) = {_PROCESSORS[int.from_bytes(program[18:20], "little")] for program in programs}
    versions = [
        int(minor) for program in programs for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", program)
    ]
    return f"manylinux_2_{max(versions)}_{processor}"


class ProgramWheel(bdist_wheel):
    """A wheel that is tagged by the programs in it, once they are built; an editable one has none."""

    def get_tag(self) -> tuple[str, str, str]:
        scripts = Path(self.bdist_dir or "", self.data_dir, "scripts")
        programs = [path.read_bytes() for path in scripts.glob("crosswind-*")]
        return ("py3", "none", platform_of(programs)) if programs else super().get_tag()


class PageBuild(build_py):
    """Fetches the charts' files, which are not ours, before the package is copied."""

    def run(self) -> None:
        if not all((PAGE / name).exists() for name in CHARTS):
            fetch_charts()
        super().run()


def fetch_charts() -> None:
    """Take the charts' files out of the wheel of requirements-page.txt; pip refuses one with another hash."""
    words = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    with tempfile.TemporaryDirectory() as folder:
        source = ["--dest", folder, "--requirement", str(ROOT / "requirements-page.txt")]
        subprocess.run([sys.executable, "-m", "pip", *words, *source], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            for name in CHARTS:
                (PAGE / name).write_bytes(files.read(f"uplot/static/{name}"))


setup(cmdclass={"bdist_wheel": ProgramWheel, "build_py": PageBuild})
