"""Logs of links are read as each format means them, or refused with line, column and rule."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crosswind.spec import SpecErrors, link_log
from crosswind.spec.document import parse_document
from crosswind.spec.link_log import FORMATS, LinkLog, parse_log
from crosswind.spec.setup import setup_of
from crosswind.spec.text_lines import LineError

S, MS = 10**9, 10**6

# In the columns of each format, with values of our own.
LOGS = {
    "g-nettrack": """\
Timestamp,Speed,CellID,DL_bitrate,UL_bitrate,State,PINGAVG
2019.12.16_23.59.58,0,11,72,20,D,-
2019.12.16_23.59.59,0,11,0,0,I,-
2019.12.17_00.00.01,0,11,9000,0,D,40.5
2019.12.17_00.00.01,0,11,8000,0,D,41
2019.12.17_00.00.04,0,11,0,16,D,-
""",
    "lumos5g": """\
run_num,seq_num,abstractSignalStr,Throughput,mobility_mode
3,7,1,1.5,walking
3,8,1,0,walking
3,10,1,840,walking
""",
    "starlink-grpc": """\
datetimestamp_utc,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps,uplink_throughput_bps,snr
2024-01-15T10:30:00,0.0,35.25,15000000.7,2000000,
2024-01-15T10:30:01,1.0,,0.2,0.0,
2024-01-15T10:30:02.5,0.0,31,9000000,100,
""",
    "wetlinks": """\
site_name,timestamp,state,uplink,downlink,pop_ping_latency,ping_drop
Nowhere,2023-10-01T12:00:00+02:00,CONNECTED,1.5,20,30,0
Nowhere,2023-10-01T10:00:15+00:00,CONNECTED,0,10,50,0
""",
    "lens": """\
timestamp,rtt,uplink,downlink
1714521600000000000,30.5,12.5,18
1714521600020000000,-1,0,0
1714521600040000000,31.5,13,18.5
""",
}
EXPECTED = {
    # Half of 41 ms from the last of the rows at that second on, and before, because nothing else is known.
    "g-nettrack": LinkLog(
        (0, 3 * S, 6 * S),
        (20_000, 0, 16_000),
        (72_000, 8_000_000, 0),
        (20_500_000,) * 3,
        (20_500_000,) * 3,
    ),
    "lumos5g": LinkLog((0, S, 3 * S), None, (1_500_000, 0, 840_000_000), None, None),
    # 0.2 bit/s is not an outage.
    "starlink-grpc": LinkLog(
        (0, S, 2 * S + 500 * MS),
        (2_000_000, 0, 100),
        (15_000_001, 1, 9_000_000),
        (17_625_000, 17_625_000, 15_500_000),
        (17_625_000, 17_625_000, 15_500_000),
    ),
    "wetlinks": LinkLog(
        (0, 15 * S),
        (1_500_000, 0),
        (20_000_000, 10_000_000),
        (15 * MS, 25 * MS),
        (15 * MS, 25 * MS),
    ),
    "lens": LinkLog(
        (0, 20 * MS, 40 * MS), None, None, (12_500_000, 12_500_000, 13 * MS), (18 * MS, 18 * MS, 18_500_000)
    ),
}


def test_every_format_has_an_example() -> None:
    assert set(LOGS) == set(EXPECTED) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_is_read_as_its_format_means_it(name: str) -> None:
    assert parse_log(name, LOGS[name].encode()) == EXPECTED[name]
    marked = "# mine\n\n" + LOGS[name].replace("\n", "\r\n")
    assert parse_log(name, b"\xef\xbb\xbf" + marked.encode()) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("g-nettrack", "DL_bitrate", "DL", "line 1: has no column DL_bitrate; a log of g-nettrack has"),
        ("g-nettrack", "Speed", "State", "line 1: has more than one column State; a log of"),
        ("g-nettrack", "11,72,", "11,7x,", 'line 2: column DL_bitrate (4): "7x" is not a number; write one'),
        ("g-nettrack", "11,72,", "11,-7,", 'line 2: column DL_bitrate (4): "-7" is negative; write a number'),
        ("g-nettrack", "11,72,", "11,9e18,", 'column DL_bitrate (4): "9e18" is too large; at most 92233720'),
        ("g-nettrack", ",41\n", ",4.1.1\n", 'line 5: column PINGAVG (7): "4.1.1" is not a number'),
        ("g-nettrack", "0,11,9000", "11,9000", "line 4: has 6 cells, and the header has 7; write one"),
        ("g-nettrack", "16_23.59.58", "18_23.59.58", 'line 4: column Timestamp (1): "2019.12.17_00.00.01"'),
        ("g-nettrack", "2019.12.16_23.59.58", "16/12/19", '"16/12/19" is not a time such as 2019.12.16'),
        ("g-nettrack", "72,20,D,-", '"72,20,D,-', "is not a line of CSV; close every quote"),
        ("lumos5g", "3,8", "4,8", 'line 3: column run_num (1): begins run "4" after "3"; leave one'),
        ("lumos5g", "3,7", "3,-7", 'line 2: column seq_num (2): "-7" is outside of 1970 to 2262'),
        ("starlink-grpc", "2024-01-15T10:30:00", "10:30", 'line 2: column datetimestamp_utc (1): "10:30" is'),
        ("wetlinks", "1.5,20,", ",20,", "column uplink: has no rate above 0, so nothing would ever pass"),
        ("lens", "12.5,18\n", "0,18\n", None),
    ],
)  # fmt: skip
def test_an_error_names_line_column_and_rule(name: str, old: str, new: str, expected: str | None) -> None:
    assert old in LOGS[name]
    content = LOGS[name].replace(old, new, 1).encode()
    if expected is None:
        # A delay that was not measured is that of the next row that has one.
        assert parse_log(name, content).up_delay_ns == (13 * MS,) * 3
        return
    with pytest.raises(LineError) as caught:
        parse_log(name, content)
    assert expected in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", ["", "# nothing\n", "a,b\n", "\n\n\n"])
def test_a_log_without_its_header_is_refused(name: str, content: str) -> None:
    with pytest.raises(LineError, match=r"is empty; a log of|has no column"):
        parse_log(name, content.encode())


def test_a_log_without_measurements_or_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    head, *rows = LOGS["g-nettrack"].splitlines(keepends=True)
    with pytest.raises(LineError, match="has no rows with measurements"):
        parse_log("g-nettrack", (head + rows[1]).encode())
    monkeypatch.setattr(link_log, "POINTS_MAX", 2)
    with pytest.raises(LineError, match="line 6: is row 3; at most 2: cut the log"):
        parse_log("g-nettrack", LOGS["g-nettrack"].encode())


@settings(max_examples=300)
@given(
    st.sampled_from(sorted(FORMATS)),
    st.one_of(
        st.tuples(st.integers(0, 300), st.integers(0, 9), st.binary(max_size=3)),
        st.tuples(
            st.integers(0, 300),
            st.integers(0, 9),
            st.text(alphabet='-+.,eE"\n0159nai ', max_size=6).map(str.encode),
        ),
    ),
)
@example("lens", (30, 0, b"\xe2\x80\xa8"))
@example("lumos5g", (45, 0, b"9" * 3))
def test_a_damaged_log_is_read_or_refused_on_one_line(name: str, damage: tuple[int, int, bytes]) -> None:
    place, length, put = damage
    content = LOGS[name].encode()
    content = content[:place] + put + content[place + length :]
    message, log = "", None
    try:
        log = parse_log(name, content)
    except LineError as error:
        message = str(error)
    assert message.isprintable()
    if log is None:
        assert message
        return
    assert log.at_ns[0] == 0
    assert all(before < after for before, after in pairwise(log.at_ns))
    for values in (log.up_bps, log.down_bps, log.up_delay_ns, log.down_delay_ns):
        assert values is None or (len(values) == len(log.at_ns) and all(0 <= each < 2**63 for each in values))


# --- in a condition ----------------------------------------------------------------------------------------

CONDITION = """\
scale: 0.5
topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}
condition:
  bus: {link: {h0: [capacity: {log: {g-nettrack: bus.csv}, direction: down, repeat: true}]}}
"""


def sent(folder: Path, text: str, content: str) -> dict[str, object]:
    (folder / "bus.csv").write_text(content)
    setup = setup_of(parse_document(text.encode(), str(folder / "x.yaml")))
    (element,) = setup.resolved(1).conditions[0].places["link"]
    return element["capacity"]["process"]


def test_one_direction_of_a_log_drives_the_link(tmp_path: Path) -> None:
    assert sent(tmp_path, CONDITION, LOGS["g-nettrack"]) == {
        "log": {
            "at_ns": [0, 3 * S, 6 * S],
            "rate_bps": [36_000, 4_000_000, 0],
            "delay_ns": [20_500_000] * 3,
            "repeat_ns": 9 * S,
        }
    }
    delays = CONDITION.replace("g-nettrack", "lens").replace(", repeat: true", "")
    assert sent(tmp_path, delays, LOGS["lens"]) == {
        "log": {"at_ns": [0, 20 * MS, 40 * MS], "delay_ns": [18 * MS, 18 * MS, 18_500_000], "repeat_ns": None}
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            ", direction: down",
            "",
            'x.yaml:4:31: condition.bus.link.h0[1]: capacity needs "direction", because',
        ),
        ("g-nettrack", "gnettrack", 'unknown key "gnettrack"; did you mean "g-nettrack"?'),
        ("{g-nettrack: bus.csv}", "bus.csv", "must be a mapping"),
        ("{g-nettrack: bus.csv}", "{}", "must have one file; write its format and the file"),
        ("bus.csv}", "tram.csv}", '"tram.csv" cannot be read: no such file'),
        ("repeat: true", "repeat: 6s", "repeats after 6000000000ns, but the last row"),
        ("repeat: true", "resample: 6s", "does not go with log, only with steps or trace"),
        ("repeat: true", "steps: {0s: 1Mbit/s}", "has steps and log; write exactly one of"),
    ],
)
def test_a_condition_with_a_log_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in CONDITION
    with pytest.raises(SpecErrors) as caught:
        sent(tmp_path, CONDITION.replace(old, new), LOGS["g-nettrack"])
    assert any(expected in str(problem) for problem in caught.value.problems), caught.value


def test_a_direction_that_a_format_does_not_have_is_refused(tmp_path: Path) -> None:
    text = CONDITION.replace("g-nettrack", "lumos5g")
    assert sent(tmp_path, text, LOGS["lumos5g"])
    with pytest.raises(SpecErrors, match="lumos5g has no column for up; write down"):
        sent(tmp_path, text.replace("down", "up"), LOGS["lumos5g"])
