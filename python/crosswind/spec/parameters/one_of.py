"""A mapping with one key: the word of an alternative, with its parameters."""

from __future__ import annotations

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import SpecModel, keys_of


class OneOf(SpecModel):
    """A mapping with one key, the word of an alternative with parameters."""

    @model_validator(mode="after")
    def _has_one_key(self) -> OneOf:
        if len(self.model_fields_set) != 1 or self.chosen is None:
            raise PydanticCustomError(
                "element",
                "must name one of these with its parameters: {names}",
                {"names": ", ".join(keys_of(type(self)))},
            )
        return self

    @property
    def word(self) -> str:
        """The word that was chosen."""
        (name,) = self.model_fields_set
        return type(self).model_fields[name].alias or name

    @property
    def chosen(self) -> object:
        """The parameters of the chosen alternative."""
        found: object = getattr(self, next(iter(self.model_fields_set)))
        return found
