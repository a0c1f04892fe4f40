"""How long validators take to agree on a block, by the delays between them alone.

A proposer sends its block to all. Who has it votes; who has the votes of more than two thirds votes again;
who has more than two thirds of these commits. Every message takes the fastest way, because validators pass
on what they get.

Source: Buchman, Kwon, Milosevic 2018, "The latest gossip on BFT consensus", algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence

Matrix = Sequence[Sequence[float]]


def quorum(validators: int) -> int:
    """Return the smallest number of votes, of equal power, that are more than two thirds."""
    return validators * 2 // 3 + 1


def agreements(delay: Matrix, order: Sequence[int]) -> list[float]:
    """Return, for each proposer, the time from its proposal to the commit at the proposer after it.

    Args:
        delay: shape (n, n), one way from row to column, any unit; the diagonal is not used.
        order: in which the n validators propose, round after round.
    """
    way = fastest(delay)
    following = [*order[1:], order[0]]
    return [_commits(way, one)[then] for one, then in zip(order, following, strict=True)]


def fastest(delay: Matrix) -> list[list[float]]:
    """Return the delay from row to column by the fastest way over any others (Floyd and Warshall)."""
    count = len(delay)
    way = [
        [0.0 if one == other else float(delay[one][other]) for other in range(count)] for one in range(count)
    ]
    for over in range(count):
        for one in range(count):
            for other in range(count):
                way[one][other] = min(way[one][other], way[one][over] + way[over][other])
    return way


def _commits(way: Matrix, proposer: int) -> list[float]:
    """Return when each validator commits, after the proposal."""
    prevotes = way[proposer]
    return _with_quorum(way, _with_quorum(way, prevotes))


def _with_quorum(way: Matrix, sent: Sequence[float]) -> list[float]:
    """Return when each validator has votes of a quorum, each sent at its own time."""
    count = len(way)
    return [
        sorted(sent[voter] + way[voter][at] for voter in range(count))[quorum(count) - 1]
        for at in range(count)
    ]
