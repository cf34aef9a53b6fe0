"""Writes what a search found as a suite that ``check`` takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.choices import SuiteName
from conformance.fuzz.failures import Failures
from conformance.fuzz.guidance import Guidance
from conformance.generate.suites import versions
from conformance.model import Vector
from conformance.reference.build import build
from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import shipped_specs
from conformance.spec.model import OpSpec
from conformance.suite import origin
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

MINIMAL, BESIDE = "minimal", "beside"
"""The subsets: the minimal failures, and what was asked besides and tells what they come from."""


def written(
    out: Path,
    specs: Mapping[str, OpSpec],
    failures: Mapping[str, Failures],
    guidance: Mapping[str, Guidance],
    *,
    seed: int,
) -> Suite:
    """The suite of the failures of some operators, by operator, in the folder ``out``."""
    vectors: list[tuple[Vector, tuple[str, ...]]] = []
    kills: dict[str, tuple[str, ...]] = {}
    for op, found in failures.items():
        spec, minimal = specs[op], {one.vector.id for one in found.found}
        own = [build(spec, one.case, one.level) for one in found.vectors()]
        vectors += [(one, (MINIMAL if one.id in minimal else BESIDE,)) for one in own]
        for one, noticed in zip(own, guidance[op].bank.all_kills(own), strict=True):
            kills[one.id] = tuple(sorted(kill.mutant for kill in noticed))
    ops = [op for op in failures if failures[op].found]
    return write_suite(
        out,
        vectors,
        name=SuiteName.FUZZ,
        seed=seed,
        versions=versions(),
        kills=kills,
        bases=[_basis(specs[op]) for op in ops],
    )


def _basis(spec: OpSpec) -> origin.Basis:
    same = shipped_specs().get(spec.op) is spec
    return origin.shipped(spec) if same else origin.carried(spec, mutants_of(spec))
