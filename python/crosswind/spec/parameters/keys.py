"""What a mapping may say: parameters with the reader of each, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field, create_model

from crosswind.spec.base import SpecModel
from crosswind.spec.description import As, Default, Group, Optional, Parameter, Required
from crosswind.spec.draft import sound, value_at
from crosswind.spec.parameters.reader import Around, Reader, Sending, Spread
from crosswind.spec.parameters.rules import Scope, broken
from crosswind.spec.setting import Finding

Part = tuple[Parameter, Reader | Spread]


class Keys:
    """Reads a mapping by its description.

    Attributes:
        model: what pydantic reads it with; its fields have the names under which parameters are sent.
        annotation: the same, as that of a value.
    """

    def __init__(self, group: Group, parts: Sequence[Part], **more: Any) -> None:
        """Build the model.

        Args:
            more: fields that the mapping has besides, as `pydantic.create_model` takes them.
        """
        self.group = group
        self.parts = tuple(parts)
        self.model: type[SpecModel] = _model(group, self.parts, more)

    @property
    def annotation(self) -> Any:
        """The model."""
        return self.model

    def sent(self, name: str, value: Any, sending: Sending) -> dict[str, Any]:
        """Return the mapping under its name."""
        return {name: self.sent_inside(value, sending)}

    def sent_inside(self, given: SpecModel, sending: Sending) -> dict[str, Any]:
        """Return the parameters as the agent takes them, in the order in which they are described."""
        found: dict[str, Any] = {}
        for parameter, reader in self.parts:
            if isinstance(reader, Spread):
                found |= reader.sent_from(parameter.name, given, sending)
                continue
            value = getattr(given, parameter.name)
            match parameter.presence:
                case Optional() if value is None:
                    continue
                case As(key) if value is None:
                    value = getattr(given, next(each.name for each, _ in self.parts if each.key == key))
                case Default(sent=False) if value == self.model.model_fields[parameter.name].default:
                    continue
            found |= reader.sent(parameter.name, value, sending)
        return found

    def findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in a written mapping beyond its single values."""
        if not isinstance(raw, dict):
            return
        for rule in self.group.rules:
            yield from broken(rule, Scope(self, raw, around))
        for parameter, reader in self.parts:
            if isinstance(reader, Spread):
                yield from reader.spread_findings(raw, around)
            elif value_at(raw, str(parameter.key)) is not None:
                for inner, message in reader.findings(raw[parameter.key], around):
                    yield (str(parameter.key), *inner), message

    def part(self, key: str) -> Part | None:
        """Return the parameter with this key; None where it is one of a type that spreads, or not there."""
        return next((part for part in self.parts if part[0].key == key), None)


def _model(group: Group, parts: Sequence[Part], more: dict[str, Any]) -> Any:
    """Return the model whose fields stand in the order of the parameters.

    Keys that a type spreads are inherited. Pydantic puts inherited fields first, those of the last base
    before all others, so what is described before them is a base as well.
    """
    bases: list[type[SpecModel]] = []
    fields: dict[str, Any] = {}
    for parameter, reader in parts:
        if not isinstance(reader, Spread):
            fields[parameter.name] = _field(parameter, reader)
            continue
        if fields:
            bases.append(create_model(f"_Before{group.title}", __base__=SpecModel, **fields))
            fields = {}
        bases.append(reader.model)
    return create_model(
        group.title, __base__=tuple(reversed(bases)) or SpecModel, __doc__=group.about, **fields, **more
    )


def _field(parameter: Parameter, reader: Reader) -> tuple[Any, Any]:
    annotation = reader.annotation
    match parameter.presence:
        case Required():
            default: Any = ...
        case Optional() | As():
            annotation, default = annotation | None, None
        case Default(value):
            default = sound(annotation, value)
    return annotation, Field(default, alias=parameter.key, description=parameter.about)
