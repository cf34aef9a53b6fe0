"""Checks that the manifest of the shipped suite matches its recorded cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.errors import SuiteError
from conformance.spec.digest import digest
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.suite import cases, proofs
from conformance.suite.cases import Cases, Recorded
from conformance.suite.entries import Entry
from conformance.suite.manifest import FILE_NAME, Manifest

HOW = "regenerate it with conformance generate"


def problems(manifest: Manifest, specs: Mapping[str, OpSpec]) -> Iterator[str]:
    """Where the manifest of the shipped suite differs from what is recorded.

    ``specs`` are the specifications of the suite.
    """
    shipped = cases.shipped()
    if manifest.ops != shipped:
        yield f"{FILE_NAME}: has {', '.join(manifest.ops)}; recorded are {', '.join(shipped)}"
        return
    for op in shipped:
        file = cases.file_of(op)
        try:
            yield from _of_operator(manifest, specs[op], cases.read(file))
        except SuiteError as error:
            yield error.message


def _of_operator(manifest: Manifest, spec: OpSpec, recorded: Cases) -> Iterator[str]:
    op, file = recorded.op, cases.file_of(recorded.op).name
    if recorded.specification != digest(spec):
        yield f"{file}: recorded for another version of {op}: audit it, and record it again"
    entries = [entry for entry in manifest.listed if entry.op == op]
    told, excused = {_told(entry) for entry in entries}, recorded.excused
    made = {
        (
            one.case.id,
            one.level,
            one.case.reject,
            one.suites,
            one.kills,
            excused.get(one.case.id, ()),
        )
        for one in recorded.recorded
    }
    for differs, where in ((told - made, FILE_NAME), (made - told, file)):
        for vector_id in sorted(one[0] for one in differs):
            yield f"{where}: {vector_id} is not as in {file if where == FILE_NAME else FILE_NAME}"
    if [entry.id for entry in entries] != [one.case.id for one in recorded.recorded]:
        yield f"{file}: the cases are not in the order of {FILE_NAME}; {HOW}"
    ids = {entry.id for entry in entries}
    withdrawn = {i: why for i, why in manifest.withdrawn.items() if i in ids}
    if withdrawn != recorded.withdrawn:
        yield f"{file}: the withdrawn vectors differ from {FILE_NAME}; {HOW}"
    strength = manifest.strength[op]
    if strength.indistinguishable != recorded.indistinguishable:
        yield f"{file}: the indistinguishable mutants differ from {FILE_NAME}; {HOW}"
    if strength.parts != recorded.parts:
        yield f"{file}: the surviving mutants differ from {FILE_NAME}; {HOW}"
    for problem in survivors(recorded, spec.data.name):
        yield f"{file}: {problem}"
    if strength.strata != strata_of(spec).meaning:
        yield f"{FILE_NAME}: {op} was selected for other strata: complete the suite"
    if strength.infeasible != proofs.of(spec):
        yield f"{proofs.shipped(op).name}: the proofs differ from {FILE_NAME}; {HOW}"


def survivors(recorded: Cases, data: str) -> Iterator[str]:
    """Where the parts of an operator deny what its vectors kill; ``data`` is the input of data.

    Of a profile nothing can be told here, as only its specification knows the cases it has.
    """
    asked = [one for one in recorded.recorded if one.withdrawn is None and one.case.reject is None]
    mutants = frozenset().union(*(one.kills for one in asked)) | recorded.parts.mutants
    for part, known in recorded.parts.survivors.items():
        if part.profile:
            continue
        should: set[str] = set()
        must: set[str] = set()
        for one in asked:
            dtype, rank = next(iter(one.case.types.values())), len(one.case.shapes[data])
            if (dtype, rank) == (part.dtype, part.rank):
                should |= {*one.kills}
                must |= {*one.kills} - {*one.excused}
        never = known.inert | known.stated.keys()
        for names, what in (
            (never & should, "is marked as unable to show, but is killed"),
            (known.undetermined & must, "is marked undetermined, but is killed"),
            (known.excused & must, "is marked as excused at must, but is killed there"),
            (known.excused - should, "is marked as excused at must, but is not killed at should"),
            (mutants - known.mutants - must, "is not killed, but not listed as a survivor"),
        ):
            for name in sorted(names):
                yield f"{part.dtype} of rank {part.rank}: {name} {what}"


def _made(one: Recorded, recorded: Cases) -> tuple[Any, ...]:
    excused = recorded.excused.get(one.case.id, ())
    return one.case.id, one.level, one.case.reject, one.suites, one.kills, excused


def _told(entry: Entry) -> tuple[Any, ...]:
    return entry.id, entry.level, entry.reject, entry.suites, entry.kills, entry.excused
