"""Nodes with memory and processor limits in the topology."""

from pathlib import Path

import pytest

from crosswind.spec import Resolved, SpecErrors, fabric_of, limits_of, load_experiment, resolve

TEXT = """
name: limited
topology:
  hosts: 2
  uplink: {{rate: 1Gbit/s}}
  nodes: {{server: {server}, client: h1}}
conditions: [none]
application: {{rpc: {{duration: 1s}}}}
trials: {{repeat: 1}}
"""


def resolved(tmp_path: Path, server: str) -> Resolved:
    file = tmp_path / "limited.yaml"
    file.write_text(TEXT.format(server=server))
    return resolve(load_experiment(file))


def test_a_host_and_a_host_with_limits_place_a_node_alike(tmp_path: Path) -> None:
    plain = resolved(tmp_path, "h0")
    limited = resolved(tmp_path, "{host: h0, memory: 2GiB, cpus: 0.5}")
    assert fabric_of(plain, "none") == fabric_of(limited, "none")
    assert plain.topology.nodes == limited.topology.nodes == {"server": "h0", "client": "h1"}
    assert limits_of(plain) == {}
    assert limits_of(limited) == {"server": {"memory_bytes": 2 << 30, "cpus_ppm": 500_000}}
    assert limits_of(resolved(tmp_path, "{host: h0, cpus: 2}")) == {
        "server": {"memory_bytes": None, "cpus_ppm": 2_000_000}
    }


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("{host: h7, cpus: 1}", 'is on "h7", which is not a host'),
        ("{host: h0, memory: 2}", "has no unit"),
        ("{host: h0, memory: 1MiB}", "allow at least 4MiB"),
        ("{host: h0, cpus: 0}", "cpus"),
        ("{host: h0, memry: 2GiB}", "memory"),
        ("{memory: 2GiB}", "host"),
        ("7", "write h0 or {host: h0, memory: 2GiB}"),
    ],
)
def test_limits_that_mean_nothing_are_refused_at_their_place(
    tmp_path: Path, server: str, message: str
) -> None:
    with pytest.raises(SpecErrors) as refused:
        resolved(tmp_path, server)
    assert message in str(refused.value)
    assert "limited.yaml:6:" in str(refused.value)
