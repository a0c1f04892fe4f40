"""Axe in a page: what hinders people who use a screen reader or a keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Chromium

_SCRIPT = Path(__file__).parents[1] / "axe" / "node_modules" / "axe-core" / "axe.min.js"
# Rules that no element of the page concerns pass nothing: few passes are a page that was not there.
_RUN = """axe.run(document).then((found) => JSON.stringify((found.passes.length > 10 ? [] : ['an empty page'])
  .concat(found.violations.filter(({impact}) => ['serious', 'critical'].includes(impact))
  .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html).join(' ')}`))))"""

AXE = pytest.mark.skipif(not _SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix tests/axe")


def findings(page: Chromium, url: str, ready: str, before: str = "0") -> list[str]:
    """Return the serious findings on a wide screen and on a phone, light and dark.

    Args:
        ready: an expression that is true in the page when it can be judged.
        before: a script that is run first, such as one that opens what is folded.
    """
    found = []
    for width in (1280, 390):
        for dark in (False, True):
            page.open(url, width=width, dark=dark)
            page.await_true(ready)
            page.value(before)
            page.value(f"{_SCRIPT.read_text()};1")
            how = f"{width} px, {'dark' if dark else 'light'}: "
            found += [how + finding for finding in json.loads(page.value(_RUN))]
    return found
