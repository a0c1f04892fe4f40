"""One of several words, each with parameters of its own: `drop: tail`, `drop: {codel: {}}`, `lose: 1%`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, Discriminator, Field, JsonValue, Tag
from pydantic_core import PydanticCustomError

from crosswind.spec.base import Annotation, FieldDefinition, SpecModel, made_model
from crosswind.spec.description import Alternative, Choice
from crosswind.spec.draft import value_at
from crosswind.spec.parameters.keys import Keys
from crosswind.spec.parameters.one_of import OneOf
from crosswind.spec.parameters.plain import literal
from crosswind.spec.parameters.reader import Around, Reader, Sending, SeveralKeys
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


class _Alternatives:
    """The alternatives that have parameters."""

    def __init__(self, readers: Sequence[tuple[Alternative, Keys]]) -> None:
        self._of = {alternative.word: (alternative, keys) for alternative, keys in readers}

    def fields(self) -> dict[str, FieldDefinition]:
        """Return a field for each, by its attribute."""
        return {
            word.replace("-", "_"): (
                self._reader(word).annotation | None,
                Field(None, alias=word, description=self._description(word)),
            )
            for word in self._of
        }

    def sent(self, word: str, given: object, sending: Sending) -> Parameters:
        """Return one as the agent takes it: its word and parameters."""
        alternative, keys = self._of[word]
        if alternative.bare:
            (parameter,) = alternative.group.parameters
            return {word: self._reader(word).sent(parameter.name, given, sending)}
        assert isinstance(given, SpecModel)  # As the model of the alternative read it.
        return keys.sent(word, given, sending)

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in those that a mapping has."""
        for word in self._of:
            written = value_at(raw, word)
            if written is not None:
                for inner, message in self._reader(word).findings(written, around):
                    yield (word, *inner), message

    def _reader(self, word: str) -> Reader:
        alternative, keys = self._of[word]
        if not alternative.bare:
            return keys
        ((_, reader),) = keys.parts
        assert not isinstance(reader, SeveralKeys)  # A bare alternative is one value.
        return reader

    def _description(self, word: str) -> str:
        return self._of[word][0].group.about


class ChoiceReader:
    """Reads a choice that has a key of its own: a word, or a mapping with one key."""

    def __init__(self, choice: Choice, readers: Mapping[str, Keys]) -> None:
        plain = [each.word for each in choice.alternatives if not each.group.parameters]
        mapped = [each for each in choice.alternatives if each.group.parameters]
        self._alternatives = _Alternatives([(each, readers[each.word]) for each in mapped])
        self.annotation = _word_or_mapping(plain, self._model(choice) if mapped else None)

    def _model(self, choice: Choice) -> type[SpecModel]:
        return made_model(choice.title, choice.about, self._alternatives.fields(), (OneOf,))

    def sent(self, name: str, value: str | OneOf, sending: Sending) -> Parameters:
        """Return the word, or the word with its parameters."""
        if isinstance(value, str):
            return {name: value}
        return {name: self._alternatives.sent(value.word, value.chosen, sending)}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the parameters of the chosen alternative."""
        yield from self._alternatives.findings(raw, around)


class SpreadChoice:
    """Reads a choice whose words are keys of the element itself."""

    def __init__(self, choice: Choice, readers: Mapping[str, Keys]) -> None:
        self._alternatives = _Alternatives([(each, readers[each.word]) for each in choice.alternatives])
        self._names = {each.word.replace("-", "_"): each.word for each in choice.alternatives}
        words = list(self._names.values())
        named = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

        def has_one(given: BaseModel) -> BaseModel:
            if len(self._given(given)) != 1:
                # `translate` adds the short form, if there is one.
                raise PydanticCustomError(
                    "one_of", "must have one {what}: {words}", {"what": choice.title, "words": named}
                )
            return given

        self.model = made_model(
            f"_One{choice.title.capitalize()}", None, self._alternatives.fields(), after=has_one
        )

    def sent_from(self, name: str, given: SpecModel, sending: Sending) -> Parameters:
        """Return the word that was chosen, with its parameters."""
        ((word, chosen),) = self._given(given).items()
        return {name: self._alternatives.sent(word, chosen, sending)}

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the parameters of the chosen alternative."""
        yield from self._alternatives.findings(raw, around)

    def _given(self, given: BaseModel) -> dict[str, object]:
        found = {word: getattr(given, name) for name, word in self._names.items()}
        return {word: value for word, value in found.items() if value is not None}


def _word_or_mapping(words: Sequence[str], model: Annotation) -> Annotation:
    if model is None:
        return literal(words)
    if not words:
        return model
    return Annotated[
        Annotated[literal(words), Tag("word")] | Annotated[model, Tag("mapping")], Discriminator(_kind)
    ]


def _kind(value: object) -> str:
    return "mapping" if isinstance(value, dict | OneOf) else "word"
