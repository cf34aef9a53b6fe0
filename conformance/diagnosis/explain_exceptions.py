"""Known bugs that refuse cases: a backend raises on exactly those where they have no outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.core.operator import Operator
from conformance.diagnosis.agreement import Agreement
from conformance.diagnosis.code_path import code_path_of
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.operator_results import MAX_COMPARED_FAILURES
from conformance.exception_text import comparison_key
from conformance.failure_kind import FailureKind
from conformance.implementations import implementation_of, subject_of
from conformance.model import Result, Status, Vector
from conformance.spec.catalogue import Mutant

FEWEST = 3
"""Vectors that raise alike, at least: fewer are no pattern."""

MAX_COMPARED_PASSES = 300
"""Passing vectors that could speak against a mutant."""


def explain_exceptions(
    spec: Operator,
    results: Sequence[Result],
    mutants: Sequence[Mutant],
    *,
    read: Callable[[str], Vector],
) -> list[Explanation]:
    """Find the mutants that have no outputs where vectors raise alike, and there alone.

    ``read`` gives a vector by its id.
    """
    alike: dict[str, list[Result]] = {}
    for result in results:
        if result.kind == FailureKind.RAISED and result.reject is None:
            alike.setdefault(comparison_key(result.message, spec.op), []).append(result)
    groups = [group for group in alike.values() if len(group) >= FEWEST]
    if not groups:
        return []
    passes = [r for r in results if r.status is Status.PASS and r.reject is None]
    stride = max(1, len(passes) // MAX_COMPARED_PASSES)
    passed = [read(result.id) for result in passes[::stride]]
    explained = (_explained(spec, group, passed, mutants, read) for group in groups)
    return [explanation for explanation in explained if explanation is not None]


def _explained(
    spec: Operator,
    raised: Sequence[Result],
    passed: Sequence[Vector],
    mutants: Sequence[Mutant],
    read: Callable[[str], Vector],
) -> Explanation | None:
    vectors = [read(result.id) for result in raised[:MAX_COMPARED_FAILURES]]
    left = {mutant.id: (mutant, implementation_of(spec, mutant.change)) for mutant in mutants}
    for vector, answers in (*((v, False) for v in vectors), *((v, True) for v in passed)):
        if not left:
            return None
        subject = subject_of(spec, vector.case, vector.arguments)
        left = {
            id: (mutant, implementation)
            for id, (mutant, implementation) in left.items()
            if subject.answers(implementation) is answers
        }
    if not left:
        return None
    first, *others = (mutant for mutant, _ in left.values())
    return Explanation(
        mutants=(first,),
        agreements={vector.id: Agreement.WITHIN for vector in vectors},
        code_paths=frozenset(code_path_of(vector.case) for vector in vectors),
        elsewhere=frozenset(),
        failing=len(vectors),
        passing=len(passed),
        alternatives=tuple((mutant,) for mutant in others),
    )
