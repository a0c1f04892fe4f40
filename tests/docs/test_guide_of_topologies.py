"""Every file that the guide to topologies shows is one."""

import re
from pathlib import Path

from crosswind.spec.setup import load_setup

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "topologies.md"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_network_of_the_guide_can_be_brought_up(tmp_path: Path) -> None:
    blocks = [(match["kind"], match["text"]) for match in BLOCK.finditer(GUIDE.read_text(encoding="utf-8"))]
    for kind, text in blocks:
        if kind in ("csv", "graphml"):
            first, rest = text.split("\n", 1)
            (tmp_path / first.removeprefix("# ")).write_text(rest)
    networks = [text for kind, text in blocks if kind == "yaml"]
    assert len(networks) == 7
    for number, text in enumerate(networks):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text)
        assert load_setup(file).resolved(1).topology.links
