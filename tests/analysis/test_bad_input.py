"""One table: what `crosswind` says to samples and traces that are not what it hopes for."""

import pytest

from crosswind.cli import main
from crosswind.errors import Exit

SIX = (1, 2, 4, 3, 6, 5)
ANSWERED = {
    # A clear answer: the figure, or how many trials it lacks.
    "infinite": ("ms\n" + "\n".join(map(str, (*SIX, "inf"))), "unbounded"),
    "negative": ("ms\n" + "\n".join(str(-value) for value in SIX), "-3.50"),
    "constant": ("ms\n" + "5\n" * 7, "5.00 - 5.00"),
    "one value": ("ms\n5\n", "needs 5 more trials"),
}
REFUSED = {
    "NaN": ("analyze", "ms\n1\nnan\n", "x.csv:3: ms: NaN has no rank; write inf for what never ended"),
    "empty": ("analyze", "ms\n", "x.csv:2: no rows below the names of the columns"),
    "mixed units": ("analyze", "ms\n5ms\n2s\n", 'x.csv:3: ms: "2s" is not a plain number; write all values'),
    "duplicated trials": ("analyze", "trial,ms\na,1\nb,2\na,1\n", "3 rows come from 2 trials"),
    "unsorted time": ("conditions from", "time_s,rate_mbps\n0,10\n2,10\n1,10\n", "times must increase"),
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
    text, words = ANSWERED[case]
    status, told = said(capsys, tmp_path, "analyze", text)
    assert status == Exit.DONE
    assert words in told


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_is_refused_with_its_place(case, capsys, tmp_path):
    verb, text, words = REFUSED[case]
    status, told = said(capsys, tmp_path, verb, text)
    assert status == Exit.USAGE
    assert words in told
