"""The keys of a mapping: parameters with the reader of each, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field, JsonValue

from crosswind.spec.base import FieldDefinition, SpecModel, made_model
from crosswind.spec.description import As, Default, Group, Optional, Parameter, Required
from crosswind.spec.draft import reader_as, sound, value_at
from crosswind.spec.parameters.reader import Around, Reader, Sending, SeveralKeys
from crosswind.spec.parameters.rules import Scope, broken
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding

Part = tuple[Parameter, Reader | SeveralKeys]


class Keys:
    """Reads a mapping by its description.

    Attributes:
        model: reads it; its fields have the names under which parameters are sent.
        annotation: the same model.
    """

    def __init__(self, group: Group, parts: Sequence[Part], more: Mapping[str, FieldDefinition]) -> None:
        """Build the model.

        Args:
            more: fields that the mapping has besides, by their attributes.
        """
        self.group = group
        self.parts = tuple(parts)
        # Sorted once: `isinstance` with a protocol took half of the time of resolving 1000 conditions.
        self._several: dict[str, SeveralKeys] = {}
        self._single: dict[str, Reader] = {}
        for parameter, reader in self.parts:
            if isinstance(reader, SeveralKeys):
                self._several[parameter.name] = reader
            else:
                self._single[parameter.name] = reader
        self.model = self.annotation = _model(group, self.parts, more)

    def sent(self, name: str, value: SpecModel, sending: Sending) -> Parameters:
        """Return the mapping under its name."""
        return {name: self.sent_inside(value, sending)}

    def sent_inside(self, given: SpecModel, sending: Sending) -> Parameters:
        """Return the parameters as the agent takes them, in the order in which they are described."""
        found: Parameters = {}
        for parameter, _ in self.parts:
            if (several := self._several.get(parameter.name)) is not None:
                found |= several.sent_from(parameter.name, given, sending)
                continue
            value = getattr(given, parameter.name)
            match parameter.presence:
                case Optional() if value is None:
                    continue
                case As(key) if value is None:
                    value = getattr(given, next(each.name for each, _ in self.parts if each.key == key))
                case Default(sent=False) if value == self.model.model_fields[parameter.name].default:
                    continue
            found |= self._single[parameter.name].sent(parameter.name, value, sending)
        return found

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in a written mapping besides its single values."""
        if not isinstance(raw, dict):
            return
        for rule in self.group.rules:
            yield from broken(rule, Scope(self, raw, around))
        for parameter, _ in self.parts:
            if (several := self._several.get(parameter.name)) is not None:
                yield from several.spread_findings(raw, around)
            elif (written := value_at(raw, str(parameter.key))) is not None:
                for inner, message in self._single[parameter.name].findings(written, around):
                    yield (str(parameter.key), *inner), message

    def part(self, key: str) -> Part | None:
        """Return the parameter with this key; None where there is none, or a type that spreads has it."""
        return next((part for part in self.parts if part[0].key == key), None)


def _model(group: Group, parts: Sequence[Part], more: Mapping[str, FieldDefinition]) -> type[SpecModel]:
    """Return the model whose fields stand in the order of the parameters.

    Keys that a type spreads are inherited. Pydantic puts inherited fields first, those of the last base
    before all others, so parameters described before them become a base as well.
    """
    bases: list[type[SpecModel]] = []
    fields: dict[str, FieldDefinition] = {}
    for parameter, reader in parts:
        if not isinstance(reader, SeveralKeys):
            fields[parameter.name] = _field(parameter, reader)
            continue
        if fields:
            bases.append(made_model(f"_Before{group.title}", None, fields))
            fields = {}
        bases.append(reader.model)
    return made_model(group.title, group.about, {**fields, **more}, tuple(reversed(bases)) or (SpecModel,))


def _field(parameter: Parameter, reader: Reader) -> FieldDefinition:
    annotation = reader.annotation
    default: object = None
    match parameter.presence:
        case Required():
            default = ...
        case Optional() | As():
            annotation |= None
        case Default(value):
            default = sound(reader_as(annotation), value)
    return annotation, Field(default, alias=parameter.key, description=parameter.about)
