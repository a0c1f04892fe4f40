"""Which parts of the kernel's traffic control are here: each is tried in a network namespace of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from crosswind.testbed.errors import NotHere

_FILTER = "filter add dev d0 ingress protocol ip prio 1 u32 match u32 0 0"
# By module, what needs it and nothing besides; the device has clsact where the line needs filters.
TRIALS = {
    "sch_tbf": "qdisc add dev d0 root tbf rate 1mbit burst 10000 limit 10000",
    "sch_htb": "qdisc add dev d0 root htb",
    "sch_ets": "qdisc add dev d0 root ets bands 2",
    "sch_netem": "qdisc add dev d0 root netem delay 1ms",
    "sch_codel": "qdisc add dev d0 root codel",
    "sch_fifo": "qdisc add dev d0 root bfifo limit 10000",
    "sch_ingress": "qdisc show dev d0",
    "cls_u32": f"{_FILTER} flowid 1:1",
    "act_mirred": f"{_FILTER} action mirred egress redirect dev d1",
    "act_police": f"{_FILTER} action police rate 1mbit burst 10000 conform-exceed drop/continue",
    "act_pedit": f"{_FILTER} action pedit ex munge ip dsfield set 0x88 retain 0xfc",
    "act_csum": f"{_FILTER} action csum ip",
}


def lacking_modules(modules: Iterable[str]) -> list[str]:
    """Return which of these modules this kernel neither has nor can load.

    Raises: NotHere: there is no namespace to try them in.
    """
    script = ["ip link add d0 type veth peer name d1"]
    for module in modules:
        script += [
            "tc qdisc del dev d0 root 2>/dev/null; tc qdisc del dev d0 clsact 2>/dev/null",
            f"tc qdisc add dev d0 clsact && tc {TRIALS[module]} >/dev/null || echo {module}",
        ]
    enter = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    try:
        done = subprocess.run(
            [*enter, "/bin/sh", "-c", "\n".join(script)],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHere(f"backend tc: try its parts: {error}; install util-linux and iproute2") from error
    if "veth" in done.stderr or (not done.stdout and done.returncode == 1 and "unshare" in done.stderr):
        raise NotHere(
            f"backend tc: a network namespace to try its parts in: {done.stderr.strip()}; run as root"
        )
    return done.stdout.split()
