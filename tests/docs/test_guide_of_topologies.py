"""Every network that the guides to topologies, graphs and domains show is one."""

import re
from pathlib import Path

import pytest

from crosswind.spec.setup import load_setup

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("guide", "count"), [("topologies.md", 4), ("graphs.md", 2), ("domains.md", 1)])
def test_every_network_of_a_guide_can_be_brought_up(guide: str, count: int, tmp_path: Path) -> None:
    page = (GUIDES / guide).read_text(encoding="utf-8")
    blocks = [(match["kind"], match["text"]) for match in BLOCK.finditer(page)]
    for kind, text in blocks:
        if kind in ("csv", "graphml"):
            first, rest = text.split("\n", 1)
            (tmp_path / first.removeprefix("# ")).write_text(rest)
    networks = [text for kind, text in blocks if kind == "yaml"]
    assert len(networks) == count
    for number, text in enumerate(networks):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text)
        assert load_setup(file).resolved(1).topology.links
