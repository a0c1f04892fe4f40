"""Sizes of an application: named sets of parameters, in `sizes.yaml` beside its code.

    small: {records: 10000, operations: 10000}
    study: {records: 1000000, operations: 1000000}

`small` ends a trial within a minute on two cores, `study` is what was published. A size is data: parameters
as an experiment file writes them, and no code knows its name.
"""

import sys
from importlib import resources

from pydantic import JsonValue, TypeAdapter, ValidationError

from crosswind.errors import CrosswindError
from crosswind.spec.declared import DeclaredApplication
from crosswind.spec.document import read_document

FILE = "sizes.yaml"
# Parameters as a file writes them, by the name of the size.
Sizes = dict[str, dict[str, JsonValue]]
_SIZES = TypeAdapter(Sizes)


class BadSizes(CrosswindError):
    """An application brought a `sizes.yaml` that is none."""


def sizes_of(application: type[DeclaredApplication]) -> Sizes:
    """Return size -> parameters, in the order of the file; {} without one.

    Raises: BadSizes: the file is no mapping of sizes to parameters.
    """
    package = sys.modules[application.__module__].__package__
    file = resources.files(package) / FILE if package else None
    if file is None or not file.is_file():
        return {}
    try:
        return _SIZES.validate_python(read_document(file).data)
    except ValidationError:
        raise BadSizes(f"{file}: must be a mapping of sizes to parameters; write `small: {{...}}`") from None
