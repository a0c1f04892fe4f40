"""What a relay carries, and another machine's clock, as `crosswind-load traffic --clock` takes it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from crosswind.app.traffic import relay
from crosswind.app.traffic.relay import Way, clock_line
from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.testbed import Process, TestbedError

NS_PER_S = 1_000_000_000
# 1000 s ahead and 20 ppm faster; 5 s behind and 30 ppm slower.
FAST = ClockLine(here_ns=0, there_ns=1000 * NS_PER_S, gained_ns=20_000, over_ns=NS_PER_S, bound_ns=0)
SLOW = ClockLine(
    here_ns=10 * NS_PER_S, there_ns=5 * NS_PER_S, gained_ns=-30_000, over_ns=NS_PER_S, bound_ns=0
)


@pytest.mark.parametrize("own", [SAME_CLOCK, FAST, SLOW])
@pytest.mark.parametrize("other", [SAME_CLOCK, FAST, SLOW])
def test_a_clock_over_another_leads_where_both_lead(own: ClockLine, other: ClockLine) -> None:
    here_ns, there_ns, gained_ns, over_ns = map(int, clock_line(own, other, 50 * NS_PER_S).split(","))
    line = ClockLine(here_ns=here_ns, there_ns=there_ns, gained_ns=gained_ns, over_ns=over_ns, bound_ns=0)
    for at_ns in (40 * NS_PER_S, 50 * NS_PER_S, 400 * NS_PER_S):
        assert abs(line.there(own.there(at_ns)) - other.there(at_ns)) <= 10


class End:
    """One end of a relay: what it has printed, and whether it has ended."""

    node = "far"

    def __init__(self) -> None:
        self.output = b"listening\n"
        self.ended: object = None

    def __str__(self) -> str:
        return "relay-far on far"

    def printed_from(self, offset: int) -> bytes:
        return self.output[offset:]

    def update_files(self) -> None:
        return


def way(folder: Path) -> tuple[End, Way, Path]:
    heard = folder / "trial" / "near" / "heard-far"
    heard.mkdir(parents=True)
    source = End()
    return source, Way(cast(Process, source), len(source.output), cast(Process, End()), heard), heard


def test_what_is_printed_comes_as_files_and_the_end_as_an_empty_one(tmp_path: Path) -> None:
    source, carried, heard = way(tmp_path)
    assert not carried.carry()
    for text in (b"one", b"two"):
        source.output += text
        assert carried.carry()
        assert not carried.carry()
    source.output += b"last"
    source.ended = True
    assert carried.carry()
    assert not carried.is_over
    assert carried.carry()
    assert carried.is_over
    assert not carried.carry()
    assert [(heard / str(number)).read_bytes() for number in range(4)] == [b"one", b"two", b"last", b""]
    assert len(list(heard.iterdir())) == 4


def test_a_machine_that_does_not_stop_to_print_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "FILE_BYTES_MAX", 100)
    source, carried, heard = way(tmp_path)
    source.output += b"x" * 200
    with pytest.raises(TestbedError, match="relay-far on far: printed more than 100 bytes"):
        carried.carry()
    assert not list(heard.iterdir())
