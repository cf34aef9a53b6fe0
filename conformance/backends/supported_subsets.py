"""What a backend declares of operators, as what a suite or a search is narrowed to."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.backends.capabilities import Capabilities
from conformance.generate.narrow import Claim
from conformance.spec.model import OpSpec


def supported_subsets(declared: Capabilities, specs: Mapping[str, OpSpec]) -> dict[str, Claim]:
    """What is declared of some operators, by operator; those of which nothing is are left out."""
    found = {}
    for op, spec in specs.items():
        parts = [
            (dtype, rank)
            for dtype in spec.types[spec.data.type]
            for rank in spec.ranks
            if declared.declares(op, dtype, rank)
        ]
        if parts:
            dtypes, ranks = (tuple(dict.fromkeys(each)) for each in zip(*parts, strict=True))
            left_out = tuple(sorted(filter(None, declared.restrictions(op))))
            found[op] = Claim(dtypes, ranks, left_out)
    return found
