"""The wheel as it was installed: its tag promises what its programs need, and any Python."""

import re
import shutil
import subprocess
import sysconfig
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

PROGRAMS = ("crosswind-agent", "crosswind-load", "crosswind-simulate")


@pytest.fixture
def installed() -> Distribution:
    # Not by the path of imports: other tests put the source tree there, whose metadata name no programs.
    found = list(distributions(name="crosswind", path=[sysconfig.get_path("purelib")]))
    if not found:
        pytest.skip("crosswind is not installed; make build installs it")
    return found[0]


def programs_of(wheel: Distribution) -> list[Path]:
    files = [Path(str(file.locate())) for file in wheel.files or [] if file.name in PROGRAMS]
    if len(files) < len(PROGRAMS):
        pytest.skip("the installed crosswind has no programs; make build installs them")
    return files


def test_the_wheel_runs_on_any_python_and_names_its_platform(installed: Distribution) -> None:
    programs_of(installed)
    text = installed.read_text("WHEEL") or ""
    (tag,) = re.findall(r"^Tag: (.*)$", text, re.MULTILINE)
    assert re.fullmatch(r"py3-none-manylinux_2_\d+_(x86_64|aarch64)", tag)
    assert not [file for file in installed.files or [] if file.suffix == ".so"]


def test_the_page_of_the_console_is_whole(installed: Distribution) -> None:
    programs_of(installed)
    names = {file.name for file in installed.files or [] if file.parent.name == "static"}
    assert {"index.html", "console.js", "uPlot.iife.js", "uPlot.min.css", "uPlot.license.txt"} <= names


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is missing: apt-get install binutils")
def test_no_program_needs_more_than_the_tag_promises(installed: Distribution) -> None:
    needed, libraries = set(), set()
    for program in programs_of(installed):
        said = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True).stdout
        needed |= {int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said)}
        libraries |= set(re.findall(r"NEEDED +(\S+)", said))
    promised = re.search(r"manylinux_2_(\d+)_", installed.read_text("WHEEL") or "")
    assert promised is not None
    assert int(promised[1]) == max(needed)
    # PEP 600 lets a wheel expect these of every system.
    assert libraries <= {
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "libgcc_s.so.1",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }
