"""Round trips of small messages: on an idle network, and during a bulk transfer in the same direction."""

from __future__ import annotations

from crosswind.fingerprint.measure.bulk import Bulk, transferring
from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.messages import Messages, ask

RATE_PER_S, DURATION_S = 200.0, 2.0
# The bulk transfer: connections, and its length, which is a little longer than that of the messages.
CONNECTIONS, LOAD_S = 4, 3.0


def idle(network: Network) -> Messages:
    """Measure on an idle network."""
    with network() as ends:
        return ask(ends, DURATION_S, RATE_PER_S)


def beside_bulk(network: Network) -> tuple[Messages, Bulk]:
    """Measure during a bulk transfer; return the round trips within its window, and the transfer."""
    with network() as ends, transferring(ends, CONNECTIONS, LOAD_S) as under_way:
        asked = ask(ends, DURATION_S, RATE_PER_S)
        transfer = under_way.finish()
    if transfer.began_ns is None or transfer.ended_ns is None:
        return asked, transfer
    return asked.between(transfer.began_ns, transfer.ended_ns), transfer
