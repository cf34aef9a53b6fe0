"""Code paths of a backend: a bug may be in one of several."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.model import Case
from conformance.specification import Specification, takes_all


@dataclass(frozen=True)
class CodePath:
    """A code path of a backend: element type, rank, whole plane or not."""

    dtype: str
    rank: int
    plane: bool = False

    @property
    def of_data(self) -> tuple[str, int]:
        """Element type and rank, which the data alone decide."""
        return self.dtype, self.rank


def code_path_of(spec: Specification, case: Case) -> CodePath:
    """Return the code path that may compute a case."""
    return CodePath(case.dtype, case.rank, takes_all(spec, case))
