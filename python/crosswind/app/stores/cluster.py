"""A store whose members are all started alike, each with data of its own."""

import signal
from abc import abstractmethod
from collections.abc import Sequence

from crosswind.app.base import Stage
from crosswind.app.stores.servers import end
from crosswind.app.stores.store import Store, members_of, own_folder
from crosswind.testbed.fabric import Process


class Cluster(Store):
    """Records are loaded once, and every trial starts from a copy of all members' data."""

    def prepare(self, stage: Stage, loader: str) -> None:
        members = members_of(stage.fabric.nodes)
        for member in members:
            own_folder(stage, member)
        servers = self._serve_all(stage)
        self.form(stage, servers)
        self.fill(stage, loader)
        # The primary ends last, so that no election moves its role.
        for server in reversed(servers):
            end(server, signal.SIGTERM)
        self.keep(stage, members)

    def start(self, stage: Stage) -> None:
        self.data(stage.fabric.nodes).lay_out(stage.folder)
        self._servers = self._serve_all(stage)
        self.gather(stage, self._servers)

    @abstractmethod
    def form(self, stage: Stage, servers: Sequence[Process]) -> None:
        """Make one cluster of servers that have no data yet; return when it takes records."""

    @abstractmethod
    def gather(self, stage: Stage, servers: Sequence[Process]) -> None:
        """Return when servers that were started from their data are one cluster again, with db0 first."""

    def _serve_all(self, stage: Stage) -> list[Process]:
        """Start all members; they are ready after `form` or `gather`."""
        return [self.serve(stage, member) for member in members_of(stage.fabric.nodes)]
