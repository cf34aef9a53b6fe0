"""Which kernel of a backend may compute a vector: a bug may be in one of several."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.grade.selector import rank_of
from conformance.model import Case
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class CodePath:
    """What a backend may have a kernel of its own for: an element type, a rank of the data, and
    whether the one window is the whole plane.
    """

    dtype: str
    rank: int
    plane: bool = False

    @property
    def of_data(self) -> tuple[str, int]:
        """What the data alone say of it."""
        return self.dtype, self.rank


def code_path_of(spec: OpSpec, case: Case) -> CodePath:
    """The kernel that a vector may be computed by."""
    return CodePath(case.types[spec.data.type], rank_of(case), spec.kin.oracle.is_whole(spec, case))
