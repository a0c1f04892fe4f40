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
from crosswind.fingerprint.trace.trace_file import TraceFileError
from crosswind.spec.document import read_document
from crosswind.spec.quantities import TIME


def delays_csv(delay_us: np.ndarray) -> bytes:
    rows = "".join(f"{5 * number},{delay:.3f}\n" for number, delay in enumerate(delay_us))
    return f"time_ms,delay_us\n{rows}".encode()


def test_a_uniform_law_is_not_taken_for_a_normal_one_whose_p99_it_does_not_have() -> None:
    # 0.9 to 1.1 ms. By distribution and correlation a normal law is near, but its P99 is 36 us too long.
    uniform = delays_csv(np.random.default_rng(3).uniform(900, 1100, 2000))
    with pytest.raises(NoFit, match=r"normal: p1 would be 86.* us and was 90"):
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
        condition_from("d", delays_csv(np.full(200, 1000.0)), "c", floor_ns=2_000_000)
    with pytest.raises(CrosswindError, match=r"--floor: r\.csv has rates"):
        condition_from("r.csv", b"time_s,rate_mbps\n0,1\n1,end\n", "c", floor_ns=5)


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
