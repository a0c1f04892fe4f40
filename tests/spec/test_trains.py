"""Recordings of CellReplay are read, or refused with line and column, and reach the engine as they are."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosswind.spec import SpecErrors, trains
from crosswind.spec.document import parse_document
from crosswind.spec.setup import setup_of
from crosswind.spec.text_lines import LineError
from crosswind.spec.trains import TrainTrace, parse_size_offsets, parse_trains

MS = 10**6
TRAINS = "0 21 0 0 3 9\n312 24 0 5\n640 22 0\n"
OFFSETS = "100 -1.5\n200 0\n300 0.25\n"


def test_a_line_is_a_train() -> None:
    assert parse_trains(TRAINS.encode()) == TrainTrace(
        (0, 312 * MS, 640 * MS),
        (21 * MS, 24 * MS, 22 * MS),
        ((0, 0, 3 * MS, 9 * MS), (0, 5 * MS), (0,)),
    )
    assert parse_size_offsets(OFFSETS.encode()) == (-1_500_000, 0, 250_000)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("312", "0", "line 2: column 1: 0 ms is not after 0 ms; times must increase"),
        ("0 21", "5 21", "line 1: column 1: the first time is 5 ms; subtract it from all"),
        ("0 3 9", "0 3 2", "line 1: column 6: 2 ms is before 3 ms; sort them"),
        ("24", "2.4", 'line 2: column 2: "2.4" is not a whole number of milliseconds'),
        ("312 24 0 5", "312 24", 'line 2: "312 24" has 2 columns; write a time, a base delay and'),
        ("312 24 0 5", "", "line 2: is empty; write a time"),
        ("\n312 24 0 5\n640 22 0", "", "has 1 trains; at least 2, because the last line is also the period"),
    ],
)
def test_a_bad_train_names_line_and_column(old: str, new: str, expected: str) -> None:
    assert old in TRAINS
    with pytest.raises(LineError) as caught:
        parse_trains(TRAINS.replace(old, new, 1).encode())
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("200 0", "250 0", 'line 2: column 1: "250" is not 200; sizes are 100, 200 and so on'),
        ("200 0", "200", "line 2: has 1 columns; write a size in bytes and milliseconds"),
        ("0.25", "1e3", 'line 3: column 2: "1e3" is not a number of milliseconds, such as -1.5'),
        (OFFSETS, "", "is empty; write a line for each size"),
    ],
)
def test_a_bad_addition_names_line_and_column(old: str, new: str, expected: str) -> None:
    with pytest.raises(LineError) as caught:
        parse_size_offsets(OFFSETS.replace(old, new, 1).encode())
    assert expected in str(caught.value)


def test_a_recording_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trains, "POINTS_MAX", 5)
    with pytest.raises(LineError, match="line 2: has packet 6; at most 5: cut the recording"):
        parse_trains(TRAINS.encode())


@settings(max_examples=300)
@given(
    st.sampled_from([TRAINS, OFFSETS]),
    st.integers(0, 40),
    st.integers(0, 5),
    st.one_of(st.binary(max_size=3), st.text(alphabet="0159 -.\n\t", max_size=5).map(str.encode)),
)
def test_a_damaged_recording_is_read_or_refused_on_one_line(
    text: str, place: int, length: int, put: bytes
) -> None:
    content = text.encode()[:place] + put + text.encode()[place + length :]
    for parse in (parse_trains, parse_size_offsets):
        message, read = "", None
        try:
            read = parse(content)
        except LineError as error:
            message = str(error)
        assert message.isprintable()
        assert (read is None) == bool(message)
        if isinstance(read, TrainTrace):
            assert len(read.at_ns) == len(read.delay_ns) == len(read.opportunities_ns) >= 2
            assert read.at_ns[0] == 0
            assert all(before < after for before, after in pairwise(read.at_ns))
            assert all(list(train) == sorted(train) for train in read.opportunities_ns)


# --- in a condition ----------------------------------------------------------------------------------------

CONDITION = """\
scale: 0.5
topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}
condition:
  phone: {switch.egress: {h0: [cellreplay: {light: trains, heavy: heavy, by_size: offsets}]}}
"""


def sent(folder: Path, text: str) -> object:
    (folder / "trains").write_text(TRAINS)
    (folder / "offsets").write_text(OFFSETS)
    (folder / "heavy").write_text("0\n0\n2\n2\n7\n")
    setup = setup_of(parse_document(text.encode(), str(folder / "x.yaml")))
    (element,) = setup.resolved(1).conditions[0].places["switch.egress"]
    return element["cellreplay"]


def test_both_recordings_reach_the_engine_and_a_scale_makes_opportunities_smaller(tmp_path: Path) -> None:
    expected = {
        "light": {
            "at_ns": [0, 312 * MS, 640 * MS],
            "delay_ns": [21 * MS, 24 * MS, 22 * MS],
            "opportunities_ns": [[0, 0, 3 * MS, 9 * MS], [0, 5 * MS], [0]],
        },
        # Those at time 0 are those at the end of the pass before.
        "heavy": {"at_ns": [2 * MS, 7 * MS], "count": [2, 3]},
        "opportunity_bytes": 700,
        "idle_ns": 0,
        "by_size_ns": [-1_500_000, 0, 250_000],
        "on": ["h0"],
    }
    assert sent(tmp_path, CONDITION) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "heavy: heavy, ",
            "",
            'x.yaml:4:32: condition.phone.switch.egress.h0[1].cellreplay: needs "heavy"',
        ),
        ("light: trains", "light: heavy", 'light "heavy" line 1: "0" has 1 columns; write a time'),
        ("heavy: heavy", "heavy: trains", 'heavy "trains" line 1: "0 21 0 0 3 9" is not a whole number'),
        ("light: trains", "light: missing", '"missing" cannot be read: no such file'),
        ("by_size: offsets", "buffer: 0B", "buffer"),
    ],
)
def test_a_bad_recording_is_refused_with_its_place(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        sent(tmp_path, CONDITION.replace(old, new))
    assert any(expected in str(problem) for problem in caught.value.problems), caught.value
