"""`backend: tc` on a kernel that has netem, ets and police: Debian's, booted under emulation."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from emulated_kernel import NoEmulatedKernel, run_in_emulated_kernel

if TYPE_CHECKING:
    from conftest import Live

MODULES = (
    *(
        "veth",
        "af_packet",
        "sch_tbf",
        "sch_htb",
        "sch_ets",
        "sch_netem",
        "sch_codel",
        "sch_ingress",
        "cls_u32",
    ),
    *("act_mirred", "act_police", "act_pedit", "act_csum"),
)
BOOT_S = 900.0


@pytest.mark.long
def test_every_mapping_is_read_back_and_netem_delays(live: Live) -> None:
    script = Path(__file__).with_name("traffic_control_in_guest.py")
    settings = " ".join(
        f"{name}={shlex.quote(value)}"
        for name, value in live.env.items()
        if name in ("PYTHONPATH", "CROSSWIND_AGENT")
    )
    command = f"cd /tmp && {settings} PYTHONDONTWRITEBYTECODE=1 {sys.executable} {script} 2>&1"
    try:
        status, shown = run_in_emulated_kernel(command, MODULES, BOOT_S)
    except NoEmulatedKernel as why:
        pytest.skip(f"SKIPPED: {why}")
    assert status == 0, shown[-4000:]
    # The kernel's own messages are on the same console.
    line = re.search(r"guest: (\{.*\})", shown)
    assert line is not None, shown[-4000:]
    found = json.loads(line[1])
    assert found["lacking"] == []
    # 10 ms on each of four links; the emulated CPU adds some.
    assert 0.04 <= min(found["round_trips_s"]) < 0.08, found["round_trips_s"]
    assert found["impaired"]["by"] == ["kernel netem", "kernel tbf"]
    assert "kernel ets" in found["strict"]["by"]
    assert "kernel ets" in found["shared"]["by"]
    assert "kernel codel" in found["codel"]["by"]
    assert "kernel u32 filter with act_police" in found["policed"]["by"]
