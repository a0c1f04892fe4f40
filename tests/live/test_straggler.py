"""The catalogue's shuffle with one spent bucket, once and shorter: the report names the node."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crosswind import catalog

if TYPE_CHECKING:
    from conftest import Live


def test_the_node_whose_bucket_is_spent_is_named(live: Live) -> None:
    text = catalog.experiment_file("nsdi20-straggler").read_text()
    for published, here in (
        ("name: nsdi20-straggler", "name: live"),
        ("  - nsdi20/ec2-c5-xlarge-5000gbit-left\n", ""),
        ("duration: 15s", "duration: 6s"),
        ("repeat: 3", "repeat: 1"),
        ("seed: 7", "seed: 7\n  limits: {void: accept}"),
    ):
        assert published in text
        text = text.replace(published, here)
    (live.folder / "live.yaml").write_text(text)
    live.measured("live.yaml")
    status, said = live.run("report", "results/live/latest", "--json")
    assert status == 0, said
    summary = json.loads(said)
    (trial,) = summary["conditions"][0]["trials"]
    if trial["row"]["fidelity"] == "void":
        pytest.skip(f"SKIPPED: this machine made the trial void: {trial['row']['fidelity_reason']}")
    told = [caution for caution in summary["cautions"] if caution["id"] == "straggler"]
    assert [caution["title"] for caution in told] == ["n0 is a straggler under one-node-spent"]
    assert "changed between its rates" in told[0]["text"]
