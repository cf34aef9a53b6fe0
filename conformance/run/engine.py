"""The engine: suite x backend -> a stream of events, one vector in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from conformance import __version__
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.grade.findings import findings
from conformance.grade.judge import applies, skipped, unsupported
from conformance.grade.outcome import describe
from conformance.grade.precision import known, parse_precision
from conformance.model import LEVELS, Finding, Result
from conformance.run import inline
from conformance.run.environment import fingerprint, peak_memory
from conformance.run.illustrate import illustrated
from conformance.run.interruption import Interruption
from conformance.run.readings import readings
from conformance.run.selection import Selection, select
from conformance.run.single import Execute, judged, refusals
from conformance.run.verdict import Question, Score, conclude
from conformance.suite.store import Suite

LOG_FORMAT = 1

Event = dict[str, Any] | Result | Finding
"""A header or footer as JSON data, or a result or finding, in the order of the run log."""

EXECUTORS: dict[str, Execute] = {"inline": inline.execute}
"""How a backend is called, by name. None raises anything but KeyboardInterrupt."""


@dataclass(frozen=True)
class Options:
    """What a run asks for.

    ``ops`` and ``only`` (ids or their beginnings) narrow the suite. ``spec`` is the backend as
    the user named it; ``command`` and ``show`` are the arguments that reproduce a finding, see
    :func:`conformance.grade.findings.findings`.
    """

    ops: Sequence[str] | None = None
    only: Sequence[str] = ()
    level: str = "must"
    precision: str | Mapping[str, str] = "standard"
    executor: str = "inline"
    spec: str = ""
    command: Sequence[str] = ()
    show: Sequence[str] = ()


def run(
    suite: Suite,
    backend: Backend,
    options: Options = Options(),
    *,
    interruption: Interruption | None = None,
) -> Iterator[Event]:
    """Check a backend: a header, a result for each vector, findings, a footer.

    Everything that can be wrong with the question is found before the header. An interruption
    ends the results early; findings and footer still come.

    Raises:
        UsageError: an unknown option, or a filter that matches nothing.
        SuiteError: the suite is damaged; without a footer the run can never look green.
    """
    level = known(options.level, LEVELS, "level")
    precision = parse_precision(options.precision)
    execute = EXECUTORS[known(options.executor, EXECUTORS, "executor")]
    selection = select(suite.manifest, ops=options.ops, only=options.only)
    interruption = interruption or Interruption()
    refusal = refusals(backend)

    yield _header(suite, backend, options, selection, precision)
    started = perf_counter()
    score = Score.of({op: sum(counts.values()) for op, counts in selection.by_op.items()})
    results: list[Result] = []
    interrupted = False
    for entry in selection.entries:
        if interruption.requested:
            interrupted = True
            break
        vector = suite.read(entry)
        reason = refusal(vector) if applies(vector, level) else None
        if not applies(vector, level):
            verdict = skipped(vector)
        elif reason is not None:
            verdict = unsupported(vector, reason)
        else:
            try:
                with interruption.backend_runs():
                    outcome = execute(backend, vector)
            except KeyboardInterrupt:
                interrupted = True
                break
            verdict = judged(backend, vector, outcome, level, precision)
        score.add(verdict)
        results.append(verdict)
        yield verdict

    for finding in findings(results, command=options.command, show=options.show):
        yield illustrated(finding, suite)
    question = Question(
        backend=f"{backend.name} {backend.version}",
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
        **conclude(score, question, interrupted=interrupted),
        "readings": readings(selection.by_op, results),
        "peak_memory_bytes": peak_memory(),
    }


def _header(
    suite: Suite,
    backend: Backend,
    options: Options,
    selection: Selection,
    precision: Mapping[str, str],
) -> dict[str, Any]:
    declared = getattr(backend, "capabilities", None)
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
            "name": backend.name,
            "version": backend.version,
            "spec": options.spec or backend.name,
            "capabilities": None if declared is None else capabilities_of(backend).to_json(),
        },
        "options": {
            "ops": list(options.ops) if options.ops else None,
            "only": list(options.only),
            "level": options.level,
            "precision": dict(precision),
            "executor": options.executor,
        },
        "environment": fingerprint() | {"backend": _backend_facts(backend)},
    }


def _backend_facts(backend: Backend) -> dict[str, str]:
    try:
        return environment_of(backend)
    except Exception as error:  # a backend's own code: what it cannot tell is no reason to stop
        return {"error": describe(error)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
