"""The dashboard asks for metrics that exist, with labels that they have, and the guide lists all of them."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from events import BEGUN, NETWORK, SO_FAR, begun, change, ended, fault, operations, row, step

from crosswind.spec.resolved import ResolvedCut
from crosswind.stream import Credit, Event, Stream
from crosswind.telemetry import Metrics

DOCS = Path(__file__).parents[2] / "docs"
NAME = re.compile(r"crosswind_\w+")


@pytest.fixture(scope="module")
def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / "grafana" / "crosswind.json").read_text())
    return found


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    """Return every metric that there can be, with the labels of each."""
    events: list[Event] = [
        BEGUN,
        begun("t1"),
        ended("t1"),
        SO_FAR,
        begun("t2"),
        operations(10),
        fault("pause", "a"),
        step(
            changes=(change("far", cuts=[ResolvedCut(sources=["a"], targets=["b"])]),),
            rows=(row("h0/uplink"),),
            credit=(Credit(element="db/host.egress/0:credit", left_bits=1),),
        ),
    ]
    stream = Stream[Event]()
    metrics = Metrics(NETWORK, stream.subscribe(), 0)
    for event in events:
        stream.publish(event)
    stream.end()
    metrics._follow()
    metrics._server.server_close()
    families = metrics.collect()
    assert all(family.samples for family in families)
    return {sample.name: {*sample.labels} for family in families for sample in family.samples}


def targets(board: dict[str, Any]) -> list[dict[str, str]]:
    return [target for panel in board["panels"] for target in panel.get("targets", [])]


def test_every_query_names_metrics_and_labels_that_are_exported(
    board: dict[str, Any], exported: dict[str, set[str]]
) -> None:
    assert len(targets(board)) > 15
    for target in targets(board):
        names = {*NAME.findall(target["expr"])}
        assert names
        assert names <= {*exported}, target
        labels = set.intersection(*(exported[name] for name in names)) | {"instance"}
        used = {*re.findall(r"[{,](\w+)=", target["expr"])}
        used |= {*re.findall(r"{{(\w+)}}", target["legendFormat"])}
        for grouped in re.findall(r"by \(([^)]*)\)", target["expr"]):
            used |= {*re.split(r",\s*", grouped)}
        assert used <= labels, target
    (variable,) = (each for each in board["templating"]["list"] if each["type"] == "query")
    assert {*NAME.findall(variable["query"]["query"])} <= {*exported}


def test_every_query_is_of_the_chosen_instance(board: dict[str, Any]) -> None:
    for target in targets(board):
        expr = target["expr"]
        assert len(NAME.findall(expr)) == expr.count('instance=~"$instance"')
        assert target["datasource"]["uid"] == "${datasource}"  # type: ignore[index]


def test_counters_are_seen_as_rates(board: dict[str, Any]) -> None:
    for target in targets(board):
        for name in NAME.findall(target["expr"]):
            # Attempts are few; their number says more than a rate.
            if name.endswith("_total") and name != "crosswind_attempts_total":
                assert re.search(rf"(rate|increase)\({name}\{{", target["expr"])


def test_each_kind_of_fault_is_in_the_panel_of_faults(board: dict[str, Any]) -> None:
    (panel,) = [panel for panel in board["panels"] if panel["title"] == "Faults"]
    asked = {name for target in panel["targets"] for name in NAME.findall(target["expr"])}
    assert asked == {"crosswind_cut", "crosswind_node_fault", "crosswind_node_faults_total"}


def test_panels_have_their_own_place(board: dict[str, Any]) -> None:
    places = [panel["gridPos"] for panel in board["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert len({panel["id"] for panel in board["panels"]}) == len(places)


def test_the_guide_lists_every_metric_and_no_other(exported: dict[str, set[str]]) -> None:
    rows = re.findall(
        r"^\| `(crosswind_\w+)` \| ([^|]*)\|", (DOCS / "guides" / "metrics.md").read_text(), re.M
    )
    assert {name: {*re.findall(r"`(\w+)`", labels)} for name, labels in rows} == exported
