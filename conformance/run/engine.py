"""The engine: suite x backend -> a stream of events, one vector in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from conformance import __version__
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.grade.judge import applies, judge, result, skipped, unsupported
from conformance.grade.outcome import Ending, Outcome, describe
from conformance.grade.precision import known, parse_precision
from conformance.model import LEVELS, Finding, Result, Status, Vector
from conformance.run import inline
from conformance.run.conclusion import footer, found, in_suite_order
from conformance.run.environment import fingerprint, peak_memory
from conformance.run.interruption import Interruption
from conformance.run.readings import with_observations
from conformance.run.selection import Selection, select
from conformance.run.shard import Shard
from conformance.spec import loader
from conformance.suite.store import Suite

LOG_FORMAT = 1

Event = dict[str, Any] | Result | Finding
"""A header or footer as JSON data, or a result or finding, in the order of the run log."""

EXECUTORS: dict[str, Callable[[Backend, Vector], Outcome]] = {"inline": inline.execute}
"""How a backend is called, by name. None raises anything but KeyboardInterrupt."""


@dataclass(frozen=True)
class Options:
    """What a run asks for.

    ``ops`` and ``only`` (ids or their beginnings) narrow the suite. ``spec`` is the backend as
    the user named it; ``command`` and ``show`` are the arguments that reproduce a finding, see
    :func:`conformance.grade.findings.findings`. ``shard`` and ``shuffle`` as in
    :func:`conformance.run.selection.select`. ``done`` has the results that are known already, by
    operator and id: they come first, and the backend is not asked again.
    """

    ops: Sequence[str] | None = None
    only: Sequence[str] = ()
    level: str = "must"
    precision: str | Mapping[str, str] = "standard"
    executor: str = "inline"
    spec: str = ""
    command: Sequence[str] = ()
    show: Sequence[str] = ()
    shard: Shard | None = None
    shuffle: int | None = None
    done: Mapping[tuple[str, str], Result] = field(default_factory=dict)


def selected(suite: Suite, options: Options) -> Selection:
    """The vectors that a run asks. Raises UsageError for a filter that matches nothing."""
    return select(
        suite.manifest,
        ops=options.ops,
        only=options.only,
        shard=options.shard,
        shuffle=options.shuffle,
    )


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
    selection = selected(suite, options)
    interruption = interruption or Interruption()
    refusal = _refusals(backend)
    declared = getattr(backend, "capabilities", None) is not None

    yield _header(suite, backend, options, selection, precision)
    started = perf_counter()
    keys = [(entry.op, entry.id) for entry in selection.entries]
    results = [options.done[key] for key in keys if key in options.done]
    yield from results
    interrupted = False
    for entry in selection.entries:
        if (entry.op, entry.id) in options.done:
            continue
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
            if outcome.ending is Ending.UNSUPPORTED and declared:
                verdict = _undeclared(vector, outcome)
            else:
                verdict = judge(vector, outcome, level=level, precision=precision)
                verdict = with_observations(verdict, vector, outcome)
        results.append(verdict)
        yield verdict

    results = in_suite_order(results, suite)
    yield from found(results, suite, command=options.command, show=options.show)
    yield {
        **footer(
            results,
            suite,
            selection,
            backend=f"{backend.name} {backend.version}",
            level=level,
            precision=precision,
            interrupted=interrupted,
        ),
        "finished": _now(),
        "seconds": perf_counter() - started,
        "peak_memory_bytes": peak_memory(),
    }


def _refusals(backend: Backend) -> Callable[[Vector], str | None]:
    """Why the backend's declaration leaves a vector out, or None where it does not."""
    if getattr(backend, "capabilities", None) is None:
        return lambda _: None
    capabilities = capabilities_of(backend)

    def reason(vector: Vector) -> str | None:
        return capabilities.reason_against(
            loader.find(vector.case.op), vector.case, backend=backend.name
        )

    return reason


def _undeclared(vector: Vector, outcome: Outcome) -> Result:
    message = f"{outcome.message} (not among what the backend declared before the run)"
    return result(vector, Status.ERROR, "undeclared-unsupported", message, seconds=outcome.seconds)


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
            "shuffle": options.shuffle,
            "shard": None if options.shard is None else str(options.shard),
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
