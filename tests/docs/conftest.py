"""Made-up runs, small specifications and what reads pages back are shared with other tests."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("report", "log", "spec", "scenarios")]
