"""Which fingerprint a run takes of its network: never longer than a fiftieth of the run, nor than 30 s."""

from __future__ import annotations

import pytest

from crosswind.plan import planned_fingerprint
from crosswind.plan.expected import trial_s
from crosswind.spec import Resolved

NODES = {"server": "h0", "probe": "h0", "client": "h1"}


def resolved(repeat: int, nodes: dict[str, str] = NODES, duration_s: int = 24) -> Resolved:
    parameters = {"duration_ns": duration_s * 10**9, "warm_up_ns": 10**9}
    return Resolved.model_validate(
        {
            "topology": {"nodes": nodes},
            "application": {"name": "rpc", "parameters": parameters},
            "conditions": [{"name": "none"}, {"name": "slow"}],
            "trials": {"repeat": {"at_least": repeat}, "rest_s": 0.0},
        }
    )


def test_it_is_of_the_first_condition_between_two_hosts_and_a_fiftieth_of_the_run() -> None:
    run = resolved(10)
    one_s = trial_s(run)
    assert one_s is not None
    found = planned_fingerprint(run)
    assert found.length_s == round(2 * 10 * one_s / 50, 1)
    assert (found.condition, found.between, found.left_out) == ("none", ("server", "client"), None)


def test_a_long_run_has_one_of_half_a_minute() -> None:
    assert planned_fingerprint(resolved(1000)).length_s == 30


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (resolved(1), "is less than the 2 s"),
        (resolved(10, {"server": "h0", "client": "h0"}), "all nodes are on one host"),
    ],
)
def test_what_is_left_out_says_why(run: Resolved, why: str) -> None:
    found = planned_fingerprint(run)
    assert found.length_s is None
    assert why in str(found.left_out)
