"""The options of a command as one object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Options = TypeVar("Options")
Result = TypeVar("Result")


def as_one(options: Callable[P, Options]) -> Callable[[Callable[[Options], Result]], Callable[P, Result]]:
    """Let a command take one object, made by `options` of the values that click passes by name."""

    def decorated(command: Callable[[Options], Result]) -> Callable[P, Result]:
        @wraps(command)
        def called(*args: P.args, **values: P.kwargs) -> Result:
            return command(options(*args, **values))

        return called

    return decorated
