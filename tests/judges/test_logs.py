"""What CometBFT 1.0.1 writes into its log, and a section of a page."""

from __future__ import annotations

from bench.judges.cometbft import committed, intervals_s
from bench.sections import with_section

LOG = """\
I[2026-11-26|08:14:42.237] Finalized block            module=state height=1
I[2026-11-26|08:14:42.250] Committed state            module=state height=1 block_app_hash=
I[2026-11-26|08:14:43.500] Committed state            module=state height=2 block_app_hash=00
"""


def test_commits_have_the_time_of_the_log() -> None:
    found = committed(LOG)
    assert sorted(found) == [1, 2]
    assert found[1] == 1795680882.25
    assert intervals_s({"v0": found}, 1, 2) == [1.25]


def test_a_section_is_replaced_and_the_others_stay() -> None:
    page = "# Title\n\nText.\n\n## One\n\nold\n\n## Two\n\nstays\n"
    assert with_section(page, "One", ["new"]) == "# Title\n\nText.\n\n## One\n\nnew\n\n## Two\n\nstays\n"
    assert with_section(page, "Two", ["new"]) == "# Title\n\nText.\n\n## One\n\nold\n\n## Two\n\nnew\n"
    assert with_section(page, "Three", ["new"]) == f"{page}\n## Three\n\nnew\n"
