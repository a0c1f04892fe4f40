"""A regime's file: what a killed run leaves is read and continued, and what is missing is said."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
import regime_parts
from regime_parts import S

from crosswind.fingerprint.regime.appended import RegimeFileError
from crosswind.fingerprint.regime.points import RegimePoint
from crosswind.fingerprint.regime.record import Header, Now, Recorder, read_record
from crosswind.fingerprint.trace.trace_file import read_trace
from crosswind.testbed.plain import plain_fabric

HEADER = Header.of(plain_fabric(), "10-30", 1.0, 4, {"kernel": "x"})


def now(monotonic_s: float, wall_s: float = 0.0, boot: str = "first") -> Now:
    return Now("2026-01-01T00:00:00+00:00", boot, round(monotonic_s * S), round(wall_s * S))


def point(begin_s: float) -> RegimePoint:
    return regime_parts.point(round(begin_s * S), 1, 1448)


def written(path: Path, *begins_s: float, at: Now) -> bytes:
    """Sit down, add points, and be killed."""
    with Recorder.open(path, HEADER, 60) as recorder:
        recorder.sit(at)
        for begin_s in begins_s:
            recorder.add(point(begin_s))
    return path.read_bytes()


def test_a_file_cut_anywhere_loses_at_most_its_last_point(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    whole = written(path, 100.0, 101.0, 102.0, at=now(99.0))
    lines_end = [end for end, byte in enumerate(whole, 1) if byte == ord("\n")]
    for cut in range(lines_end[0], len(whole) + 1):
        complete = sum(end <= cut for end in lines_end)
        points = read_record(whole[:cut]).points
        assert len(points) == max(0, complete - 2)
    assert [one.begin_ns for one in points] == [1 * S, 2 * S, 3 * S]


def test_half_a_line_goes_and_the_gap_is_told_when_it_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    whole = written(path, 100.0, 101.0, at=now(99.0))
    path.write_bytes(whole[:-20])
    continued = written(path, 111.0, at=now(110.0))
    assert continued.startswith(whole[: whole[:-1].rindex(b"\n") + 1])
    record = read_record(continued)
    assert [len(sitting.points) for sitting in record.sittings] == [1, 1]
    # The last whole point ended at 101 s.
    assert record.sittings[1].begin.gap_s == 9.0
    assert [one.begin_ns / S for one in record.points] == [1.0, 12.0]
    assert record.measured_s == 2.0


def test_a_gap_over_a_restart_is_taken_from_the_date(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    written(path, 100.0, at=now(99.0))
    began_s = 1767225600.0  # 2026-01-01, when the first sitting began; it lasted 2 s.
    written(path, 6.0, at=now(5.0, began_s + 302, boot="second"))
    written(path, 6.0, at=now(5.0, began_s - 999, boot="third"))
    gaps = [sitting.begin.gap_s for sitting in read_record(path.read_bytes()).sittings]
    assert gaps[:2] == [None, 300.0]
    # The date had been set back: time does not run backwards in the file.
    assert gaps[2] == 0.0


def test_another_regime_is_refused_with_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    before = written(path, 100.0, at=now(99.0))
    with (
        pytest.raises(RegimeFileError, match=r"regime 10-30 in the file, 5-30 now.*another --out"),
        Recorder.open(path, HEADER.model_copy(update={"regime": "5-30"}), 60),
    ):
        pass
    assert path.read_bytes() == before


def test_what_is_no_regime_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for text, why in (("not mine\n", "line 1: is no line"), ("not even a line", "no whole line")):
        path.write_text(text)
        with pytest.raises(RegimeFileError, match=why), Recorder.open(path, HEADER, 60):
            pass
        assert path.read_text() == text


def test_who_was_killed_in_the_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    path.write_bytes(written(tmp_path / "whole.jsonl", at=now(99.0))[:40])
    assert len(read_record(written(path, 100.0, at=now(99.0))).points) == 1


def test_two_do_not_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    with (
        Recorder.open(path, HEADER, 60),
        pytest.raises(RegimeFileError, match="another"),
        Recorder.open(path, HEADER, 60),
    ):
        pass


def test_a_disk_that_is_too_small_is_refused_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 2 * 10**6))
    with Recorder.open(tmp_path / "an-hour.jsonl", HEADER, 3600):
        pass
    with (
        pytest.raises(RegimeFileError, match="takes up to 26 MB"),
        Recorder.open(tmp_path / "a-day.jsonl", HEADER, 86400),
    ):
        pass


def test_its_trace_is_of_the_longest_sitting_in_ip_bits(tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    written(path, 100.0, at=now(99.0))
    written(path, 111.0, 112.0, at=now(110.0))
    trace, complaint = read_trace("regime.jsonl", path.read_bytes())
    assert complaint is None
    # A full segment of 1448 bytes is a packet of 1500.
    assert trace.bits == pytest.approx([12000, 12000])
    assert trace.begin_s == pytest.approx([12.0, 13.0])


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    lines = written(tmp_path / "regime.jsonl", 100.0, 101.0, at=now(99.0)).splitlines(keepends=True)
    for damaged in (b"{}\n", b"[1]\n", b"\xff\n", b'"x"\n', b'{"begin_ns": 1}\n', b"null\n"):
        with pytest.raises(ValueError, match="line 3: is no line of a regime"):
            read_record(b"".join([*lines[:2], damaged, lines[3]]))
    with pytest.raises(ValueError, match="no whole line"):
        read_record(b"")
    with pytest.raises(ValueError, match="schema 2"):
        read_record(json.dumps({**json.loads(lines[0]), "schema": 2}).encode() + b"\n")
