"""Which machines meet in which round: every pair once, no machine twice in a round, in the fewest rounds.

It is the circle method of tournaments. The first place stays, and the others go round it; in each round those
who face each other meet. An odd number gets an empty place, and who faces it rests.

Source: Lucas 1883, "Récréations mathématiques", volume 2, "Les promenades du pensionnat".
"""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[str, str]


def schedule(names: Sequence[str]) -> list[list[Pair]]:
    """Return the pairs of each round; in a pair, the first is the one that comes first in `names`.

    Args:
        names: all different.
    """
    if len(names) < 2:
        return []
    order = {name: number for number, name in enumerate(names)}
    places: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    half = len(places) // 2
    rounds = []
    for _ in range(len(places) - 1):
        facing = zip(places[:half], reversed(places[half:]), strict=True)
        met = [(one, other) for one, other in facing if one is not None and other is not None]
        rounds.append([pair if order[pair[0]] < order[pair[1]] else pair[::-1] for pair in met])
        places = [places[0], places[-1], *places[1:-1]]
    return rounds
