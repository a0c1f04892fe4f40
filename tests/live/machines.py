"""Machines for tests of several: each a real sshd in network, mount, UTS, PID and time namespaces of its own.

They are joined by an underlay, in which a client reaches them. Their clocks differ by seconds:
CLOCK_MONOTONIC and CLOCK_BOOTTIME are shifted, and may run faster (`drift.c`). /tmp, /var/tmp, /run and the
home folder are each machine's own, so that a file of the client is not found there. Needs root, util-linux,
iproute2 and openssh-server.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import crosswind

# A process in a machine's network namespace, and the machine's address.
Place = tuple[int, str]
SSHD = "/usr/sbin/sshd"
# Not the one of another rig, which may be first on PATH later.
SSH = shutil.which("ssh")
HOME = Path.home()
_READY_S = 20.0
# Inside of 10.77.0.0/16 are the nodes of a fabric.
_BRIDGE_NETWORK = "10.99.0"
_SSHD_CONFIG = """\
Port 22
HostKey {folder}/host-key
AuthorizedKeysFile {folder}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
MaxStartups 100
"""
# The init of a machine. It ends with its input, and with it all that runs on the machine.
_BOOT = """\
set -e
mount --bind {folder}/home {home}
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd /run/machine
cp {folder}/sshd_config {folder}/host-key {folder}/authorized /run/machine/
if [ -d {folder}/etc ]; then
    head -c 8 /dev/zero > {step}
    cp {folder}/drift.so {drift}
    mount --bind {folder}/etc /etc
fi
mount -t tmpfs -o mode=1777 tmpfs /tmp
# On the same disk as the files of a local run, because databases wait for it.
mount --bind {folder}/var-tmp /var/tmp
hostname {name}
ip link set lo up
"""


# Where programs of a machine find what makes its clock drift.
_DRIFT = "/run/machine/drift.so"
# By how much that clock was set, in eight bytes.
_STEP = "/run/machine/step"


@dataclass
class Machine:
    """A machine: `pid` is its init as seen from here; the others and the client reach it at `address`."""

    name: str
    address: str
    interface: str
    pid: int
    folder: Path
    shift_s: int
    _neighbours: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """The home folder of its root, as seen from here."""
        return self.folder / "home"

    def words(self, *command: str) -> list[str]:
        """Return a command line that runs `command` on this machine, without ssh."""
        return ["nsenter", "-t", str(self.pid), "-n", "-m", "-u", "-p", "-T", "-r", "-w", "--", *command]

    def run(self, *command: str) -> str:
        """Run a command on it and return what it printed."""
        return subprocess.run(self.words(*command), check=True, capture_output=True, text=True).stdout

    def cut(self) -> None:
        """Take its link away; what is under way is lost."""
        save = self.words("ip", "route", "save", "dev", self.interface)
        (self.folder / "routes").write_bytes(subprocess.run(save, check=True, capture_output=True).stdout)
        self._neighbours = self.run("ip", "neigh", "show", "nud", "permanent").splitlines()
        self.run("ip", "link", "set", self.interface, "down")

    def mend(self) -> None:
        """Give its link back, with the routes and neighbours that went with it."""
        self.run("ip", "link", "set", self.interface, "up")
        # Those that came back with the link are left as they are.
        with (self.folder / "routes").open() as routes:
            subprocess.run(self.words("ip", "route", "restore"), check=True, stdin=routes)
        for neighbour in self._neighbours:
            self.run(
                "ip", "neigh", "replace", *neighbour.removesuffix("PERMANENT ").split(), "nud", "permanent"
            )

    def received_bytes(self) -> int:
        """Return how many bytes have come in over its interface."""
        (link,) = json.loads(self.run("ip", "-s", "-j", "link", "show", "dev", self.interface))
        return int(link["stats64"]["rx"]["bytes"])

    def set_clock(self, by_ns: int) -> None:
        """Set its monotonic clocks, which have to drift (`drifts_ppm`)."""
        step = Path(f"/proc/{self.pid}/root{_STEP}")
        (before_ns,) = struct.unpack("q", step.read_bytes())
        # In place: programs have it in their memory.
        with step.open("r+b") as file:
            file.write(struct.pack("q", before_ns + by_ns))

    def connections(self) -> list[int]:
        """Return the processes of sshd that serve a connection."""
        return [pid for pid, words in _descendants(self.pid).items() if words.startswith("sshd: root")]

    def processes(self) -> dict[int, str]:
        """Return its processes without init and sshd, by process id here: their command lines."""
        return {
            pid: words
            for pid, words in _descendants(self.pid).items()
            if not words.startswith(("sshd:", "cat"))
        }

    def await_no_process(self, within_s: float) -> float:
        """Wait until nothing but sshd runs on it, and return how long that took, in seconds."""
        started = time.monotonic()
        while left := self.processes():
            assert time.monotonic() < started + within_s, left
            time.sleep(0.02)
        return time.monotonic() - started


@dataclass
class Rig:
    """Machines, and a client that reaches them.

    Attributes:
        client_pid: a process in the client's network namespace.
        bin: a folder with an `ssh` that runs in that namespace with the configuration below. It is the first
            on PATH in `env`.
        config: of ssh: a Host for each machine, by its name.
    """

    machines: list[Machine]
    client_pid: int
    bin: Path
    config: Path
    known_hosts: Path
    env: dict[str, str] = field(default_factory=dict)

    def ssh(self, machine: Machine, *command: str) -> str:
        """Run a command over ssh, and return what it printed."""
        words = ["ssh", "-o", "BatchMode=yes", machine.name, *command]
        done = subprocess.run(words, env=self.env, check=True, capture_output=True, text=True)
        return done.stdout


def missing() -> str | None:
    """Return why there can be no such machines here, or None."""
    if os.geteuid() != 0:
        return "machines of their own need root"
    for program in (SSHD, "nsenter", "unshare", "ip", "ssh"):
        if shutil.which(program) is None:
            return f"{program} is missing; tests/prepare.sh installs openssh-server, util-linux and iproute2"
    if not Path("/proc/self/ns/time").exists():
        return "this kernel has no time namespaces"
    return None


@contextmanager
def machines(
    count: int,
    folder: Path,
    *,
    mtu: int = 1500,
    shifts_s: Sequence[int] | None = None,
    shaped: bool = False,
    drifts_ppm: Mapping[int, int] | None = None,
    topology: Mapping[str, object] | None = None,
) -> Iterator[Rig]:
    """Start machines m0, m1 and so on.

    Args:
        folder: an empty one, where other accounts may enter.
        mtu: of the underlay.
        shifts_s: of the machines' monotonic clocks; 1000 s more for each when absent.
        shaped: the underlay is a network of Crosswind's, of 10 Gbit/s and 0.2 ms +- 0.1 ms each way.
            Otherwise it is a bridge, which takes no CPU time and has no delay.
        drifts_ppm: by how much the clocks of machines run faster, by their numbers; needs a C compiler.
        topology: the underlay is this network of Crosswind's, with the nodes client, m0 and so on.
    """
    with ExitStack() as stack:
        if topology is not None:
            client, places = _joined_by(stack, count, topology, [])
        else:
            join = _joined_by_crosswind if shaped else _joined_by_a_bridge
            client, places = join(stack, count, mtu)
        shifts_s = shifts_s or [1000 * (number + 1) for number in range(count)]
        yield _boot(stack, folder, client, places, shifts_s, drifts_ppm or {})


def _joined_by_a_bridge(stack: ExitStack, count: int, mtu: int) -> tuple[int, list[Place]]:
    """Return a process in the client's network namespace, and the machines' places."""
    client = stack.enter_context(_network_namespace())
    _in(client, "ip", "link", "add", "br0", "mtu", str(mtu), "type", "bridge", "stp_state", "0")
    _in(client, "ip", "address", "add", f"{_BRIDGE_NETWORK}.254/24", "dev", "br0")
    _in(client, "ip", "link", "set", "br0", "up")
    places = []
    for number in range(count):
        place, address = stack.enter_context(_network_namespace()), f"{_BRIDGE_NETWORK}.{number + 1}"
        ends = ["ip", "link", "add", f"m{number}", "mtu", str(mtu), "type", "veth", "peer", "name", "eth0"]
        _in(client, *ends, "mtu", str(mtu), "netns", str(place))
        _in(client, "ip", "link", "set", f"m{number}", "master", "br0", "up")
        _in(place, "ip", "address", "add", f"{address}/24", "dev", "eth0")
        _in(place, "ip", "link", "set", "eth0", "up")
        places.append((place, address))
    return client, places


def _joined_by_crosswind(stack: ExitStack, count: int, mtu: int) -> tuple[int, list[Place]]:
    """As with a bridge."""
    names = _names(count)
    topology = {
        "hosts": len(names),
        "uplink": {"rate": "10Gbit/s", "buffer": "4MiB"},
        "nodes": {name: f"h{number}" for number, name in enumerate(names)},
        "mtu": f"{mtu}B",
        "wait": "sleep",
    }
    underlay = {"host.egress": [{"delay": {"time": "200us", "jitter": "100us"}}]}
    return _joined_by(stack, count, topology, [{"underlay": underlay}])


def _names(count: int) -> list[str]:
    return ["client", *(f"m{number}" for number in range(count))]


def _joined_by(
    stack: ExitStack, count: int, topology: Mapping[str, object], conditions: Sequence[Mapping[str, object]]
) -> tuple[int, list[Place]]:
    net = stack.enter_context(crosswind.Fabric(topology, conditions=conditions))
    client, *others = [net.nodes[name] for name in _names(count)]
    return client.pid, [(node.pid, node.address) for node in others]


def _boot(
    stack: ExitStack,
    folder: Path,
    client: int,
    places: Sequence[Place],
    shifts_s: Sequence[int],
    drifts_ppm: Mapping[int, int],
) -> Rig:
    key = folder / "client-key"
    _make_key(key)
    started = []
    for number, (place, address) in enumerate(places):
        own = folder / f"m{number}"
        (own / "home").mkdir(parents=True)
        (own / "var-tmp").mkdir()
        (own / "var-tmp").chmod(0o1777)
        _make_key(own / "host-key")
        shutil.copy(f"{key}.pub", own / "authorized")
        (own / "sshd_config").write_text(_SSHD_CONFIG.format(folder="/run/machine"))
        if number in drifts_ppm:
            _make_drift(own, shifts_s[number], drifts_ppm[number])
        boot = _BOOT.format(folder=own, home=HOME, name=f"m{number}", drift=_DRIFT, step=_STEP)
        pid = stack.enter_context(_machine(place, boot, shifts_s[number]))
        started.append(Machine(f"m{number}", address, "eth0", pid, own, shifts_s[number]))
    rig = _client(folder, key, client, started)
    for machine in started:
        _await_sshd(machine)
    return rig


def _client(folder: Path, key: Path, client: int, started: list[Machine]) -> Rig:
    config, known_hosts, programs = folder / "ssh-config", folder / "known-hosts", folder / "bin"
    known_hosts.write_text(
        "".join(f"{machine.address} {(machine.folder / 'host-key.pub').read_text()}" for machine in started)
    )
    hosts = "".join(f"Host {machine.name}\n    HostName {machine.address}\n" for machine in started)
    config.write_text(
        f"{hosts}Host *\n    User root\n    IdentityFile {key}\n    IdentitiesOnly yes\n"
        f"    UserKnownHostsFile {known_hosts}\n    GlobalKnownHostsFile /dev/null\n"
    )
    programs.mkdir()
    ssh = programs / "ssh"
    # ssh takes the home folder from the password file, not from HOME, so the file is named here.
    ssh.write_text(f'#!/bin/sh\nexec nsenter --net=/proc/{client}/ns/net {SSH} -F {config} "$@"\n')
    ssh.chmod(0o755)
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    return Rig(started, client, programs, config, known_hosts, env)


@contextmanager
def _network_namespace() -> Iterator[int]:
    """Make a network namespace; return a process in it."""
    with _held(
        ["unshare", "--net", "--", "sh", "-c", "ip link set lo up && echo ready && exec cat"]
    ) as holder:
        yield holder.pid


@contextmanager
def _machine(place: int, boot: str, shift_s: int) -> Iterator[int]:
    """Start a machine in the network namespace of a process; return its init."""
    # sshd as a child of the shell, because the init of a PID namespace ends everything in it.
    init = f"{boot}{SSHD} -D -e -f /run/machine/sshd_config 2> /run/machine/log &\necho ready\ncat\n"
    own = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "--time"]
    clocks = ["--monotonic", str(shift_s), "--boottime", str(shift_s)]
    with _held(
        ["nsenter", f"--net=/proc/{place}/ns/net", "--", *own, *clocks, "--", "sh", "-c", init]
    ) as holder:
        (pid,) = [child for child, parent in _parents().items() if parent == holder.pid]
        yield pid


@contextmanager
def _held(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that prints a line when it is ready.

    It ends with its input, also when this process dies.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n", command
            yield process
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def _await_sshd(machine: Machine) -> None:
    deadline = time.monotonic() + _READY_S
    # 0A is a listening socket, 0016 port 22.
    while ":0016 00000000:0000 0A" not in Path(f"/proc/{machine.pid}/net/tcp").read_text():
        assert time.monotonic() < deadline, Path(f"/proc/{machine.pid}/root/run/machine/log").read_text()
        time.sleep(0.01)


def _in(pid: int, *command: str) -> None:
    subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "--", *command], check=True)


def _make_drift(folder: Path, shift_s: int, drift_ppm: int) -> None:
    """Make an /etc by which every program of a machine loads a clock that runs faster from now on."""
    origin_ns = time.monotonic_ns() + shift_s * 1_000_000_000
    rate = (f"-DORIGIN_NS={origin_ns}LL", f"-DRATE_PPB={drift_ppm * 1000}LL", f'-DSTEP="{_STEP}"')
    source = Path(__file__).with_name("drift.c")
    command = ["cc", "-O2", "-shared", "-fPIC", *rate, "-o", str(folder / "drift.so"), str(source), "-ldl"]
    subprocess.run(command, check=True)
    shutil.copytree("/etc", folder / "etc", symlinks=True)
    (folder / "etc" / "ld.so.preload").write_text(f"{_DRIFT}\n")


def _make_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)], check=True)


def _parents() -> dict[int, int]:
    """Return the parent of every process that is not dead."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state not in "ZX":
                found[int(entry.name)] = int(parent)
    return found


def _descendants(pid: int) -> dict[int, str]:
    """Return the processes below one, and their command lines.

    They are all of its PID namespace: one whose parent dies becomes a child of the init.
    """
    parents = _parents()
    found: set[int] = set()
    last: set[int] = {pid}
    while last:
        last = {child for child, parent in parents.items() if parent in last}
        found |= last
    lines = {}
    for child in found:
        try:
            lines[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except OSError:
            continue
    return lines
