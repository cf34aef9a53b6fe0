"""The input arrays of a case."""

from __future__ import annotations

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.errors import UsageError
from conformance.generate.patterns import PATTERNS, fill
from conformance.model import Case
from conformance.spec.model import OpSpec


def data_of(spec: OpSpec, case: Case) -> Array:
    """The data of ``case``, in its logical type."""
    if case.pattern not in PATTERNS:
        raise UsageError(f"no value pattern is called '{case.pattern}'")
    return fill(case.pattern, case.seed, case.shapes[spec.data.name], case.types[spec.data.type])


def operands_of(spec: OpSpec, case: Case) -> list[Array]:
    """The integer inputs of ``case``."""
    return [
        np.array(case.operands[o.name], dtype=DTYPES[case.types[o.type]].numpy)
        for o in spec.operands
    ]
