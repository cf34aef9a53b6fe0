"""Makes the record of a run of a challenge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.backends.pieces import Piece
from conformance.challenge.record import Record, RecordedBackend, RecordedCase
from conformance.challenge.secret import Secret
from conformance.challenge.selecting import selecting
from conformance.log.run_log import RunLog
from conformance.model import Result, Status
from conformance.run.executor import Identity
from conformance.run.partition_strength import measured
from conformance.spec.catalogue import mutants_of
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.suite.manifest import Manifest
from conformance.suite.store import Suite


def backend_of(identity: Identity, spec: str, more: Iterable[Piece] = ()) -> RecordedBackend:
    """The backend ``spec`` as a record has it; ``more`` pieces are told of by who runs it."""
    capabilities = identity.capabilities
    return RecordedBackend(
        spec=spec,
        name=identity.name,
        version=identity.version,
        capabilities=None if capabilities is None else capabilities.to_json(),
        pieces=tuple(sorted({*(identity.pieces or ()), *more})),
        beside=identity.beside,
    )


def record(
    secret: Secret,
    backend: RecordedBackend,
    suite: Suite,
    specs: Mapping[str, OpSpec],
    log: RunLog,
    outputs: Mapping[tuple[str, str], str],
) -> Record:
    """The record of a complete run of the ``suite`` that was selected for this backend.

    ``specs`` are the specifications asked for, ``outputs`` the digests of all answers.
    """
    results = {(one.op, one.id): one for one in log.results}
    cases = []
    for entry in suite.manifest.vectors:
        found = results[entry.op, entry.id]
        asked = found.status not in (Status.UNSUPPORTED, Status.SKIPPED)
        told = outputs.get((entry.op, entry.id), "")
        assert told or not asked
        cases.append(
            RecordedCase(
                case=suite.read(entry, answers=False).case,
                level=entry.level,
                content=entry.content,
                status=found.status.value,
                reading=found.reading,
                outputs=told,
            )
        )
    options = log.header["options"]
    return Record(
        commitment=secret.commitment,
        secret=secret.data.hex(),
        seed=secret.seed(backend.digest),
        backend=backend,
        suite=suite.name,
        level=options["level"],
        precision=options["precision"],
        operators={op: spec_digest(specs[op]) for op in suite.manifest.ops},
        cases=tuple(cases),
        killed=killed(log.results, suite.manifest, specs, options["level"]),
        strength=measured(
            log.results, suite.manifest, level=options["level"], declared=backend.declared
        ),
        versions=selecting(),
        environment=log.header["environment"],
        started=log.header["started"],
    )


def killed(
    results: Iterable[Result], manifest: Manifest, specs: Mapping[str, OpSpec], level: str
) -> dict[str, tuple[int, int]]:
    """Of each operator, how many mutants of the catalogue the vectors that passed kill, and how
    many there are that nobody calls equivalent.

    Unlike the strength of a part it is known of every suite; some mutants can show in nothing that
    the backend declares.
    """
    passed = {(one.op, one.id) for one in results if one.status is Status.PASS}
    found: dict[str, set[str]] = {op: set() for op in manifest.ops}
    for entry in manifest.vectors:
        if (entry.op, entry.id) in passed:
            found[entry.op] |= {*entry.kills} - ({*entry.excused} if level == "must" else set())
    counted = {
        op: {fault.id for fault in mutants_of(specs[op]) if not fault.equivalent} for op in found
    }
    return {op: (len(found[op] & counted[op]), len(counted[op])) for op in found}
