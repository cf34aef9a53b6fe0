"""The data of a YAML file, with the line and column of each part.

Here YAML is not needed: where a backend runs, expressions are, and no file is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.errors import Problem, SpecError, closest

MAX_PROBLEMS = 100
"""Problems after which a file is not read on."""

Path = tuple[str | int, ...]


@dataclass
class Source:
    """The data of one file. ``keys`` and ``values`` give positions (line, column) from 1.

    ``insets`` tells, for text that stands on one line as it is, how many columns after its
    position it begins (1 where it is quoted). ``broken`` names what has a problem of its own that
    is noted already, so that what speaks of it is not judged. ``data`` is replaced, never changed:
    others may hold the same.
    """

    file: str
    data: Any = None
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    insets: dict[Path, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    inherited: dict[Path, str] = field(default_factory=dict)
    """The file that a part is from, of parts that are from another one."""
    extends: tuple[str, ...] = ()
    """The operators of the files that this one extends, nearest first."""
    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> Source:
        """Copy the source, to change it separately."""
        return replace(
            self,
            keys=dict(self.keys),
            values=dict(self.values),
            insets=dict(self.insets),
            broken=set(self.broken),
            inherited=dict(self.inherited),
            problems=list(self.problems),
        )

    def problem(
        self,
        path: Path,
        message: str,
        *,
        expected: str = "",
        hint: str | None = "",
        offset: int | None = None,
        key: bool = False,
    ) -> None:
        """Note a problem at ``path``, or at its key; ``offset`` counts characters into its text."""
        line, column = self.where(path, key=key)
        if offset is not None and path in self.insets:
            column += self.insets[path] + offset
        file = self.file_of(path)
        self.note(line, column, message, expected=expected, hint=hint or "", file=file)

    def unknown(
        self, path: Path, message: str, name: str, names: Iterable[str], *, key: bool = False
    ) -> None:
        """Note at ``path`` that ``name`` is none of the ``names`` that are allowed."""
        names = list(names)
        expected = f"one of {', '.join(names)}"
        self.problem(path, message, expected=expected, hint=closest(name, names), key=key)

    def note(
        self,
        line: int,
        column: int,
        message: str,
        *,
        expected: str = "",
        hint: str = "",
        file: str = "",
    ) -> None:
        """Note a problem at a position; raise them all once there are ``MAX_PROBLEMS``."""
        self.problems.append(Problem(file or self.file, line, column, message, expected, hint))
        if len(self.problems) >= MAX_PROBLEMS:
            self.check()

    def file_of(self, path: Path) -> str:
        """Return the file that ``path`` is from, or the nearest part that holds it."""
        while path and path not in self.values:
            path = path[:-1]
        return self.inherited.get(path, self.file)

    def where(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Return the position of ``path``, or of the nearest part that holds it."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))

    def check(self) -> None:
        """Raise :class:`~conformance.errors.SpecError` if any problem was noted."""
        if self.problems:
            ordered = sorted(
                set(self.problems), key=lambda p: (p.file, p.line, p.column, p.message)
            )
            raise SpecError(tuple(ordered))
