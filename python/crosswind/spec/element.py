"""One element of a condition: its kind and parameters (reference: docs/reference/elements.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from crosswind.spec.base import FieldDefinition, SpecModel, field_of, keys_of, made_model
from crosswind.spec.element_kind import KINDS, ElementKind
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.short_form import SHORT_FORMS, short_form


class _Written(SpecModel):
    """One element: a mapping with one key, the element's name."""

    @model_validator(mode="before")
    @classmethod
    def _is_a_mapping(cls, data: object) -> object:
        if not isinstance(data, dict):
            form = SHORT_FORMS.get(data) if isinstance(data, str) else None
            example = f"{data}: {form.example}" if form is not None else "delay: 20ms"
            raise QuantityError(f"{shown(data)} is not an element with its parameters; write {example}")
        return data

    @model_validator(mode="after")
    def _has_one_name(self) -> _Written:
        if len(self.model_fields_set) != 1 or getattr(self, self.word) is None:
            raise PydanticCustomError(
                "element",
                "must name one element with its parameters: {names}",
                {"names": ", ".join(keys_of(type(self)))},
            )
        return self

    @property
    def word(self) -> str:
        """The element's name in files."""
        return next(iter(self.model_fields_set))

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema: JsonSchemaValue = handler.resolve_ref_schema(handler(core))
        schema.update(minProperties=1, maxProperties=1)
        for word, choice in schema["properties"].items():
            # `police: null` is an error, so editors do not offer it.
            reference = next(option for option in choice.pop("anyOf") if "$ref" in option)
            choice.pop("default", None)
            if word in SHORT_FORMS:
                choice["anyOf"] = [_short_schema(word), reference]
            else:
                choice.update(reference)
        return schema


def _short_schema(word: str) -> JsonSchemaValue:
    """Return the schema of the one parameter that may stand in place of the mapping."""
    key = SHORT_FORMS[word].key
    schema: JsonSchemaValue = KINDS[word].model.model_json_schema()["properties"][key]
    plain = list(_plain(schema))
    allowed = plain[0] if len(plain) == 1 else {"anyOf": plain}
    return {**allowed, "description": f"In short for {{{key}: ...}}."}


def _plain(schema: JsonSchemaValue) -> Iterator[JsonSchemaValue]:
    """Yield what a schema allows besides null and mappings, which have no short form."""
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for option in options:
        yield from _plain(option)
    if not options and "$ref" not in schema and schema.get("type") != "null":
        yield schema


_FIELDS: dict[str, FieldDefinition] = {
    word: (
        Annotated[kind.model | None, short_form(word)] if word in SHORT_FORMS else kind.model | None,
        None,
    )
    for word, kind in KINDS.items()
}
# Pydantic reads an element with it: a field for each kind.
ElementMapping = made_model("Element", _Written.__doc__, _FIELDS, (_Written,))


@dataclass(frozen=True)
class Element:
    """One element: its kind and its parameters, as the model of the kind read them."""

    kind: ElementKind
    given: SpecModel

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls._of, handler.generate_schema(ElementMapping))

    @classmethod
    def _of(cls, written: _Written) -> Element:
        return cls(KINDS[written.word], getattr(written, written.word))

    def parameter(self, key: str) -> object:
        """Return the value of a parameter as it was read, by its key in files."""
        found: object = getattr(self.given, field_of(self.kind.model, key))
        return found

    @property
    def word(self) -> str:
        """The element's name in files."""
        return self.kind.description.kind

    @property
    def on(self) -> list[str] | None:
        """The names that it is restricted to; None: everywhere."""
        found: list[str] | None = getattr(self.given, "on")  # noqa: B009  # A field of every kind (see `On`).
        return found

    def sent(self, uplink_bps: int | None, scale: float) -> Parameters | None:
        """Return the parameters but `on` as the agent takes them; None where the element does nothing."""
        return self.kind.sent(self.given, uplink_bps, scale)
