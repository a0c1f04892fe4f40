"""What counts as Crosswind's in a project, and what does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crosswind.testbed.providers.openstack.removal import _found

TAG = "crosswind-1a2b3c4d"


@pytest.mark.parametrize(
    "thing",
    [
        {"name": TAG},
        {"name": f"{TAG}-m0"},
        # Somebody gave it another name.
        {"name": "database", "tags": ["x", TAG]},
        # A floating address has no name but its address.
        {"name": "203.0.113.7", "floating_ip_address": "203.0.113.7", "description": TAG},
    ],
)
def test_a_thing_with_the_tag_in_its_name_tags_or_description_is_found(thing: dict[str, object]) -> None:
    found = _found("thing", SimpleNamespace(id="1", **thing))
    assert found is not None
    assert (found.tag, found.id) == (TAG, "1")


@pytest.mark.parametrize(
    "thing",
    [
        {"name": "web"},
        {"name": None},
        {"name": "crosswind-results"},
        {"name": f"{TAG}5"},
        {"name": f"not-{TAG}"},
        {"name": "web", "description": f"like {TAG}", "tags": None},
    ],
)
def test_any_other_thing_is_not(thing: dict[str, object]) -> None:
    assert _found("thing", SimpleNamespace(id="1", **thing)) is None
