"""Three-colour meters in a file: what is read, what the agent is told, and what is refused."""

from typing import Any

import pytest

from crosswind.spec import SpecErrors, load_condition_file, resolve
from crosswind.spec.load import parse_experiment

EXPERIMENT = """\
name: meters
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: h0, client: h1}
scale: 0.1
conditions:
  - metered: {switch.ingress: [ELEMENT]}
application: {rpc: {duration: 3s}}
trials: {repeat: 1}
"""


def resolved(element: str) -> dict[str, Any]:
    experiment = parse_experiment(EXPERIMENT.replace("ELEMENT", element).encode(), "meters.yaml")
    element_of: dict[str, Any] = resolve(experiment).conditions[0].places["switch.ingress"][0]
    return element_of


def refusal(element: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        resolved(element)
    (problem,) = caught.value.problems
    return problem.message


def test_a_single_rate_meter_is_scaled_and_says_what_is_done_to_each_colour() -> None:
    element = "srtcm: {cir: 1Gbit/s, cbs: 150kB, ebs: 300kB, yellow: remark, red: AF13, on: [h0]}"
    assert resolved(element) == {
        "srtcm": {
            "cir_bps": 10**8,
            "cbs_bytes": 15_000,
            "ebs_bytes": 30_000,
            "mode": "blind",
            "green": "pass",
            "yellow": "remark",
            "red": {"dscp": 14},
            "on": ["h0"],
        }
    }


def test_a_two_rate_meter_may_heed_the_colours_that_packets_come_with() -> None:
    element = (
        "trtcm: {cir: 1Gbit/s, cbs: 150kB, pir: 2Gbit/s, pbs: 300kB, mode: aware, green: 8, yellow: pass, "
        "red: drop}"
    )
    assert resolved(element) == {
        "trtcm": {
            "cir_bps": 10**8,
            "cbs_bytes": 15_000,
            "pir_bps": 2 * 10**8,
            "pbs_bytes": 30_000,
            "mode": "aware",
            "green": {"dscp": 8},
            "yellow": "pass",
            "red": "drop",
        }
    }


def test_one_burst_of_a_single_rate_meter_may_be_zero() -> None:
    for cbs, ebs in (("0B", "150kB"), ("150kB", "0B")):
        resolved(f"srtcm: {{cir: 1Gbit/s, cbs: {cbs}, ebs: {ebs}, yellow: remark, red: drop}}")


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (
            "srtcm: {cir: 1Gbit/s, cbs: 0B, ebs: 0B, yellow: remark, red: drop}",
            "ebs is zero and so is cbs, so every packet would be red; give one of them",
        ),
        (
            "srtcm: {cir: unlimited, cbs: 150kB, ebs: 0B, yellow: remark, red: drop}",
            'cir "unlimited" is not a limit; write a rate, such as 1Gbit/s',
        ),
        (
            "srtcm: {cir: 1Gbit/s, cbs: 150kB, ebs: 10kB, yellow: remark, red: drop}",
            'ebs "10kB" (scaled by 0.1: 1000B) is smaller than one packet of 1500B; write at least 15000B',
        ),
        (
            "srtcm: {cir: 1Gbit/s, cbs: 150kB, ebs: 150kB, yellow: paint, red: drop}",
            'yellow "paint" is not an action; write `pass`, `drop`, `remark`, or a DSCP such as AF12',
        ),
        (
            "trtcm: {cir: 2Gbit/s, cbs: 150kB, pir: 1Gbit/s, pbs: 150kB, yellow: remark, red: drop}",
            'pir "1Gbit/s" is below cir "2Gbit/s"; what exceeds the peak is red, so give pir >= cir',
        ),
    ],
)
def test_what_a_meter_could_not_mean_is_refused(element: str, message: str) -> None:
    assert message in refusal(element)


def test_what_happens_to_yellow_and_red_must_be_said(tmp_path: Any) -> None:
    file = tmp_path / "condition.yaml"
    file.write_text("mine: {link: [{srtcm: {cir: 1Gbit/s, cbs: 150kB, ebs: 0B}}]}\n")
    with pytest.raises(SpecErrors) as caught:
        load_condition_file(file)
    assert {problem.message.split(";")[0] for problem in caught.value.problems} == {
        'mine.link[1].srtcm: needs "yellow"',
        'mine.link[1].srtcm: needs "red"',
    }
