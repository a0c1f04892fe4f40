"""Stores that are configured well are right, under the faults that others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from histories import each, verdict

from bench.histories.cases import RIGHT, Case

if TYPE_CHECKING:
    from conftest import Live

# A start of Cassandra takes most of a minute; `python -m bench.histories cassandra` has its other workloads.
RIGHT_HERE = [case for case in RIGHT if case.store != "cassandra" or case.workload == "register"]


@pytest.mark.parametrize("case", each(RIGHT_HERE))
def test_a_store_that_is_configured_well_is_right_under_the_same_faults(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "ok", found.shown or found.undecided_because
    # There was something to judge: ten a key.
    assert found.confirmed > 50
    # The faults were felt: some operations have no known outcome.
    assert found.unknown > 0
