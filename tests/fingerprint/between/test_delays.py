"""One-way delays from what two machines noted on clocks that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from crosswind.fingerprint.between.answers import ClockLook, DatagramsExchanged, SocketsOpened, WallReading
from crosswind.fingerprint.between.delays import delays_between
from crosswind.testbed import TestbedError

MS, S = 1_000_000, 1_000_000_000
# So late that no clock that is behind shows less than 0.
BEGAN_NS = 20_000 * S


def ends(
    offset_ns: int,
    skew_ppb: int,
    there_ns: int,
    back_ns: int,
    error_ns: int = 0,
    *,
    bound_ns: int | None = None,
    steps: int = 0,
    walls_ns: int | None = None,
    walls_differ_ns: int = 0,
) -> tuple[DatagramsExchanged, DatagramsExchanged]:
    """Return what both ends note: the far clock is ahead by `offset_ns`, and runs faster.

    The estimate is wrong by `error_ns`, which is its bound unless there is another one. The wall clocks
    differ by `walls_differ_ns`, and their kernels say that each is wrong by `walls_ns` at most.
    """

    def far_clock(near_ns: int) -> int:
        return near_ns + offset_ns + (near_ns - BEGAN_NS) * skew_ppb // 1_000_000_000

    def look(at_ns: int) -> ClockLook:
        found = far_clock(at_ns) - at_ns + error_ns
        return ClockLook(
            now_ns=at_ns,
            offset_ns=found,
            bound_ns=abs(error_ns) if bound_ns is None else bound_ns,
            skew_ppb=skew_ppb,
            steps=steps,
        )

    sent_ns = [BEGAN_NS + number * 5 * MS for number in range(400)]
    looks = [look(BEGAN_NS + number * 250 * MS) for number in range(9)]
    answered = [[number, at_ns, at_ns + there_ns + back_ns] for number, at_ns in enumerate(sent_ns)]
    near = DatagramsExchanged(
        sent=400,
        latest_ns=0,
        arrived=[[number, far_clock(at_ns), at_ns + back_ns] for number, at_ns in enumerate(sent_ns)][:-2],
        answered=answered,
        clocks=looks,
        wall=WallReading(now_ns=BEGAN_NS, wall_ns=99 * S, error_ns=walls_ns),
        forged=0,
    )
    far = DatagramsExchanged(
        sent=400,
        latest_ns=7,
        arrived=[[number, at_ns, far_clock(at_ns + there_ns)] for number, at_ns in enumerate(sent_ns)],
        answered=[],
        clocks=[],
        wall=WallReading(
            now_ns=far_clock(BEGAN_NS + S), wall_ns=100 * S + walls_differ_ns, error_ns=walls_ns
        ),
        forged=0,
    )
    return near, far


@given(
    st.integers(-10_000 * S, 10_000 * S),
    st.integers(-100_000, 100_000),
    st.integers(10_000, 50 * MS),
    st.integers(10_000, 50 * MS),
)
def test_with_known_clocks_both_directions_are_found(
    offset_ns: int, skew_ppb: int, there_ns: int, back_ns: int
) -> None:
    there, back = delays_between(*ends(offset_ns, skew_ppb, there_ns, back_ns))
    # Whole nanoseconds are rounded a few times; a delay is measured on the near clock.
    assert all(abs(delay_ns - there_ns) <= 4 for delay_ns in there.delay_ns)
    assert all(abs(delay_ns - back_ns) <= 4 for delay_ns in back.delay_ns)
    assert there.bound_ns <= 4


@given(st.integers(-5 * MS, 5 * MS))
def test_an_error_of_the_clock_is_within_the_bound_and_the_sum_is_not_wrong(error_ns: int) -> None:
    there, back = delays_between(*ends(3 * S, 0, 20 * MS, 30 * MS, error_ns))
    assert abs(there.delay_ns[0] - 20 * MS) <= there.bound_ns
    assert abs(back.delay_ns[0] - 30 * MS) <= back.bound_ns
    assert there.delay_ns[0] + back.delay_ns[0] == 50 * MS


def test_wall_clocks_that_are_synchronised_show_how_the_directions_differ() -> None:
    # 40 ms there and 10 ms back look like 25 ms each way.
    way = (7 * S, 0, 40 * MS, 10 * MS, 15 * MS)
    blind, _ = delays_between(*ends(*way, bound_ns=25 * MS))
    assert (blind.delay_ns[0], blind.bound_ns) == (25 * MS, 25 * MS)
    there, back = delays_between(*ends(*way, bound_ns=25 * MS, walls_ns=MS, walls_differ_ns=-MS))
    # Each is wrong by 1 ms at most.
    assert there.bound_ns == 2 * MS
    assert abs(there.delay_ns[0] - 40 * MS) <= 2 * MS
    assert abs(back.delay_ns[0] - 10 * MS) <= 2 * MS
    assert there.note is None


def test_wall_clocks_that_contradict_the_round_trips_are_left_out_and_a_note_says_so() -> None:
    way = (7 * S, 0, 40 * MS, 10 * MS)
    there, _ = delays_between(*ends(*way, bound_ns=25 * MS, walls_ns=MS, walls_differ_ns=S))
    assert (there.delay_ns[0], there.bound_ns) == (40 * MS, 25 * MS)
    assert there.note is not None
    assert "check NTP" in there.note


def test_losses_and_round_trips_belong_to_the_direction_of_the_probe() -> None:
    there, back = delays_between(*ends(0, 0, MS, 2 * MS))
    assert (there.lost, back.lost) == (0, 2)
    assert there.round_trip_ns == [3 * MS] * 400
    assert back.round_trip_ns == []
    assert (there.late_ns, back.late_ns) == (0, 7)


def test_a_clock_that_was_set_is_an_error() -> None:
    with pytest.raises(TestbedError, match="a clock was set"):
        delays_between(*ends(0, 0, MS, MS, steps=1))


def test_without_an_estimate_there_are_no_delays() -> None:
    near, far = ends(0, 0, MS, MS)
    unknown = near.model_copy(update={"clocks": [ClockLook(now_ns=1)]})
    with pytest.raises(TestbedError, match="clock is unknown"):
        delays_between(unknown, far)


def test_a_machine_that_invents_arrivals_is_an_error() -> None:
    near, far = ends(0, 0, MS, MS)
    for arrived in ([[400, 1, 2]], [[0, 1, 2], [0, 1, 2]]):
        with pytest.raises(TestbedError, match="that were not sent"):
            delays_between(near, far.model_copy(update={"arrived": arrived}))


@pytest.mark.parametrize("row", [[1, 2], [1, 2, 3, 4], [-1, 2, 3], [1, 2, 2**64], ["1", 2, 3]])
def test_an_answer_of_another_form_is_refused(row: list[object]) -> None:
    near, _ = ends(0, 0, MS, MS)
    with pytest.raises(ValidationError):
        DatagramsExchanged.model_validate(near.model_dump() | {"arrived": [row]})
    with pytest.raises(ValidationError):
        SocketsOpened.model_validate({"datagrams": "10.0.0.1", "connections": "x:1"})


def test_a_machine_names_ports_and_no_address_that_others_send_to() -> None:
    opened = SocketsOpened(datagrams="192.0.2.9:53", connections="[2001:db8::1]:80")
    assert opened.at("10.0.0.7") == ("10.0.0.7:53", "10.0.0.7:80")
    assert opened.at("fd00::7") == ("[fd00::7]:53", "[fd00::7]:80")
