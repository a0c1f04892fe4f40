"""Run a command in a node with the streams, environment, folder and user of the caller."""

from collections.abc import Mapping, Sequence

from crosswind.errors import CrosswindError
from crosswind.spec.nearest import did_you_mean
from crosswind.testbed.binaries import AGENT, find_binary


def words_to_enter(pid: int) -> tuple[str, ...]:
    """Return what stands before a command so that it runs in the node whose init is `pid`.

    The command dies with the process that is started so, and with the node.
    """
    return (str(find_binary(AGENT)), "enter", str(pid), "--")


def require_node(name: str, nodes: Sequence[str] | Mapping[str, object]) -> None:
    """Check that a fabric has a node of this name.

    Raises: CrosswindError: it has none; the message lists those it has.
    """
    if name not in nodes:
        remedy = did_you_mean(name, list(nodes)) or f"nodes are {', '.join(nodes)}"
        raise CrosswindError(f'node "{name}": not in the fabric that is up; {remedy}')
