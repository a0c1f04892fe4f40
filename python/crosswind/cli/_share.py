"""A share on the command line, such as 5%."""

from __future__ import annotations

import click


def share(_context: click.Context, _option: click.Parameter, text: str) -> float:
    """Return the value of an option as a share in (0, 1); a callback for `click.option`."""
    from crosswind.spec.quantities import QuantityError, read_share

    try:
        found = read_share(text)
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if not 0 < found < 1:
        raise click.BadParameter(f'"{text}" is not between 0% and 100%')
    return found
