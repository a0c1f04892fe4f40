"""Traces are read, or refused with their line: a corpus with its answers, and files that nobody wrote."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crosswind.spec import text_lines
from crosswind.spec import trace as trace_module
from crosswind.spec.trace import (
    OpportunityTrace,
    RateTrace,
    TraceError,
    parse_opportunities,
    parse_rates,
)

CORPUS = Path(__file__).with_name("traces")
PARSERS = {"rates": parse_rates, "opportunities": parse_opportunities}
FILES = sorted(path for kind in PARSERS for path in (CORPUS / kind).iterdir())
CONTENTS = [path.read_bytes() for path in FILES]


def answer(kind: str, content: bytes) -> str:
    try:
        return str(PARSERS[kind](content))
    except TraceError as error:
        return str(error)


def test_the_corpus_has_its_answers() -> None:
    answers = [
        f"{path.parent.name}/{path.name}: {answer(path.parent.name, path.read_bytes())}" for path in FILES
    ]
    text = "\n".join(answers) + "\n"
    expected = CORPUS / "answers.txt"
    if os.environ.get("CROSSWIND_WRITE_GOLDEN"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@settings(max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(alphabet="0123456789.,:-+einfsmu#\r\n end", max_size=60).map(str.encode),
        st.tuples(st.sampled_from(CONTENTS), st.integers(0, 80), st.binary(max_size=3)).map(
            lambda given: given[0][: given[1]] + given[2] + given[0][given[1] :]
        ),
    )
)
@example(b"time_s,rate_mbps\n0,\xe2\x80\xa81\n")
def test_whatever_a_file_has_it_is_a_trace_or_refused_on_one_line(content: bytes) -> None:
    for kind, parse in PARSERS.items():
        assert answer(kind, content).isprintable()
        try:
            trace = parse(content)
        except TraceError:
            continue
        assert all(before < after for before, after in pairwise(trace.at_ns))
        if isinstance(trace, RateTrace):
            assert trace.at_ns[0] == 0
            assert len(trace.rate_bps) == len(trace.at_ns)
            assert all(rate is None or 0 <= rate < 2**63 for rate in trace.rate_bps)
            assert any(rate != 0 for rate in trace.rate_bps)
            assert trace.end_ns is None or trace.end_ns > trace.at_ns[-1]
        else:
            assert trace.at_ns[-1] > 0
            assert all(count > 0 for count in trace.count)


@given(st.lists(st.tuples(st.integers(1, 10**12), st.integers(0, 10**13)), min_size=1, max_size=30))
def test_what_is_written_is_what_is_read(steps: list[tuple[int, int]]) -> None:
    at_ns, rates = [0], [1]
    for gap, rate in steps:
        at_ns.append(at_ns[-1] + gap)
        rates.append(rate)
    rows = [
        f"{at // 10**9}.{at % 10**9:09},{rate // 10**6}.{rate % 10**6:06}"
        for at, rate in zip(at_ns, rates, strict=True)
    ]
    content = "\n".join(["time_s,rate_mbps", *rows]).encode()
    assert parse_rates(content) == RateTrace(tuple(at_ns), tuple(rates), None)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60).map(sorted).filter(lambda lines: lines[-1] > 0))
def test_every_line_of_mahimahi_is_one_opportunity(lines: list[int]) -> None:
    trace = parse_opportunities("".join(f"{line}\n" for line in lines).encode())
    assert isinstance(trace, OpportunityTrace)
    assert [
        at // 10**6 for at, count in zip(trace.at_ns, trace.count, strict=True) for _ in range(count)
    ] == lines


def test_a_trace_that_is_too_long_is_refused_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_module, "POINTS_MAX", 3)
    rows = "".join(f"{number},1\n" for number in range(4))
    with pytest.raises(TraceError, match="line 5: is point 4; at most 3"):
        parse_rates(f"time_s,rate_mbps\n{rows}".encode())
    monkeypatch.setattr(text_lines, "BYTES_MAX", 3)
    with pytest.raises(TraceError, match="has 4 bytes; at most 3"):
        parse_opportunities(b"1\n2\n")
