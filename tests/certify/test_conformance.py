"""Criteria that others wrote hold, and the page about them shows what is measured."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from crosswind.certify import Certificate, Decision
from crosswind.certify.certificate import store_certificate
from crosswind.certify.claim import at_most
from crosswind.certify.conformance import linux_forwarding, rfc7928, rfc8867
from crosswind.certify.conformance.backlog import LIMIT_BYTES, Backlog
from crosswind.certify.suite import conformance_families
from crosswind.certify.table import Fates, Packets, play
from crosswind.certify.text import print_certificate
from crosswind.spec import FabricSpec
from crosswind.testbed import NotHere, find_binary
from crosswind.testbed.binaries import SIMULATE

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from conformance import PAGE, row  # noqa: E402


@pytest.fixture
def _simulator() -> None:
    try:
        find_binary(SIMULATE)
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("family", conformance_families(), ids=lambda family: family.name)
@pytest.mark.usefixtures("_simulator")
def test_every_virtual_criterion_holds_and_is_on_the_page(family: Any) -> None:
    claims = list(family.claims())
    assert claims
    assert [claim.name for claim in claims if claim.decision is not Decision.HELD] == []
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in map(row, claims) if line not in page] == []


def _losing(source: int, every: int) -> Any:
    """Return a `play` that loses every so many packets of a sender that would have departed."""

    def played(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        fate = fates.fate.astype("U16")
        mine = (fate == "departed") & (fates.sent.source[fates.packet] == source)
        fate[np.flatnonzero(mine)[::every]] = "lost"
        return replace(fates, fate=fate)

    return played


def _late(fabric: FabricSpec, packets: Packets) -> Fates:
    fates = play(fabric, packets)
    return replace(fates, at_ns=fates.at_ns + 100)


@pytest.mark.parametrize(
    ("module", "wrong", "criteria"),
    [
        (linux_forwarding, _losing(0, 8), ["police 80mbit", "tbf 400", "tbf 800"]),
        (
            linux_forwarding,
            _losing(1, 3),
            ["ets quanta 3300", "ets quanta 5000 3500", "ets quanta 5000 2500"],
        ),
        (rfc8867, _losing(0, 100), ["5.1, forward", "5.1: single packets", "5.3, backward", "5.5, forward"]),
        (rfc8867, _late, ["5.1: largest", "5.5: largest", "5.8: largest"]),
        (rfc7928, _losing(0, 20), ["tail, an unresponsive", "pie, an unresponsive", "pie, 100", "varying"]),
    ],
)
@pytest.mark.usefixtures("_simulator")
def test_an_engine_that_is_a_little_wrong_does_not_conform(
    module: Any, wrong: Any, criteria: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "play", wrong)
    failed = [claim.name for claim in module.claims() if claim.decision is Decision.FAILED]
    assert [start for start in criteria if not any(name.startswith(start) for name in failed)] == []


@pytest.mark.usefixtures("_simulator")
def test_a_backlog_below_the_limit_is_built_and_stays() -> None:
    backlog = Backlog()
    assert backlog.build(LIMIT_BYTES * 2 // 3)
    built = backlog.backlog_bytes()
    backlog.wait(1_000_000_000)
    # The stream has a packet on the way in or out.
    assert abs(backlog.backlog_bytes() - built) <= 1440


def test_a_suite_shows_its_sources_and_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    claim = at_most("RFC 0", "rate", "virtual", 0.01, 0.05, "ratio", "section 7")
    certificate = Certificate.of([claim], {}, 1.0, None, suite="conformance")
    console = Console(record=True, width=120)
    print_certificate(certificate, console)
    assert "section 7" in console.export_text()
    assert store_certificate(certificate).name == "conformance.json"
