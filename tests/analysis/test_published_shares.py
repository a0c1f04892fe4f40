"""OSMeF's raw results against its printed Table 1, and against what each of its runs gave.

The raw results are not ours to keep here: `osmef_connections.csv` (a row a connection, from what the study
published) is looked for where CROSSWIND_OSMEF says, or in `shared/data` beside the repository.

Source: Venzano, Michiardi: OSMeF, EURECOM RR-13-287, 2013, Table 1, Figures 4 and 5.
"""

import csv
from collections import defaultdict

import numpy as np
import pytest

from crosswind.analysis import OF_SHARES, Question, analyse, published_shares, read_samples
from tests.analysis.osmef_table import CONNECTIONS, TABLE_1, cells_alike

MB = 1024  # nuttcp's KB are of 1024 bytes, and so are the report's MB of 1024 KB

Runs = dict[tuple[str, int], np.ndarray]


@pytest.fixture(scope="module")
def runs() -> Runs:
    """(scenario, connections) -> shape (runs, connections, 3): MB/s, and CPU % of receiver and sender."""
    if not CONNECTIONS.exists():
        pytest.skip(
            f"SKIPPED: OSMeF's raw results are not here ({CONNECTIONS.name}); CROSSWIND_OSMEF names them"
        )
    found: dict[tuple[str, int], dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    with CONNECTIONS.open() as file:
        for row in csv.DictReader(file):
            cells = [float(row["rx_rate_KBps"]) / MB, float(row["rx_cpu"]), float(row["tx_cpu"])]
            found[row["scenario"], int(row["concurrent"])][row["file"]].append(cells)
    return {name: np.array(list(group.values())) for name, group in found.items()}


def test_the_printed_cells_come_back_from_the_raw_results(runs: Runs) -> None:
    scenarios = {scenario for scenario, _ in runs}
    assert len(scenarios) == 6
    for scenario in scenarios:
        one, thirty = TABLE_1[scenario]
        single = runs[scenario, 1][:, 0, :]
        found = np.stack([single.mean(axis=0), single.std(axis=0)], axis=1).ravel().tolist()
        cells_alike(scenario, 1, one, found)
        rate, receiver, sender = (published_shares(runs[scenario, 30][:, :, at]) for at in range(3))
        processors = [receiver.mean, receiver.sd, sender.mean, sender.sd]
        cells_alike(scenario, 30, thirty, [rate.total, rate.mean, rate.sd, *processors])


def test_figure_4_comes_back(runs: Runs) -> None:
    """Averages for each connection at distance 0, 2 and 4."""
    for connections, expected in {
        1: (1589.43, 108.66, 89.37),
        10: (147.13, 10.87, 9.34),
        30: (54.74, 3.69, 3.27),
        50: (31.59, 2.22, 1.97),
    }.items():
        found = [published_shares(runs[f"vm_to_vm_{at}", connections][:, :, 0]).mean for at in (1, 2, 3)]
        assert np.round(found, 2) == pytest.approx(expected)


def test_each_run_was_less_fair_than_the_average_of_runs(runs: Runs) -> None:
    rates = runs["host_to_host", 30][:, :, 0]
    assert round(published_shares(rates).jain, 3) == 0.853
    samples = read_samples(CONNECTIONS, column="rx_rate_KBps", by=["scenario", "concurrent"], trial="file")
    analysis = analyse(samples, Question(each=OF_SHARES["jain"], quantiles=(0.5,)))
    (group,) = (group for group in analysis.groups if group.name == "host_to_host, 30")
    assert round(float(np.mean(group.trials.values)), 3) == 0.756
    assert round(min(group.trials.values), 3) == 0.692
    # Spread within a run, against that of averages: 1.55 published.
    assert round(float(np.mean([OF_SHARES["sd"].of(run) for run in rates])), 2) == 2.13
    # TCP over 1 Gbit/s carries 1448 of 1538 bytes; sums over transfers of not quite the same time exceed it.
    assert min(OF_SHARES["sum"].of(run) for run in rates) > 1448 / 1538 * 1e9 / 8 / 2**20


def test_two_unfair_runs_average_to_a_fair_one() -> None:
    averaged = published_shares([[1, 3], [3, 1]])
    assert (averaged.total, averaged.mean, averaged.sd, averaged.jain) == (4, 2, 0, 1)
    assert OF_SHARES["jain"].of(np.array([1.0, 3.0])) == pytest.approx(0.8)
