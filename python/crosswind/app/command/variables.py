"""Variables in commands and in values of the environment.

`{address:NODE}` is a node's address, `{seed}` the trial's seed, `{folder}` the role's working folder,
`{duration}` the declared duration in seconds. `{{seed}}` is the text `{seed}`. Braces after `$` or `%`
(shells, curl), and braces around other text than a word (awk, JSON), are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from crosswind.spec.quantities import shown
from crosswind.text.nearest import did_you_mean

ADDRESS = "address"
SEED = "seed"
FOLDER = "folder"
DURATION = "duration"
NAMES = (ADDRESS, SEED, FOLDER, DURATION)

_WORD = r"[A-Za-z_]+(?::[^{}\s]*)?"
_FORM = re.compile(
    rf"\{{\{{(?P<literal>{_WORD})\}}\}}|(?<![$%{{])\{{(?P<name>[A-Za-z_]+)(?::(?P<of>[^{{}}\s]*))?\}}"
)


def filled(text: str, value: Callable[[str, str | None], str]) -> str:
    """Return `text` with its variables replaced by `value(name, text after the colon)`."""

    def replace(match: re.Match[str]) -> str:
        literal = match["literal"]
        return f"{{{literal}}}" if literal is not None else value(match["name"], match["of"])

    return _FORM.sub(replace, text)


def variable_findings(text: str, nodes: Collection[str], *, has_duration: bool) -> Iterator[str]:
    """Yield errors in the variables of `text`."""
    for match in _FORM.finditer(text):
        name, of = match["name"], match["of"]
        if name is None:
            continue
        variable = shown(match[0])
        if name not in NAMES:
            meant = did_you_mean(name, NAMES)
            known = "variables are {address:NODE}, {seed}, {folder}, {duration}"
            yield f"has {variable}, which is not a variable; {meant or known}; {{{match[0]}}} is plain text"
        elif name == ADDRESS and of not in nodes:
            meant = did_you_mean(of or "", nodes) or f"nodes are {', '.join(nodes)}"
            yield f"has {variable}, but no node has that name; {meant}"
        elif name != ADDRESS and of is not None:
            yield f"has {variable}; write {{{name}}}"
        elif name == DURATION and not has_duration:
            yield f"has {variable}, but there is no `duration`; add it, such as duration: 10s"
