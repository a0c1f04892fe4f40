"""What the receiver of probes writes is read as what it is."""

from pathlib import Path

from crosswind.probe.single_packets import read_probes

# As `crosswind-load probe-receive` writes it: the third packet overtook the second, and a fourth never came.
WRITTEN = """sequence,planned_ns,sent_ns,received_ns
0,1795207104830530000,1795207104830530040,1795207104830535240
2,1795207104832100000,1795207104832100031,1795207104832104031
1,1795207104831410000,1795207104831410060,1795207104832110060
"""


def test_a_delay_is_from_sending_to_receiving_whenever_it_was_planned(tmp_path: Path) -> None:
    file = tmp_path / "probe.csv"
    file.write_text(WRITTEN)
    probes = read_probes(file, 4)
    assert probes.delay_ns.tolist() == [5200, 4000, 700_000]
    assert (probes.lost, probes.overtaken) == (1, 1)
