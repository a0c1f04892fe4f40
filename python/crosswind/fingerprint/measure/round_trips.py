"""Round trips of small messages: on an idle network, and beside a bulk transfer in the same direction."""

from __future__ import annotations

from crosswind.fingerprint.measure.bulk import Bulk, transferring
from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.messages import Messages, ask

RATE_PER_S, DURATION_S = 200.0, 2.0
# Beside so many connections, which go on a little longer than the questions.
CONNECTIONS, LOAD_S = 4, 3.0


def idle(network: Network) -> Messages:
    """Ask while nothing else is under way."""
    with network() as ends:
        return ask(ends, DURATION_S, RATE_PER_S)


def beside_bulk(network: Network) -> tuple[Messages, Bulk]:
    """Ask while a bulk transfer is under way; return the answers of that time, and the transfer."""
    with network() as ends, transferring(ends, CONNECTIONS, LOAD_S) as under_way:
        asked = ask(ends, DURATION_S, RATE_PER_S)
        transfer = under_way.finish()
    if transfer.began_ns is None or transfer.ended_ns is None:
        return asked, transfer
    return asked.between(transfer.began_ns, transfer.ended_ns), transfer
