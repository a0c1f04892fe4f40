"""Quantities have a unit, or are refused with the units that would do."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.spec import quantities
from crosswind.spec.buffer import BufferSize, read_buffer_size, read_buffer_size_or_unlimited
from crosswind.spec.quantities import RATE, SIZE, TIME, Dimension, Intensity, QuantityError


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("10Gbit/s", 10**10),
        ("100 Mbit/s", 10**8),
        ("1.5kbit/s", 1500),
        ("1bit/s", 1),
        ("unlimited", None),
    ],
)
def test_rates_are_bits_per_second(text: str, rate_bps: int | None) -> None:
    assert quantities.read_rate(text) == rate_bps


def test_sizes_know_powers_of_two_and_of_ten() -> None:
    assert [SIZE.read(text) for text in ("512KiB", "100kB", "1MiB", "7B")] == [524288, 100_000, 1048576, 7]


def test_times_are_nanoseconds() -> None:
    assert [TIME.read(text) for text in ("2us", "0.5us", "5s", "30min", "0s")] == [
        2000,
        500,
        5 * 10**9,
        1800 * 10**9,
        0,
    ]


def test_dscps_have_names_and_numbers() -> None:
    # RFC 2597: AF43 is 100110; RFC 3246: EF is 101110; RFC 2474: CS0 is the default.
    assert [quantities.read_dscp(value) for value in ("AF43", "ef", "CS0", 0, 63)] == [
        0b100110,
        0b101110,
        0,
        0,
        63,
    ]


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (quantities.read_rate, 10, '"10" has no unit; write 10Mbit/s (units: bit/s, kbit/s, '),
        (quantities.read_rate, "10", '"10" has no unit; write 10Mbit/s'),
        (quantities.read_rate, "10mbps", '"10mbps" has an unknown unit; write 10Mbit/s'),
        (quantities.read_rate, "10gbit/s", "write 10Gbit/s"),
        (quantities.read_rate, "10parsec", "units are bit/s"),
        (quantities.read_rate, "-1Mbit/s", "is negative"),
        (
            quantities.read_rate,
            "0Mbit/s",
            "is zero and would never send; write a rate above zero, or unlimited",
        ),
        (quantities.read_rate, "0.5bit/s", "is not a whole number of bit/s"),
        (quantities.read_rate, "fast", '"fast" is not a rate'),
        (quantities.read_rate, None, "an empty value is not a rate"),
        (quantities.read_rate, True, '"true" is not a rate'),
        (quantities.read_rate, [1], "a list is not a rate"),
        (quantities.read_rate, "99999999Tbit/s", "is too large"),
        (TIME.read, "5m", "write 5min"),
        (TIME.read, "5 µs", "write 5us"),
        (SIZE.read_positive, "0B", "is zero"),
        (read_buffer_size_or_unlimited, 5, '"5" has no unit; write 5kB'),
        (read_buffer_size, "0packets", '"0packets" is zero; a buffer must hold a packet'),
        (read_buffer_size, "5", "or packets such as 1000packets, or a time such as 5ms"),
        (read_buffer_size, "0ms", "is zero"),
        (read_buffer_size, "unlimited", '"unlimited" is not a size'),
        (quantities.read_share, 5, '"5" has no unit; write 5%'),
        (quantities.read_share, 0.95, '"0.95" has no unit; write 95% or 0.95%'),
        (quantities.read_share, "101%", "outside 0% to 100%"),
        (quantities.read_intensity, "50", "or a share of the uplink such as 50%"),
        (quantities.read_operations_per_second, 1000, '"1000" has no unit; write 1000/s'),
        (quantities.read_operations_per_second, "0/s", "remove the rate for a closed loop"),
        (quantities.read_dscp, 64, "is not a DSCP"),
        (quantities.read_dscp, "AF53", "is not a DSCP"),
        (quantities.read_dscp, True, "is not a DSCP"),
    ],
)
def test_what_is_refused_names_value_and_remedy(read, value, message) -> None:
    with pytest.raises(QuantityError) as caught:
        read(value)
    assert message in str(caught.value)


def test_a_buffer_is_what_its_unit_says() -> None:
    assert read_buffer_size("512KiB") == BufferSize(size_bytes=524_288)
    assert read_buffer_size("1000packets") == read_buffer_size("1000 packets") == BufferSize(packets=1000)
    assert read_buffer_size("1 packet") == BufferSize(packets=1)
    assert read_buffer_size("2.5ms") == BufferSize(time_ns=2_500_000)
    assert read_buffer_size_or_unlimited("unlimited") == BufferSize()


def test_an_intensity_is_a_rate_or_a_share_of_the_uplink() -> None:
    assert quantities.read_intensity("50%").of(10**9) == 5 * 10**8
    assert quantities.read_intensity("5Gbit/s") == Intensity(rate_bps=5 * 10**9)
    assert quantities.read_intensity("5Gbit/s").of(1) == 5 * 10**9


DIMENSIONS = st.sampled_from([RATE, SIZE, TIME])


@given(DIMENSIONS, st.integers(0, 10**9), st.integers(0, 999), st.data())
def test_reading_is_exact(dimension: Dimension, whole: int, thousandths: int, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(sorted(dimension.units)))
    exact = (whole + Fraction(thousandths, 1000)) * dimension.units[unit]
    text = f"{whole}.{thousandths:03d}{unit}"
    if exact.denominator != 1 or exact >= 2**63:
        with pytest.raises(QuantityError):
            dimension.read(text)
    else:
        assert dimension.read(text) == exact


ANYTHING = st.one_of(
    st.text(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(), st.none(), max_size=2),
    st.from_regex(r"[+-]?[0-9]+(\.[0-9]*)? ?[a-zA-Zµ/%]*"),
)
READERS = st.sampled_from(
    [
        quantities.read_rate,
        quantities.read_share,
        quantities.read_intensity,
        quantities.read_dscp,
        quantities.read_operations_per_second,
        read_buffer_size,
        read_buffer_size_or_unlimited,
        TIME.read,
        TIME.read_positive,
        SIZE.read_positive,
    ]
)


@given(READERS, ANYTHING)
def test_whatever_is_written_is_read_or_refused_in_one_line(read, value) -> None:
    assert "\n" not in refusal(read, value)


def refusal(read, value) -> str:
    try:
        read(value)
    except QuantityError as error:
        return str(error)
    return ""
