"""Makes the record of a run of a challenge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.backends.components import Component
from conformance.challenge.record import ChallengeBackend, ChallengeCase, ChallengeRecord
from conformance.challenge.secret import Secret
from conformance.challenge.select_suite import selection_versions
from conformance.core.operator import Operator
from conformance.log.run_log import RunLog
from conformance.model import Result, Status
from conformance.run.executor import Identity
from conformance.run.partition_strength import measured
from conformance.specification import mutants_of, spec_digest
from conformance.suite.manifest import Manifest
from conformance.suite.store import Suite


def recorded_backend(
    identity: Identity, backend_name: str, more_pieces: Iterable[Component] = ()
) -> ChallengeBackend:
    """Describe a backend for a record; ``more_pieces`` are stated by whoever runs it."""
    capabilities = identity.capabilities
    return ChallengeBackend(
        spec=backend_name,
        name=identity.name,
        version=identity.version,
        capabilities=None if capabilities is None else capabilities.to_json(),
        pieces=tuple(sorted({*(identity.pieces or ()), *more_pieces})),
        beside=identity.beside,
    )


def make_record(
    secret: Secret,
    backend: ChallengeBackend,
    suite: Suite,
    specs: Mapping[str, Operator],
    log: RunLog,
    digests: Mapping[tuple[str, str], str],
) -> ChallengeRecord:
    """Make the record of a complete run of a suite selected for this backend.

    Args:
        specs: the specifications that the challenge is about.
        digests: those of all responses, by operator and id.
    """
    results = {(result.op, result.id): result for result in log.results}
    cases = []
    for entry in suite.manifest.vectors:
        result = results[entry.op, entry.id]
        was_tested = result.status not in (Status.UNSUPPORTED, Status.SKIPPED)
        outputs = digests.get((entry.op, entry.id), "")
        assert outputs or not was_tested
        cases.append(
            ChallengeCase(
                case=suite.read(entry, answers=False).case,
                level=entry.level,
                content=entry.content,
                status=result.status.value,
                reading=result.reading,
                outputs=outputs,
            )
        )
    options = log.header["options"]
    return ChallengeRecord(
        commitment=secret.commitment,
        secret=secret.data.hex(),
        seed=secret.seed(backend.digest),
        backend=backend,
        suite=suite.name,
        level=options["level"],
        precision=options["precision"],
        operators={op: spec_digest(specs[op]) for op in suite.manifest.ops},
        cases=tuple(cases),
        killed=count_kills(log.results, suite.manifest, specs, options["level"]),
        strength=measured(
            log.results, suite.manifest, level=options["level"], declared=backend.declared
        ),
        versions=selection_versions(),
        environment=log.header["environment"],
        started=log.header["started"],
    )


def count_kills(
    results: Iterable[Result], manifest: Manifest, specs: Mapping[str, Operator], level: str
) -> dict[str, tuple[int, int]]:
    """Count the mutants that passed vectors kill, and all that may be killed, by operator.

    Mutants stated to be equivalent do not count. Unlike the strength of a partition the counts are
    known of every suite; some mutants can show in nothing that the backend declares.
    """
    passed = {(result.op, result.id) for result in results if result.status is Status.PASS}
    kills: dict[str, set[str]] = {op: set() for op in manifest.ops}
    for entry in manifest.vectors:
        if (entry.op, entry.id) in passed:
            kills[entry.op] |= {*entry.kills} - ({*entry.excused} if level == "must" else set())
    killable = {
        op: {fault.id for fault in mutants_of(specs[op]) if not fault.equivalent} for op in kills
    }
    return {op: (len(kills[op] & killable[op]), len(killable[op])) for op in kills}
