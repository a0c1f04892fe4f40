"""Keys of `testbed: {openstack: ...}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.setting import Finding
from crosswind.spec.testbed import ProviderParameters
from crosswind.spec.testbed.inventory import MACHINES_MAX
from crosswind.spec.testbed.provided import numbered

Policy = Literal["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"]


class Servers(SpecModel):
    """Servers that are placed by one rule; what is absent is as in the mapping above."""

    count: Annotated[int, Field(ge=1, le=MACHINES_MAX)] = Field(1, description="How many; 1 when absent.")
    policy: Policy | None = Field(
        None,
        description="Of their server group: `affinity` is one host for all, `anti-affinity` another one for "
        "each; with `soft-`, if possible.",
    )
    same_host: list[str] = Field(
        default_factory=list,
        description="Machines above whose host these get, also in another project. The site's scheduler "
        "needs SameHostFilter.",
    )
    different_host: list[str] = Field(
        default_factory=list,
        description="Machines above whose hosts these do not get. The site's scheduler needs "
        "DifferentHostFilter.",
    )
    zone: str | None = Field(None, description="Availability zone; the site's choice when absent.")
    flavor: str | None = None
    cloud: str | None = Field(None, description="For a project of its own (tenant).")
    network: str | None = None


def _count_or_list(raw: object) -> object:
    """Read a number as a list with one item."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return [{"count": raw}]
    if isinstance(raw, list):
        return raw
    raise QuantityError(
        f"{shown(raw)} is neither a number nor a list; write 4, or "
        "[{count: 2, policy: affinity}, {count: 2}]"
    )


class OpenstackParameters(ProviderParameters):
    """Servers of an OpenStack cloud, made for the run, with all that they need."""

    cloud: str | None = Field(
        None,
        min_length=1,
        description="A cloud of clouds.yaml; the variables OS_CLOUD or OS_AUTH_URL and so on when absent.",
    )
    servers: Annotated[
        list[Servers],
        Field(min_length=1, max_length=MACHINES_MAX),
        BeforeValidator(_count_or_list, json_schema_input_type=Annotated[int, Field(ge=1)] | list[Servers]),
    ] = Field(alias="machines", description="How many, or how they are placed; called m0, m1 and so on.")
    image: str = Field(min_length=1, description="Name or id, of a Linux with cloud-init.")
    flavor: str = Field(min_length=1, description="Name or id.")
    user: str = Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", description="Account that the image has, such as debian."
    )
    network: str | None = Field(
        None,
        min_length=1,
        description="One that exists; a network of its own is made for the run when absent.",
    )
    external: str | None = Field(
        None,
        min_length=1,
        description="Network that floating addresses for ssh are taken from; the servers' own addresses are "
        "used when absent.",
    )

    def machines(self) -> list[ResolvedMachine]:
        return [ResolvedMachine(name=name) for name in numbered(sum(each.count for each in self.servers))]

    def named(self) -> Iterator[tuple[Servers, list[str]]]:
        """Yield each item of `machines` with the names of its machines."""
        names = iter(numbered(sum(each.count for each in self.servers)))
        for each in self.servers:
            yield each, [next(names) for _ in range(each.count)]

    def findings(self) -> Iterator[Finding]:
        total = sum(each.count for each in self.servers)
        if total > MACHINES_MAX:
            yield ("machines",), f"are {total}; at most {MACHINES_MAX}"
            return
        earlier: list[str] = []
        for number, (each, names) in enumerate(self.named()):
            path = ("machines", number)
            if each.policy is not None and each.count == 1:
                yield (*path, "policy"), "has no effect on one server; write count: 2, or more"
            for key, named in (("same_host", each.same_host), ("different_host", each.different_host)):
                for name in named:
                    if name not in earlier:
                        yield (
                            (*path, key),
                            f"names {shown(name)}, which is not a machine above; {_above(earlier)}",
                        )
            earlier += names
        yield from self._network_findings()

    def _network_findings(self) -> Iterator[Finding]:
        """A network of its own belongs to one project, and a second one would have the same addresses."""
        clouds = {each.cloud or self.cloud for each in self.servers}
        for number, each in enumerate(self.servers):
            if len(clouds) > 1 and each.network is None and self.network is None:
                yield (
                    ("machines", number),
                    "has no network, and servers of several projects need networks that reach each other; "
                    "write network: NAME",
                )


def _above(earlier: list[str]) -> str:
    return f"those are {', '.join(earlier[:5])}" if earlier else "there is none above the first"
