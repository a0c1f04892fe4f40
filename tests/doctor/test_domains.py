"""How many domains the emulator has where nobody declares them."""

from __future__ import annotations

from typing import Any

import pytest
from test_against import MACHINE, NOW, calibration

from crosswind import catalog
from crosswind.doctor import hardware
from crosswind.doctor.against import check_against
from crosswind.doctor.domains import auto_domains, auto_domains_of
from crosswind.doctor.finding import ok
from crosswind.spec import Resolved, load_experiment, resolve
from crosswind.spec.resolved import InterferenceTcp, ResolvedCapture, ResolvedStep


def resolved(**trials: Any) -> Resolved:
    found = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    conditions = [each for each in found.conditions if not each.interference]
    return found.model_copy(
        update={"conditions": conditions, "trials": found.trials.model_copy(update=trials)}
    )


def under(found: Resolved, **changes: Any) -> Resolved:
    """Return an experiment with its first condition alone, changed."""
    return found.model_copy(update={"conditions": [found.conditions[0].model_copy(update=changes)]})


@pytest.mark.parametrize(
    ("cpus", "domains"), [(1, 1), (2, 1), (7, 1), (8, 2), (11, 2), (12, 3), (31, 7), (32, 8), (256, 8)]
)
def test_there_is_a_domain_for_every_four_cpus_from_eight_on(cpus: int, domains: int) -> None:
    assert auto_domains(cpus) == domains
    assert auto_domains(cpus, "sleep") == 1
    assert auto_domains(cpus, in_one=True) == 1


def test_what_is_written_in_one_domain_has_one() -> None:
    assert auto_domains_of(resolved(), 16) == 4
    assert auto_domains_of(resolved(record=True), 16) == 1
    assert auto_domains_of(resolved(capture=ResolvedCapture(snap_bytes=128, limit_bytes=1 << 30)), 16) == 1
    assert auto_domains_of(resolved(), 16, is_written=True) == 1


def test_interference_that_answers_as_tcp_does_has_one() -> None:
    found = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    entry = next(entry for each in found.conditions for entry in each.interference)
    assert auto_domains_of(found, 16) == 4
    tcp = InterferenceTcp(flows=1, congestion_control="cubic", ecn=False)
    answering = entry.model_copy(update={"tcp": tcp})
    assert auto_domains_of(under(found, interference=[answering]), 16) == 1
    real = answering.model_copy(update={"by": "iperf3"})
    assert auto_domains_of(under(found, interference=[real]), 16) == 4


def test_a_monitor_of_round_trips_has_one() -> None:
    for quantities, domains in ((["ipg"], 4), (["ipg", "rtt"], 1)):
        places = {"wan": [{"monitor": {"what": quantities, "on": None}}]}
        found = under(resolved(), timeline=[ResolvedStep(at_ns=1, places=places)])
        assert auto_domains_of(found, 16) == domains


def test_doctor_says_in_a_line_how_many_there_are() -> None:
    assert hardware.domains(2) == ok(
        "domains", "1 (of 2 CPUs; one thread of the emulator carries every network)"
    )
    assert hardware.domains(1).found.startswith("1 (of 1 CPU; ")
    assert hardware.domains(16).found == "4 (of 16 CPUs; up to 4 threads of the emulator carry a network)"
    assert hardware.cores(2).found == "2; the emulator takes one of them"
    assert hardware.cores(16).found == "16; the emulator takes up to 4 of them"


def test_every_domain_takes_a_core_from_the_nodes() -> None:
    found, here = resolved(), MACHINE.model_copy(update={"cores": 4})
    for domains, expected in (
        ("auto", []),
        (2, []),
        (3, ["2 nodes and the 3 domains of the emulator share"]),
    ):
        changes = {"nodes": {"a": "h0", "b": "h1"}, "domains": domains}
        declared = found.model_copy(update={"topology": found.topology.model_copy(update=changes)})
        warnings = check_against(declared, calibration(machine=here), here=here, now=NOW)
        shared = [warning for warning in warnings if " share " in warning]
        assert [warning[: len(text)] for warning, text in zip(shared, expected, strict=True)] == expected
