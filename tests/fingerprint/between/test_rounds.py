"""All pairs over days: a file that is appended to, continued, and survives the death of its writer."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from crosswind.cli._main import run
from crosswind.fingerprint.between import over_days
from crosswind.fingerprint.between.all_pairs import PairExtent
from crosswind.fingerprint.between.document import BetweenMachine, PairFigures
from crosswind.fingerprint.between.rounds import (
    PairMeasured,
    RoundsHeader,
    RoundsRecord,
    RoundsRecorder,
    is_rounds,
    read_rounds,
)
from crosswind.fingerprint.between.rounds_table import pairs_over_rounds, print_rounds
from crosswind.fingerprint.regime.appended import RegimeFileError

NAMES = ["m0", "m1", "m2"]
DIRECTIONS = [(one, other) for one in NAMES for other in NAMES if one != other]
HEADER = RoundsHeader(
    pattern="1-300", machines=[BetweenMachine(name=name) for name in NAMES], connections=4, provenance={}
)


def measured(
    number: int, source: str, target: str, after_s: float = 1.0, ended: str | None = None
) -> PairMeasured:
    figures = PairFigures(
        source=source,
        target=target,
        ended=ended,
        delay_ns=None if ended else 1000.0 * number,
        bound_ns=500,
        loss=0.0,
        goodput_bps=None if ended else 1e9 + 1e8 * number,
    )
    return PairMeasured(
        round=number, at="2026-11-26T02:00:00+00:00", after_s=after_s, sent_bytes=10, figures=figures
    )


def test_what_was_finished_survives_a_killed_writer_and_the_round_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "between.jsonl"
    with RoundsRecorder.open(path, HEADER) as recorder:
        recorder.sit("2026-11-26T02:00:00+00:00")
        for number, pair in enumerate(DIRECTIONS):
            recorder.add(measured(1, *pair, after_s=number))
        recorder.add(measured(2, "m1", "m2", after_s=9.0))
        recorder.add(measured(2, "m2", "m1", after_s=9.5))
        recorder.add(measured(2, "m0", "m1", after_s=10.0))
    whole = path.read_bytes()
    # The writer was killed within a line.
    path.write_bytes(whole + b'{"round": 2, "at": "20')
    with RoundsRecorder.open(path, HEADER) as recorder:
        assert len(recorder.before.measured) == 9
        assert recorder.before.measured_s == 10.0
        # Of m0 and m1 one direction was not stored.
        assert recorder.before.next_round() == (2, [("m1", "m2")])
        recorder.sit("2026-11-26T03:00:00+00:00")
        recorder.add(measured(2, "m1", "m0", after_s=4.0))
    assert path.read_bytes().startswith(whole)
    again = read_rounds(path.read_bytes())
    assert (len(again.measured), again.sittings_s) == (10, (10.0, 4.0))
    assert again.next_round() == (2, [("m0", "m1"), ("m1", "m2")])


def test_a_whole_round_is_followed_by_the_next() -> None:
    record = RoundsRecord(HEADER, (1.0,), tuple(measured(3, *pair) for pair in DIRECTIONS))
    assert record.next_round() == (4, [])
    assert RoundsRecord(HEADER).next_round() == (1, [])


def test_another_testbed_or_pattern_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "between.jsonl"
    with RoundsRecorder.open(path, HEADER):
        pass
    before = path.read_bytes()
    for changed in ({"pattern": "2-300"}, {"machines": HEADER.machines[:2]}):
        with (
            pytest.raises(RegimeFileError, match="holds another measurement"),
            RoundsRecorder.open(path, HEADER.model_copy(update=changed)),
        ):
            pass
    path.write_bytes(b"my notes")
    with pytest.raises(RegimeFileError, match="give another --out"), RoundsRecorder.open(path, HEADER):
        pass
    assert path.read_bytes() == b"my notes"
    assert b'"pairs_regime"' in before


@given(st.integers(0, 2000), st.integers(0, 255))
def test_no_damage_is_more_than_one_clear_error(at: int, byte: int) -> None:
    content = bytearray(
        b"".join(
            part.model_dump_json(by_alias=True).encode() + b"\n"
            for part in (HEADER, *(measured(1, *pair) for pair in DIRECTIONS[:2]))
        )
    )
    content[at % len(content)] = byte
    with suppress(ValueError):
        read_rounds(bytes(content))


def test_rounds_go_on_until_the_time_is_over_and_a_sitting_begins_with_what_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s, asked = [0.0], []

    def measure_all(machines, extent, sent, say, done):  # type: ignore[no-untyped-def]
        asked.append(list(done))
        say("round 1 of 3")
        from pair_parts import direction

        for one, other in DIRECTIONS:
            if (one, other) not in done and (other, one) not in done:
                now_s[0] += 1
                yield direction(one, other, 100)

    monkeypatch.setattr(over_days, "measure_all", measure_all)
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(time, "sleep", lambda s: now_s.__setitem__(0, now_s[0] + s))
    path = tmp_path / "between.jsonl"
    said: list[str] = []

    @contextmanager
    def sitting():  # type: ignore[no-untyped-def]
        with RoundsRecorder.open(path, HEADER) as recorder:
            yield recorder

    with sitting() as recorder:
        # Rounds take 6 s and rest for 10 s: they begin at 0, 16 and 32 s.
        over_days.measure_rounds(None, PairExtent(), recorder, 40.0, 10.0, None, said.append)  # type: ignore[arg-type]
    record = read_rounds(path.read_bytes())
    assert [line.round for line in record.measured] == [1] * 6 + [2] * 6 + [3] * 6
    assert record.measured_s == 38.0
    assert asked == [[], [], []]
    assert "1: rest" in said
    # The writer is killed in round 3; what it still lacks comes first.
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    with sitting() as recorder:
        over_days.measure_rounds(None, PairExtent(), recorder, 40.0, 10.0, None, said.append)  # type: ignore[arg-type]
    assert asked[3] == [("m0", "m1")]


def test_the_table_has_the_range_over_rounds_and_what_is_missing() -> None:
    lines = [measured(number, *pair) for number in (1, 2, 3) for pair in DIRECTIONS]
    lines.append(measured(4, "m0", "m1", ended="agent on m1: lost"))
    record = RoundsRecord(HEADER, (20.0,), tuple(lines))
    pair = pairs_over_rounds(record)[0]
    assert (pair.rounds, pair.missing) == (3, 1)
    assert pair.values(lambda it: it.delay_ns) == [1000.0, 2000.0, 3000.0]
    out = StringIO()
    print_rounds(record, Console(file=out, width=150))
    assert "(+1 missing)" in out.getvalue()
    assert "1 us .. 3 us" in out.getvalue()


def test_the_report_of_the_file_is_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "between.jsonl"
    with RoundsRecorder.open(path, HEADER) as recorder:
        recorder.sit("2026-11-26T02:00:00+00:00")
        recorder.add(measured(1, "m0", "m1"))
    assert is_rounds(path.read_bytes())
    assert run(["report", str(path)]) == 0
    assert "3 machines" in capsys.readouterr().out
    assert run(["report", str(path), "--json"]) == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [(["--regime", "1-300"], "has no length"), (["--regime", "full-speed", "--for", "1h"], "take turns")],
)
def test_options_that_cannot_be_are_one_clear_error(
    options: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "testbed.yaml"
    file.write_text("ssh: {hosts: [m0, m1]}\n")
    assert run(["fingerprint", "--testbed", str(file), *options]) == 2
    assert why in capsys.readouterr().err
