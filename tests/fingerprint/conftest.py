import sys
from pathlib import Path

# `documents` is shared by these tests, whatever the import mode.
sys.path.insert(0, str(Path(__file__).parent))
