"""The engine: suite x backend -> a stream of events, one vector in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from time import perf_counter
from typing import Any

from conformance import DISTRIBUTION, __version__
from conformance.backends.capabilities import Capabilities
from conformance.backends.discovery import file_digest
from conformance.backends.protocol import Backend
from conformance.check_options import DEFAULTS, CheckOptions
from conformance.choices import LEVELS
from conformance.errors import UsageError
from conformance.grade.gate import Gate, GateRun
from conformance.grade.precision import check_choice, parse_precision
from conformance.log.events import FORMAT
from conformance.log.results import OutputLimit, Results
from conformance.model import Finding, Result, Vector
from conformance.run.alone import Fresh
from conformance.run.check_vector import VectorChecker
from conformance.run.confirm_failure import confirmed_results
from conformance.run.environment import fingerprint, peak_memory
from conformance.run.executor import Executor
from conformance.run.inline import Inline
from conformance.run.interruption import Interruption, Stopped
from conformance.run.mutant_match import Prediction
from conformance.run.partition_filter import PartitionFilter
from conformance.run.selection import Selection, declared_operators, select
from conformance.run.shard import Shard
from conformance.run.summarise import diagnosed_findings, in_suite_order, make_footer
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite

Event = dict[str, Any] | Result | Finding
"""A header or footer as JSON data, or a result or finding, in the order of the run log."""

Endings = Sequence[str] | None
"""What was wrong with how processes of the backend ended; None for a run that was interrupted."""

PROBES = 3
"""How many vectors from all over a run tell a dead backend from one that fails on the first."""


MANY_OPERATORS = 20
"""Operators of which a backend that has few should be asked some only."""


@dataclass(frozen=True)
class RunContext:
    """What a run is given besides its options; by default nothing.

    ``backend_name`` is the backend as the user named it; ``command`` and ``show`` are the arguments
    that reproduce a finding, see :func:`conformance.grade.findings.group_failures`. ``gate`` holds
    known failures and what must be supported. ``done`` has the results of an earlier run, by
    operator and id: they come first, and the backend is not called again. ``findings`` False leaves
    out what several results show together, for a shard that is merged at once. ``work`` says how
    recorded cases are evaluated that are not in the cache. ``accept`` is given the header before,
    and raises where it refuses the run.
    """

    backend_name: str = ""
    command: Sequence[str] = ()
    show: Sequence[str] = ()
    gate: Gate = field(default_factory=Gate)
    done: Mapping[tuple[str, str], Result] = field(default_factory=dict)
    findings: bool = True
    work: Work = field(default_factory=Work)
    accept: Callable[[Mapping[str, Any]], None] | None = None


def selected(
    suite: Suite, options: CheckOptions, declared: Capabilities | None = None
) -> Selection:
    """Select the vectors that a run tests.

    Of the shipped suite they are those of the operators that a backend declares, if none are
    named.

    Raises:
        UsageError: a filter that matches nothing, an unknown element type, rank or shard.
    """
    return select(
        suite,
        ops=options.ops or declared_operators(suite.manifest, declared, options.only),
        only=options.only,
        shard=None if options.shard is None else Shard.parse(options.shard),
        shuffle=options.shuffle,
        partitions=PartitionFilter.of(options.dtypes, options.ranks),
    )


def run(
    suite: Suite,
    backend: Backend | Executor,
    options: CheckOptions = DEFAULTS,
    context: RunContext = RunContext(),
    results: Results | None = None,
    *,
    interruption: Interruption | None = None,
) -> Generator[Event]:
    """Check a backend: a header, a result for each vector, findings, a footer.

    A backend object is called in this process; an executor knows its own way. Everything that can
    be wrong with the question is found before the header. An interruption ends the results early;
    findings and footer still come. ``results`` takes every result that is yielded, for whoever
    wants them all: they are kept once.

    Raises:
        KeyboardInterrupt: somebody asked to stop while the backend was loaded.
        UsageError: an unknown option, or a filter that matches nothing.
        BackendError: the backend cannot be loaded.
        SpecError: known failures that would excuse all of an operator.
        SuiteError: the suite is damaged; without a footer the run can never look green.
    """
    results = Results() if results is None else results
    with ExitStack() as stack:
        try:
            check = _prepare(
                suite, backend, options, context, interruption or Interruption(), stack
            )
            if context.accept is not None:
                context.accept(_header(check))
            _evaluate(check)
        except Stopped:
            raise KeyboardInterrupt from None
        yield _header(check)
        started = perf_counter()
        endings = yield from _results(check, results)
    ordered = in_suite_order(results, suite)
    if context.findings:
        yield from _findings(check, ordered, endings)
    yield _footer(check, ordered, endings) | {
        "finished": _now(),
        "seconds": perf_counter() - started,
        "peak_memory_bytes": peak_memory(),
    }


@dataclass
class _Check:
    """A run whose backend is loaded; ``untested`` are the entries without a result so far."""

    suite: Suite
    options: CheckOptions
    context: RunContext
    interruption: Interruption
    checker: VectorChecker
    selection: Selection
    watch: GateRun
    untested: Sequence[Entry]

    @property
    def executor(self) -> Executor:
        return self.checker.executor


def _prepare(
    suite: Suite,
    backend: Backend | Executor,
    options: CheckOptions,
    context: RunContext,
    interruption: Interruption,
    stack: ExitStack,
) -> _Check:
    """Load the backend, and find what is wrong with the options before the header is written."""
    level, precision = _graded_by(options)
    selected(suite, options)  # a filter that matches nothing is found before anything is loaded
    executor = backend if isinstance(backend, Executor) else Inline(backend)
    executor.waiting = interruption.stop_if_requested
    with interruption.backend_runs():  # it may hang meanwhile
        stack.enter_context(executor)
    checker = VectorChecker(executor, suite.specs, level, precision)
    selection = selected(suite, options, executor.identity.capabilities)
    for op in selection.by_op:
        suite.specs.get(op)  # one that cannot be used is found before the first result
    watch = context.gate.start_run(
        suite.manifest.vectors,
        selection.entries,
        lambda vector: suite.get(vector).case,
        Prediction(suite, level, precision),
    )
    if selection.whole:
        suite.manifest.confirm()  # what a claim names has to be what is tested
    untested = [e for e in selection.entries if (e.op, e.id) not in context.done]
    if executor.identity.capabilities is None and len(selection.by_op) >= MANY_OPERATORS:
        context.work.say(
            "the backend does not declare its operators: it is asked all "
            f"{len(selection.by_op)}; --op names some"
        )
    return _Check(suite, options, context, interruption, checker, selection, watch, untested)


def _evaluate(check: _Check) -> None:
    """Evaluate the cases that are tested and not in the cache, which may take minutes."""
    check.interruption.stop_if_requested()
    with check.interruption.backend_runs():  # nothing else would hear of Ctrl-C
        check.checker.evaluate(check.suite, check.untested, check.context.work)


def _graded_by(options: CheckOptions) -> tuple[str, Mapping[str, str]]:
    """The level and the precision of each dtype. Raises UsageError for an unknown option."""
    level = check_choice(options.level, LEVELS, "level")
    precision = parse_precision(options.precision)
    if options.min_strength is not None and not 0 <= options.min_strength <= 100:
        raise UsageError(
            f"the minimum strength is {options.min_strength:g}", hint="give a percentage, 0 to 100"
        )
    if options.repeat < 1:
        raise UsageError(f"repeat is {options.repeat}", hint="run each vector once or more")
    return level, precision


def _results(check: _Check, results: Results) -> Generator[Result, None, Endings]:
    """Yield the result of each vector: those of before, then those of the backend."""
    limit, entries, done = OutputLimit(), check.selection.entries, check.context.done
    earlier = (done[e.op, e.id] for e in entries if (e.op, e.id) in done)
    pipeline = check.checker.pipeline(check.options.repeat, check.interruption.backend_responds)
    pipeline.probe_with(partial(_probes, check))
    fresh = confirmed_results(check.checker, pipeline, _vectors(check))
    try:
        for result in chain(earlier, fresh):
            graded = limit.bounded(check.watch.take(result))
            results.append(graded)
            yield graded
        with check.interruption.backend_ends():
            return check.executor.farewell()
    except Stopped:
        return None


def _vectors(check: _Check) -> Iterator[Vector]:
    for entry in check.untested:
        check.interruption.stop_if_requested()
        yield check.checker.vector(check.suite, entry)


def _probes(check: _Check) -> Iterator[Vector]:
    """A vector that is tested, among the last few entries of each of ``PROBES`` equal parts."""
    for part in range(1, PROBES + 1):
        end = part * len(check.untested) // PROBES
        entries = check.untested[max(0, end - 4) : end]
        read = (check.checker.vector(check.suite, entry) for entry in entries)
        tested = (vector for vector in read if check.checker.untested_result(vector) is None)
        yield from islice(tested, 1)


def _findings(check: _Check, ordered: Sequence[Result], endings: Endings) -> Iterable[Finding]:
    """What several results show together; what fails is run again in a fresh process."""
    context, checker = check.context, check.checker
    findings = diagnosed_findings(
        ordered,
        check.suite,
        level=checker.level,
        precision=checker.precision,
        command=context.command,
        show=context.show,
        spec=context.backend_name,
        declared=check.executor.identity.capabilities,
    )
    if endings is None or check.executor.independent is not None:
        return findings
    fresh = Fresh(check.executor.fresh, checker, check.suite, check.selection.entries)
    return fresh.confirmed(findings)


def _footer(check: _Check, ordered: Sequence[Result], endings: Endings) -> dict[str, Any]:
    options, identity, is_interrupted = check.options, check.executor.identity, endings is None
    expected = check.watch.summary(is_complete=not is_interrupted and options.shard is None)
    if endings:
        expected["endings"] = [{"message": message} for message in endings]
    footer = make_footer(
        ordered,
        check.suite,
        check.selection,
        backend=f"{identity.name} {identity.version}",
        level=check.checker.level,
        precision=check.checker.precision,
        command=check.context.command,
        ops=options.ops or None,
        declared=identity.capabilities,
        min_strength=options.min_strength,
        interrupted=is_interrupted,
        expected=expected,
        strict=check.context.gate.strict,
    )
    return footer | ({"exit_code": check.interruption.exit_code} if is_interrupted else {})


def _header(check: _Check) -> dict[str, Any]:
    suite, selection, named = check.suite, check.selection, check.context.backend_name
    who = check.executor.identity
    return {
        "event": "header",
        "format": FORMAT,
        "tool": {"name": DISTRIBUTION, "version": __version__},
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
            "spec": named or who.name,
            "sha256": file_digest(named),
            "capabilities": None if who.capabilities is None else who.capabilities.to_json(),
        },
        "options": _settled_options(check),
        "environment": fingerprint(who.process) | {"backend": who.facts},
    }


def _settled_options(check: _Check) -> dict[str, Any]:
    """The options as a log has them: as they were given, or what the run made of them."""
    options, partitions = check.options, check.selection.partitions
    settled = {
        "ops": list(options.ops) or None,
        "dtypes": list(partitions.dtypes) or None,
        "ranks": list(partitions.ranks) or None,
        "precision": dict(check.checker.precision),
        **check.executor.settings(),
        **check.context.gate.options(),
    }
    return options.header(settled)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
