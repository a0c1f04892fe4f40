"""Run a command in a node with the streams, environment, folder and user of the caller."""

from collections.abc import Mapping, Sequence

from crosswind.errors import CrosswindError
from crosswind.testbed.binaries import AGENT, find_binary
from crosswind.text.nearest import did_you_mean


def words_to_enter(pid: int) -> tuple[str, ...]:
    """Return the words in front of a command with which it runs in the node whose init is `pid`.

    The command ends with the process that is started this way, and with the node.
    """
    return (str(find_binary(AGENT)), "enter", str(pid), "--")


def require_node(name: str, nodes: Sequence[str] | Mapping[str, object]) -> None:
    """Check that a fabric has a node of this name.

    Raises: CrosswindError: it has none; the message lists its nodes.
    """
    if name not in nodes:
        remedy = did_you_mean(name, list(nodes)) or f"nodes are {', '.join(nodes)}"
        raise CrosswindError(f'node "{name}": not in the fabric that is up; {remedy}')
