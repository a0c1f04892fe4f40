"""Files of a results folder as they are read again: whole, or refused by name with what helps.

Results are copied between machines, stored for years and edited by hand. When such a file is damaged, the
file is at fault and not the program that reads it. A document is checked for what its readers rely on; what
older versions did not write may be absent.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crosswind.errors import CrosswindError
from crosswind.spec.network import Form
from crosswind.spec.resolve import SCHEMA

RESTORE = "restore it from a copy of the folder"
RUN_AGAIN = f"{RESTORE}, or run the experiment again"
WITHOUT_IT = f"{RESTORE}, or remove it: the other files are read without it"
FROM_JOURNAL = f"{RESTORE}, or let `crosswind resume` write it again from the journal"


class Damaged(CrosswindError):
    """A file of a results folder is not as Crosswind wrote it; names it, and what helps."""

    def __init__(self, path: Path, why: object, remedy: str) -> None:
        text = " ".join(str(why).split())
        super().__init__(f"{path}: is damaged ({text}); {remedy}")


class EarlierVersion(CrosswindError):
    """A results folder is of a version that wrote another format."""


class Shape(BaseModel):
    """What readers of a document rely on; other keys are free."""

    model_config = ConfigDict(extra="allow", strict=True)


_Object = dict[str, Any]
_Files = list[dict[str, str]]


class _Figure(Shape):
    metric: str
    statistic: str
    unit: str
    label: str
    better: str


class _Application(Shape):
    name: str
    size: str | None = None
    parameters: _Object = {}
    figures: list[_Figure] = []
    files: _Files = []


class _Condition(Shape):
    name: str
    summary: str | None = None
    places: dict[str, list[dict[str, _Object]]] = {}
    interference: list[_Object] = []
    timeline: list[_Object] = []
    files: _Files = []
    factors: dict[str, float | str] = {}


class _Link(Shape):
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    rate_bps: int | None
    delay_ns: int
    buffer_bytes: int | None = None
    buffer_packets: int | None = None
    buffer_ns: int | None = None
    jitter_ns: int = 0
    loss_ppb: int = 0
    cost: int = Field(1, ge=1)


class _WrittenRoutes(Shape):
    written: list[list[str]]


class _Topology(Shape):
    hosts: list[str] = []
    nodes: dict[str, str] = {}
    # What makes a network, all together.
    form: Form = "star"
    switches: list[str] = []
    links: list[_Link] = []
    routes: Literal["shortest", "ecmp"] | _WrittenRoutes = "shortest"
    domains: Literal["auto"] | int | list[list[str]] = "auto"

    @model_validator(mode="after")
    def _is_connected(self) -> Self:
        whole = {"hosts", "nodes", "form", "switches", "links", "routes"}
        given = self.model_fields_set & whole
        if given <= {"hosts", "nodes"}:
            return self
        if lacking := sorted(whole - given):
            raise ValueError(f"lacks {', '.join(lacking)}")
        hosts = set(self.hosts)
        attached = [{link.source for link in self.links}, {link.target for link in self.links}]
        if any(hosts - ends for ends in attached) or set().union(*attached) - hosts - {*self.switches}:
            raise ValueError("its links do not join its hosts and switches")
        if not set(self.nodes.values()) <= hosts:
            raise ValueError("a node is on no host")
        joined = {(link.source, link.target) for link in self.links}
        ways = self.routes.written if isinstance(self.routes, _WrittenRoutes) else []
        if any(not way or not set(pairwise(way)) <= joined for way in ways):
            raise ValueError("a written route leaves its links")
        return self


class _Until(Shape):
    quantile: float
    within: float
    confidence: float


class _Repeat(Shape):
    at_least: int = 1
    at_most: int = 1
    until: _Until | None = None


class _Trials(Shape):
    repeat: _Repeat = _Repeat()
    order: str = ""
    rest_s: float | None = 0
    budgets: str = ""
    seed: int = 0
    limits: _Object = {}


class _Tcp(Shape):
    congestion_control: str = ""
    rto_min_us: int = 0


class _Factor(Shape):
    unit: str | None
    spacing: str | None = None
    levels: list[str] = []


class _Selection(Shape):
    only: list[str]
    once: bool


class Resolved(Shape):
    """resolved.json."""

    name: str = ""
    summary: str | None = None
    source: str | None = None
    scale: float | None = None
    topology: _Topology = _Topology()
    tcp: _Tcp = _Tcp()
    application: _Application
    trials: _Trials = _Trials()
    conditions: list[_Condition]
    factors: dict[str, _Factor] = {}
    selection: _Selection | None = None
    warnings: list[str] = []
    preserved: list[str] = []


class _Machine(Shape):
    cores: int = 1
    sysctls: dict[str, str | int | None] = {}
    tools: dict[str, str] = {}
    remarks: list[str] = []
    domains: int | list[list[str]] = 1
    bounds: dict[str, float | None] = {}
    fingerprint: _Object = {}


class Provenance(Shape):
    """provenance.json; a side is null until it is known."""

    before: _Machine | None = None
    after: _Machine | None = None


class _Window(Shape):
    started_ns: int
    ended_ns: int

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.ended_ns <= self.started_ns:
            raise ValueError("ends before it starts")
        return self


class _Stall(Shape):
    at_ns: int
    length_ns: int


class _Host(Shape):
    canary_gap_ns_max: int | None = None
    steal_ns: int | None = None
    run_queue_delay_ns: int | None = None
    emulator_cpu_ns: int | None = None
    stalls: list[_Stall] | None = None


class _Credit(Shape):
    budget_bits: int
    refill_bps: int
    first_bits: int
    left_bits: int


class _Element(Shape):
    element: str
    credit: _Credit = _Credit(budget_bits=1, refill_bps=1, first_bits=1, left_bits=1)


class _Node(Shape):
    node: str
    cpu_time_ns: int | None = None


class _Connection(Shape):
    connection: int
    local: str
    remote: str


class _Load(Shape):
    not_started: int | None = None
    connections: list[_Connection] = []


class _Lost(Shape):
    lost_records: int = 0


class _Series(Shape):
    step_ns: int = Field(1, gt=0)


class Measurement(Shape):
    """monitors/<trial>.json."""

    window: _Window
    host: _Host
    elements: list[_Element] = []
    nodes: list[_Node] = []
    load: _Load = _Load()
    series: _Series = _Series()
    drops: _Lost = _Lost()
    retransmissions: _Lost = _Lost()
    held_acknowledgements: _Lost = _Lost()


def read_document(path: Path, shape: type[Shape], remedy: str) -> dict[str, Any]:
    """Return a JSON document of a results folder.

    Args:
        shape: what readers rely on.
        remedy: for the end of an error.
    Raises: Damaged: it is no JSON, or not of that shape; says where.
    """
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shape.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise Damaged(path, f"{where}: {first['msg']}", remedy) from None
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"it is no JSON: {error}", remedy) from None
    return document


def read_resolved(path: Path) -> dict[str, Any]:
    """Return resolved.json.

    Raises: Damaged: it is no JSON, or not of its shape; says where. EarlierVersion: it has another schema.
    """
    resolved = read_document(path, Resolved, RUN_AGAIN)
    if (schema := resolved.get("schema")) != SCHEMA:
        raise EarlierVersion(
            f"{path}: has schema {schema}, and this version reads schema {SCHEMA}, in which the "
            "network is a list of links; read the folder with the version of Crosswind that wrote it, or run "
            "the experiment again"
        )
    return resolved


@contextmanager
def blaming(path: Path, remedy: str) -> Iterator[None]:
    """Name a file when what is made of its content fails in the block.

    Raises: Damaged: in the place of any exception but those that name their cause themselves.
    """
    try:
        yield
    except (CrosswindError, OSError):
        raise
    except Exception as error:
        raise Damaged(path, f"{type(error).__name__}: {error}", remedy) from error
