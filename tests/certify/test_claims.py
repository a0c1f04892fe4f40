"""Claims and certificates: what follows from a measurement, and how a run ends."""

import json
import math
from pathlib import Path

import pytest
from rich.console import Console

from crosswind.certify import Certificate, Claim, Decision
from crosswind.certify.certificate import store_certificate
from crosswind.certify.claim import at_most, not_measured
from crosswind.certify.text import answer, print_certificate
from crosswind.errors import Exit


def _claim(measured: float, disturbed: str = "") -> Claim:
    return at_most("buckets", "excess", "live", measured, 10, "B", "the curve", disturbed=disturbed)


HELD, FAILED, UNDECIDED = _claim(10), _claim(10.5), _claim(3, "other programs used 1.00 cores")


def _certificate(*claims: Claim) -> Certificate:
    return Certificate.of(claims, {"kernel": "6.18"}, 61.0, "spin")


def test_a_bound_is_kept_up_to_itself_and_broken_beyond() -> None:
    assert (HELD.decision, FAILED.decision) == (Decision.HELD, Decision.FAILED)


def test_a_disturbed_measurement_decides_nothing_even_where_it_looks_good() -> None:
    assert UNDECIDED.decision is Decision.UNDECIDED
    assert "other programs" in UNDECIDED.remark


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_never_came_has_not_held(value: float) -> None:
    claim = _claim(value)
    assert claim.decision is Decision.FAILED
    assert claim.measured is None  # A missing value is null, never a number.
    assert "never came" in claim.remark


@pytest.mark.parametrize(
    ("claims", "status", "said"),
    [
        ((HELD, HELD), Exit.DONE, "Certified: all 2 claims held"),
        ((HELD, UNDECIDED), Exit.UNDECIDED, "quiet machine"),
        ((FAILED, UNDECIDED), Exit.TRIALS, "NOT certified: 1 of 2 claims failed, 1 undecided"),
    ],
)
def test_one_failure_fails_and_one_doubt_is_told(claims: tuple[Claim, ...], status: Exit, said: str) -> None:
    certificate = _certificate(*claims)
    assert certificate.exit is status
    assert said in answer(certificate)


def test_the_file_says_what_the_certificate_says(tmp_path: Path) -> None:
    file = store_certificate(
        _certificate(HELD, not_measured("f", "n", "live", "ns", "b", "no root")), tmp_path / "c.json"
    )
    kept = json.loads(file.read_text())
    assert (kept["schema"], kept["decision"], kept["held"], kept["undecided"]) == (1, "undecided", 1, 1)
    assert kept["claims"][1]["measured"] is None
    assert kept["provenance"]["kernel"] == "6.18"


def test_one_disturbance_is_told_once() -> None:
    console = Console(record=True, width=120)
    print_certificate(_certificate(UNDECIDED, UNDECIDED, HELD), console)
    assert console.export_text().count("other programs used 1.00 cores") == 1
