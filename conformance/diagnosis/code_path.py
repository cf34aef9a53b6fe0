"""Code paths of a backend: a bug may be in one of several."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.model import Case


@dataclass(frozen=True)
class CodePath:
    """A code path of a backend: element type and rank."""

    dtype: str
    rank: int


def code_path_of(case: Case) -> CodePath:
    """Return the code path that may compute a case."""
    return CodePath(case.dtype, case.rank)
