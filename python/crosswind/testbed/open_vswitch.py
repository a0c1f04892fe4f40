"""Open vSwitch in the switch of a fabric: own daemons, database and sockets, and the user-space datapath."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from crosswind.backends.ovs.bridges import Bridges
from crosswind.backends.ovs.mapping import PolicedBy, settings_of
from crosswind.backends.ovs.setup import Port, PortQueues, Settings, Trace
from crosswind.results.measurement import Decided
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import RequestedLimits
from crosswind.testbed.agent import Agent
from crosswind.testbed.backend_programs import OVS_SCHEMA
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.switched import SwitchedFabric

READY_S = 15.0
_LOG = "ovs-vswitchd.log"
_OFCTL = "ovs-ofctl --timeout=10 -O OpenFlow13"
_VSCTL = "ovs-vsctl --timeout=20"
# All ports of the user-space datapath send through one socket.
_UNSENT = re.compile(r"error sending Ethernet packet on (\S+): Resource temporarily unavailable")
_POLICING_FAILED = re.compile(r"\|WARN\|(\S+: adding .*policing.* failed: .*)")


class OpenVSwitchFabric(SwitchedFabric):
    """A fabric whose hosts and switches are bridges of Open vSwitch.

    Args:
        police: what `police` becomes.
    """

    backend = "ovs"

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        limits: Mapping[str, RequestedLimits] | None,
        folder: Path,
        police: PolicedBy,
    ) -> None:
        super().__init__(agent, spec, logs, limits, folder)
        self._bridges = Bridges(spec)
        self._police = police
        self._daemons: list[Process] = []
        self._log_read = 0

    def _environment(self) -> Mapping[str, str]:
        return {f"OVS_{name}DIR": str(self._folder) for name in ("RUN", "DB", "LOG")}

    def _make(self) -> str:
        self.run_in_switch("database", f"ovsdb-tool create conf.db {OVS_SCHEMA}\n")
        remote = "punix:db.sock"
        self._start(
            "ovsdb-server", "ovsdb-server", "conf.db", f"--remote={remote}", "--pidfile", "--no-chdir"
        )
        self._await(self._folder / "db.sock")
        self.run_in_switch("init", f"{_VSCTL} --no-wait init\n")
        self._start("ovs-vswitchd", "ovs-vswitchd", "unix:db.sock", "--pidfile", "--no-chdir", "--log-file")
        self._await(self._folder / "ovs-vswitchd.pid")
        version = self.run_in_switch("version", "ovs-vswitchd --version\n")
        self.run_in_switch("bridges", "\n".join(self._commands_for_bridges()) + "\n")
        self._check_ports()
        return version.splitlines()[0].removeprefix("ovs-vswitchd ").strip("()").replace(") ", " ")

    def _start(self, name: str, *argv: str) -> None:
        self._daemons.append(self._daemon(name, *argv))

    def _await(self, file: Path) -> None:
        deadline = time.monotonic() + READY_S
        while not file.exists():
            for daemon in self._daemons:
                if daemon.ended is not None:
                    raise TestbedError(f"{daemon}: ended ({daemon.ended}); {daemon.last_words()}")
            if time.monotonic() > deadline:
                raise TestbedError(f"Open vSwitch: {file.name} is not there after {READY_S:g} s")
            time.sleep(0.01)

    def _commands_for_bridges(self) -> Iterator[str]:
        mtu = self._spec.mtu_bytes
        for wire in self._bridges.wires:
            one, other = (end.device for end in wire.ends)
            yield f"ip link add {one} mtu {mtu} type veth peer name {other} mtu {mtu}"
            yield f"ip link set {one} up"
            yield f"ip link set {other} up"
        for bridge in self._bridges.bridges:
            yield (
                f"{_VSCTL} add-br {bridge.name} -- set bridge {bridge.name} datapath_type=netdev "
                "fail_mode=secure protocols=OpenFlow13"
            )
        for port in self._ports():
            yield (
                f"{_VSCTL} add-port {port.bridge} {port.device} "
                f"-- set interface {port.device} ofport_request={port.number}"
            )

    def _ports(self) -> list[Port]:
        return [*self._bridges.node_ports, *(end for wire in self._bridges.wires for end in wire.ends)]

    def _check_ports(self) -> None:
        """Check that every port is in its bridge: the commands succeed also where the daemon has refused."""
        listed = self.run_in_switch(
            "ports", f"{_VSCTL} --format=csv --no-headings --columns=name,ofport,error list interface\n"
        )
        found = dict(line.split(",", 1) for line in listed.splitlines())
        for port in self._ports():
            if found.get(port.device, "").split(",")[0] != str(port.number):
                raise TestbedError(
                    f"Open vSwitch: port {port.device}: {found.get(port.device, 'is not there')}"
                )

    def _apply(self, condition: FabricCondition) -> list[Decided]:
        settings = settings_of(self._spec, condition, self._bridges, self._police)
        for bridge, flows in settings.flows.items():
            (self._folder / f"{bridge}.flows").write_text("\n".join(flows) + "\n")
        self.run_in_switch("condition", "\n".join(self._commands_for(settings)) + "\n")
        self._check_traces(settings.traces)
        return settings.decided

    def _commands_for(self, settings: Settings) -> Iterator[str]:
        for bridge, meters in settings.meters.items():
            # Flows first: a meter that is removed takes those with it that have it.
            yield f"{_OFCTL} del-flows {bridge}"
            yield f"{_OFCTL} del-meters {bridge}"
            yield from (f"{_OFCTL} add-meter {bridge} {meter}" for meter in meters)
            yield f"{_OFCTL} replace-flows {bridge} {bridge}.flows"
        policing = {each.device: each for each in settings.policing}
        for port in self._ports():
            limit = policing.get(port.device)
            rate, burst = (0, 0) if limit is None else (limit.kbps, limit.kbit)
            yield (
                f"{_VSCTL} clear port {port.device} qos -- set interface {port.device} "
                f"ingress_policing_rate={rate} ingress_policing_burst={burst}"
            )
        yield f"{_VSCTL} -- --all destroy qos -- --all destroy queue"
        for queues in settings.queues:
            yield from queue_commands(queues)

    def _check_traces(self, traces: list[Trace]) -> None:
        """Check with `ofproto/trace` that packets meet the meters and marks before they leave."""
        if not traces:
            return
        commands = [
            f"ovs-appctl -t ovs-vswitchd ofproto/trace {trace.bridge} "
            + shlex.quote(f"in_port={trace.in_port},udp,nw_dst={trace.to_ip},nw_ttl=64")
            + " | tail -n 1"
            for trace in traces
        ]
        answers = self.run_in_switch("trace", "\n".join(commands) + "\n").splitlines()
        for trace, answer in zip(traces, answers, strict=True):
            if not passes(trace, answer):
                raise TestbedError(
                    f"Open vSwitch: bridge {trace.bridge}: ofproto/trace from port {trace.in_port} shows "
                    f"{answer!r}, without the mark or meter that was set in front of the output"
                )

    def _begin_window(self) -> None:
        self._log_read = len(self._log())

    def _log(self) -> str:
        return (self._folder / _LOG).read_text(errors="replace")

    def _faults(self) -> list[str]:
        """Return which ports had frames that the daemon could not send."""
        ports = sorted(set(_UNSENT.findall(self._log()[self._log_read :])))
        return [
            f"Open vSwitch dropped frames in front of {', '.join(ports)}: its socket had no room; use "
            "smaller buffers, or raise net.core.wmem_default"
        ] * bool(ports)

    def complaints(self) -> list[str]:
        """Return what the daemon wrote about policing that the kernel refused: no command fails."""
        return _POLICING_FAILED.findall(self._log())


def passes(trace: Trace, answer: str) -> bool:
    """Return whether the actions of the datapath meter and mark a packet before they send it."""
    wanted = r"meter\(\d+\).*" if trace.is_metered else ""
    if trace.dscp:
        wanted += rf"set\(ipv4\(.*tos={trace.dscp << 2:#x}/0xfc.*"
    return re.search(rf"Datapath actions: .*{wanted}\d+$", answer) is not None


def queue_commands(queues: PortQueues) -> Iterator[str]:
    """Yield the commands that give a port its rate and its queues."""
    device, rate = queues.device, queues.rate_bps
    created = [
        f"-- --id=@q{queue.number} create queue other-config:min-rate={queue.least_bps} "
        f"other-config:max-rate={rate} other-config:priority={queue.priority}"
        for queue in queues.queues
    ]
    named = ",".join(f"{queue.number}=@q{queue.number}" for queue in queues.queues)
    yield (
        f"{_VSCTL} set port {device} qos=@qos -- --id=@qos create qos type=linux-htb "
        f"other-config:max-rate={rate} queues={named} {' '.join(created)} >/dev/null"
    )
    for queue in queues.queues:
        classid = queue.number + 1
        leaf = f"parent 1:{classid} handle {classid + 16:x}:"
        yield f"tc qdisc replace dev {device} {leaf} bfifo limit {queue.limit_bytes}"
        # The user-space datapath sends without the priority that `set_queue` sets, so the kernel chooses.
        for dscp in queue.dscps:
            yield (
                f"tc filter add dev {device} parent 1: protocol ip prio 1 u32 "
                f"match ip dsfield {dscp << 2:#x} 0xfc flowid 1:{classid}"
            )
