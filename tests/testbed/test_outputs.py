"""Outputs of processes: head and tail, and how much lies between."""

import tracemalloc
from pathlib import Path

import pytest

from crosswind.testbed import outputs

MIB = 1 << 20


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "HEAD_BYTES", 10)
    monkeypatch.setattr(outputs, "TAIL_BYTES", 5)


@pytest.mark.usefixtures("small")
def test_a_long_output_is_head_and_tail_and_says_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "load.out"
    path.write_text("0123456789" + "x" * 1000 + "12345")
    found = outputs.printed(path)
    text = "0123456789\n[crosswind: 1000 bytes of this output are left out here]\n12345"
    assert (found.text, found.left_out_bytes) == (text, 1000)
    outputs.shorten(path)
    assert path.read_text() == text
    assert [file.name for file in tmp_path.iterdir()] == ["load.out"]


@pytest.mark.usefixtures("small")
def test_an_output_within_the_bound_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "load.out"
    path.write_bytes(b"012345678912\xff45")
    assert outputs.printed(path) == outputs.Printed("012345678912\ufffd45", 0)
    outputs.shorten(path)
    assert path.read_bytes() == b"012345678912\xff45"


def test_last_words_are_few_whatever_stands_before_them(tmp_path: Path) -> None:
    path = tmp_path / "load.err"
    path.write_text("\n".join(map(str, range(10_000))) + "\n")
    assert outputs.last_words(path) == "9997 | 9998 | 9999"
    path.write_text("x" * 100_000)
    assert len(outputs.last_words(path)) == 2048
    path.write_text("")
    assert outputs.last_words(path) == ""


def test_reading_takes_no_more_memory_than_head_and_tail(tmp_path: Path) -> None:
    path = tmp_path / "load.out"
    with path.open("wb") as file:
        file.truncate(600 * MIB)  # A hole, which takes no room on the disk.
    tracemalloc.start()
    found = outputs.printed(path)
    outputs.last_words(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.left_out_bytes == 600 * MIB - outputs.HEAD_BYTES - outputs.TAIL_BYTES
    assert peak < 200 * MIB
