"""One of several words, each with parameters of its own: `drop: tail`, `drop: {codel: {}}`, `lose: 1%`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import SpecModel, keys_of
from crosswind.spec.description import Alternative, Choice
from crosswind.spec.draft import value_at
from crosswind.spec.parameters.keys import Keys
from crosswind.spec.parameters.plain import literal
from crosswind.spec.parameters.reader import Around, Reader, Sending
from crosswind.spec.setting import Finding


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
    def chosen(self) -> Any:
        """The parameters of what was chosen."""
        return getattr(self, next(iter(self.model_fields_set)))


class _Alternatives:
    """The alternatives that have parameters."""

    def __init__(self, readers: Sequence[tuple[Alternative, Keys]]) -> None:
        self._of = {alternative.word: (alternative, keys) for alternative, keys in readers}

    def fields(self) -> dict[str, Any]:
        """Return a field for each, as `pydantic.create_model` takes them."""
        return {
            word.replace("-", "_"): (
                self._reader(word).annotation | None,
                Field(None, alias=word, description=self._description(word)),
            )
            for word in self._of
        }

    def sent(self, word: str, given: Any, sending: Sending) -> dict[str, Any]:
        """Return one as the agent takes it: its word and parameters."""
        alternative, keys = self._of[word]
        if alternative.bare:
            (parameter,) = alternative.group.parameters
            return {word: self._reader(word).sent(parameter.name, given, sending)}
        return keys.sent(word, given, sending)

    def findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in those that a mapping has."""
        for word in self._of:
            if value_at(raw, word) is not None:
                for inner, message in self._reader(word).findings(raw[word], around):
                    yield (word, *inner), message

    def _reader(self, word: str) -> Reader:
        alternative, keys = self._of[word]
        if not alternative.bare:
            return keys
        ((_, reader),) = keys.parts
        assert not isinstance(reader, Keys)
        return reader  # type: ignore[return-value]  # What is written bare is one value.

    def _description(self, word: str) -> str:
        return self._of[word][0].group.about


class ChoiceReader:
    """Reads a choice that stands behind a key of its own: a word, or a mapping with one key."""

    def __init__(self, choice: Choice, readers: Mapping[str, Keys]) -> None:
        plain = [each.word for each in choice.alternatives if not each.group.parameters]
        mapped = [each for each in choice.alternatives if each.group.parameters]
        self._alternatives = _Alternatives([(each, readers[each.word]) for each in mapped])
        self.annotation = _word_or_mapping(plain, self._model(choice) if mapped else None)

    def _model(self, choice: Choice) -> Any:
        fields = self._alternatives.fields()
        return create_model(choice.title, __base__=OneOf, __doc__=choice.about, **fields)

    def sent(self, name: str, value: Any, sending: Sending) -> dict[str, Any]:
        """Return the word, or the word with its parameters."""
        if isinstance(value, str):
            return {name: value}
        return {name: self._alternatives.sent(value.word, value.chosen, sending)}

    def findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the parameters of what was chosen."""
        yield from self._alternatives.findings(raw, around)


class SpreadChoice:
    """Reads a choice whose words are keys of the element itself."""

    def __init__(self, choice: Choice, readers: Mapping[str, Keys]) -> None:
        self._alternatives = _Alternatives([(each, readers[each.word]) for each in choice.alternatives])
        self._names = {each.word.replace("-", "_"): each.word for each in choice.alternatives}
        words = list(self._names.values())
        named = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

        def has_one(given: Any) -> Any:
            if len(self._given(given)) != 1:
                # The way to write it in short, if it has one, is added where the file is known.
                raise PydanticCustomError(
                    "one_of", "must have one {what}: {words}", {"what": choice.title, "words": named}
                )
            return given

        self.model: type[SpecModel] = create_model(
            f"_One{choice.title.capitalize()}",
            __base__=SpecModel,
            __validators__={"has_one": model_validator(mode="after")(has_one)},  # type: ignore[dict-item]
            **self._alternatives.fields(),
        )

    def sent_from(self, name: str, given: Any, sending: Sending) -> dict[str, Any]:
        """Return the word that was chosen, with its parameters."""
        ((word, chosen),) = self._given(given).items()
        return {name: self._alternatives.sent(word, chosen, sending)}

    def spread_findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the parameters of what was chosen."""
        yield from self._alternatives.findings(raw, around)

    def _given(self, given: BaseModel) -> dict[str, Any]:
        found = {word: getattr(given, name) for name, word in self._names.items()}
        return {word: value for word, value in found.items() if value is not None}


def _word_or_mapping(words: Sequence[str], model: Any) -> Any:
    if model is None:
        return literal(words)
    if not words:
        return model
    return Annotated[
        Annotated[literal(words), Tag("word")] | Annotated[model, Tag("mapping")], Discriminator(_kind)
    ]


def _kind(value: Any) -> str:
    return "mapping" if isinstance(value, dict | OneOf) else "word"
