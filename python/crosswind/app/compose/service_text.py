"""A service as the file has it, and what is found while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from crosswind.app.compose.files import ComposeFiles
from crosswind.app.compose.located import FilePlace, Located, problem_at
from crosswind.app.compose.note import ComposeNote
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown

X_CROSSWIND = "x-crosswind"


@dataclass
class Context:
    """The context in which a service is read, and the notes and problems that are found.

    Attributes:
        tree: the whole file.
        values: the variables of the file.
        project: name of the project, which is part of the names of built images.
    """

    tree: Located
    files: ComposeFiles
    values: dict[str, str]
    project: str
    notes: list[ComposeNote] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, place: FilePlace, key: str, says: str, *, matters: bool = False) -> None:
        """Add a note."""
        self.notes.append(ComposeNote(place, key, says, matters))

    def unset(self, place: FilePlace, name: str) -> None:
        """Add the note that a variable has no value."""
        says = "has no value and becomes an empty text; write it into .env beside the file"
        self.note(place, f"${{{name}}}", says, matters=True)


class ServiceText:
    """One service of the file.

    Attributes:
        name: of the service.
        written: its content in the file.
        items: its keys without those that are meant for other programs.
    """

    def __init__(self, name: str, written: Located, context: Context) -> None:
        self.name = name
        self.written = written
        self.items = {key: item for key, item in written.items.items() if not is_extension(key)}
        self.context = context

    def listed(self, key: str) -> list[Located]:
        """Return the entries of a key that is a list."""
        item = self.items.get(key)
        if item is None or item.value is None:
            return []
        if not isinstance(item.value, list):
            self.wrong(key, f"{shown(item.value)} must be a list")
        return item.list

    def note(self, key: str, says: str, *, matters: bool = False) -> None:
        """Add a note about a key."""
        self.context.note(self.items[key].key, key, says, matters=matters)

    def wrong(self, key: str, message: str) -> None:
        """Add a problem at a key."""
        item = self.items.get(key, self.written)
        self.context.problems.append(problem_at(item, ("services", self.name, key), message, at_key=True))


def is_extension(key: str) -> bool:
    """Return whether a key is meant for another program."""
    return key.startswith("x-") and key != X_CROSSWIND
