"""What a backend declares of operators, as what a suite or a search is narrowed to."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.backends.capabilities import Capabilities
from conformance.core.operator import Operator
from conformance.generate.claim import Claim
from conformance.specification import ranks_of


def supported_subsets(declared: Capabilities, specs: Mapping[str, Operator]) -> dict[str, Claim]:
    """Return the declared subset of each operator; operators without any are left out."""
    subsets = {}
    for op, spec in specs.items():
        partitions = [
            (dtype, rank)
            for dtype in next(iter(spec.types.values()))
            for rank in ranks_of(spec)
            if declared.declares(op, dtype, rank)
        ]
        if partitions:
            dtypes, ranks = (
                tuple(dict.fromkeys(values)) for values in zip(*partitions, strict=True)
            )
            left_out = tuple(sorted(filter(None, declared.restrictions(op))))
            subsets[op] = Claim(dtypes, ranks, left_out)
    return subsets
