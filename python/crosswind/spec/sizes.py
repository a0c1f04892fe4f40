"""Fill in the parameters of an application's size, before anything else reads them."""

from __future__ import annotations

from crosswind.spec import applications
from crosswind.spec.declared import SIZE
from crosswind.spec.document import Document
from crosswind.spec.draft import items
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown


def with_size(document: Document, problems: list[Problem]) -> tuple[Document, str | None]:
    """Return the document with the size's parameters in place of `size`, and the size.

    Parameters in the file take precedence. An unknown size is added to `problems`. Without the key, or where
    the application has no sizes, the document is returned unchanged.
    """
    for path, raw in items(document.data, "application"):
        name = str(path[-1])
        if name not in applications.names() or not isinstance(raw, dict) or SIZE not in raw:
            continue
        sizes = applications.sizes(name)
        if not sizes:
            continue
        own = {key: value for key, value in raw.items() if key != SIZE}
        size = raw[SIZE]
        if not isinstance(size, str) or size not in sizes:
            message = f"application.{name}: size {shown(size)} is unknown; sizes are {', '.join(sizes)}"
            problems.append(document.problem((*path, SIZE), message))
            size = next(iter(sizes))  # So that its parameters are not reported as missing, too.
        filled = {**sizes[size], **own}
        application = {str(key[-1]): value for key, value in items(document.data, "application")}
        return document.with_value("application", {**application, name: filled}), size
    return document, None
