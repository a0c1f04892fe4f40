"""What programs write as JSON, with types: summaries, reports, results of a load."""

from pydantic import BaseModel, ConfigDict, JsonValue


class Written(BaseModel):
    """A document, or a part of one. Aliases are its keys; attributes carry their unit.

    Keys that nobody here reads stay in it, so a trial stores all that its tool reported.
    """

    model_config = ConfigDict(
        extra="allow", strict=True, frozen=True, validate_by_alias=True, validate_by_name=True
    )

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as plain values, with the keys that were set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Facts(Written):
    """What was run, and what the tool reported: stored with the trial, as `load` in the JSON of its monitors.

    Attributes:
        tool: that measured.
        version: of the tool.
        parameters: that it ran with, by name; an open loop has a `rate`.
    """

    tool: str | None = None
    version: str | None = None
    parameters: dict[str, JsonValue]
