"""The input arrays of a case."""

from __future__ import annotations

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.errors import UsageError
from conformance.model import Case
from conformance.spec.model import OpSpec


def data_of(spec: OpSpec, case: Case) -> tuple[Array, ...]:
    """The tensors of ``case``, in their logical types."""
    if case.pattern not in spec.kin.patterns:
        raise UsageError(f"no value pattern is called '{case.pattern}'")
    return spec.kin.data(spec, case)


def operands_of(spec: OpSpec, case: Case) -> list[Array]:
    """The integer inputs of ``case``."""
    return [
        np.array(case.operands[o.name], dtype=DTYPES[case.types[o.type]].numpy)
        for o in spec.operands
    ]
