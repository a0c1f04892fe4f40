"""Numbers of what real programs wrote, and what is refused."""

from io import BytesIO
from pathlib import Path

import pytest

from crosswind.app.command.json_path import read_path, value_at
from crosswind.app.command.result import NoResult, column_of, from_json, from_regex, statistics_of
from crosswind.app.command.unit import unit_of
from crosswind.spec.quantities import QuantityError

CAPTURED = Path(__file__).parent / "captured"
CURL = (CAPTURED / "curl.json").read_text()  # curl 7.88.1, -w '%{json}'
DD = (CAPTURED / "dd.txt").read_text()  # dd of GNU coreutils 9.1
DD_SPEED = r"(?P<value>[0-9.]+) (?P<unit>[kMG]?B/s)$"


def test_a_key_of_a_json_document_is_read_in_base_units() -> None:
    assert from_json(CURL, "time_total", "s") == pytest.approx(0.035069e9)
    assert from_json(CURL, "speed_download", "B/s") == 6558


def test_other_output_may_stand_above_the_last_line_of_json() -> None:
    assert from_json(f"connecting...\ndone\n{CURL}\n", "num_connects", "count") == 1


def test_a_document_that_is_cut_off_is_refused() -> None:
    for length in (0, 1, 100, len(CURL) - 1):
        with pytest.raises(NoResult, match="neither it nor its last line is JSON"):
            from_json(CURL[:length], "time_total", "s")


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ('{"p99": 1}', "p95", 'the document has no key "p95"; did you mean "p99"?'),
        ('{"a": {"b": 1}}', "a.xyz", 'a has no key "xyz"; there are b'),
        ('{"a": [1, 2]}', "a[2]", "a is a list of 2, without item 2"),
        ('{"a": 1}', "a.b", "a is \"1\", which has no 'b'"),
        ('{"a": "12"}', "a", 'a is "12", not a number'),
        ('{"a": true}', "a", "not a number"),
        ('{"a": null}', "a", "not a number"),
        ('{"a": NaN}', "a", "a: nan is not a finite number"),
        ('{"a": 1e999}', "a", "a: inf is not a finite number"),
    ],
)
def test_what_is_no_number_in_json_is_refused_with_the_reason(document: str, path: str, message: str) -> None:
    with pytest.raises(NoResult) as refused:
        from_json(document, path, "ms")
    assert message in str(refused.value)


def test_paths_step_through_lists_and_quoted_keys() -> None:
    document = {"a": [{"b.c": 7}]}
    assert value_at(document, read_path('a[-1]["b.c"]')) == 7


@pytest.mark.parametrize("path", ["", ".", ".a", "a..b", "a[", "a[x]", "a]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(QuantityError, match="is not a path in JSON"):
        read_path(path)


def test_a_pattern_finds_a_number_with_the_unit_that_was_printed() -> None:
    assert from_regex(DD, DD_SPEED, "MB/s") == pytest.approx(8.9e9)
    assert from_regex(DD, r"copied, (?P<value>\S+) s", "s") == pytest.approx(0.0147029e9)


def test_the_last_match_counts() -> None:
    assert from_regex("rate 1\nrate 2\nrate 3\n", r"^rate (?P<value>\d+)$", "1/s") == 3


@pytest.mark.parametrize(
    ("pattern", "unit", "message"),
    [
        (r"took (?P<value>\d+)", "s", "matches nothing in it"),
        (r"(?P<value>records) in", "count", '"records" is not a number'),
        (DD_SPEED, "ms", "is in GB/s, which cannot be converted to ms"),
        (r"(?P<value>[0-9]+) (?P<unit>bytes)", "B", '"bytes" is not a unit; write B'),
    ],
)
def test_what_a_pattern_does_not_give_is_refused(pattern: str, unit: str, message: str) -> None:
    with pytest.raises(NoResult) as refused:
        from_regex(DD, pattern, unit)
    assert message in str(refused.value)


def test_a_column_of_numbers_has_quantiles_and_a_mean() -> None:
    # 1 to 101: the quantile q of type 7 is 1 + 100 q.
    text = "# latencies\n" + "\n".join(str(number) for number in range(1, 102)) + "\n"
    numbers = column_of(BytesIO(text.encode()), None)
    found = statistics_of(numbers, "us")
    assert found["p50"] == pytest.approx(51e3)
    assert found["p99"] == pytest.approx(100e3)
    assert (found["max"], found["mean"]) == (pytest.approx(101e3), pytest.approx(51e3))


def test_a_column_of_csv_is_found_by_its_name() -> None:
    file = BytesIO(b'when,"latency, us"\n1,5\n2,7\n')
    assert list(column_of(file, "latency, us")) == [5, 7]


def test_a_column_that_is_no_text_is_refused_with_its_line() -> None:
    with pytest.raises(NoResult, match="line 2: is not UTF-8"):
        column_of(BytesIO(b"1\n\xff\n"), None)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", None, "it has no numbers"),
        ("1\nnan\n", None, "line 2: nan is not a finite number"),
        ("1\ntwo\n", None, 'line 2: "two" is not a number'),
        ("a,b\n1,2\n", "c", 'it has no column "c"; its header is a, b'),
        ("a,b\n1\n", "b", 'line 2 has 1 columns and ends before "b"'),
        ("a,b\n", "b", "it has no numbers"),
        ("", "b", "its header is empty"),
    ],
)
def test_a_column_without_numbers_is_refused(text: str, column: str | None, message: str) -> None:
    with pytest.raises(NoResult) as refused:
        column_of(BytesIO(text.encode()), column)
    assert message in str(refused.value)


def test_units_lead_to_the_units_of_the_tables() -> None:
    assert (unit_of("ms").base, unit_of("ms").factor) == ("ns", 1e6)
    assert (unit_of("µs").base, unit_of("KiB/s").factor) == ("ns", 1024)
    with pytest.raises(QuantityError, match="write ms"):
        unit_of("msec")
