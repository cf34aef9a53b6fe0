"""Whether the shipped suite is what its recorded cases make: the manifest is never edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.errors import SuiteError
from conformance.spec.digest import digest
from conformance.spec.model import OpSpec
from conformance.suite import cases, proofs
from conformance.suite.cases import Cases
from conformance.suite.manifest import FILE_NAME, Entry, Manifest

HOW = "conformance generate makes it anew"


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
    told = {_told(entry) for entry in entries}
    made = {
        (one.case.id, one.level, one.case.reject, one.suites, one.kills)
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
        yield f"{file}: other vectors are withdrawn than in {FILE_NAME}; {HOW}"
    strength = manifest.strength[op]
    if strength.indistinguishable != recorded.indistinguishable:
        yield f"{file}: other faults are indistinguishable than in {FILE_NAME}; {HOW}"
    if strength.infeasible != proofs.of(spec):
        yield f"{proofs.shipped(op).name}: other proofs than in {FILE_NAME}; {HOW}"


def _told(entry: Entry) -> tuple[str, str, str | None, tuple[str, ...], tuple[str, ...]]:
    return entry.id, entry.level, entry.reject, entry.suites, entry.kills
