"""The virtual suite holds, and would not hold for an engine that is a little wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crosswind.certify import Decision
from crosswind.certify.suite import virtual_families
from crosswind.certify.table import Fates, Packets, play
from crosswind.certify.virtual import (
    buckets,
    changes,
    credits,
    delays,
    early_drops,
    interference,
    links,
    losses,
    order,
    queueing,
    schedulers,
)
from crosswind.spec import FabricSpec
from crosswind.testbed import NotHere, TestbedError, find_binary
from crosswind.testbed.binaries import SIMULATE
from crosswind.testbed.plain import plain_fabric


@pytest.fixture(autouse=True)
def _simulator() -> None:
    try:
        find_binary(SIMULATE)
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, id=family.name, marks=[pytest.mark.long] if family.name == "delays" else [])
        for family in virtual_families()
    ],
)
def test_every_known_answer_is_given(family: Any) -> None:
    claims = list(family.claims())
    assert claims
    assert [claim.name for claim in claims if claim.decision is not Decision.HELD] == []


def test_the_same_table_has_the_same_fates() -> None:
    fabric = plain_fabric(rate_bps=10_000_000, buffer_bytes=3000)
    packets = Packets.of(np.arange(100) * 100_000)
    first, second = play(fabric, packets), play(fabric, packets)
    assert np.array_equal(first.at_ns, second.at_ns)
    assert np.array_equal(first.fate, second.fate)


def test_a_refused_table_names_the_line() -> None:
    with pytest.raises(TestbedError, match="line 2: to"):
        play(plain_fabric(), Packets.of([1], destination=9))


def _late_by(ns: int) -> Any:
    def played(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        return replace(fates, at_ns=fates.at_ns + ns)

    return played


@pytest.mark.parametrize(
    "module",
    [links, changes, buckets, credits, delays, schedulers, queueing, interference],
    ids=lambda module: module.FAMILY,
)
def test_an_engine_that_is_late_is_not_certified(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # More than any slack of the schedulers' curves, which are bounds and not predictions.
    monkeypatch.setattr(module, "play", _late_by(3_000_000))
    assert any(claim.decision is Decision.FAILED for claim in module.claims())


def test_a_bucket_that_lets_one_packet_too_many_pass_is_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def generous(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        fate = fates.fate.astype("U16")
        fate[np.flatnonzero(fate != "departed")[:1]] = "departed"
        return replace(fates, fate=fate)

    monkeypatch.setattr(buckets, "play", generous)
    failed = [claim.name for claim in buckets.claims() if claim.decision is Decision.FAILED]
    for kind in (
        "police",
        "srtcm, green",
        "srtcm, green and yellow",
        "trtcm, green",
        "trtcm, green and yellow",
    ):
        assert any(name.startswith(f"{kind} ") for name in failed), kind


def test_a_meter_that_colours_too_little_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    def stingy(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        fate = fates.fate.astype("U16")
        fate[np.flatnonzero(fate == "departed")[1::2]] = "colour"
        return replace(fates, fate=fate)

    monkeypatch.setattr(buckets, "play", stingy)
    failed = [claim.name for claim in buckets.claims() if claim.decision is Decision.FAILED]
    assert any(name.startswith("srtcm") and "below the curve" in name for name in failed)
    assert any(name.startswith("trtcm") and "below the curve" in name for name in failed)


def test_a_law_that_is_a_twentieth_too_wide_is_not_near(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        sent_ns = packets.at_ns[fates.packet] + delays.MEAN_NS
        return replace(fates, at_ns=sent_ns + (fates.at_ns - sent_ns) * 105 // 100)

    monkeypatch.setattr(delays, "play", wide)
    assert next(delays.claims()).decision is Decision.FAILED


def test_a_lost_fate_and_a_swap_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        return replace(fates, packet=fates.packet[:0:-1], at_ns=fates.at_ns[:0:-1], fate=fates.fate[:0:-1])

    monkeypatch.setattr(order, "play", forgetful)
    failed = [claim.name for claim in order.claims() if claim.decision is Decision.FAILED]
    assert any("fate" in name for name in failed)
    assert any("overtook" in name for name in failed)


def test_the_chain_of_a_loss_gives_what_is_known_of_gilbert_and_elliott() -> None:
    """Salsano et al. 2012, section 2: runs of 1 / r; ((1 - k) r + (1 - h) p) / (p + r) of packets lost."""
    p, r, h, k = 0.02, 0.2, 0.4, 0.99
    simple = losses._gilbert_elliott("simple", p=p, r=r, h=0, k=1)
    assert simple.share == pytest.approx(p / (p + r))
    assert simple.inflation == pytest.approx((2 - p - r) / (p + r))
    assert simple.runs(5) == pytest.approx(1 - (1 - r) ** np.arange(6))
    general = losses._gilbert_elliott("general", p=p, r=r, h=h, k=k)
    assert general.share == pytest.approx(((1 - k) * r + (1 - h) * p) / (p + r))


def test_losses_of_the_right_share_but_one_by_one_are_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    def shuffled(fabric: FabricSpec, packets: Packets) -> Fates:
        fates = play(fabric, packets)
        return replace(fates, fate=np.random.default_rng(1).permutation(fates.fate))

    monkeypatch.setattr(losses, "play", shuffled)
    monkeypatch.setattr(losses, "LAWS", losses.LAWS[-1:])
    share, runs, _ = losses.claims()
    assert (share.decision, runs.decision) == (Decision.HELD, Decision.FAILED)


def _with_drops(change: Any) -> Any:
    """Return a `play` of an engine whose drop policy is a little wrong."""

    def played(fabric: FabricSpec, packets: Packets) -> Fates:
        ((_, drop),) = fabric.condition.places["host.egress"][0]["queue"]["drop"].items()
        change(drop)
        return play(fabric, packets)

    return played


@pytest.mark.parametrize(
    ("factor", "key", "broken"), [(1.05, "weight_ppb", "a step"), (1.2, "probability_ppb", "from drop")]
)
def test_early_drops_that_are_a_little_wrong_are_not_certified(
    factor: float, key: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(drop: dict[str, Any]) -> None:
        for profile in (drop, *(value for value in drop.values() if isinstance(value, dict))):
            if key in profile:
                profile[key] = min(round(profile[key] * factor), 1_000_000_000)

    monkeypatch.setattr(early_drops, "play", _with_drops(change))
    failed = [claim.name for claim in early_drops.claims() if claim.decision is Decision.FAILED]
    for name in ("red", "wred"):
        assert any(claim.startswith((f"{name},", f"{name}:")) and broken in claim for claim in failed), name


def test_drops_that_forget_the_packets_between_them_are_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without `count` each packet is dropped with p_b: from drop to drop the law is geometric."""
    monkeypatch.setattr(early_drops, "_played", _geometric)
    failed = [claim.name for claim in early_drops.claims() if claim.decision is Decision.FAILED]
    assert "red: packets from drop to drop" in failed


def _geometric(policy: early_drops.Policy) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    base, count, chances, dropped = 0.05, -1, [], []
    for _ in range(early_drops.PACKETS):
        count += 1
        chances.append(min(1.0, base / max(1e-9, 1 - count * base)))
        dropped.append(rng.uniform() < base)
        count = 0 if dropped[-1] else count
    return np.array(chances), np.array(dropped), np.zeros(early_drops.PACKETS, dtype=np.int64)
