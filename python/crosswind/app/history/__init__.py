"""Concurrent clients on a replicated store, and a check whether a correct store could have answered so.

Source: Herlihy and Wing, "Linearizability: a correctness condition for concurrent objects" (1990); the
form of histories and the words for outcomes are Jepsen's.
"""

from crosswind.app.history.application import History
from crosswind.app.history.parameters import HistoryParameters

__all__ = ["History", "HistoryParameters"]
