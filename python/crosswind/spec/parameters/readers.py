"""Find the readers of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from crosswind.spec.base import FieldDefinition
from crosswind.spec.description import (
    Choice,
    Flag,
    Group,
    Listed,
    Named,
    Parameter,
    Quantity,
    Type,
    Words,
)
from crosswind.spec.parameters.buffer import BufferReader
from crosswind.spec.parameters.choice import ChoiceReader, SpreadChoice
from crosswind.spec.parameters.colour_action import ColourActionReader
from crosswind.spec.parameters.dscps import DscpsReader
from crosswind.spec.parameters.keys import Keys
from crosswind.spec.parameters.listed import ListReader
from crosswind.spec.parameters.losses import LossesReader
from crosswind.spec.parameters.match import MatchReader
from crosswind.spec.parameters.plain import flag, words
from crosswind.spec.parameters.process import ProcessReader
from crosswind.spec.parameters.quantity import QuantityReader
from crosswind.spec.parameters.reader import Reader, SeveralKeys
from crosswind.spec.parameters.recorded import OpportunitiesReader, SizeOffsetsReader, TrainsReader
from crosswind.spec.parameters.start import StartReader
from crosswind.spec.parameters.variation import VariationReader

_NAMED: Mapping[str, Callable[..., Reader | SeveralKeys]] = {
    "buffer": BufferReader,
    "colour-action": ColourActionReader,
    "dscps": DscpsReader,
    "losses": LossesReader,
    "match": MatchReader,
    "opportunities": OpportunitiesReader,
    "process": ProcessReader,
    "size-offsets": SizeOffsetsReader,
    "start": StartReader,
    "trains": TrainsReader,
    "variation": VariationReader,
}
# A type that several elements share, such as the choice of which packet a queue drops, has one model.
_made: dict[str, Reader | SeveralKeys] = {}


def keys_of_group(group: Group, more: Mapping[str, FieldDefinition] = MappingProxyType({})) -> Keys:
    """Return the reader of a mapping.

    Args:
        more: fields that it has besides, by their attributes.
    """
    return Keys(group, [(each, _reader_of(each)) for each in group.parameters], more)


def _reader_of(parameter: Parameter) -> Reader | SeveralKeys:
    known = repr((parameter.type, parameter.scaled, parameter.key is None))
    if known not in _made:
        of = parameter.type
        if parameter.key is None and isinstance(of, Choice):
            _made[known] = SpreadChoice(of, _alternatives(of))
        else:
            _made[known] = _reader(of, is_scaled=parameter.scaled)
    return _made[known]


def _reader(of: Type, *, is_scaled: bool) -> Reader | SeveralKeys:
    match of:
        case Quantity():
            return QuantityReader(of, is_scaled=is_scaled)
        case Flag():
            return flag()
        case Words():
            return words(of.words)
        case Listed():
            item = _reader(of.of, is_scaled=is_scaled)
            assert not isinstance(item, SeveralKeys)  # An item is one value.
            return ListReader(item, least=of.least, unique=of.unique)
        case Group():
            return keys_of_group(of)
        case Choice():
            return ChoiceReader(of, _alternatives(of))
        case Named():
            return _NAMED[of.name](**of.arguments)


def _alternatives(choice: Choice) -> dict[str, Keys]:
    return {each.word: keys_of_group(each.group) for each in choice.alternatives}
