"""What a regime is told on the command line: bounds hold, and what it would not heed is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from crosswind.cli._main import run
from crosswind.cli._regime import measure_regime
from crosswind.errors import Exit
from crosswind.fingerprint.measure.ends import Ends
from crosswind.fingerprint.measure.machines import ANYTHING, Bounds, TooBusy
from crosswind.fingerprint.regime.record import Header, Recorder, read_record
from crosswind.testbed.plain import plain_fabric

REGIME = ("--regime", "10-30", "--for", "40s")


def fingerprint(folder: Path, *options: str) -> Exit:
    file = folder / "network.yaml"
    file.write_text("topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n")
    out = folder / "regime.jsonl"
    status = run(["fingerprint", str(file), *REGIME, "--out", str(out), *options])
    assert not out.exists()
    return Exit(status)


def test_a_busy_machine_is_refused_before_the_file_is_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fingerprint(tmp_path, "--memory-at-most", "0.0001%") is Exit.PREFLIGHT
    assert "(--memory-at-most)" in capsys.readouterr().err


class BroughtUp(Exception):
    """Measuring would begin now."""


@contextmanager
def nothing_there() -> Iterator[Ends]:
    raise BroughtUp
    yield


def test_bounds_of_the_beginning_hold_when_a_file_is_continued_and_only_new_ones_replace_them(
    tmp_path: Path,
) -> None:
    out, spec = tmp_path / "regime.jsonl", plain_fabric(("a", "b"))
    header_of = partial(Header.of, spec)

    def measure(bounds: Bounds) -> None:
        measure_regime(nothing_there, header_of, "10-30", 40 * 10**9, None, out, None, 1, bounds)

    # Every machine uses more than a millionth of its memory, and was idle enough a moment ago.
    strict = header_of("10-30", 1.0, 4, {}, bounds=Bounds(memory_share=1e-6, load_per_core=1e9))
    with Recorder.open(out, strict, 40.0):
        pass
    with pytest.raises(TooBusy, match=r"memory .* used, above 0% \(--memory-at-most\)"):
        measure(ANYTHING)
    with pytest.raises(BroughtUp):
        measure(Bounds(memory_share=1.0))
    # Allowed for once: what was declared at the beginning stays in the file.
    assert read_record(out.read_bytes()).header.bounds == Bounds(load_per_core=1e9, memory_share=1e-6)


def test_a_file_of_before_bounds_were_kept_is_read(tmp_path: Path) -> None:
    out = tmp_path / "regime.jsonl"
    with Recorder.open(out, Header.of(plain_fabric(), "10-30", 1.0, 4, {}), 40.0):
        pass
    kept = b', "bounds": {"load_per_core": null, "memory_share": null, "interface_bps": null}'
    assert kept in out.read_bytes()
    assert read_record(out.read_bytes().replace(kept, b"")).header.bounds == ANYTHING


def test_what_says_how_much_a_fingerprint_measures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fingerprint(tmp_path, "--rest", "5s", "--repeat", "2") is Exit.USAGE
    assert "--rest, --repeat: only for a fingerprint" in capsys.readouterr().err
