"""Every vector of a run as a table: on the page itself, or on pages beside it where it is long."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result

MAX_ROWS = 2000
"""Rows of one page."""


@dataclass(frozen=True)
class Sheet:
    """Some of the vectors, ordered by id, on a page of their own: ``first`` to ``last``."""

    number: int
    file: str
    results: tuple[Result, ...]

    @property
    def first(self) -> str:
        return self.results[0].id

    @property
    def last(self) -> str:
        return self.results[-1].id


@dataclass(frozen=True)
class VectorTable:
    """The rows of a page, with what filters them; ``of`` is how many vectors there are in all.

    ``sheets`` are the pages that have all of them, where this one has not.
    """

    results: tuple[Result, ...]
    of: int
    sheets: tuple[Sheet, ...] = ()

    def values(self, name: str) -> list[str]:
        """What the results have of an attribute, each once."""
        return sorted({str(getattr(result, name)) for result in self.results} - {""})

    @property
    def edges(self) -> list[str]:
        """The edges that the results show, each once."""
        return sorted({edge for result in self.results for edge in result.edges})


def whole(run: RunLog) -> VectorTable:
    """Every vector, in the order of the run."""
    return VectorTable(run.results, len(run.results))


def sheets(run: RunLog, stem: str) -> tuple[Sheet, ...]:
    """Pages of all vectors, for a page called ``stem``; none where that has room for them."""
    if len(run.results) <= MAX_ROWS:
        return ()
    ordered = sorted(run.results, key=lambda result: (result.id, result.op))
    starts = range(0, len(ordered), MAX_ROWS)
    return tuple(
        Sheet(n, sheet_name(stem, n), tuple(ordered[start : start + MAX_ROWS]))
        for n, start in enumerate(starts, 1)
    )


def failures(run: RunLog, beside: Sequence[Sheet]) -> VectorTable:
    """The first vectors that failed, in the order of the run, with the pages that have all."""
    failed = [result for result in run.results if result.status in FAILED]
    return VectorTable(tuple(failed[:MAX_ROWS]), len(run.results), tuple(beside))


def sheet_name(stem: str, number: int) -> str:
    """The name of a page of vectors."""
    return f"{stem}-vectors-{number}.html"


def is_sheet(name: str, stem: str) -> bool:
    """Whether a name is one that :func:`sheet_name` gives."""
    return re.fullmatch(re.escape(stem) + r"-vectors-[1-9]\d*\.html", name) is not None


def address(file: str) -> str:
    """A link to a file in the same folder, whatever it is called."""
    return f"./{quote(os.fsencode(file))}"


def addressable(vector: str) -> bool:
    """Whether the row of a vector may be the target of a link, ``#vector=`` and its id."""
    return re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", vector) is not None
