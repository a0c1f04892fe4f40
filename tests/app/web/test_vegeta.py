"""What vegeta 12.12.0 really wrote, read and made into operations."""

import csv
import io
from pathlib import Path

import pytest

from crosswind.app.web import vegeta
from crosswind.testbed import TestbedError

CAPTURED = Path(__file__).parent / "captured"
MS = 1_000_000


def hits(name: str) -> list[vegeta.Hit]:
    with (CAPTURED / f"{name}.csv").open(newline="") as table:
        return list(vegeta.read_hits(table))


def written(
    found: list[vegeta.Hit], rate: float | None = 20, warm_up_ns: int = 0
) -> tuple[vegeta.VegetaTotals, list[dict[str, str]]]:
    file = io.StringIO()
    totals = vegeta.write_operations(
        found,
        file,
        realtime_minus_monotonic_ns=1_795_294_000_000_000_000,
        rate=rate,
        warm_up_ns=warm_up_ns,
        duration_ns=1000 * MS,
    )
    return totals, list(csv.DictReader(io.StringIO(file.getvalue())))


def test_hits_have_their_instants_and_sizes() -> None:
    found = hits("open-loop")
    assert len(found) == 20
    assert found[0] == vegeta.Hit(
        number=0,
        started_ns=1795294175592491752,
        latency_ns=2327086,
        status=200,
        error="",
        url="http://127.0.0.1:28080/1000",
    )


def test_a_hit_is_due_by_the_plan_and_not_when_a_worker_was_free() -> None:
    found = hits("open-loop")
    late = [
        hit if hit.number != 5 else vegeta.Hit(5, hit.started_ns + 400 * MS, 7, 200, "", hit.url)
        for hit in found
    ]
    totals, rows = written(late)
    period_ns = 50 * MS  # 20 hits a second
    intended = [int(row["intended_ns"]) for row in rows]
    # At most a few ms before the plan: there vegeta's own clock began a little before the first hit.
    assert all(abs(ns - intended[0] - n * period_ns) < 5 * MS for n, ns in enumerate(intended))
    assert int(rows[5]["started_ns"]) - int(rows[5]["intended_ns"]) > 395 * MS
    assert all(int(row["intended_ns"]) <= int(row["started_ns"]) <= int(row["finished_ns"]) for row in rows)
    assert (totals.operations, totals.errors) == (20, 0)


def test_the_warm_up_is_recorded_and_not_counted() -> None:
    totals, rows = written(hits("open-loop"), warm_up_ns=500 * MS)
    # Hits 0 to 9 are due before 0.5 s; objects of 1000 and 10000 bytes take turns.
    assert [row["measured"] for row in rows] == ["0"] * 10 + ["1"] * 10
    assert (totals.operations, totals.payload_bytes) == (10, 5 * 1000 + 5 * 10_000)
    assert 450 * MS < totals.span_ns < 500 * MS


def test_hits_that_found_no_worker_until_the_end_were_never_sent() -> None:
    # 20 a second for a second.
    assert written(hits("open-loop"))[0].not_started == 0
    assert written(hits("open-loop")[:17])[0].not_started == 3
    assert written(hits("open-loop")[:17], rate=None)[0].not_started is None


def test_without_a_rate_a_hit_is_due_when_it_is_sent() -> None:
    _, rows = written(hits("open-loop"), rate=None)
    assert all(row["intended_ns"] == row["started_ns"] for row in rows)


@pytest.mark.parametrize(
    ("name", "errors", "first"), [("not-found", 3, "404 Not Found"), ("refused", 6, "connection refused")]
)
def test_other_statuses_and_no_connection_are_errors(name: str, errors: int, first: str) -> None:
    totals, rows = written(hits(name))
    assert (totals.operations, totals.errors) == (6, errors)
    assert totals.first_error is not None
    assert first in totals.first_error
    assert [row["ok"] for row in rows].count("0") == errors


@pytest.mark.parametrize(
    ("name", "warm_up_ns", "said"),
    [
        ("refused", 0, "6 of 6 requests failed.*connection refused"),
        ("not-found", 0, "3 of 6 requests failed.*404 Not Found"),
        ("open-loop", 10**12, "no request was measured; first error: none"),
    ],
)
def test_an_attack_that_ended_well_and_got_no_answers_is_no_result(
    name: str, warm_up_ns: int, said: str
) -> None:
    with pytest.raises(TestbedError, match=said):
        vegeta.check(written(hits(name), warm_up_ns=warm_up_ns)[0])


def test_under_faults_any_share_of_the_requests_may_fail() -> None:
    totals, _ = written(hits("refused"))
    vegeta.check(totals, error_share_max=1)
    assert (totals.operations, totals.errors) == (6, 6)


def test_an_attack_without_errors_passes() -> None:
    vegeta.check(written(hits("open-loop"))[0])


def test_a_table_that_ends_in_a_row_is_refused() -> None:
    text = (CAPTURED / "open-loop.csv").read_text()
    for end in (text.rindex("/10000"), 10):
        with pytest.raises(TestbedError, match="is not one of 12 fields"):
            list(vegeta.read_hits(io.StringIO(text[:end])))


def test_an_empty_table_is_no_result() -> None:
    with pytest.raises(TestbedError, match="it sent no request"):
        written([])


def test_targets_follow_from_the_seed_and_have_every_object() -> None:
    one, same, other = (vegeta.targets("http://h", [1, 20], seed) for seed in (1, 1, 2))
    assert one == same != other
    assert set(one.splitlines()) == {"GET http://h/1", "GET http://h/20"}
