"""Files of a results folder as they are read again: whole, or refused by name with what helps.

Results are copied between machines, stored for years and edited by hand. When such a file is damaged, the
file is at fault and not the program that reads it. A document is checked for what its readers rely on; what
older versions did not write may be absent.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crosswind.errors import CrosswindError
from crosswind.spec.resolved import SCHEMA, Resolved

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
_Model = TypeVar("_Model", bound=BaseModel)


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
    document: dict[str, Any] = _parsed(path, remedy)
    _checked(path, shape, document, remedy)
    return document


def read_resolved(path: Path) -> Resolved:
    """Return resolved.json.

    Raises: Damaged: it is no JSON, or not of its shape; says where. EarlierVersion: it has another schema.
    """
    document = _parsed(path, RUN_AGAIN)
    schema = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
    if schema == SCHEMA:
        resolved = _checked(path, Resolved, document, RUN_AGAIN)
        schema = resolved.schema_version
    if schema != SCHEMA:
        raise EarlierVersion(
            f"{path}: has schema {schema}, and this version reads schema {SCHEMA}, in which the "
            "network is a list of links; read the folder with the version of Crosswind that wrote it, or run "
            "the experiment again"
        )
    return resolved


def _parsed(path: Path, remedy: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"it is no JSON: {error}", remedy) from None


def _checked(path: Path, model: type[_Model], document: Any, remedy: str) -> _Model:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise Damaged(path, f"{where}: {first['msg']}", remedy) from None


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
