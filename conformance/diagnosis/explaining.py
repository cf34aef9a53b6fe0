"""What explains the failures of one operator: faults in all of its outputs, or in some alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.observed import OperatorEvidence
from conformance.diagnosis.search import Search
from conformance.model import Result, Vector
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec


def explanations(
    spec: OpSpec,
    results: Sequence[Result],
    bank: Sequence[Fault],
    *,
    read: Callable[[str], Vector],
    noticed: Mapping[str, Sequence[str]],
    precision: Mapping[str, str],
    level: str,
    chosen: bool = False,
) -> list[Explanation]:
    """The faults of a ``bank`` behind the failures of an operator.

    What no faults explain is looked at again, without the outputs that are right in all of it: a
    kernel that computes values and indices apart may have a bug in one of them. Fewer outputs show
    less, so such faults are told only where they explain most of what was left. ``chosen`` as for
    :class:`conformance.diagnosis.search.Search`, the rest as for
    :class:`conformance.diagnosis.observed.OperatorEvidence`.
    """
    evidence = OperatorEvidence(
        spec, results, read=read, noticed=noticed, precision=precision, level=level
    )
    found = Search(evidence, bank, chosen=chosen).run()
    explained = {vector for one in found for vector in one.agrees}
    left = [one for vector, one in evidence.failed.items() if vector not in explained]
    wrong = sorted(frozenset[int]().union(*(one.wrong_outputs for one in left)))
    if not 0 < len(wrong) < len(spec.outputs):
        return found
    part = OperatorEvidence(
        spec,
        [one for one in results if one.id not in explained],
        read=read,
        noticed=noticed,  # what notices nothing in all outputs does not in some
        precision=precision,
        level=level,
        only=wrong,
    )
    names = tuple(left[0].vector.answers[number].name for number in wrong)
    more = Search(part, bank, chosen=chosen).run()
    most = (one for one in more if 2 * len(one.agrees) > len(left))
    return [*found, *(replace(one, outputs=names) for one in most)]
