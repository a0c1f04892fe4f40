"""The fixture `crosswind` for tests of programs in a network.

    def test_the_client_survives_a_slow_network(crosswind):
        net = crosswind({"hosts": 2, "uplink": ..., "nodes": {"server": "h0", "client": "h1"}})
        net.set({"link": [{"delay": {"time": "200ms"}}]})
        assert net.exec("client", ["./client", net.address("server")]).returncode == 0

Where this machine or account cannot make networks, the test is skipped with the reason. The plugin is found
by its entry point; `-p no:crosswind` leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from crosswind.api.fabric import Fabric


@pytest.fixture
def crosswind() -> Iterator[Callable[..., Fabric]]:
    """Return a function that brings up a network: `crosswind.Fabric`, whose block ends with the test."""
    # Imported here: every session of pytest imports the plugin.
    from crosswind.api.fabric import Fabric
    from crosswind.errors import Exit
    from crosswind.testbed import Agent, TestbedError

    try:
        with Agent():
            pass
    except TestbedError as error:
        if error.exit is not Exit.PREFLIGHT:
            raise
        pytest.skip(f"no networks on this machine: {error}")
    with ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(Fabric(*args, **options))
