"""Sizes of an application: named sets of parameters, in `sizes.yaml` beside its code.

    small: {records: 10000, operations: 10000}
    study: {records: 1000000, operations: 1000000}

With `small`, a trial ends within a minute on two cores; `study` is the size of the published study. A size is
data: parameters as an experiment file writes them; no code uses its name.
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
    """The `sizes.yaml` of an application is invalid."""


def sizes_of(application: type[DeclaredApplication]) -> Sizes:
    """Return the parameters of each size, in the order of the file; {} without a file.

    Raises: BadSizes: the file is not a mapping of sizes to parameters.
    """
    package = sys.modules[application.__module__].__package__
    file = resources.files(package) / FILE if package else None
    if file is None or not file.is_file():
        return {}
    try:
        return _SIZES.validate_python(read_document(file).data)
    except ValidationError:
        raise BadSizes(f"{file}: must be a mapping of sizes to parameters; write `small: {{...}}`") from None
