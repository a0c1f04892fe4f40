"""What applications on a store share: its nodes, what it needs, and its servers during a trial."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from crosswind.app.base import Application, Stage
from crosswind.app.demand import Demand
from crosswind.app.requirements import OwnProgram
from crosswind.app.stores.store import PRIMARY, Store, members_of
from crosswind.spec.declared import FaultNodes
from crosswind.testbed.binaries import LOAD

CLIENT = "client"


class OnStore(Application):
    """A store on the nodes db0 (primary), db1, db2 ... (replicas), and a load of ours on `client`.

    Attributes:
        stores: those that an experiment may choose from, by name; the variants of the application.
    """

    stores: ClassVar[Mapping[str, type[Store]]]
    requirements = (OwnProgram(LOAD),)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.variants = {name: store.requirements for name, store in cls.stores.items()}

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters)
        self.store = self.store_of(parameters)

    @classmethod
    @abstractmethod
    def store_of(cls, parameters: Any) -> Store:
        """Return the store that these parameters choose."""

    def expected_set_up_s(self) -> float:
        return self.store.set_up_s

    @property
    def variant(self) -> str:
        return self.store.name

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in (PRIMARY, CLIENT) if role not in nodes]

    @classmethod
    def misfits(cls, parameters: Any, nodes: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        store = cls.store_of(parameters)
        if misfit := store.misfit(nodes):
            yield ("durability",), f'"{store.durability}" {misfit}'

    @classmethod
    def faults_on(cls, parameters: Any, nodes: Collection[str]) -> FaultNodes:
        members = frozenset(members_of(nodes))
        return FaultNodes(members, frozenset({CLIENT}), members)

    def demand(self, nodes: Collection[str]) -> Demand:
        return self.store.demand(nodes)

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return self.store.is_prepared(nodes)

    def prepare(self, stage: Stage) -> None:
        self.store.prepare(stage, loader=CLIENT)

    def start(self, stage: Stage) -> None:
        self.store.start(stage)

    def restart(self, stage: Stage, node: str) -> None:
        self.store.restart(stage, node)

    def stop(self, stage: Stage) -> None:
        self.store.stop(stage)


def by_name(*stores: type[Store]) -> dict[str, type[Store]]:
    """Return stores by their names in experiment files."""
    return {store.name: store for store in stores}
