"""Sizes of an application: named sets of parameters, in `sizes.yaml` beside its code.

    small: {records: 10000, operations: 10000}
    study: {records: 1000000, operations: 1000000}

With `small`, a trial ends within a minute on two cores; `study` is the size of a published study, where there
is one. A size is data: parameters as an experiment file writes them; no code uses its name.
"""

import sys
from importlib import resources

from pydantic import JsonValue, TypeAdapter, ValidationError

from crosswind.errors import CrosswindError
from crosswind.spec.declared import DeclaredApplication
from crosswind.spec.document import read_document
from crosswind.spec.quantities import shown

FILE = "sizes.yaml"
# Parameters as a file writes them, by the name of the size.
Sizes = dict[str, dict[str, JsonValue]]
_SIZES = TypeAdapter(Sizes)


class BadSizes(CrosswindError):
    """The `sizes.yaml` of an application is invalid."""


def sizes_of(application: type[DeclaredApplication]) -> Sizes:
    """Return the parameters of each size, in the order of the file; {} without a file.

    Raises: BadSizes: the file is not a mapping of sizes to parameters; names the size that is none.
    """
    package = sys.modules[application.__module__].__package__
    file = resources.files(package) / FILE if package else None
    if file is None or not file.is_file():
        return {}
    try:
        return _SIZES.validate_python(read_document(file).data)
    except ValidationError as error:
        size = next(iter(error.errors()[0]["loc"]), None)
        wrong = f"{file}: must be" if size is None else f"{file}: size {shown(size)} must be"
        what = "a mapping of sizes to parameters" if size is None else "a mapping of parameters"
        raise BadSizes(f"{wrong} {what}; write `{size or 'small'}: {{...}}`") from None
