"""Requests and responses of a chosen size between two nodes.

The smallest distributed application: no storage, no replication, nothing to install. No database hides the
effects of the network, and it runs on every machine.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar

from pydantic import Field

from crosswind.app.base import Application, Load, Stage
from crosswind.app.load import await_listening, latency_figures, offer_load
from crosswind.app.pace import Pace
from crosswind.app.requirements import OwnProgram
from crosswind.app.server import stop_servers
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Size
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

PORT = 7077


class RpcParameters(Pace):
    """The requests: their size, connections, rate and for how long they are sent."""

    request_bytes: Size = Field(100, alias="request", description="Size of a request; 100B when absent.")
    response_bytes: Size = Field(1000, alias="response", description="Size of a response; 1kB when absent.")
    connections: Annotated[int, Field(ge=1, le=1000)] = Field(
        4, description="Connections of the client, each with at most one request in flight; 4 when absent."
    )
    duration_ns: PositiveDuration = Field(alias="duration", description="Length of the measured phase.")
    warm_up_ns: Duration = Field(
        1_000_000_000, alias="warm_up", description="Before the measured phase; 1s when absent."
    )


class Rpc(Application):
    """`crosswind-load rpc-serve` on the node `server`, `crosswind-load rpc` on the node `client`."""

    name = "rpc"
    summary = "requests and responses of a chosen size between two nodes"
    Parameters = RpcParameters
    set_up_s = 0.5
    requirements = (OwnProgram(LOAD),)
    parameters: RpcParameters

    ROLES: ClassVar[tuple[str, ...]] = ("server", "client")

    def figures(self) -> tuple[Figure, ...]:
        return latency_figures(self.parameters.rate)

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in cls.ROLES if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: RpcParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(frozenset({"server"}), frozenset({"client"}))

    def start(self, stage: Stage) -> None:
        self._server = self._serve(stage)
        await_listening(self._server)

    def load(self, stage: Stage) -> Load:
        asked = self.parameters
        arguments = [
            "rpc",
            *("--server", f"{stage.fabric.nodes['server'].address}:{PORT}"),
            *("--request-bytes", str(asked.request_bytes)),
            *("--response-bytes", str(asked.response_bytes)),
            *("--connections", str(asked.connections)),
            *asked.pace_arguments,
        ]
        return offer_load(
            stage, "client", arguments, warm_up_ns=asked.warm_up_ns, duration_ns=asked.duration_ns
        )

    def restart(self, stage: Stage, node: str) -> None:
        self._server = self._serve(stage)

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._server])

    def _serve(self, stage: Stage) -> Process:
        address = stage.fabric.nodes["server"].address
        command = [find_binary(LOAD), "rpc-serve", "--listen", f"{address}:{PORT}"]
        return stage.fabric.start("server", "rpc-serve", command, cwd=stage.folder)
