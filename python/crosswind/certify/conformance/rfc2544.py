"""Claims: an emulated link, tested as a device, has the throughput, latency, loss and bursts of its medium.

RFC 2544 defines benchmarks and no criteria. An emulated link declares what a device only shows. So the
criterion is that the benchmark gives what is declared: the medium's largest frame rate, the delay, the loss
of an overload and the buffer.

Source: RFC 2544, section 26; RFC 8219, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.conformance.trials import (
    BUFFER_BYTES,
    DELAY_NS,
    ERROR_MAX,
    ETHERNET_BYTES,
    GAP_BYTES,
    RATE_BPS,
    SHORTER,
    STEP,
    TRIAL_S,
    Goal,
    Trial,
    device,
    frames_per_s,
    offered,
    search,
)
from crosswind.certify.quiet import Tries, Watch
from crosswind.probe.single_packets import HEADER_BYTES, Probes, probe_fabric
from crosswind.text.quantities import time_text

FAMILY = "RFC 2544 and 8219"
FRAME_BYTES = (64, 128, 256, 512, 1024, 1280, 1518)
# A sender of single frames does not reach the rates of small ones.
LATENCY_FRAME_BYTES = (512, 1518)
LOSS_FRAME_BYTES = (64, 1518)
LOADS = (1.2, 1.1, 1.0, 0.9)
# A buffer of 5 ms holds 0.5 % of a second; 0.1 % is for the rate of the sender.
LOSS_ERROR_MAX = 0.006
# A packet that is later counts as late in the ledger.
LATENCY_ERROR_MAX_NS = 100_000
BURSTS = 50


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield throughput for each frame size, then latency, frame loss rate and back-to-back frames."""
    for frame_bytes in FRAME_BYTES:
        yield throughput(tries, frame_bytes)
    for frame_bytes in LATENCY_FRAME_BYTES:
        yield _latency(tries, frame_bytes)
    for frame_bytes in LOSS_FRAME_BYTES:
        yield _loss(tries, frame_bytes)
    yield back_to_back(tries, FRAME_BYTES[-1])


def throughput(tries: Tries, frame_bytes: int) -> Claim:
    """Return the claim that the search for no loss ends at the frame rate of the medium."""
    bounds = search(lambda load: offered(tries, frame_bytes, load), Goal(loss_ratio=0), 1.0)
    return at_most(
        FAMILY,
        f"throughput of {frame_bytes} byte frames: error against the medium's frame rate",
        "live",
        bounds.error(1.0),
        ERROR_MAX,
        "ratio",
        f"RFC 2544, 26.1 and appendix B, RFC 8219, 7.1: no frame is lost; {SHORTER}; width {2 * STEP:.0%}",
        disturbed=bounds.disturbed,
        details={"frames_per_s": frames_per_s(frame_bytes), **bounds.details},
    )


def _latency(tries: Tries, frame_bytes: int) -> Claim:
    """Return the claim on the typical latency at the throughput, which is the lower bound of a search."""
    per_s = (1 - STEP) * frames_per_s(frame_bytes)

    def once(watch: Watch) -> Probes:
        payload_bytes = frame_bytes - ETHERNET_BYTES - HEADER_BYTES
        probes, measurement = probe_fabric(device(), per_s, int(per_s * TRIAL_S), payload_bytes)
        watch.judge(measurement)
        return probes

    tried = tries.measure(f"latency of {frame_bytes} byte frames", once)
    # Both links serialise the frame, and at this load the first has a queue after each stall of the sender.
    frame_ns = (frame_bytes + GAP_BYTES) * 8e9 / RATE_BPS
    waits_ns = _waits_ns(tried.result.sent_ns, frame_ns)
    waited_ns = float(np.median(waits_ns))
    stalled = (
        f"the sender stalled: by Lindley's recursion its frames wait {time_text(waited_ns)}; run it on a "
        "quiet machine"
    )
    declared_ns = DELAY_NS + 2 * frame_ns + waited_ns
    least, typical, worst = np.quantile(tried.result.delay_ns, (0, 0.5, 0.999)).tolist()
    return at_most(
        FAMILY,
        f"latency of {frame_bytes} byte frames at their throughput: error of the typical latency",
        "live",
        abs(typical - declared_ns),
        LATENCY_ERROR_MAX_NS,
        "ns",
        "RFC 2544, 26.2, RFC 8219, 7.2: median of 500 frames or more, against the declared delay and wait "
        "by Lindley's recursion from the instants of sending; they name no bound (the ledger's)",
        # What a queue at 99 % load makes of a stall is ten times the bound, and no error of the link.
        disturbed=tried.disturbed or (stalled if waited_ns > LATENCY_ERROR_MAX_NS else ""),
        remark=(
            f"{frame_bytes} byte frames: worst case latency (P99.9) {time_text(worst)}, "
            f"packet delay variation (RFC 8219, 7.3.1) {time_text(worst - least)}"
        ),
        details={
            "declared_ns": declared_ns,
            "waited_ns": waited_ns,
            "typical_ns": typical,
            "worst_case_ns": worst,
            "pdv_ns": worst - least,
            "frames": len(tried.result.delay_ns),
        },
    )


def _waits_ns(sent_ns: NDArray[np.int64], frame_ns: float) -> list[float]:
    """Return how long frames that were sent at these instants wait for the frames before them."""
    waits_ns, free_ns = [], 0.0
    for at_ns in np.sort(sent_ns).tolist():
        waits_ns.append(max(0.0, free_ns - at_ns))
        free_ns = max(free_ns, at_ns) + frame_ns
    return waits_ns


def _loss(tries: Tries, frame_bytes: int) -> Claim:
    trials = {load: offered(tries, frame_bytes, load) for load in LOADS}
    errors = [abs(one.loss_ratio - max(0.0, 1 - 1 / load)) for load, one in trials.items()]
    loads = ", ".join(f"{load:.0%}" for load in LOADS)
    return at_most(
        FAMILY,
        f"frame loss rate of {frame_bytes} byte frames: largest error",
        "live",
        max(errors),
        LOSS_ERROR_MAX,
        "ratio",
        f"RFC 2544, 26.3, RFC 8219, 7.4: loads of {loads}, until two have no loss; {SHORTER}",
        disturbed=next((one.disturbed for one in trials.values() if one.disturbed), ""),
        details={f"loss_at_{load:.0%}": one.loss_ratio for load, one in trials.items()},
    )


def back_to_back(tries: Tries, frame_bytes: int) -> Claim:
    """Return the claim that the longest burst without loss is the buffer and the frame on the wire."""
    wire_bytes = frame_bytes + GAP_BYTES
    # The buffer holds whole frames, and one more is on the wire.
    declared = BUFFER_BYTES // wire_bytes + 1

    def offer(burst: int) -> Trial:
        # A burst comes every 20 ms; by then the one before has left.
        load = burst * BURSTS / TRIAL_S / frames_per_s(frame_bytes)
        return offered(tries, frame_bytes, load, train=burst)

    trials = {burst: offer(burst) for burst in (declared - 1, declared + 1)}
    whole = [burst for burst, one in trials.items() if not one.lost]
    found = max(whole, default=0)
    return at_most(
        FAMILY,
        f"back-to-back frames of {frame_bytes} bytes: error against the buffer",
        "live",
        abs(found - declared),
        1,
        "frames",
        f"RFC 2544, 26.4, RFC 8219, 7.5: the longest burst without loss, {BURSTS} times; steps of 2 frames",
        disturbed=next((one.disturbed for one in trials.values() if one.disturbed), ""),
        details={"declared": declared, "found": found},
    )
