"""Read a condition of the catalogue: one file, one condition, whose key is the last part of its name."""

from __future__ import annotations

from functools import cache

from crosswind import catalog
from crosswind.spec.document import Document, read_document
from crosswind.spec.problems import SpecErrors


@cache
def read_catalogue_condition(name: str) -> Document:
    """Return the document of a condition, which is read once; `name` is one of `catalog.condition_names()`.

    Raises: SpecErrors: its key is another. Experiments name the condition after its file, so a key that
        differs would show a name that nothing knows.
    """
    document = read_document(catalog.condition_file(name))
    own = name.rpartition("/")[2]
    keys = list(document.data) if isinstance(document.data, dict) else []
    if keys != [own]:
        other = next(((key,) for key in keys if key != own), ())
        message = f"condition {name}: its only key must be the file's name; write `{own}: {{...}}`"
        raise SpecErrors([document.problem(other, message, at_key=True)])
    return document
