"""What a Cassandra server is told."""

import json

from crosswind.app.stores.cassandra_files import settings_text, token


def test_tokens_divide_the_ring_evenly() -> None:
    # 2^64 / 3 is 6148914691236517205.33; fractions are cut off.
    assert [token(number, 3) for number in range(3)] == [-(2**63), -3074457345618258603, 3074457345618258602]
    assert token(0, 1) == -(2**63)


def test_a_node_listens_on_its_own_address_and_knows_all_as_seeds() -> None:
    settings = json.loads(settings_text(1, ["10.77.0.1", "10.77.0.2", "10.77.0.3"]))
    assert settings["listen_address"] == settings["rpc_address"] == "10.77.0.2"
    assert settings["seed_provider"][0]["parameters"] == [{"seeds": "10.77.0.1,10.77.0.2,10.77.0.3"}]
