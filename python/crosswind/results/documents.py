"""Files of a results folder as they are read again: whole, or refused with the file's name and a remedy.

Results are copied between machines, stored for years and edited by hand. When such a file is damaged, the
file is at fault and not the program that reads it. A document is checked against its model, in which what
older versions did not write has a default.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from crosswind.errors import CrosswindError
from crosswind.spec.resolved import SCHEMA, Resolved

RESTORE = "restore it from a copy of the folder"
RUN_AGAIN = f"{RESTORE}, or run the experiment again"
WITHOUT_IT = f"{RESTORE}, or remove it: the other files are read without it"
FROM_JOURNAL = f"{RESTORE}, or let `crosswind resume` write it again from the journal"


class Damaged(CrosswindError):
    """A file of a results folder is not as Crosswind wrote it; names the file and the remedy."""

    def __init__(self, path: Path, why: object, remedy: str) -> None:
        text = " ".join(str(why).split())
        super().__init__(f"{path}: is damaged ({text}); {remedy}")


class EarlierVersion(CrosswindError):
    """A results folder was written by a version with another format."""


_Model = TypeVar("_Model", bound=BaseModel)


def read_document(path: Path, model: type[_Model], remedy: str) -> _Model:
    """Return a JSON document of a results folder.

    Args:
        remedy: for the end of an error.
    Raises: Damaged: it is not JSON, or not of that model; says where.
    """
    return _checked(path, model, _parsed(path, remedy), remedy)


def read_resolved(path: Path) -> Resolved:
    """Return resolved.json.

    Raises: Damaged: it is not JSON, or not of its model; says where. EarlierVersion: it has another schema.
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


def _parsed(path: Path, remedy: str) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"it is no JSON: {error}", remedy) from None


def _checked(path: Path, model: type[_Model], document: object, remedy: str) -> _Model:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise Damaged(path, f"{where}: {first['msg']}", remedy) from None


@contextmanager
def blaming(path: Path, remedy: str) -> Iterator[None]:
    """Name a file when the block fails because of its content.

    Raises: Damaged: instead of any exception, except those that name their cause themselves.
    """
    try:
        yield
    except (CrosswindError, OSError):
        raise
    except Exception as error:
        raise Damaged(path, f"{type(error).__name__}: {error}", remedy) from error
