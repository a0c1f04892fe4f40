"""Machines that are too busy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.analysis.network.ends import EndFacts, EndMachines
from crosswind.errors import Exit
from crosswind.fingerprint.measure import end_facts
from crosswind.fingerprint.measure.machines import Bounds, Busy, TooBusy, refuse_busy
from crosswind.results.provenance import InterfaceRates, MachineActivity

RATES = {"lo": InterfaceRates(received=10**9, sent=10**9), "e": InterfaceRates(received=5, sent=2_000_000)}
STATE = MachineActivity(
    load_average=[3.0, 1.0, 1.0],
    memory_bytes=100,
    memory_available_bytes=10,
    swap_used_bytes=0,
    processes=1,
    uptime_s=1.0,
    steal_s=0.0,
    interfaces_bps=RATES,
)
SEEN = EndFacts(time="", host="m", cores=2, state=STATE)
IDLE_NODE = SEEN.model_copy(update={"state": STATE.model_copy(update={"load_average": [0.0, 0.0, 0.0]})})


def test_everything_that_is_above_a_bound_is_named_at_once() -> None:
    with pytest.raises(TooBusy) as refused:
        refuse_busy(
            map(Busy.of, EndMachines(near=IDLE_NODE, far=IDLE_NODE, here=SEEN).places), Bounds(1.0, 0.8, 1e6)
        )
    said = str(refused.value)
    assert "m: load 1.50 a core, above 1 " in said
    assert "memory 90% used, above 80%" in said
    assert "2 Mbit/s through e, above 1 Mbit/s" in said
    assert "lo" not in said.replace("load", "").replace("allow", "")
    assert refused.value.exit is Exit.PREFLIGHT


def test_at_its_bounds_and_without_any_a_machine_is_measured() -> None:
    refuse_busy([Busy.of(SEEN)] * 2, Bounds(1.5, 0.9, 2e6))
    refuse_busy([Busy.of(SEEN)] * 2, Bounds())


def test_an_end_needs_nothing_but_python() -> None:
    script = Path(end_facts.__file__).read_text(encoding="utf-8")
    # Isolated: neither this package nor any other is found.
    command = [sys.executable, "-I", "-S", "-", "127.0.0.1"]
    said = subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout
    assert '"name": "lo"' in said


def test_what_is_not_known_is_not_within_its_bound() -> None:
    unknown = Busy("m1", None, None, None)
    with pytest.raises(TooBusy) as refused:
        refuse_busy([unknown], Bounds(1.0, 0.8, 1e6))
    for option in ("--load-at-most", "--memory-at-most", "--traffic-at-most"):
        assert f"not known ({option})" in str(refused.value)
    refuse_busy([unknown], Bounds())
