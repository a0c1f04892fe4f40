"""A plan shows the faults of each condition with their instants."""

import json

from crosswind.plan import outline
from crosswind.plan.text import describe
from crosswind.report.describe import describe as described
from crosswind.spec import Resolved, resolve
from crosswind.spec.load import parse_experiment

TEXT = """\
name: broken
topology:
  hosts: 3
  uplink: {rate: 1Gbit/s, delay: 2us}
  nodes: {db0: h0, db1: h1, client: h2}
factors: {lag: [1ms, 2ms]}
conditions:
  - whole: {}
  - cut-$lag:
      link: [{delay: $lag}]
      at: {5s: {isolate: db0, pause: db1}, 10500ms: {heal: all, resume: db1}}
  - drawn: {faults: {every: 2s, for: 1s, choose: [kill]}}
application: {ycsb: {store: redis, workload: a, duration: 30s}}
trials: {repeat: 1, rest: 0s}
"""


def resolved() -> Resolved:
    return resolve(parse_experiment(TEXT.encode(), "broken.yaml"))


def test_faults_are_shown_once_for_conditions_that_share_them() -> None:
    lines = describe(outline(resolved())).splitlines()
    begin = lines.index("faults, by time from the start of the measurement")
    assert lines[begin + 1 : begin + 5] == [
        "  cut-1ms, cut-2ms",
        "       5\xa0s  isolate db0, pause db1",
        "    10.5\xa0s  heal, resume db1",
        "  drawn",
    ]
    # Of 14 kills and as many restarts, twelve lines are shown.
    assert lines[begin + 17].strip() == "and 16 more until 29\xa0s"
    assert "whole" not in lines[begin : begin + 18]


def test_faults_are_plain_json() -> None:
    faults = json.loads(json.dumps(outline(resolved()).as_dict()))["faults"]
    assert list(faults) == ["cut-1ms", "cut-2ms", "drawn"]
    assert faults["cut-1ms"][0] == {"at_ns": 5 * 10**9, "words": "isolate db0, pause db1"}


def test_a_condition_is_described_with_its_faults() -> None:
    condition = resolved().condition("cut-1ms")
    assert condition is not None
    assert described(condition)[-2:] == [
        ("at 5.00\xa0s", "isolate db0, pause db1"),
        ("at 10.5\xa0s", "heal, resume db1"),
    ]
