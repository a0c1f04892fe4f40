"""What the engine gave comes back from the condition that was fitted to it, in virtual time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crosswind.cli._main import run
from crosswind.fingerprint.fit.fitted_condition import condition_from
from crosswind.fingerprint.fit.nearness import correlation_time, nearness
from crosswind.spec.document import parse_document

NETWORK = """\
topology: {hosts: 2, uplink: {rate: unlimited, delay: 0us}, nodes: {a: h0, b: h1}}
"""


def rates_csv(mbps, step_s: float = 1.0) -> bytes:
    rows = "".join(f"{number * step_s:.3f},{rate:.6f}\n" for number, rate in enumerate(mbps))
    return f"time_s,rate_mbps\n{rows}{len(mbps) * step_s:.3f},end\n".encode()


def delays_csv(at_ns, delay_ns) -> bytes:
    rows = "".join(f"{at:.0f},{delay:.0f}\n" for at, delay in zip(at_ns, delay_ns, strict=True))
    return f"time_ns,delay_ns\n{rows}".encode()


def element_of(content: bytes, place: str, kind: str) -> dict:
    text = condition_from("measured.csv", content, "c").text
    return parse_document(text.encode(), "made").data["c"][place][0][kind]


def simulated(folder: Path, condition: str, rate: str, length: str) -> np.ndarray:
    """Return a row for each packet from a to b: entered and ended, in ns."""
    (folder / "network.yaml").write_text(NETWORK)
    (folder / "condition.yaml").write_text(condition)
    asked = ["--condition", str(folder / "condition.yaml"), "--offer", f"a->b={rate}", "--for", length]
    rows = folder / "packets.csv"
    options = ["--arrivals", "constant", "--packets", str(rows), "--json"]
    assert run(["simulate", str(folder / "network.yaml"), *asked, *options]) == 0
    departed = [line for line in rows.read_text().splitlines()[1:] if line.endswith("departed")]
    return np.array([line.split(",")[2:4] for line in departed], dtype=np.float64)


def rates_of(rows: np.ndarray, window_s: float) -> np.ndarray:
    """Return what arrived of full packets over windows, in Mbit/s of IP."""
    counts = np.bincount((rows[:, 1] / (1e9 * window_s)).astype(int))[:-1]
    return counts * 12_000 / window_s / 1e6


LINKS = {
    "quantiles": "{quantiles: {1%: 1Mbit/s, 25%: 2Mbit/s, 50%: 5Mbit/s, 75%: 6Mbit/s, 99%: 7Mbit/s}, "
    "hold: 400ms}",
    "constant": "{quantiles: {1%: 4Mbit/s, 15%: 4.5Mbit/s, 50%: 5Mbit/s, 85%: 5.5Mbit/s, 99%: 6Mbit/s}, "
    "hold: 200ms}",
    # With 0.4 from one step to the next, 2.3 of them are worth one that is independent.
    "empirical": "{markov: {slow: {rate: 2Mbit/s, to: {fast: 30%}}, fast: {rate: 6Mbit/s, to: {slow: 30%}}}, "
    "hold: 200ms}",
}


@pytest.mark.parametrize("model", LINKS)
def test_rates_of_a_link_come_back_through_the_engine(model: str, tmp_path: Path) -> None:
    known = f"known: {{link: [{{capacity: {{direction: up, {LINKS[model][1:]}}}]}}\n"
    first = rates_of(simulated(tmp_path, known, "8Mbit/s", "240s"), 0.2)
    made = condition_from("link.csv", rates_csv(first, 0.2), "made")
    assert f"the model is `{model}`" in made.text
    again = rates_of(simulated(tmp_path, made.text + "\n", "8Mbit/s", "240s"), 0.2)
    near = nearness(first, again)
    # Both runs stray from their law, each by up to the bound.
    for distance, bound in (near.ks, near.wasserstein, near.lag):
        assert distance <= 2 * bound


def test_a_bucket_comes_back_through_the_engine(tmp_path: Path) -> None:
    bucket = "{budget: 20Mbit, high: 6Mbit/s, low: 1Mbit/s, refill: 1Mbit/s, buffer: 2MiB}"
    known = f"known: {{host.egress: [{{credit: {bucket}}}]}}\n"
    # 20 Mbit at 6 - 1 Mbit/s last 4 s.
    first = rates_of(simulated(tmp_path, known, "8Mbit/s", "10s"), 0.1)
    credit = element_of(rates_csv(first, 0.1), "host.egress", "credit")
    assert float(credit["budget"].removesuffix("Gbit")) == pytest.approx(0.020, rel=0.02)
    for key, mbps in (("high", 6), ("low", 1), ("refill", 1)):
        assert float(credit[key].removesuffix("Mbit/s")) == pytest.approx(mbps, rel=0.01)


DELAYS = {
    "constant": "{time: 1.5ms}",
    "normal": "{time: 5ms, jitter: 400us, law: normal}",
    "uniform": "{time: 300us, jitter: 200us, law: uniform}",
    "heavy": "{time: 2ms, jitter: 300us, law: {lognormal: {sigma: 1}}, half_life: 40ms}",
    "drifting": "{time: 10ms, jitter: 2ms, law: normal, half_life: 100ms}",
}


@pytest.mark.parametrize("name", DELAYS)
def test_delays_come_back_within_2_us_and_1_percent(name: str, tmp_path: Path) -> None:
    # A packet every 6 ms for two minutes.
    known = f"known: {{host.egress: [{{delay: {DELAYS[name]}}}]}}\n"
    first = simulated(tmp_path, known, "2Mbit/s", "120s")
    made = condition_from("delays.csv", delays_csv(first[:, 0], first[:, 1] - first[:, 0]), "made")
    again = simulated(tmp_path, made.text + "\n", "2Mbit/s", "120s")
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        before, after = (float(np.quantile(rows[:, 1] - rows[:, 0], share)) for rows in (first, again))
        # Of the quantile of 20 000 delays a draw is worth: two runs of the same law differ by that much.
        assert abs(after - before) <= 2000 + 0.01 * before + _strays(first, share), share


def _strays(rows: np.ndarray, share: float) -> float:
    """Return how far a quantile of another run may lie, in ns: three standard errors of their difference."""
    delays = rows[:, 1] - rows[:, 0]
    independent = delays.size / correlation_time(delays)
    error = 3 * np.sqrt(2 * share * (1 - share) / independent)
    low, high = np.quantile(delays, [max(0, share - error), min(1, share + error)])
    return float(high - low) / 2
