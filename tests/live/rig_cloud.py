"""A cloud for the provider `command`, whose machines are those of machines.py.

Usage: rig_cloud.py FOLDER up|down|list. Each tag has a folder, and a process that holds its machines until
`down` ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import machines as rigs

_READY_S = 60.0


def main() -> None:
    cloud, verb = Path(sys.argv[1]), sys.argv[2]
    tag = os.environ.get("CROSSWIND_TAG", "")
    if verb == "up":
        _up(cloud, tag)
    elif verb == "down":
        _down(cloud / tag)
    elif verb == "list":
        print(json.dumps({path.name: _names(path) for path in cloud.glob("crosswind-*")}))
    else:
        _hold(cloud / tag)


def _up(cloud: Path, tag: str) -> None:
    folder = cloud / tag
    folder.mkdir(mode=0o755)
    (folder / "names").write_text(os.environ["CROSSWIND_MACHINES"])
    holder = subprocess.Popen(
        [sys.executable, __file__, str(cloud), "hold"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    (folder / "holder").write_text(str(holder.pid))
    deadline = time.monotonic() + _READY_S
    while not (folder / "ready").exists():
        assert holder.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    while (cloud / "slow").exists():
        time.sleep(0.05)
    print((folder / "ready").read_text())


def _hold(folder: Path) -> None:
    """Start the machines, and stay."""
    names = _names(folder)
    (folder / "rig").mkdir(mode=0o755)
    with rigs.machines(len(names), folder / "rig") as rig:
        # Whatever speaks ssh to the machines does it from the client's network namespace.
        (folder.parent / "client").write_text(str(rig.client_pid))
        described = [
            {
                "name": name,
                "address": machine.address,
                "user": "root",
                "key": str(folder / "rig/client-key"),
                "host_key": (machine.folder / "host-key.pub").read_text().strip(),
                "labels": {"pid": str(machine.pid)},
            }
            for name, machine in zip(names, rig.machines, strict=True)
        ]
        (folder / "part").write_text(json.dumps(described))
        (folder / "part").rename(folder / "ready")
        signal.pause()


def _down(folder: Path) -> None:
    if not folder.exists():
        return
    try:
        holder = int((folder / "holder").read_text())
        os.kill(holder, signal.SIGTERM)
        while Path(f"/proc/{holder}").exists():
            time.sleep(0.02)
    except (FileNotFoundError, ProcessLookupError):
        pass
    shutil.rmtree(folder)


def _names(folder: Path) -> list[str]:
    return (folder / "names").read_text().split()


if __name__ == "__main__":
    main()
