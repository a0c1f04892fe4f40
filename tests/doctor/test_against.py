"""What an experiment asks for is compared with what was measured, without touching the machine."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crosswind.doctor import CalibratedMachine, Calibration, check_against
from crosswind.doctor.calibration import DelayCheck, RateCheck
from crosswind.doctor.slower import slower
from crosswind.spec import Resolved
from crosswind.spec.buffer import BufferSize
from crosswind.spec.network import Network, star_links

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
MACHINE = CalibratedMachine(kernel="6.18.0", cpu="a processor", cores=8, memory_bytes=16 << 30)

FLOW = {"between": ["h0", "h1"], "hold_ns": 10**9, "pacing_ns": 10**7, "packet_ip_bytes": 1500}


def calibration(**changes: Any) -> Calibration:
    """Return a calibration of a quiet machine: delays from 20 us, 100 000 packets/s, 5 Gbit/s."""
    fields: dict[str, Any] = {
        "measured_at": NOW - timedelta(days=1),
        "machine": MACHINE,
        "version": "0.1.0",
        "rootless": False,
        "wait_mode": "spin",
        "load_average": 0.1,
        "floor_ns_p50": 4_000,
        "floor_ns_p99": 9_000,
        "delays": (
            DelayCheck(
                declared_ns=20_000,
                packets=500,
                error_ns_p50=500,
                error_ns_p99=1_900,
                ledger_ns_p50=100,
                ledger_ns_p99=900,
                ledger_ns_max=20_000,
                early=0,
            ),
        ),
        "rates": (RateCheck(asked_per_s=100_000, offered_per_s=99_000, packets=30_000, lost=0),),
        "goodput_bps": 5_000_000_000,
        "canary_gap_ns_max": 100_000,
        "steal_share": 0.0,
    }
    return Calibration(**(fields | changes))


def star(rate_bps: int | None = 1_000_000_000, delay_ns: int = 50_000) -> dict[str, Any]:
    """Return the resolved topology of two nodes around a switch."""
    links = star_links(["h0", "h1"], rate_bps, delay_ns, BufferSize(size_bytes=50_000))
    nodes = {"server": "h0", "client": "h1"}
    network = Network("star", ("h0", "h1"), ("switch",), tuple(links), nodes)
    return network.resolved(1.0).as_json()


def experiment() -> dict[str, Any]:
    """Return a resolved experiment, as far as it matters here, that the machine above honours."""
    return copy.deepcopy(
        {
            "topology": star(),
            "application": {"name": "rpc"},
            "conditions": [{"name": "none", "places": {}, "interference": [], "timeline": []}],
        }
    )


def warnings(
    asked: dict[str, Any],
    of: Calibration | None = None,
    here: CalibratedMachine = MACHINE,
    now: datetime = NOW,
) -> list[str]:
    return check_against(Resolved.model_validate(asked), of or calibration(), here=here, now=now)


def only(found: list[str]) -> str:
    assert len(found) == 1, found
    return found[0]


def test_an_experiment_within_what_was_measured_has_no_warning() -> None:
    assert warnings(experiment()) == []


def test_without_a_calibration_the_doctor_is_named() -> None:
    found = check_against(Resolved.model_validate(experiment()), None, here=MACHINE, now=NOW)
    assert "crosswind doctor" in only(found)


def test_figures_of_another_machine_are_not_used() -> None:
    asked = experiment()
    asked["topology"] = star(delay_ns=1)
    other = MACHINE.model_copy(update={"kernel": "6.19.0"})
    assert "kernel was 6.18.0, is 6.19.0" in only(warnings(asked, here=other))


def test_more_memory_does_not_make_another_machine() -> None:
    assert warnings(experiment(), here=MACHINE.model_copy(update={"memory_bytes": 32 << 30})) == []


@pytest.mark.parametrize(("days", "old"), [(7, False), (8, True)])
def test_a_calibration_ages_after_seven_days(days: int, old: bool) -> None:
    found = warnings(experiment(), calibration(measured_at=NOW - timedelta(days=days)))
    assert [("8 days old" in text) for text in found] == ([True] if old else [])


def test_an_uplink_faster_than_the_machine_is_named_with_both_rates() -> None:
    asked = experiment()
    asked["topology"] = star(rate_bps=10_000_000_000)
    text = only(warnings(asked))
    assert text.startswith("uplink: 10 Gbit/s")
    assert "5 Gbit/s" in text


def test_an_unlimited_uplink_promises_no_rate() -> None:
    asked = experiment()
    asked["topology"] = star(rate_bps=None)
    assert warnings(asked) == []


def test_an_element_of_many_conditions_is_named_once() -> None:
    asked = experiment()
    asked["topology"] = star(rate_bps=None)
    condition = {
        **asked["conditions"][0],
        "places": {"switch.ingress": [{"police": {"rate_bps": 8_000_000_000, "burst_bytes": 1}}]},
    }
    asked["conditions"] = [condition, {**condition, "name": "again"}]
    assert only(warnings(asked)).startswith("police at switch.ingress: 8 Gbit/s")


def test_an_element_faster_than_the_uplink_limits_nothing_and_is_not_named() -> None:
    asked = experiment()
    asked["conditions"][0]["places"] = {"link": [{"shape": {"rate_bps": 8_000_000_000}}]}
    assert warnings(asked) == []


@pytest.mark.parametrize(
    "element",
    [
        {"credit": {"high_bps": 8_000_000_000, "low_bps": 1_000_000_000}},
        {"pace": {"rate_bps": 8_000_000_000}},
    ],
)
def test_a_shaper_that_remembers_is_judged_by_the_rate_at_which_it_sends(element: dict[str, Any]) -> None:
    asked = experiment()
    asked["topology"] = star(rate_bps=None)
    asked["conditions"][0]["places"] = {"host.egress": [element]}
    assert f"{next(iter(element))} at host.egress: 8 Gbit/s" in only(warnings(asked))


def test_a_meter_passes_packets_at_any_rate() -> None:
    asked = experiment()
    asked["topology"] = star(rate_bps=None)
    asked["conditions"][0]["places"] = {"link": [{"srtcm": {"cir_bps": 8_000_000_000}}]}
    assert warnings(asked) == []


def test_a_delay_below_the_floor_will_hardly_show() -> None:
    asked = experiment()
    asked["topology"] = star(delay_ns=2_000)
    assert "uplink: 2 us is below the 4 us" in only(warnings(asked))


def test_a_delay_between_floor_and_smallest_honoured_is_not_exact() -> None:
    asked = experiment()
    asked["topology"] = star(delay_ns=10_000)
    assert "delays from 20 us" in only(warnings(asked))


def test_no_delay_is_always_honoured() -> None:
    asked = experiment()
    asked["topology"] = star(delay_ns=0)
    assert warnings(asked) == []


def test_a_delay_in_the_timeline_counts() -> None:
    asked = experiment()
    asked["conditions"][0]["timeline"] = [
        {"at_ns": 1, "places": {"link": [{"delay": {"time_ns": 1_000, "on": ["h0"]}}]}}
    ]
    assert only(warnings(asked)).startswith("delay at link: 1 us")


@pytest.mark.parametrize(("mean_bps", "too_much"), [(5_900_000_000, False), (6_100_000_000, True)])
def test_ghosts_are_limited_by_the_engine_and_not_by_goodput(mean_bps: int, too_much: bool) -> None:
    # Two pairs, both directions, 1500 bytes: 4 x 6 Gbit/s / 12 000 bit = 2 000 000 packets/s.
    asked = experiment()
    rate = {"normal": {"mean_bps": mean_bps, "sd_bps": 0, "low_bps": 0, "high_bps": 10_000_000_000}}
    entry = {**FLOW, "by": "ghost", "rate": rate}
    asked["conditions"][0]["interference"] = [entry, entry]
    assert [("ghosts" in text) for text in warnings(asked)] == ([True] if too_much else [])


def test_real_interference_is_no_ghost() -> None:
    asked = experiment()
    asked["conditions"][0]["interference"] = [{**FLOW, "by": "iperf3", "rate": {"constant_bps": 10**12}}]
    assert warnings(asked) == []


def test_the_emulator_needs_a_core_beside_the_nodes() -> None:
    small = MACHINE.model_copy(update={"cores": 2})
    assert "3 cores would avoid it" in only(warnings(experiment(), calibration(machine=small), here=small))


def test_rings_may_take_a_quarter_of_the_memory() -> None:
    # Two nodes: 32 MiB of rings, a quarter of 128 MiB.
    enough = MACHINE.model_copy(update={"memory_bytes": 128 << 20})
    short = MACHINE.model_copy(update={"memory_bytes": (128 << 20) - 1})
    assert warnings(experiment(), here=enough) == []
    assert "32 MiB" in only(warnings(experiment(), here=short))


def test_rings_of_many_nodes_share_a_bounded_memory() -> None:
    # A hundred nodes take 256 MiB, not 1600 MiB: a quarter of 1 GiB.
    asked = experiment()
    asked["topology"]["nodes"] = {f"n{number}": "h0" for number in range(100)}
    enough = MACHINE.model_copy(update={"memory_bytes": 1 << 30, "cores": 128})
    assert warnings(asked, calibration(machine=enough), here=enough) == []


def test_time_that_is_slowed_down_makes_the_machine_as_much_faster() -> None:
    asked = experiment() | {"topology": star(rate_bps=20_000_000_000, delay_ns=5_000)}
    assert len(warnings(asked)) == 2
    slow = warnings(asked | {"dilation": 2})
    assert "20 Gbit/s is more than the 10 Gbit/s that this machine can carry at a dilation of 2" in slow[0]
    assert warnings(asked | {"dilation": 4}) == []


def test_a_plan_proposes_how_slow_time_must_be_for_what_is_declared() -> None:
    asked = experiment() | {"topology": star(rate_bps=10_000_000_000)}
    found = slower(Resolved.model_validate(asked), calibration(), MACHINE)
    assert found is not None
    # Both nodes may send at once: 20 Gbit/s, and the machine carries 5.
    assert found.factor == 4
    assert found.text == (
        "declared 2 x 10 Gbit/s, and this machine carries 5 Gbit/s; write `time: {dilation: 4}` or more"
    )
    assert slower(Resolved.model_validate(asked | {"dilation": 4}), calibration(), MACHINE) is None
    assert slower(Resolved.model_validate(experiment()), calibration(), MACHINE) is None


def test_a_plan_proposes_a_dilation_for_more_nodes_than_cores() -> None:
    asked, small = experiment(), MACHINE.model_copy(update={"cores": 2})
    asked["topology"]["nodes"] = {f"n{number}": "h0" for number in range(9)}
    found = slower(Resolved.model_validate(asked), calibration(), small)
    assert found is not None
    assert (found.factor, found.why) == (9, ("9 nodes with 9 CPUs, and 1 core beside the emulator",))
    asked["topology"]["limits"] = {f"n{number}": {"cpus_ppm": 200_000} for number in range(9)}
    assert slower(Resolved.model_validate(asked), calibration(), small) is None


def test_what_no_dilation_can_carry_is_scaled_down() -> None:
    asked = experiment() | {"topology": star(rate_bps=4_000_000_000_000)}
    found = slower(Resolved.model_validate(asked), calibration(), MACHINE)
    assert found is not None
    assert found.text.endswith("no dilation is enough, so lower the rates (`scale`)")
