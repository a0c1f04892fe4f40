import sys
from pathlib import Path

# `synthetic` is that of the tests of reports, `chromium` that of the live ones.
for folder in ("report", "live"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
