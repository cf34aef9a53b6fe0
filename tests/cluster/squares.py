"""Tasks that take no time, in a module that a worker loads in none."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import SuiteError


@dataclass(frozen=True)
class Square:
    number: int
    label: str = "square"

    def run(self) -> int:
        return self.number**2


@dataclass(frozen=True)
class Mortal(Square):
    """Ends its worker the first time that it is tried, or each time."""

    folder: Path = Path()
    always: bool = False

    def run(self) -> int:
        mark = self.folder / f"{self.number}"
        if self.always or not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run()


@dataclass(frozen=True)
class Wrong(Square):
    def run(self) -> int:
        raise SuiteError(f"no square of {self.number}", hint="take another")
