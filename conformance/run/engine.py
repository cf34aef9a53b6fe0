"""The engine: suite x backend -> a stream of events, one vector in memory at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Any

from conformance import __version__
from conformance.backends.protocol import Backend
from conformance.errors import UsageError
from conformance.grade.findings import findings
from conformance.grade.gate import Gate
from conformance.grade.outcome import Outcome
from conformance.grade.precision import known, parse_precision
from conformance.model import LEVELS, Finding, Result, Vector
from conformance.run.asking import answered
from conformance.run.environment import fingerprint, peak_memory
from conformance.run.executor import Executor
from conformance.run.illustrate import illustrated
from conformance.run.inline import Inline
from conformance.run.interruption import Interruption, Stopped
from conformance.run.readings import readings
from conformance.run.selection import Selection, select
from conformance.run.single import Examiner
from conformance.run.verdict import Question, Score, conclude
from conformance.suite.manifest import Entry
from conformance.suite.store import Suite

LOG_FORMAT = 1

Event = dict[str, Any] | Result | Finding
"""A header or footer as JSON data, or a result or finding, in the order of the run log."""

PROBES = 5
"""How many vectors from all over a run tell a dead backend from one that fails on the first."""


@dataclass(frozen=True)
class Options:
    """What a run asks for.

    ``ops`` and ``only`` (ids or their beginnings) narrow the suite. Each vector is asked
    ``repeat`` times. ``spec`` is the backend as
    the user named it; ``command`` and ``show`` are the arguments that reproduce a finding, see
    :func:`conformance.grade.findings.findings`. ``gate`` holds known failures and what must be
    supported.
    """

    ops: Sequence[str] | None = None
    only: Sequence[str] = ()
    level: str = "must"
    precision: str | Mapping[str, str] = "standard"
    repeat: int = 1
    spec: str = ""
    command: Sequence[str] = ()
    show: Sequence[str] = ()
    gate: Gate = field(default_factory=Gate)


def run(
    suite: Suite,
    backend: Backend | Executor,
    options: Options = Options(),
    *,
    interruption: Interruption | None = None,
) -> Generator[Event]:
    """Check a backend: a header, a result for each vector, findings, a footer.

    A backend object is called in this process; an executor knows its own way. Everything that can
    be wrong with the question is found before the header. An interruption ends the results early;
    findings and footer still come.

    Raises:
        UsageError: an unknown option, or a filter that matches nothing.
        BackendError: the backend cannot be loaded.
        SpecError: known failures that would excuse all of an operator.
        SuiteError: the suite is damaged; without a footer the run can never look green.
    """
    level = known(options.level, LEVELS, "level")
    precision = parse_precision(options.precision)
    if options.repeat < 1:
        raise UsageError(f"repeat is {options.repeat}", hint="ask each vector once, or more often")
    selection = select(suite.manifest, ops=options.ops, only=options.only)
    watch = options.gate.watch(
        suite.manifest.vectors, selection.entries, lambda vector: suite.get(vector).case
    )
    interruption = interruption or Interruption()
    score = Score.of({op: sum(counts.values()) for op, counts in selection.by_op.items()})
    results: list[Result] = []
    interrupted = False

    with backend if isinstance(backend, Executor) else Inline(backend) as executor:
        identity = executor.identity
        yield _header(suite, executor, options, selection, precision)
        started = perf_counter()
        examiner = Examiner(executor, level, precision)

        def take() -> Outcome:
            interruption.stop_if_requested()
            try:
                with interruption.backend_runs():
                    return executor.take()
            except KeyboardInterrupt:
                raise Stopped from None

        def vectors() -> Iterator[Vector]:
            for entry in selection.entries:
                interruption.stop_if_requested()
                yield suite.read(entry)

        def probes() -> Iterator[Vector]:
            for part in _parts(selection.entries):
                found = (v for v in map(suite.read, part) if examiner.unasked(v) is None)
                yield from islice(found, 1)

        executor.probes = probes
        try:
            asked = answered(
                vectors(), executor, take, unasked=examiner.unasked, repeat=options.repeat
            )
            for vector, seen in asked:
                verdict = seen if isinstance(seen, Result) else examiner.judged(vector, seen)
                del vector, seen  # the next ones are read before these would be replaced
                verdict = watch.take(verdict)
                score.add(verdict)
                results.append(verdict)
                yield verdict
        except Stopped:
            interrupted = True

    for finding in findings(results, command=options.command, show=options.show):
        yield illustrated(finding, suite)
    expected = watch.summary(whole=not interrupted)
    question = Question(
        backend=f"{identity.name} {identity.version}",
        suite=suite.name,
        digest=suite.digest,
        level=level,
        precision=precision,
        values=sum(counts["value"] for counts in selection.by_op.values()),
        in_suite=selection.in_suite,
        whole=selection.whole,
    )
    yield {
        "event": "footer",
        "finished": _now(),
        "seconds": perf_counter() - started,
        "interrupted": interrupted,
        **conclude(
            score,
            question,
            interrupted=interrupted,
            given_up=executor.given_up,
            expected=expected,
            strict=options.gate.strict,
        ),
        **expected,
        "readings": readings(selection.by_op, results),
        "peak_memory_bytes": peak_memory(),
    }


def _parts(entries: Sequence[Entry]) -> list[Sequence[Entry]]:
    """The last few entries of each of ``PROBES`` equal parts."""
    ends = [(i + 1) * len(entries) // PROBES for i in range(PROBES)]
    return [entries[max(0, end - 4) : end] for end in ends]


def _header(
    suite: Suite,
    executor: Executor,
    options: Options,
    selection: Selection,
    precision: Mapping[str, str],
) -> dict[str, Any]:
    who = executor.identity
    return {
        "event": "header",
        "format": LOG_FORMAT,
        "tool": {"name": "opconform", "version": __version__},
        "started": _now(),
        "suite": {
            "name": suite.name,
            "digest": suite.digest,
            "format": suite.manifest.format,
            "vectors": len(selection.entries),
            "by_op": selection.by_op,
        },
        "backend": {
            "name": who.name,
            "version": who.version,
            "spec": options.spec or who.name,
            "capabilities": None if who.capabilities is None else who.capabilities.to_json(),
        },
        "options": {
            "ops": list(options.ops) if options.ops else None,
            "only": list(options.only),
            "level": options.level,
            "precision": dict(precision),
            "repeat": options.repeat,
            **executor.settings(),
            **options.gate.options(),
        },
        "environment": fingerprint(who.variables) | {"backend": who.facts},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
