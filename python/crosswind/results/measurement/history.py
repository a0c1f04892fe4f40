"""What the check of a history of concurrent operations found (docs/reference/contracts.md, section 4)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from crosswind.results.part import StoredPart


class ShownOperation(StoredPart):
    """An operation of a counterexample.

    Attributes:
        process: the client; a client whose operation has an unknown outcome goes on as another process.
        words: such as `write 3` or `read 7`.
        began_ns: as the instants of its history.
        ended_ns: None where its outcome is unknown.
        is_wrong: its answer cannot be right.
    """

    process: int
    words: str
    began_ns: int
    ended_ns: int | None = None
    is_wrong: bool = False


class WrongKey(StoredPart):
    """A key whose answers no correct store can have given.

    Attributes:
        why: a sentence without its end.
        operations: the fewest that were found to be impossible together, in the order in which they began.
        hidden: operations that belong to them and are not stored.
    """

    key: int
    why: str
    operations: list[ShownOperation] = Field(default_factory=list)
    hidden: int = 0


class Elements(StoredPart):
    """What is the matter with elements of sets and lists."""

    lost: int = 0
    stale: int = 0
    unexpected: int = 0
    repeated: int = 0


class CheckedHistory(StoredPart):
    """The verdict on a history.

    Attributes:
        workload: `register`, `set` or `append`.
        verdict: `ok`: a correct store could have answered so; `unknown`: not every key could be checked.
        keys: that clients used.
        confirmed, refused, unknown: operations that took effect, that did not, and those of which nobody
            knows.
        wrong_keys: those that are not right.
        undecided_keys: those that could not be checked to the end, and `undecided_because` of the first.
        shown: some of the keys that are not right.
    """

    workload: str
    verdict: Literal["ok", "violation", "unknown"]
    keys: int
    confirmed: int
    refused: int
    unknown: int
    wrong_keys: list[int] = Field(default_factory=list)
    undecided_keys: list[int] = Field(default_factory=list)
    undecided_because: str | None = None
    elements: Elements = Elements()
    shown: list[WrongKey] = Field(default_factory=list)

    def since(self, origin_ns: int) -> Self:
        """Return the same with instants that count from another one."""

        def moved(one: ShownOperation) -> ShownOperation:
            ended_ns = None if one.ended_ns is None else one.ended_ns - origin_ns
            return one.model_copy(update={"began_ns": one.began_ns - origin_ns, "ended_ns": ended_ns})

        shown = [
            key.model_copy(update={"operations": [moved(one) for one in key.operations]})
            for key in self.shown
        ]
        return self.model_copy(update={"shown": shown})
