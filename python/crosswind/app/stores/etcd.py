"""etcd: a Raft cluster of all database nodes, whose leader is db0 when a trial begins.

Records are loaded once; every trial starts from a copy of all members' data. After a start, any member may
be the leader, and latencies at db0 depend on it. So leadership is moved to db0 before the condition is
applied. A condition that delays heartbeats may cause the cluster to elect another leader; the trial measures
that.

`durability` is the guarantee of a read: `linearizable` waits for a quorum, `serializable` answers from the
data of db0. Writes always wait for a quorum.

Source: etcd 3.4 documentation, "Configuration flags", "KV API guarantees".
"""

from collections.abc import Sequence

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages
from crosswind.app.server import run_to_end
from crosswind.app.stores.cluster import Cluster
from crosswind.app.stores.etcd_status import Member, member_id, parse_status
from crosswind.app.stores.servers import READY_S, await_answer
from crosswind.app.stores.store import PRIMARY, address_of, members_of, version_of
from crosswind.testbed.fabric import Process

ETCD = DebianPackages("etcd", packages=("etcd-server", "etcd-client"), programs=("etcd", "etcdctl"))
CLIENT_PORT, PEER_PORT = 2379, 2380
# The default of 2 GiB is too small for a million records.
_QUOTA_BYTES = 8 << 30


class Etcd(Cluster):
    """A cluster of as many members as there are database nodes."""

    name = "etcd"
    requirements = (ETCD,)
    durabilities = ("linearizable", "serializable")
    settings = f"keys by field, quota {_QUOTA_BYTES}"

    def version(self) -> str:
        return version_of(ETCD.program("etcd"), "--version")

    def remark(self) -> str | None:
        if self.durability == "linearizable":
            return None
        return (
            "etcd answers serializable reads from db0's data: the network between the database's nodes is "
            "not in the latency of a read, and a read may be stale. Writes wait for a quorum."
        )

    def form(self, stage: Stage, servers: Sequence[Process]) -> None:
        self._await_members(stage, servers, "endpoint-status")

    def gather(self, stage: Stage, servers: Sequence[Process]) -> None:
        status = self._await_members(stage, servers, "endpoint-status")
        primary = member_id(status, _client_url(PRIMARY))
        if status[0].leader != primary:
            command = self._ask(stage, "move-leader", f"{primary:x}")
            run_to_end(stage, PRIMARY, "move-leader", command, timeout_s=READY_S, env=self._env)
            self._await_members(stage, servers, "endpoint-status-moved", leader=primary)

    def target(self, stage: Stage) -> list[str]:
        server = f"{address_of(stage, PRIMARY)}:{CLIENT_PORT}"
        return ["--store", "etcd", "--server", server, "--durability", self.durability]

    def serve(self, stage: Stage, node: str) -> Process:
        # With names instead of addresses, which differ from fabric to fabric.
        members = members_of(stage.fabric.nodes)
        cluster = ",".join(f"{member}={_peer_url(member)}" for member in members)
        folder, address = stage.folder / node, address_of(stage, node)
        server = ETCD.program("etcd")
        command = [
            server.path,
            *("--name", node),
            *("--data-dir", folder / "data"),
            *("--listen-peer-urls", f"http://{address}:{PEER_PORT}"),
            *("--initial-advertise-peer-urls", _peer_url(node)),
            *("--listen-client-urls", f"http://{address}:{CLIENT_PORT}"),
            *("--advertise-client-urls", _client_url(node)),
            *("--initial-cluster", cluster),
            *("--quota-backend-bytes", str(_QUOTA_BYTES)),
        ]
        return stage.fabric.start(node, "etcd", command, cwd=folder, env=server.env)

    def _await_members(
        self, stage: Stage, servers: Sequence[Process], name: str, leader: int | None = None
    ) -> list[Member]:
        """Wait until all members agree on a leader and have applied the same entries; return their status."""

        def accept(said: str) -> bool:
            status = parse_status(said)
            leaders = {member.leader for member in status}
            return (
                len(status) == len(servers)
                and (leaders == {leader} if leader is not None else len(leaders) == 1 and leaders != {0})
                and len({member.applied for member in status}) == 1
            )

        command = self._ask(stage, "endpoint", "status", "--write-out=json")
        return parse_status(await_answer(stage, PRIMARY, name, command, accept, alive=servers, env=self._env))

    def _ask(self, stage: Stage, *words: str) -> list[object]:
        endpoints = ",".join(_client_url(member) for member in members_of(stage.fabric.nodes))
        return [ETCD.program("etcdctl").path, f"--endpoints={endpoints}", *words]

    @property
    def _env(self) -> dict[str, str]:
        return {**ETCD.env, "ETCDCTL_API": "3"}


def _client_url(node: str) -> str:
    return f"http://{node}:{CLIENT_PORT}"


def _peer_url(node: str) -> str:
    return f"http://{node}:{PEER_PORT}"
