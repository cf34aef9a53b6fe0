"""Writes the failures of a search as a suite that ``check`` takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.choices import SuiteName
from conformance.core.operator import Operator
from conformance.fuzz.failures import Failures
from conformance.fuzz.guidance import Guidance
from conformance.generate.versions import versions
from conformance.model import Vector
from conformance.specification import build, shipped_specs
from conformance.suite.origin import OriginFiles, carried_origin, shipped_origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

MINIMAL, BESIDE = "minimal", "beside"
"""The subsets: minimal failures, and vectors beside them that show their causes."""


def write_regression_suite(
    out: Path,
    specs: Mapping[str, Operator],
    failures: Mapping[str, Failures],
    guidance: Mapping[str, Guidance],
    *,
    seed: int,
) -> Suite:
    """Write the suite of the failures of operators into the folder ``out``."""
    vectors: list[tuple[Vector, tuple[str, ...]]] = []
    kills: dict[str, tuple[str, ...]] = {}
    for op, of_op in failures.items():
        spec, minimal_ids = specs[op], {discovery.vector.id for discovery in of_op.discoveries}
        built = [build(spec, vector.case, vector.level) for vector in of_op.vectors()]
        vectors += [
            (vector, (MINIMAL if vector.id in minimal_ids else BESIDE,)) for vector in built
        ]
        for vector, killed in zip(built, guidance[op].runner.all_kills(built), strict=True):
            kills[vector.id] = tuple(sorted(kill.mutant for kill in killed))
    ops = [op for op in failures if failures[op].discoveries]
    return write_suite(
        out,
        vectors,
        name=SuiteName.FUZZ,
        seed=seed,
        versions=versions(),
        kills=kills,
        bases=[_basis(specs[op]) for op in ops],
    )


def _basis(spec: Operator) -> OriginFiles:
    same = shipped_specs().get(spec.op) is spec
    return shipped_origin(spec) if same else carried_origin(spec)
