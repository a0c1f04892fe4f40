"""A web server and its client as an application."""

import shutil
from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Application, Load, Stage
from crosswind.app.load import OUTLIVE_NS, latency_figures, offer_load
from crosswind.app.pace import Pace
from crosswind.app.requirements import OwnProgram, Requirement
from crosswind.app.server import READY_S, stop_servers
from crosswind.app.web import vegeta
from crosswind.app.web.apache import Apache
from crosswind.app.web.client import OwnClient, Vegeta
from crosswind.app.web.nginx import Nginx
from crosswind.app.web.server import PORT, Site, WebServer
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Size
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

SERVER, CLIENT = "server", "client"
_SERVERS: dict[str, WebServer] = {"nginx": Nginx(), "apache": Apache()}
# For the connections of the probe, in addition to those of the load.
_SPARE_CONNECTIONS = 4


class WebParameters(Pace):
    """The server, its objects, the client, and how it sends requests."""

    server: Literal["nginx", "apache"] = Field("nginx", description="The web server; nginx when absent.")
    client: Literal["crosswind", "vegeta"] = Field(
        "crosswind", description="The client: our load generator or vegeta; crosswind when absent."
    )
    objects_bytes: Annotated[list[Size], Field(min_length=1, max_length=1000)] = Field(
        [10_000],
        alias="objects",
        description="Sizes of the objects; each request gets one of them, with equal probability. "
        "[10kB] when absent.",
    )
    connections: Annotated[int, Field(ge=1, le=1000)] = Field(
        4, description="Connections of the client, each with at most one request in flight; 4 when absent."
    )
    duration_ns: PositiveDuration = Field(alias="duration", description="Length of the measured phase.")
    warm_up_ns: Duration = Field(
        1_000_000_000, alias="warm_up", description="Before the measured phase; 1s when absent."
    )

    @model_validator(mode="after")
    def _client_can_go_so(self) -> "WebParameters":
        if self.client == "vegeta" and self.arrivals != "even":
            raise ValueError(
                f"`arrivals: {self.arrivals}` is not possible with vegeta; leave out `client: vegeta` or "
                "`arrivals`"
            )
        return self


class Web(Application):
    """nginx or Apache on the node `server`, `crosswind-load http` or vegeta on the node `client`."""

    name = "web"
    summary = "objects of declared sizes from nginx or Apache"
    Parameters = WebParameters
    set_up_s = 1.0
    requirements = (OwnProgram(LOAD),)
    variants: ClassVar[dict[str, tuple[Requirement, ...]]] = {
        **{name: (server.packages,) for name, server in _SERVERS.items()},
        **{f"{name}-vegeta": (server.packages, vegeta.VEGETA) for name, server in _SERVERS.items()},
    }
    parameters: WebParameters
    _process: Process

    ROLES: ClassVar[tuple[str, ...]] = (SERVER, CLIENT)

    @property
    def variant(self) -> str:
        asked = self.parameters
        return asked.server if asked.client == "crosswind" else f"{asked.server}-{asked.client}"

    def figures(self) -> tuple[Figure, ...]:
        transfer = Figure("transfer", "mean", "B/s", "transfer", "higher")
        return (*latency_figures(self.parameters.rate), transfer)

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in cls.ROLES if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: WebParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(frozenset({SERVER}), frozenset({CLIENT}))

    def start(self, stage: Stage) -> None:
        asked, site = self.parameters, self._site(stage)
        site.objects.mkdir(parents=True)
        for size in set(asked.objects_bytes):
            with (site.objects / str(size)).open("wb") as file:
                file.truncate(size)
        site.configuration.write_text(_SERVERS[asked.server].configuration(site))
        for path in (site.folder, site.objects):
            shutil.chown(path, *stage.fabric.application_account)
        self._process = self._serve(stage)
        stage.fabric.probe(
            CLIENT,
            "first-request",
            self._first_request(stage),
            cwd=stage.folder,
            timeout_s=READY_S,
            alive=[self._process],
        )

    def load(self, stage: Stage) -> Load:
        return self._own_client(stage) if self.parameters.client == "crosswind" else self._vegeta(stage)

    def restart(self, stage: Stage, node: str) -> None:
        self._process = self._serve(stage)

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._process])

    def _site(self, stage: Stage) -> Site:
        address = stage.fabric.nodes[SERVER].address
        return Site(address, stage.folder / "site", self.parameters.connections + _SPARE_CONNECTIONS)

    def _serve(self, stage: Stage) -> Process:
        name, site = self.parameters.server, self._site(stage)
        server = _SERVERS[name]
        return stage.fabric.start(SERVER, name, server.command(site), cwd=site.folder, env=server.env)

    def _own_client(self, stage: Stage) -> Load:
        asked = self.parameters
        arguments = [
            "http",
            *("--server", self._address(stage)),
            *("--object-bytes", ",".join(str(size) for size in asked.objects_bytes)),
            *("--connections", str(asked.connections)),
            *asked.pace_arguments,
        ]
        load = offer_load(
            stage, CLIENT, arguments, warm_up_ns=asked.warm_up_ns, duration_ns=asked.duration_ns
        )
        return OwnClient(load)

    def _vegeta(self, stage: Stage) -> Load:
        asked, table = self.parameters, stage.folder / "results.csv"
        base = f"http://{self._address(stage)}"
        (stage.folder / "targets").write_text(vegeta.targets(base, asked.objects_bytes, stage.seed))
        command = vegeta.attack(
            stage.folder,
            connections=asked.connections,
            rate=asked.rate,
            length_ns=asked.warm_up_ns + asked.duration_ns,
            timeout_ns=OUTLIVE_NS if stage.has_faults else vegeta.TIMEOUT_NS,
            results=stage.folder / "results",
            table=table,
        )
        return Vegeta(
            stage.fabric.start(CLIENT, "vegeta", command, cwd=stage.folder),
            table,
            rate=asked.rate,
            warm_up_ns=asked.warm_up_ns,
            duration_ns=asked.duration_ns,
            error_share_max=1 if stage.has_faults else vegeta.ERROR_SHARE_MAX,
            parameters=asked.model_dump(mode="json"),
        )

    def _address(self, stage: Stage) -> str:
        return f"{stage.fabric.nodes[SERVER].address}:{PORT}"

    def _first_request(self, stage: Stage) -> list[object]:
        """Return a command that succeeds if the smallest object has its declared size."""
        return [
            find_binary(LOAD),
            "http",
            *("--server", self._address(stage)),
            *("--object-bytes", min(self.parameters.objects_bytes)),
            *("--connections", 1),
            *("--duration", 0.01),
            *("--seed", stage.seed),
            *("--samples", stage.folder / "probe.csv"),
            *("--summary", stage.folder / "probe.json"),
        ]
