"""What the results depend on besides the experiment: machine, kernel, settings, tools, load.

The machine's fingerprint is the part of it that must not change within a run: trials before and after such a
change are not repetitions of one experiment.
"""

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from crosswind.results.provenance import GitState, MachineFacts

_SYSCTLS = (
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_available_congestion_control",
    "net/ipv4/tcp_rto_min_us",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_recovery",
    "net/ipv4/tcp_early_retrans",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_no_metrics_save",
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/default_qdisc",
    "kernel/sched_rt_runtime_us",
    "vm/swappiness",
)
_IDENTIFYING = {"kernel", "cpu", "cores", "clock_source", "tools"}
OFFLOADS = "of the nodes: as the kernel makes a veth pair; the agent turns none off"


def provenance(experiment_folder: Path, seed: int, tools: Mapping[str, str]) -> MachineFacts:
    """Return the facts of this machine at this instant.

    Args:
        experiment_folder: folder of the experiment file; its git commit is recorded.
        seed: seed of the experiment.
        tools: versions of the binaries and of the application, by name.
    """
    memory = psutil.virtual_memory()
    return MachineFacts(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        kernel=platform.release(),
        kernel_build=platform.version(),
        cpu=cpu_model(),
        cores=len(os.sched_getaffinity(0)),
        clock_source=_read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation=_hypervisor(),
        steal_s=steal_s(),
        load_average=list(os.getloadavg()),
        memory_bytes=memory.total,
        memory_available_bytes=memory.available,
        offloads=OFFLOADS,
        sysctls={name.replace("/", "."): _read(f"/proc/sys/{name}") for name in _SYSCTLS},
        tools={"crosswind": tool_version(), "python": platform.python_version(), **tools},
        git=_git(experiment_folder),
        seed=seed,
        root=os.geteuid() == 0,
    )


def machine_fingerprint(facts: MachineFacts) -> dict[str, str] | None:
    """Return the facts that must be the same when a run is continued; None where some are missing."""
    if _IDENTIFYING - facts.model_fields_set:
        return None
    return {
        "kernel": str(facts.kernel),
        "CPU": str(facts.cpu),
        "cores": str(facts.cores),
        "clock source": str(facts.clock_source),
        **{f"version of {name}": value for name, value in sorted(facts.tools.items())},
        **{
            f"{what} of {machine.name}": str(value)
            for machine in facts.machines
            for what, value in (
                ("kernel", machine.kernel),
                ("CPU", machine.cpu),
                ("cores", machine.cores),
                ("clock source", machine.clock_source),
                ("agent", machine.agent),
            )
        },
    }


def tool_version() -> str:
    """Return the installed version of crosswind; `unpackaged` when it runs from a source tree."""
    try:
        return version("crosswind")
    except PackageNotFoundError:
        return "unpackaged"


def cpu_model() -> str:
    """Return the name of the CPU as the kernel prints it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def steal_s() -> float:
    """Return the CPU time taken by the hypervisor since boot, in seconds, of all cores together."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def _hypervisor() -> str | None:
    return _read("/sys/hypervisor/type") or _read("/sys/class/dmi/id/sys_vendor")


def _read(path: str) -> str | None:
    """Return a kernel file's text, or None where this machine has no such file."""
    try:
        return " ".join(Path(path).read_text().split())
    except OSError:
        return None


def _git(folder: Path) -> GitState | None:
    """Return the commit of the repository around the experiment file, or None outside a repository."""
    try:
        commit = _git_output(folder, "rev-parse", "HEAD")
        changed = _git_output(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return GitState(commit=commit, clean=not changed)


def _git_output(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
