"""What a run says of machines: the value farthest from 0 in any trial, each with the bound of its trial."""

from __future__ import annotations

from dataclasses import replace

from crosswind.analysis.machines import StartSkew, machines_over, start_skew
from crosswind.report.machines_section import machine_lines
from crosswind.results.between_machines import TrialMachine
from crosswind.results.provenance import MachineFacts, MachineOfTestbed, Provenance

FIRST = TrialMachine("m0", 0, 0, 0, 20_000, lost=0, reordered=0, duplicate=0, forged=0)
SECOND = TrialMachine("m1", 6_000, 50_000, 300, 31_000, lost=1, reordered=2, duplicate=4, forged=3)
FACTS = MachineOfTestbed(name="m1", address="10.0.0.2", kernel="6.1", cpu="a CPU", cores=8, agent="0.1.0")


def test_each_value_has_the_bound_of_its_own_trial() -> None:
    later = replace(SECOND, clock_bound_ns=9_000, skew_ppb=-51_000, began_ns=-200, late_ns=12_000)
    provenance = Provenance(before=MachineFacts(machines=[FACTS]))
    first, second = machine_lines(machines_over([[FIRST, SECOND], [FIRST, later]], provenance))
    assert (first.name, first.skew, first.began, first.late) == (
        "m0",
        "the clock",
        "the start",
        "20.0 us ± 0.0 us",
    )
    assert (second.address, second.cpu, second.kernel) == ("10.0.0.2", "8 cores, a CPU", "6.1")
    assert second.skew == "-51.0 ppm"
    assert second.began == "0.3 us ± 6.0 us"
    assert second.late == "31.0 us ± 6.0 us"
    assert (second.lost, second.reordered, second.duplicate, second.forged) == ("2", "4", "8", "6")


def test_the_skew_of_starts_is_that_of_the_worst_trial_with_its_bound() -> None:
    third = replace(SECOND, name="m2", began_ns=-400, clock_bound_ns=5_000)
    skew = start_skew([[FIRST, SECOND], [FIRST, SECOND, third], []])
    assert skew == StartSkew(machines=3, skew_ns=700, bound_ns=11_000, network="udp")
    assert start_skew([[FIRST], []]) is None


def test_what_carried_packets_between_machines_is_said() -> None:
    native = [replace(machine, network="native") for machine in (FIRST, SECOND)]
    assert [line.over for line in machine_lines(machines_over([native], Provenance()))] == [
        "raw Ethernet"
    ] * 2
    assert [line.over for line in machine_lines(machines_over([[FIRST, SECOND]], Provenance()))] == [
        "UDP"
    ] * 2
    skew = start_skew([native])
    assert skew is not None
    assert skew.network == "native"


def test_a_run_on_one_machine_has_no_such_table() -> None:
    assert machine_lines(machines_over([[], []], Provenance())) == []
