"""What the parts of a measurement and of provenance.json have in common."""

from crosswind.spec.resolved import ResolvedPart


class StoredPart(ResolvedPart):
    """A part of a document that is stored with a trial or a run.

    The rules are those of a resolved experiment: a key that a file lacks has its default and is not written
    again, unknown keys are kept, and a value of another type is an error.
    """
