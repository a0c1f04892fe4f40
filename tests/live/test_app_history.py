"""Stores that lose data or answer too early are found, by the history of a few seconds under faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from histories import each, verdict

from bench.histories.cases import LOSING, STALE, Case

if TYPE_CHECKING:
    from conftest import Live


@pytest.mark.parametrize("case", each(LOSING, quick=LOSING[:1]))
def test_a_store_that_confirms_before_its_replicas_have_it_loses_writes(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "violation"
    assert found.shown
    assert any(one.is_wrong for one in found.shown[0].operations)
    # About 40 additions a second on each of five keys, for a second and a half at least.
    assert case.workload == "register" or found.elements.lost > 20, found.elements


@pytest.mark.parametrize("case", each(STALE))
def test_a_store_that_answers_before_it_knows_gives_answers_that_cannot_be(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "violation"
    assert "can only have held" in found.shown[0].why
