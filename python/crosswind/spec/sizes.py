"""Fill in the parameters of an application's size, before anything else reads them."""

from __future__ import annotations

from crosswind.spec import applications
from crosswind.spec.document import Document
from crosswind.spec.draft import items
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown


def with_size(document: Document, problems: list[Problem]) -> tuple[Document, str | None]:
    """Return the document with the size's parameters in place of `size`, and the size.

    What the file says itself stays. A size that there is not is added to `problems`; without the key, or
    where the application has no sizes, the document stays as it is.
    """
    for path, raw in items(document.data, "application"):
        name = str(path[-1])
        if name not in applications.names() or not isinstance(raw, dict) or applications.SIZE not in raw:
            continue
        sizes = applications.sizes(name)
        if not sizes:
            continue
        own = {key: value for key, value in raw.items() if key != applications.SIZE}
        size = raw[applications.SIZE]
        if not isinstance(size, str) or size not in sizes:
            message = f"application.{name}: size {shown(size)} is not known; sizes are {', '.join(sizes)}"
            problems.append(document.problem((*path, applications.SIZE), message))
            size = next(iter(sizes))  # What it would have filled in is not missing as well.
        filled = {**sizes[size], **own}
        application = {str(key[-1]): value for key, value in items(document.data, "application")}
        return document.with_value("application", {**application, name: filled}), size
    return document, None
