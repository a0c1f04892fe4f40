"""What bounds the errors of delays: how late packets are through links, over a bare pair, and after a sleep.

The control is a program that sends over a bare veth pair at planned instants and spins for them: what an
emulator has to do with one packet, and nothing else. Where the curves of links run along the control's, the
machine bounds them and not the emulator. Beside a sleeping emulator stand sleeps without packets too: how
late those are that end as early as the emulator's, and the way over the bare pair.

`python -m bench.delay_tails OUT.svg` prints what the controls were, and draws all of it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench import sleeps
from bench.figures import Figure, figure
from bench.tails import Lateness, Panel, drawn
from crosswind.probe.single_packets import probe_bare, probe_fabric
from crosswind.testbed.plain import plain_fabric

ROUNDS = 6
RATE_PER_S = 1000
SLEEP_US = 1000
DELAYS_US = {"spin": (5, 50, 1000), "sleep": (60, 200, 1000)}
CONTROL, SLEEPS = "bare pair, planned", "sleeps of 1 ms"


@dataclass
class Measured:
    """What was measured in rounds in which all take turns.

    Attributes:
        late_us: after the declared instant, by the way to wait and by curve, a round each.
        floor_us: delays over the bare pair, by the way to wait that it stands beside, a round each.
        ended_us: how late sleeps ended, a round each.
    """

    late_us: dict[str, dict[str, list[Lateness]]] = field(
        default_factory=lambda: {of: {} for of in DELAYS_US}
    )
    floor_us: dict[str, list[Lateness]] = field(default_factory=lambda: {of: [] for of in DELAYS_US})
    ended_us: list[Lateness] = field(default_factory=list)

    def panels(self) -> list[Panel]:
        """Return a panel for each way to wait."""
        return [
            Panel(f"the emulator {wait}s", {name: np.concatenate(rounds) for name, rounds in curves.items()})
            for wait, curves in self.late_us.items()
        ]

    def controls(self) -> Iterator[Figure]:
        """Yield how far apart two measurements of the bare pair are, and how late sleeps end."""
        for p in (0.5, 0.99):
            apart = [
                float(abs(np.quantile(one, p) - np.quantile(other, p)))
                for one, other in zip(*self.floor_us.values(), strict=True)
            ]
            name = f"a bare veth pair's floor from the next one's, p{p * 100:g}, 1 kpps"
            yield figure(name, "us", apart, None)
        for p in (sleeps.MARGIN, 0.99):
            late = [float(np.quantile(ended, p)) for ended in self.ended_us]
            yield figure(f"how late sleeps of 1 ms end, p{p * 100:g}", "us", late, None)


def measured() -> Measured:
    """Return what rounds of all curves were."""
    found = Measured()
    for _ in range(ROUNDS):
        for wait, delays_us in DELAYS_US.items():
            late_us = found.late_us[wait]
            bare = probe_bare(RATE_PER_S, RATE_PER_S)
            found.floor_us[wait].append(bare.delay_ns / 1e3)
            late_us.setdefault(CONTROL, []).append((bare.received_ns - bare.planned_ns) / 1e3)
            for delay_us in delays_us:
                spec = plain_fabric(delay_ns=delay_us * 500).with_changes(wait=wait)
                through, _ = probe_fabric(spec, RATE_PER_S, RATE_PER_S)
                late_us.setdefault(f"link of {delay_us} us", []).append(through.delay_ns / 1e3 - delay_us)
        ended = sleeps.late_us(RATE_PER_S, SLEEP_US)
        found.ended_us.append(ended)
        after = np.maximum(0, ended - np.quantile(ended, sleeps.MARGIN))
        floor = np.median(found.floor_us["sleep"][-1])
        found.late_us["sleep"].setdefault(SLEEPS, []).append(after + floor)
    return found


if __name__ == "__main__":
    found = measured()
    for line in found.controls():
        print(line.model_dump_json(), flush=True)
    picture = drawn(
        "How late packets are behind emulated links and over a bare veth pair",
        found.panels(),
        "later than this after the declared instant (us)",
    )
    Path(sys.argv[1]).write_text(picture, encoding="utf-8")
