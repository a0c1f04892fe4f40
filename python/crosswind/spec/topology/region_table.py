"""Delays between regions, of the catalogue: one file, one table, whose key is the file's name."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, WithJsonSchema

from crosswind import catalog
from crosswind.spec.base import SpecModel
from crosswind.spec.document import read_document
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.topology.table import Table, parse_table
from crosswind.text.nearest import did_you_mean


class RegionTable(SpecModel):
    """A table of the catalogue."""

    summary: str
    unit: Literal["s", "ms", "us", "ns"]
    value: Literal["one-way", "round-trip"]
    table: str = Field(description="CSV: rows are where a packet begins, columns where it ends.")

    @property
    def cells(self) -> Table:
        """The table, parsed."""
        return parse_table(self.table.encode())

    @property
    def names(self) -> tuple[str, ...]:
        """The regions."""
        return self.cells.names


@cache
def load_region_table(name: str) -> RegionTable:
    """Return a table of the catalogue.

    Raises: KeyError: `name` is not one of `catalog.region_table_names()`, or not the key in its file.
    """
    tables = TypeAdapter(dict[str, RegionTable]).validate_python(
        read_document(catalog.region_table_file(name)).data
    )
    return tables[name]


def known_table(name: str) -> str:
    """Return the name of a table.

    Raises: QuantityError: the catalogue has none of this name; names the nearest.
    """
    known = catalog.region_table_names()
    if name not in known:
        remedy = did_you_mean(name, known, count=2) or f"choose one of {', '.join(known)}"
        raise QuantityError(f"{shown(name)} is not a table of regions of the catalogue; {remedy}")
    return name


RegionTableName = Annotated[
    str, AfterValidator(known_table), WithJsonSchema({"enum": catalog.region_table_names()})
]
