"""An experiment at two dilations: each trial is as slow as its condition, and the certificate has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Live


@pytest.mark.long
def test_each_trial_is_as_slow_as_its_condition_says_and_the_certificate_has_every_figure(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=1, duration="300ms")
    text = (live.folder / file).read_text().replace("  - none\n", "")
    (live.folder / file).write_text(text + "time: {dilation: 2}\n")
    status, said = live.run("certify", "--dilation", file, timeout_s=600)
    # Trials this short decide nothing on a busy machine, but no program ran in real time.
    assert status in (0, 4, 6), said
    folder = live.run_folder
    certificate = json.loads((folder / "certificate.json").read_text())
    clocks, *figures = certificate["claims"]
    assert (clocks["family"], clocks["decision"], clocks["measured"]) == ("clocks", "held", 0)
    assert {"P50 under slow", "P99 under slow", "throughput under slow"} <= {each["name"] for each in figures}
    assert certificate["invariance"]["dilations"][-2:] == [2, 4]
    factors = {}
    for measurement in (folder / "monitors").glob("*.json"):
        measured = json.loads(measurement.read_text())
        factors[measurement.name.rpartition("slow-")[2][:1]] = measured.get("time", {}).get("factor")
    assert factors["2"] == 2
    assert factors["4"] == 4
    assert "2 and 4 times slower" in said
