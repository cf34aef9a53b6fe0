"""Verifies a record step by step, and reports for each step whether it was done."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance import DISTRIBUTION, TOOL, parallel
from conformance.backends.components import Component
from conformance.challenge.digests import HashingExecutor
from conformance.challenge.make_record import count_kills, recorded_backend
from conformance.challenge.record import ChallengeRecord
from conformance.challenge.secret import Secret
from conformance.challenge.select_suite import select_suite, selection_versions
from conformance.check_options import CheckOptions
from conformance.core.operator import Operator
from conformance.errors import ConformanceError, UsageError
from conformance.generate import recorded
from conformance.generate.bounds import is_usable
from conformance.grade.precision import parse_precision
from conformance.model import Result
from conformance.run.engine import RunContext, run
from conformance.run.executor import Executor
from conformance.run.independent_calls import IndependentCalls
from conformance.run.partition_strength import measured
from conformance.safe_text import number_of
from conformance.specification import spec_digest
from conformance.suite.origin import carried_origin
from conformance.suite.recorded_cases import RecordedCase, RecordedCases
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

MAX_NAMES = 3
"""Differences that a step names."""

CASE_ERRORS = (ConformanceError, ValueError, TypeError, KeyError, IndexError, OverflowError)
"""What evaluating a case raises that a specification does not have."""


NO_VECTORS = "the vectors could not be evaluated"


class StepOutcome(enum.StrEnum):
    """The outcome of a step."""

    DONE = "ok"
    SKIPPED = "not done"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Step:
    """A step: its name, its outcome, and the reason."""

    name: str
    outcome: StepOutcome
    text: str


@dataclass(frozen=True)
class VerifierInputs:
    """The inputs of a verifier.

    Attributes:
        find: returns the specification of an operator; raises UsageError where there is none.
        published: the commitment that was published, empty if it is not known.
        executor: makes an executor that hashes the backend; None if that is not available.
        reselect: select the cases again where the versions are the same.
    """

    find: Callable[[str], Operator]
    published: str = ""
    executor: Callable[[], Executor] | None = None
    reselect: bool = True
    processes: int = 1
    progress: parallel.Progress = field(default=lambda *_: None)


def _done(name: str, text: str) -> Step:
    return Step(name, StepOutcome.DONE, text)


def _skipped(name: str, text: str) -> Step:
    return Step(name, StepOutcome.SKIPPED, text)


def _failed(name: str, text: str) -> Step:
    return Step(name, StepOutcome.FAILED, text)


def verification_steps(record: ChallengeRecord, inputs: VerifierInputs) -> Iterator[Step]:
    """Verify a record whose form and digest are right; yield each step."""
    count = len(record.cases)
    yield _done("record", f"{number_of(count, 'case')}; form and SHA-256 are right")
    yield _commitment(record, inputs.published)
    yield _seed(record)
    yield _done("verdict", "follows from the results that the record states")
    specs: dict[str, Operator] = {}
    with tempfile.TemporaryDirectory(prefix="challenge-") as temporary:
        folder = Path(temporary)
        suite: Suite | None = None
        try:
            specs = _specifications(record, inputs)
            suite = _evaluate(record, specs, folder / "evaluated", inputs)
            vectors = _vectors(record, suite)
        except CASE_ERRORS as error:
            vectors = _failed("vectors", _first_line(error))
        yield vectors
        usable = suite if vectors.outcome is StepOutcome.DONE else None
        if usable is None:
            yield _skipped("selection", NO_VECTORS)
        else:
            yield _selection(record, specs, folder / "selected", inputs)
        if usable is None or inputs.executor is None:
            text = NO_VECTORS if inputs.executor else "the backend was not given: --backend"
            yield from (_skipped("backend", text), _skipped("outputs", text))
        else:
            yield from _backend(record, usable, HashingExecutor(inputs.executor()))


def _commitment(record: ChallengeRecord, published: str) -> Step:
    name = "commitment"
    commitment = Secret(bytes.fromhex(record.secret)).commitment
    if commitment != record.commitment:
        return _failed(name, "the secret is not that of the commitment")
    if not published:
        return _done(name, "fits the secret; compare it with what was published: --commitment")
    if commitment != published:
        return _failed(name, "another one was published")
    return _done(name, "fits the secret, and is the one published")


def _seed(record: ChallengeRecord) -> Step:
    if Secret(bytes.fromhex(record.secret)).seed(record.backend.digest) != record.seed:
        return _failed("seed", "it is not that of this secret and this backend")
    if not record.backend.bound:
        return _done("seed", "that of the secret; the backend was not hashed")
    count = number_of(len(record.backend.pieces), "piece")
    return _done("seed", f"that of the secret and of the backend: {count}")


def _specifications(record: ChallengeRecord, inputs: VerifierInputs) -> dict[str, Operator]:
    """Find the specifications of a record.

    Raises:
        UsageError: one is not available, or is another one.
    """
    specs = {op: inputs.find(op) for op in record.operators}
    for op, spec in specs.items():
        if spec_digest(spec) != record.operators[op]:
            raise UsageError(f"the specification of {op} is another one, made by {record.tool}")
    return specs


def _evaluate(
    record: ChallengeRecord,
    specs: Mapping[str, Operator],
    folder: Path,
    inputs: VerifierInputs,
) -> Suite:
    """Evaluate the vectors of the case list.

    Raises:
        Exception: one of ``CASE_ERRORS``.
    """
    by_op: dict[str, list[RecordedCase]] = {op: [] for op in specs}
    for case, level in ((item.case, item.level) for item in record.cases):
        spec = specs[case.op]
        if not is_usable(spec, case):
            raise UsageError(f"{case.id} is no case of {case.op}")
        by_op[case.op].append(RecordedCase(case, level, (record.suite,)))
    chosen = [
        RecordedCases(op, record.operators[op], record.seed, record.versions, tuple(cases))
        for op, cases in by_op.items()
    ]
    return write_suite(
        folder,
        recorded.vectors(chosen, specs, processes=inputs.processes, progress=inputs.progress),
        name=record.suite,
        seed=record.seed,
        versions={},
        bases=[carried_origin(spec) for spec in specs.values()],
    )


def _vectors(record: ChallengeRecord, suite: Suite) -> Step:
    content = {(entry.op, entry.id): entry.content for entry in suite.manifest.vectors}
    other = [
        item.case.id for item in record.cases if content[item.case.op, item.case.id] != item.content
    ]
    if other:
        text = f"{len(other)} of {len(record.cases)} have other inputs or expected values here"
        return _failed("vectors", f"{text}: {_first_names(other)}")
    text = f"{len(record.cases)} evaluated here: the same inputs and expected values"
    return _done("vectors", text)


def _selection(
    record: ChallengeRecord,
    specs: Mapping[str, Operator],
    folder: Path,
    inputs: VerifierInputs,
) -> Step:
    name = "selection"
    if not inputs.reselect:
        return _skipped(name, "--no-selection was given")
    if other := list(_other_versions(record)):
        return _skipped(name, f"it needs the same versions: {'; '.join(other)}")
    declared = record.backend.declared
    try:
        suite = select_suite(
            specs,
            folder,
            suite=record.suite,
            seed=record.seed,
            declared=declared,
            processes=inputs.processes,
            progress=inputs.progress,
        )
    except CASE_ERRORS as error:
        return _failed(name, _first_line(error))
    manifest = suite.manifest
    stated = [(item.case.op, item.case.id, item.level, item.content) for item in record.cases]
    selected = [(entry.op, entry.id, entry.level, entry.content) for entry in manifest.vectors]
    if stated != selected:
        missing, surplus = len({*selected} - {*stated}), len({*stated} - {*selected})
        return _failed(
            name,
            f"the seed selects other cases: {missing} are not in the record, {surplus} only there",
        )
    results = [item.result for item in record.cases]
    strength = measured(results, manifest, level=record.level, declared=declared)
    kills = count_kills(results, manifest, specs, record.level)
    if (strength, kills) != (record.strength, record.killed):
        return _failed(name, "its vectors are of another strength")
    return _done(name, "the seed selects these cases, of this strength")


def _other_versions(record: ChallengeRecord) -> Iterator[str]:
    here = {DISTRIBUTION: TOOL, **selection_versions()}
    recorded_versions = {DISTRIBUTION: record.tool, **record.versions}
    for name in sorted({*here, *recorded_versions}):
        version = recorded_versions.get(name, "not installed")
        if here.get(name) != recorded_versions.get(name):
            yield f"{name} {version}, here {here.get(name, 'none')}"


def _backend(record: ChallengeRecord, suite: Suite, executor: HashingExecutor) -> Iterator[Step]:
    executor.independent = IndependentCalls(record.level, parse_precision(record.precision))
    results = _results(record, suite, executor)
    yield _same_backend(record, executor)
    yield _outputs(record, results, executor.digests)


def _results(
    record: ChallengeRecord, suite: Suite, executor: Executor
) -> dict[tuple[str, str], Result]:
    """Run the cases here.

    Raises:
        BackendError: the backend cannot be run.
    """
    options = CheckOptions(level=record.level, precision=record.precision)
    context = RunContext(backend_name=record.backend.spec)
    results = {}
    for event in run(suite, executor, options, context):
        if isinstance(event, Result):
            results[event.op, event.id] = event
        elif len(results) == len(record.cases):
            break  # causes are not needed
    return results


def _same_backend(record: ChallengeRecord, executor: HashingExecutor) -> Step:
    name, stated = "backend", record.backend
    remote = [piece for piece in stated.pieces if piece.kind == "remote"]
    here = recorded_backend(executor.identity, stated.spec, remote)
    if (here.name, here.version) != (stated.name, stated.version):
        text = f"it is {here.name} {here.version}, not {stated.name} {stated.version}"
        return _failed(name, text)
    if here.pieces != stated.pieces:
        text = f"it is made of other files: {_differing_pieces(here.pieces, stated.pieces)}"
        return _failed(name, text)
    if not stated.bound:
        return _skipped(name, "the backend was not hashed")
    beside = _differing_pieces(here.beside, stated.beside)
    text = f"the same, {number_of(len(here.pieces), 'piece')}"
    return _done(name, text + (f"; beside it other files of the machine: {beside}" * bool(beside)))


def _differing_pieces(here: Sequence[Component], stated: Sequence[Component]) -> str:
    """Name pieces that only one side has, or with other bytes."""
    return _first_names(sorted({piece.name for piece in {*here} ^ {*stated}}))


def _outputs(
    record: ChallengeRecord,
    results: Mapping[tuple[str, str], Result],
    digests: Mapping[tuple[str, str], str],
) -> Step:
    other = []
    for item in record.cases:
        key = (item.case.op, item.case.id)
        result = results.get(key)
        same = result is not None and (result.status.value, result.reading) == (
            item.status,
            item.reading,
        )
        if not same or digests.get(key, "") != item.outputs:
            other.append(item.case.id)
    if other:
        text = f"{len(other)} of {len(record.cases)} cases have other outputs or results here"
        return _failed("outputs", f"{text}: {_first_names(other)}")
    count = sum(bool(item.outputs) for item in record.cases)
    return _done("outputs", f"run again here: the same outputs of {number_of(count, 'case')}")


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(names[:MAX_NAMES])}{more}"


def _first_line(error: Exception) -> str:
    text = error.message if isinstance(error, ConformanceError) else type(error).__name__
    return text.partition("\n")[0][:300]
