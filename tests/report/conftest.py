"""The made-up runs are shared with the tests of the run log."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "log"))
