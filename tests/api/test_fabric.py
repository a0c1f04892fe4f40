"""`crosswind.Fabric` before it is up: what it takes, and what it refuses."""

import json
from pathlib import Path
from types import MappingProxyType

import pytest

import crosswind
from crosswind.spec import SpecErrors
from crosswind.spec.named_experiment import named_experiment

TOPOLOGY = {
    "hosts": 2,
    "uplink": {"rate": "100Mbit/s", "delay": "50us", "buffer": "256KiB"},
    "nodes": {"server": "h0", "client": "h1"},
}
SLOW = {"slow": {"link": [{"delay": {"time": "20ms"}}]}}


def test_a_topology_is_a_mapping_a_whole_file_or_a_path(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(json.dumps({"topology": TOPOLOGY}))
    forms = (TOPOLOGY, MappingProxyType(TOPOLOGY), {"topology": TOPOLOGY}, file, str(file))
    networks = [crosswind.Fabric(form).network for form in forms]
    assert all(network == {"topology": TOPOLOGY} for network in networks)


def test_an_experiment_brings_its_conditions(tmp_path: Path) -> None:
    assert crosswind.Fabric("rpc-quick").conditions == tuple(load_conditions("rpc-quick"))


def load_conditions(name: str) -> list[str]:
    return [condition.name for condition in named_experiment(name).resolved.conditions]


def test_own_conditions_come_first() -> None:
    assert crosswind.Fabric(TOPOLOGY, conditions=[SLOW, "none"]).conditions == ("slow", "none")
    assert crosswind.Fabric(TOPOLOGY).conditions == ("none",)


@pytest.mark.parametrize(
    ("topology", "options", "message"),
    [
        (TOPOLOGY | {"uplink": {"rate": "10"}}, {}, 'fabric: topology.uplink: rate "10" has no unit'),
        (TOPOLOGY, {"conditions": [{"slow": {"link": [{"delay": {"time": "20"}}]}}]}, 'slow: .* "20" has no'),
        (TOPOLOGY, {"condition": "slwo", "conditions": [SLOW]}, 'slwo: is neither.*did you mean "slow"'),
        ("no-such-file", {}, "is neither a file nor an experiment"),
    ],
)
def test_everything_that_is_wrong_is_said_before_anything_starts(
    topology: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecErrors, match=message):
        crosswind.Fabric(topology, **options)  # type: ignore[arg-type]


def test_a_value_that_no_file_has_is_refused() -> None:
    with pytest.raises(TypeError, match="give text, a number, a list or a mapping"):
        crosswind.Fabric(TOPOLOGY | {"hosts": {1, 2}})


def test_a_recording_takes_one_domain(tmp_path: Path) -> None:
    topology = {"hosts": 2, "uplink": {"rate": "1Gbit/s", "delay": "1ms"}, "nodes": {"a": "h0"}, "domains": 2}
    with pytest.raises(crosswind.CrosswindError, match="record: needs one domain, and the topology has 2"):
        crosswind.Fabric(topology, record=tmp_path / "x.cwr")
    with pytest.raises(crosswind.CrosswindError, match="snap: "):
        crosswind.Fabric(TOPOLOGY, capture=tmp_path / "x.pcapng", snap="much")


def test_a_network_that_is_not_up_says_so() -> None:
    net = crosswind.Fabric(TOPOLOGY)
    assert net.nodes == {}
    for use in (lambda: net.set("none"), lambda: net.exec("client", ["true"]), net.read):
        with pytest.raises(crosswind.CrosswindError, match="not up; use it inside `with"):
            use()


def test_an_experiment_may_be_a_mapping_and_its_text_can_be_read_again(tmp_path: Path) -> None:
    content = {
        "name": "written-out",
        "topology": TOPOLOGY,
        "conditions": ["none", SLOW],
        "application": {"rpc": {"duration": "1s"}},
        "trials": {"repeat": 2, "seed": 1},
    }
    named = named_experiment(content)
    (tmp_path / "experiment.yaml").write_text(named.text)
    assert named_experiment(tmp_path / "experiment.yaml").resolved == named.resolved
    with pytest.raises(SpecErrors, match='experiment: needs "trials"; add it'):
        crosswind.run({key: value for key, value in content.items() if key != "trials"})


def test_characters_beyond_the_first_plane_survive() -> None:
    network = crosswind.Fabric({"topology": TOPOLOGY, "condition": {"none": {"summary": "\N{ROCKET}"}}})
    assert network.conditions == ("none",)
