"""Pictures of tails: names stand where no curve passes, and in nobody's way."""

import re

import numpy as np

from bench.tails import DEPTH, LETTER, TOP, Panel, drawn

NAMES = ("no network", "held until due", "a constant subtracted", "one more", "and a fifth, also long")


def test_names_stand_below_the_axes_and_beside_each_other() -> None:
    curves = {name: np.full(100, 900.0) for name in NAMES}
    for count in (1, 2, 3):
        text = drawn("title", [Panel(f"panel {number}", curves) for number in range(count)], "across")
        found = [
            (float(x), float(y), name)
            for x, y, name in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', text)
            if name in (*NAMES, "across")
        ]
        assert len(found) == count * len(NAMES) + 1
        # Below the numbers of the axis, too.
        assert all(y > TOP + DEPTH + 18 + 13 for _, y, _ in found)
        for number, (x, y, name) in enumerate(found):
            for other_x, other_y, _ in found[number + 1 :]:
                assert abs(other_y - y) >= 13 or other_x > x + LETTER * len(name)
        (height,) = re.findall(r'viewBox="0 0 \d+ (\d+)"', text)
        assert max(y for _, y, _ in found) < int(height)
