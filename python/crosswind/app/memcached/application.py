"""memcached as an application: Debian's server, filled in every trial, and our load generator."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from crosswind.app.base import Application, Load, Stage
from crosswind.app.demand import Demand
from crosswind.app.load import latency_figures, offer_load
from crosswind.app.pace import Pace
from crosswind.app.requirements import DebianPackages, OwnProgram
from crosswind.app.server import READY_S, run_to_end, stop_servers
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Share, Size
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

SERVER, CLIENT = "server", "client"
PORT = 11211
MEMCACHED = DebianPackages("memcached", packages=("memcached",), programs=("memcached",))

# Measured: about 400,000 keys per second. The time limit allows for a tenth of that.
_KEYS_PER_S_MIN = 40_000
# For the connections that fill the server, in addition to those of the load.
_SPARE_CONNECTIONS = 16
_MIB = 1 << 20


class MemcachedParameters(Pace):
    """The stored keys, and the requests: their mix, connections, rate and for how long they are sent."""

    # Not `keys`: `dict` treats every object with an attribute of that name as a mapping.
    key_count: Annotated[int, Field(ge=1, le=100_000_000)] = Field(
        100_000,
        alias="keys",
        description="Keys stored before the load begins, about 300 B each; 100000 when absent.",
    )
    memory_bytes: Size = Field(
        256 * _MIB,
        alias="memory",
        description="Memory of the server for items. Items that do not fit are evicted; a GET for them is an "
        "error. 256MiB when absent.",
    )
    threads: Annotated[int, Field(ge=1, le=64)] = Field(
        2, description="Worker threads of the server; 2 when absent."
    )
    sets: Share = Field(
        0.033, description="Share of SETs among the requests; when absent 3.3%, one SET per 30 GETs."
    )
    protocol: Literal["text", "binary"] = Field(
        "text", description="Protocol between client and server; text when absent."
    )
    connections: Annotated[int, Field(ge=1, le=1000)] = Field(
        4, description="Connections of the client, each with at most one request in flight; 4 when absent."
    )
    duration_ns: PositiveDuration = Field(alias="duration", description="Length of the measured phase.")
    warm_up_ns: Duration = Field(
        1_000_000_000, alias="warm_up", description="Before the measured phase; 1s when absent."
    )


class Memcached(Application):
    """`memcached` on the node `server`, `crosswind-load memcached` on the node `client`."""

    name = "memcached"
    summary = "a cache in memory under Facebook's ETC mix"
    Parameters = MemcachedParameters
    requirements = (OwnProgram(LOAD), MEMCACHED)
    parameters: MemcachedParameters
    _server: Process

    ROLES: ClassVar[tuple[str, ...]] = (SERVER, CLIENT)

    def figures(self) -> tuple[Figure, ...]:
        return latency_figures(self.parameters.rate)

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in cls.ROLES if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: MemcachedParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(frozenset({SERVER}), frozenset({CLIENT}))

    def demand(self, nodes: Collection[str]) -> Demand:
        return Demand(memory_bytes=self.parameters.memory_bytes, remedy="write less `memory`")

    def start(self, stage: Stage) -> None:
        self._server = self._serve(stage)
        stage.fabric.probe(
            CLIENT,
            "first-key",
            self._fill(stage, 1),
            cwd=stage.folder,
            timeout_s=READY_S,
            alive=[self._server],
        )
        keys = self.parameters.key_count
        filling_s = READY_S + keys / _KEYS_PER_S_MIN
        run_to_end(stage, CLIENT, "memcached-prepare", self._fill(stage, keys), timeout_s=filling_s)

    def load(self, stage: Stage) -> Load:
        asked = self.parameters
        arguments = [
            "memcached",
            *("--server", self._address(stage)),
            *("--protocol", asked.protocol),
            *("--keys", str(asked.key_count)),
            *("--set-share", f"{asked.sets:.9f}"),
            *("--connections", str(asked.connections)),
            *asked.pace_arguments,
        ]
        return offer_load(
            stage, CLIENT, arguments, warm_up_ns=asked.warm_up_ns, duration_ns=asked.duration_ns
        )

    def restart(self, stage: Stage, node: str) -> None:
        # Empty, as memcached is: until a SET has stored its key again, a GET fails.
        self._server = self._serve(stage)

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._server])

    def _serve(self, stage: Stage) -> Process:
        asked, program = self.parameters, MEMCACHED.program("memcached")
        command = [
            program.path,
            *("-l", stage.fabric.nodes[SERVER].address),
            *("-p", PORT),
            *("-U", 0),
            *("-t", asked.threads),
            *("-m", -(-asked.memory_bytes // _MIB)),
            *("-c", asked.connections + _SPARE_CONNECTIONS),
        ]
        return stage.fabric.start(SERVER, "memcached", command, cwd=stage.folder, env=program.env)

    def _address(self, stage: Stage) -> str:
        return f"{stage.fabric.nodes[SERVER].address}:{PORT}"

    def _fill(self, stage: Stage, keys: int) -> list[object]:
        """Return the command that stores the first keys, with the same contents in every trial."""
        return [find_binary(LOAD), "memcached-prepare", "--server", self._address(stage), "--keys", keys]
