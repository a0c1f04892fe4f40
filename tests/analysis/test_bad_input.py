"""One table: what `crosswind` says to samples and traces that are not what it hopes for."""

import pytest

from crosswind.cli import main
from crosswind.errors import Exit

SIX = (1, 2, 4, 3, 6, 5)
TEN_MILLION = "ms\n" + "5\n" * 10_000_000
ANSWERED = {
    # A clear answer: the figure, or how many trials it lacks.
    "infinite": ("analyze", "ms\n" + "\n".join(map(str, (*SIX, "inf"))), "unbounded"),
    "negative": ("analyze", "ms\n" + "\n".join(str(-value) for value in SIX), "-3.50"),
    "constant": ("analyze", "ms\n" + "5\n" * 7, "5.00 - 5.00"),
    "one value": ("analyze", "ms\n5\n", "needs 5 more trials"),
    "sessions, as they are asked for": (
        "analyze --trial session --each p50",
        "session,trial,ms\n" + "".join(f"{s},t{s}{t},{s}\n" for s in (1, 2, 3) for t in (1, 2)),
        "needs 3 more trials",
    ),
    "all in one session": ("analyze", "session,run,ms\n1,1,5\n1,2,5\n", "needs 4 more trials"),
    "unsorted time that is not asked for": ("analyze --unordered", "time,ms\n2,10\n1,11\n", "10.5"),
    "times that begin anew in each trial": (
        "analyze --each p50",
        "run,time,ms\n1,3,4\n1,4,8\n2,1,7\n2,3,9\n",
        "7.00",
    ),
}
REFUSED = {
    "NaN": ("analyze", "ms\n1\nnan\n", "x.csv:3: ms: NaN has no rank; write inf for what never ended"),
    "empty": ("analyze", "ms\n", "x.csv:2: there are no rows below the names of the columns"),
    "decimals with a comma": (
        "analyze --column ms",
        "ms;net\n1,5;a\n",
        'x.csv:2: ms: "1,5" has a comma; write decimals with',
    ),
    "a figure that no trial has": (
        "analyze --each mode",
        "run,ms\n1,1\n1,2\n",
        '"mode" is not a quantile; write p50 for the median, or p99.9, or sum, mean, sd, jain of shares',
    ),
    "a share without its unit": (
        "analyze --confidence 0.95",
        "ms\n1\n",
        '"0.95" has no unit; write 95% or 0.95%',
    ),
    "mixed units": ("analyze", "ms\n5ms\n2s\n", 'x.csv:3: ms: "2s" is not a plain number; write all values'),
    "mixed units, said beside": ("analyze", "ms,unit\n5,ms\n2,s\n", "x.csv:3: unit: ms and s in one file"),
    "10^7 values": ("analyze", TEN_MILLION, "10000000 values: too many for trials"),
    "duplicated trials": ("analyze", "trial,ms\na,1\nb,2\na,1\n", "3 rows come from 2 trials"),
    "trials that share sessions": (
        "analyze",
        "session,trial,ms\n" + "".join(f"{s},t{s}{t},{s + t}\n" for s in (1, 2, 3) for t in (1, 2)),
        "trials come from 3 sessions (column session)",
    ),
    "unsorted time": ("analyze", "time,ms\n2,10\n1,11\n", "x.csv:3: time: is before the row above"),
    "unsorted dates": (
        "analyze",
        "started,ms\n2026-11-22T10:00:00Z,1\n2026-11-22T10:30:00+02:00,2\n",
        "x.csv:3: started: is before the row above",
    ),
    "no time at all": (
        "analyze",
        "date,ms\nMonday,1\n",
        'x.csv:2: date: "Monday" is no instant; write seconds',
    ),
    "unsorted time of a trace": (
        "conditions from",
        "time_s,rate_mbps\n0,10\n2,10\n1,10\n",
        "times must increase",
    ),
}


def said(capsys: pytest.CaptureFixture[str], tmp_path, verb: str, text: str) -> tuple[int, str]:
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        main([*verb.split(), str(file)])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


@pytest.mark.parametrize("case", ANSWERED)
def test_what_can_be_answered_is(case, capsys, tmp_path):
    verb, text, words = ANSWERED[case]
    status, told = said(capsys, tmp_path, verb, text)
    assert status == Exit.DONE
    assert words in told


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_is_refused_with_its_place(case, capsys, tmp_path):
    verb, text, words = REFUSED[case]
    status, told = said(capsys, tmp_path, verb, text)
    assert status == Exit.USAGE
    assert words in told
