"""From delays that were measured to an element that gives them: which model, which file, what floor."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from documents import fingerprint

from crosswind.cli._main import run
from crosswind.errors import CrosswindError
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.fitted_condition import condition_from
from crosswind.fingerprint.fit.floor import Floor
from crosswind.fingerprint.trace.trace_file import TraceFileError
from crosswind.spec.document import read_document
from crosswind.spec.quantities import TIME


def delays_csv(delay_us: np.ndarray) -> bytes:
    rows = "".join(f"{5 * number},{delay:.3f}\n" for number, delay in enumerate(delay_us))
    return f"time_ms,delay_us\n{rows}".encode()


def test_a_uniform_law_is_not_taken_for_a_normal_one_whose_p99_it_does_not_have() -> None:
    # 0.9 to 1.1 ms. By distribution and correlation a normal law is near, but its P99 is 36 us too long.
    uniform = delays_csv(np.random.default_rng(3).uniform(900, 1100, 2000))
    with pytest.raises(NoFit, match=r"normal: its p1 is 86.* us, and 90"):
        condition_from("d", uniform, "c", model="normal")
    assert "the model is `histogram`" in condition_from("d", uniform, "c").text


def test_what_the_machine_adds_is_taken_off(tmp_path: Path, capsys) -> None:
    file = tmp_path / "delays.csv"
    file.write_bytes(delays_csv(np.full(200, 1005.2)))
    assert run(["conditions", "from", str(file), "--floor", "5200ns"]) == 0
    text = capsys.readouterr().out
    assert "200 delays, 5 ms apart, less 5.2 us each" in text
    (tmp_path / "made.yaml").write_text(text)
    delay = read_document(tmp_path / "made.yaml").data["delays"]["host.egress"][0]["delay"]
    assert TIME.read(delay["time"]) == 1_000_000


def test_a_floor_that_no_delay_is_above_is_refused_and_so_is_one_of_rates() -> None:
    with pytest.raises(CrosswindError, match=r"--floor 2 ms: the median of the delays is 1 ms"):
        condition_from("d", delays_csv(np.full(200, 1000.0)), "c", floor=Floor.read("2ms"))
    with pytest.raises(CrosswindError, match=r"--floor: r\.csv has rates"):
        condition_from("r.csv", b"time_s,rate_mbps\n0,1\n1,end\n", "c", floor=Floor.read("5ns"))


def machine_us(count: int, seed: int) -> np.ndarray:
    """Some microseconds, and one in fifty packets is some tens of them late."""
    random = np.random.default_rng(seed)
    late = random.exponential(30.0, count) * (random.uniform(size=count) < 0.02)
    return random.lognormal(np.log(6.0), 0.4, count) + late


def test_a_measured_floor_is_taken_off_with_its_spread(tmp_path: Path, capsys) -> None:
    (tmp_path / "delays.csv").write_bytes(delays_csv(100.0 + machine_us(4000, 1)))
    floor = tmp_path / "bare.csv"
    floor.write_bytes(delays_csv(machine_us(4000, 2)))
    assert run(["conditions", "from", str(tmp_path / "delays.csv"), "--floor", str(floor)]) == 0
    text = capsys.readouterr().out
    assert "less those of bare.csv (" in text
    assert "the model is `constant`" in text
    (tmp_path / "made.yaml").write_text(text)
    delay = read_document(tmp_path / "made.yaml").data["delays"]["host.egress"][0]["delay"]
    assert abs(TIME.read(delay["time"]) - 100_000) < 500
    # The median alone leaves the spread, which would be added twice.
    assert run(["conditions", "from", str(tmp_path / "delays.csv"), "--floor", "6us"]) == 0
    assert "the model is `histogram`" in capsys.readouterr().out


@pytest.mark.parametrize("law", ["uniform", "normal", "two"])
def test_what_is_left_comes_back_with_the_floor(law: str) -> None:
    random = np.random.default_rng(3)
    network = {
        "uniform": random.uniform(900, 1100, 4000),
        "normal": random.normal(1000, 10, 4000),
        "two": 1000 + 20.0 * random.integers(2, size=4000),
    }[law]
    measured, floor = network + machine_us(4000, 1), machine_us(4000, 2)
    left = Floor(1e3 * floor, "bare").taken_off(1e3 * measured) / 1e3
    assert (np.diff(left[np.argsort(measured)]) >= 0).all()
    shares = (0.01, 0.1, 0.5, 0.9, 0.99)
    again = np.add.outer(left, floor)
    # Within what 2 us + 1 % allow; a P99 of some tens of us strays by more than the rest.
    assert np.quantile(again, shares) == pytest.approx(np.quantile(measured, shares), abs=5)
    assert np.quantile(left, shares) == pytest.approx(np.quantile(network, shares), abs=6)


def test_a_constant_delay_with_a_tail_that_the_floor_does_not_have_is_a_histogram() -> None:
    random = np.random.default_rng(4)
    tail_us = random.exponential(40.0, 4000) * (random.uniform(size=4000) < 0.05)
    measured = delays_csv(100.0 + machine_us(4000, 1) + tail_us)
    made = condition_from("d", measured, "c", floor=Floor(1e3 * machine_us(4000, 2), "bare"))
    assert "the model is `histogram`" in made.text


def test_a_floor_that_is_neither_time_nor_file_is_refused() -> None:
    with pytest.raises(CrosswindError, match=r"--floor bare\.csv: is no file, and as a time"):
        Floor.read("bare.csv")


def test_a_fingerprint_gives_a_condition_of_its_rates_and_one_of_its_delays(tmp_path: Path, capsys) -> None:
    file = tmp_path / "fingerprint.json"
    file.write_text(json.dumps(fingerprint(1)))
    assert run(["conditions", "from", str(file)]) == 0
    assert "credit:" in capsys.readouterr().out
    assert run(["conditions", "from", str(file), "--delays"]) == 0
    delays = capsys.readouterr().out
    # 1 ms, and a normal part of 4 us, which is less than 2 us + 1 % to either side.
    assert "400 delays, 5 ms apart" in delays
    assert "the model is `constant`" in delays


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"delay": {"each_ns": []}}', b'{"delay": {"each_ns": [[1]]}}']
)
def test_a_file_without_delays_of_a_fingerprint_is_named(content: bytes) -> None:
    with pytest.raises(TraceFileError, match=r"f\.json: is no fingerprint with one-way delays"):
        condition_from("f.json", content, "c", of_delays=True)
