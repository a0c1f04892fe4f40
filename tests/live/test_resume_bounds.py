"""What a machine may do beside when a run begins holds when it is continued, unless it is said anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Live


def test_a_run_is_continued_within_the_bounds_it_was_begun_with(
    live: Live, experiment: Callable[..., str]
) -> None:
    status, said = live.run("run", experiment(repeat=1), "--memory-at-most", "99.9%")
    assert status == 0, said
    file = live.run_folder / "provenance.json"
    provenance = json.loads(file.read_text())
    bounds = {"load_per_core": None, "memory_share": 0.999, "interface_bps": None}
    assert provenance["before"]["bounds"] == bounds
    # As if it had been begun on a machine with as good as all of its memory free.
    provenance["before"]["bounds"]["memory_share"] = 1e-6
    file.write_text(json.dumps(provenance))
    status, said = live.run("resume")
    assert status == 3, said
    assert "too busy to measure" in said
    assert "above 0% (--memory-at-most)" in said
    status, said = live.run("resume", "--memory-at-most", "99.9%")
    assert status == 0, said
