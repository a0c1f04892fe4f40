"""Bulk transfer between two nodes: what connections are given over the window they have in common."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from crosswind.app.base import Stage
from crosswind.app.traffic.application import Traffic
from crosswind.app.traffic.parameters import TrafficParameters
from crosswind.app.traffic.summary import metrics_of
from crosswind.testbed import Agent, Ended, Fabric, TestbedError

CONNECTIONS = 4
WARM_UP_MS, DURATION_MS = 200, 2000


@dataclass(frozen=True)
class Bulk:
    """What connections side by side were given; payload, counted where it arrives.

    Attributes:
        goodput_bps: of all together.
        each_bps: shape (connections,).
        jain: Jain's index of them, in (0, 1].
        retransmits: segments, until the end of the connections.
        fastest_bps: of all together in the fastest tenth of a second.
        parts_bps: of all together, tenth by tenth of a second of the window that they have in common.
    """

    goodput_bps: float
    each_bps: list[float]
    jain: float
    retransmits: int
    fastest_bps: float
    parts_bps: list[float]


def bulk(spec: Mapping[str, Any]) -> Bulk:
    """Send from a fabric's first node to its second one, as fast as TCP goes.

    Raises: TestbedError: nothing arrived, or a connection was lost.
    """
    asked = {"connections": CONNECTIONS, "warm_up": f"{WARM_UP_MS}ms", "duration": f"{DURATION_MS}ms"}
    traffic = Traffic(TrafficParameters.model_validate(asked))
    with Agent() as agent, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with Fabric(agent, spec, folder / "logs") as fabric:
            fabric.measure()
            stage = Stage(fabric, folder, seed=1)
            traffic.start(stage)
            load = traffic.load(stage)
            ended = load.process.wait(load.longest_s)
            if ended != Ended(0, None):
                raise TestbedError(f"{load.process}: {ended}; {load.process.last_words()}")
            traffic.stop(stage)
        return read_bulk(json.loads((folder / "summary.json").read_text()))


def read_bulk(summary: Mapping[str, Any]) -> Bulk:
    """Return what the summary of `crosswind-load traffic` says (docs/reference/contracts.md, section 4)."""
    values = {(row.metric, row.statistic): row.value for row in metrics_of(summary)}
    counted = [connection["messages"] for connection in summary["connections"]]
    parts = zip_longest(*(one["series"] for one in counted), fillvalue=0)
    parts_bps = [8e9 * sum(part) / counted[0]["part_ns"] for part in parts]
    asked = summary["parameters"]
    begin, end = (
        round(at / asked["part"]) for at in (asked["warm_up"], asked["warm_up"] + asked["duration"])
    )
    return Bulk(
        goodput_bps=values["goodput", "mean"],
        each_bps=[values[f"goodput.{number}", "mean"] for number in range(len(counted))],
        jain=values["fairness", "jain"],
        retransmits=round(values["retransmits", "count"]),
        fastest_bps=max(parts_bps),
        parts_bps=parts_bps[begin:end],
    )
