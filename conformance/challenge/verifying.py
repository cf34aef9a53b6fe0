"""Checks a record step by step, and says of each step whether it was done."""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance import DISTRIBUTION, TOOL, parallel
from conformance.backends.pieces import Piece
from conformance.challenge.digests import Hashing
from conformance.challenge.making import backend_of, killed
from conformance.challenge.record import Record, RecordedCase
from conformance.challenge.secret import Secret
from conformance.challenge.selecting import select, selecting
from conformance.errors import ConformanceError, UsageError
from conformance.generate import recorded
from conformance.generate.large import askable_large
from conformance.generate.looking import askable
from conformance.grade.precision import parse_precision
from conformance.model import Result
from conformance.run.engine import Options, run
from conformance.run.executor import Executor
from conformance.run.independent_calls import IndependentCalls
from conformance.run.partition_strength import measured
from conformance.safe_text import number_of
from conformance.spec.catalogue import mutants_of
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.suite import origin
from conformance.suite.cases import Cases, Recorded
from conformance.suite.store import Suite
from conformance.suite.writer import write_suite

SHOWN = 3
"""Differences that a step names."""

BROKEN = (ConformanceError, ValueError, TypeError, KeyError, IndexError, OverflowError)
"""What evaluating a case raises that a specification does not have."""


class StepOutcome(enum.StrEnum):
    """What became of a step."""

    DONE = "ok"
    SKIPPED = "not done"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Step:
    """One step: its name, what became of it, and what was found or why it was not done."""

    name: str
    outcome: StepOutcome
    text: str


@dataclass(frozen=True)
class Means:
    """What a verifier has at hand.

    ``published`` is the commitment that was published, empty if it is not known; ``find`` gives the
    specification of an operator, and raises UsageError where there is none; ``executor`` makes an
    executor that hashes the backend, None where that is not at hand. With ``reselect`` cases are
    selected again where the versions are the same.
    """

    find: Callable[[str], OpSpec]
    published: str = ""
    executor: Callable[[], Executor] | None = None
    reselect: bool = True
    processes: int = 1
    progress: parallel.Progress = field(default=lambda *_: None)


def verify(record: Record, means: Means) -> Iterator[Step]:
    """Each step in its order. That the record is whole was seen when it was read."""
    count = len(record.cases)
    yield Step(
        "record", StepOutcome.DONE, f"{number_of(count, 'case')}; form and SHA-256 are right"
    )
    yield _commitment(record, means.published)
    yield _seed(record)
    yield Step("verdict", StepOutcome.DONE, "follows from the results that the record states")
    specs: dict[str, OpSpec] = {}
    with tempfile.TemporaryDirectory(prefix="challenge-") as temporary:
        folder = Path(temporary)
        suite: Suite | None = None
        try:
            specs = _specifications(record, means)
            suite = _evaluated(record, specs, folder / "evaluated", means)
            step = _contents(record, suite)
        except BROKEN as error:
            step = Step("vectors", StepOutcome.FAILED, _first(error))
        yield step
        sound = suite is not None and step.outcome is StepOutcome.DONE
        yield _selection(record, specs, folder / "selected", means, sound=sound)
        yield from _backend(record, suite if sound else None, means)


def _commitment(record: Record, published: str) -> Step:
    found = Secret(bytes.fromhex(record.secret)).commitment
    if found != record.commitment:
        return Step("commitment", StepOutcome.FAILED, "the secret is not that of the commitment")
    if not published:
        text = "fits the secret; compare it with what was published: --commitment"
        return Step("commitment", StepOutcome.DONE, text)
    if found != published:
        return Step("commitment", StepOutcome.FAILED, "another one was published")
    return Step("commitment", StepOutcome.DONE, "fits the secret, and is the one published")


def _seed(record: Record) -> Step:
    if Secret(bytes.fromhex(record.secret)).seed(record.backend.digest) != record.seed:
        return Step("seed", StepOutcome.FAILED, "it is not that of this secret and this backend")
    count = number_of(len(record.backend.pieces), "piece")
    if not record.backend.bound:
        return Step("seed", StepOutcome.DONE, "that of the secret; the backend was not hashed")
    return Step("seed", StepOutcome.DONE, f"that of the secret and of the backend: {count}")


def _specifications(record: Record, means: Means) -> dict[str, OpSpec]:
    """The specifications of the record. Raises UsageError for one that is not at hand."""
    found = {}
    for op, stated in record.operators.items():
        found[op] = means.find(op)
        if spec_digest(found[op]) != stated:
            raise UsageError(f"the specification of {op} is another one, made by {record.tool}")
    return found


def _evaluated(record: Record, specs: Mapping[str, OpSpec], folder: Path, means: Means) -> Suite:
    """The vectors of the case list, evaluated here. Raises one of ``BROKEN``."""
    for one in record.cases:
        spec = specs[one.case.op]
        if not (askable(spec, one.case) or askable_large(spec, one.case)):
            raise UsageError(f"{one.case.id} is no case of {one.case.op}")
    chosen = [
        Cases(
            op=op,
            specification=record.operators[op],
            seed=record.seed,
            versions=record.versions,
            recorded=tuple(
                Recorded(one.case, one.level, (record.suite,))
                for one in record.cases
                if one.case.op == op
            ),
        )
        for op in specs
    ]
    return write_suite(
        folder,
        recorded.vectors(chosen, specs, processes=means.processes, progress=means.progress),
        name=record.suite,
        seed=record.seed,
        versions={},
        bases=[origin.carried(spec, mutants_of(spec)) for spec in specs.values()],
    )


def _contents(record: Record, suite: Suite) -> Step:
    there = {(one.op, one.id): one.content for one in suite.manifest.vectors}
    other = [one for one in record.cases if there[one.case.op, one.case.id] != one.content]
    if other:
        return Step(
            "vectors",
            StepOutcome.FAILED,
            f"{len(other)} of {len(record.cases)} have other inputs or expected values here: "
            f"{_ids(other)}",
        )
    text = f"{len(record.cases)} evaluated here: the same inputs and expected values"
    return Step("vectors", StepOutcome.DONE, text)


def _selection(
    record: Record, specs: Mapping[str, OpSpec], folder: Path, means: Means, *, sound: bool
) -> Step:
    name = "selection"
    if not sound:
        return Step(name, StepOutcome.SKIPPED, "the vectors could not be evaluated")
    if not means.reselect:
        return Step(name, StepOutcome.SKIPPED, "--no-selection was given")
    other = list(_other_versions(record))
    if other:
        return Step(name, StepOutcome.SKIPPED, f"it needs the same versions: {'; '.join(other)}")
    declared = record.backend.declared
    try:
        again = select(
            specs,
            folder,
            suite=record.suite,
            seed=record.seed,
            declared=declared,
            processes=means.processes,
            progress=means.progress,
        )
    except BROKEN as error:
        return Step(name, StepOutcome.FAILED, _first(error))
    stated = [(one.case.op, one.case.id, one.level, one.content) for one in record.cases]
    found = [(one.op, one.id, one.level, one.content) for one in again.manifest.vectors]
    if stated != found:
        gone, new = len({*found} - {*stated}), len({*stated} - {*found})
        return Step(
            name,
            StepOutcome.FAILED,
            f"the seed selects other cases: {gone} are not in the record, {new} only there",
        )
    results = [one.result for one in record.cases]
    strength = measured(results, again.manifest, level=record.level, declared=declared)
    counts = killed(results, again.manifest, specs, record.level)
    if (strength, counts) != (record.strength, record.killed):
        return Step(name, StepOutcome.FAILED, "its vectors are of another strength")
    text = "the seed selects these cases, of this strength"
    return Step(name, StepOutcome.DONE, text)


def _other_versions(record: Record) -> Iterator[str]:
    here = {DISTRIBUTION: TOOL, **selecting()}
    there = {DISTRIBUTION: record.tool, **record.versions}
    for name in sorted({*here, *there}):
        if here.get(name) != there.get(name):
            yield f"{name} {there.get(name, 'not installed')}, here {here.get(name, 'none')}"


def _backend(record: Record, suite: Suite | None, means: Means) -> Iterator[Step]:
    if means.executor is None:
        text = "the backend was not given: --backend"
        yield Step("backend", StepOutcome.SKIPPED, text)
        yield Step("outputs", StepOutcome.SKIPPED, text)
        return
    if suite is None:
        text = "the vectors could not be evaluated"
        yield Step("backend", StepOutcome.SKIPPED, text)
        yield Step("outputs", StepOutcome.SKIPPED, text)
        return
    executor = Hashing(means.executor())
    precision = parse_precision(record.precision)
    executor.independent = IndependentCalls(record.level, precision)
    results = _results(record, suite, executor)
    yield _same_backend(record, executor)
    yield _outputs(record, results, executor.digests)


def _results(record: Record, suite: Suite, executor: Executor) -> dict[tuple[str, str], Result]:
    """What becomes of the cases here. Raises BackendError where the backend cannot be run."""
    options = Options(level=record.level, precision=record.precision, spec=record.backend.spec)
    found = {}
    for event in run(suite, executor, options):
        if isinstance(event, Result):
            found[event.op, event.id] = event
        elif len(found) == len(record.cases):
            break  # no causes are looked for
    return found


def _same_backend(record: Record, executor: Hashing) -> Step:
    remote = [one for one in record.backend.pieces if one.kind == "remote"]
    here = backend_of(executor.identity, record.backend.spec, remote)
    there = record.backend
    if (here.name, here.version) != (there.name, there.version):
        text = f"it is {here.name} {here.version}, not {there.name} {there.version}"
        return Step("backend", StepOutcome.FAILED, text)
    if here.pieces != there.pieces:
        text = f"it is made of other files: {_pieces(here.pieces, there.pieces)}"
        return Step("backend", StepOutcome.FAILED, text)
    if not there.bound:
        return Step("backend", StepOutcome.SKIPPED, "the backend was not hashed")
    beside = _pieces(here.beside, there.beside)
    return Step(
        "backend",
        StepOutcome.DONE,
        f"the same, {number_of(len(here.pieces), 'piece')}"
        + (f"; beside it other files of the machine: {beside}" if beside else ""),
    )


def _pieces(here: Sequence[Piece], there: Sequence[Piece]) -> str:
    """The names of pieces that only one side has, or with other bytes."""
    names = sorted({one.name for one in {*here} ^ {*there}})
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _outputs(
    record: Record,
    results: Mapping[tuple[str, str], Result],
    digests: Mapping[tuple[str, str], str],
) -> Step:
    other = []
    for one in record.cases:
        at = (one.case.op, one.case.id)
        found = results.get(at)
        same = found is not None and (found.status.value, found.reading) == (
            one.status,
            one.reading,
        )
        if not same or digests.get(at, "") != one.outputs:
            other.append(one)
    asked = sum(bool(one.outputs) for one in record.cases)
    if other:
        return Step(
            "outputs",
            StepOutcome.FAILED,
            f"{len(other)} of {len(record.cases)} cases have other outputs or results here: "
            f"{_ids(other)}",
        )
    return Step(
        "outputs",
        StepOutcome.DONE,
        f"run again here: the same outputs of {number_of(asked, 'case')}",
    )


def _ids(cases: Sequence[RecordedCase]) -> str:
    more = f" and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
    return f"{', '.join(one.case.id for one in cases[:SHOWN])}{more}"


def _first(error: Exception) -> str:
    text = error.message if isinstance(error, ConformanceError) else f"{type(error).__name__}"
    return text.partition("\n")[0][:300]
