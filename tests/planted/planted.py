"""The list of planted defects, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("defects.yaml")


@dataclass(frozen=True)
class Defect:
    """One mistake in one place: in ``file``, ``old`` occurs once, and ``new`` takes its place."""

    id: str
    file: str
    old: str
    new: str
    why: str

    def planted(self, text: str) -> str:
        """The text of the file with the defect. Raises ValueError if it has no such place."""
        count = text.count(self.old)
        if count != 1:
            raise ValueError(
                f"{self.id}: its old text occurs {count} times in {self.file}, not once; "
                f"change it in {LIST.name}: {self.old!r}"
            )
        return text.replace(self.old, self.new)


def read() -> tuple[Defect, ...]:
    """The defects of the list. Raises ValueError for an entry with other keys than it needs."""
    keys = {field.name for field in fields(Defect)}
    defects = []
    for entry in yaml.safe_load(LIST.read_text("utf-8")):
        if entry.keys() != keys or not all(isinstance(value, str) for value in entry.values()):
            raise ValueError(f"{LIST.name}: {entry} is not of texts {sorted(keys)}")
        defects.append(Defect(**entry))
    return tuple(defects)
