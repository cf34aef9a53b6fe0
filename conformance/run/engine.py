"""The engine: suite x backend -> a stream of events, one vector in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

from conformance import DISTRIBUTION, __version__
from conformance.backends.capabilities import Capabilities
from conformance.backends.discovery import digest
from conformance.backends.protocol import Backend
from conformance.choices import LEVELS
from conformance.errors import UsageError
from conformance.grade.gate import Gate
from conformance.grade.outcome import Outcome
from conformance.grade.precision import known, parse_precision
from conformance.log.events import FORMAT
from conformance.log.results import OutputLimit, Results
from conformance.model import Finding, Result, Vector
from conformance.run.again import Again
from conformance.run.alone import Fresh
from conformance.run.asking import answered
from conformance.run.conclusion import footer, found, in_suite_order
from conformance.run.environment import fingerprint, peak_memory
from conformance.run.executor import Executor
from conformance.run.inline import Inline
from conformance.run.interruption import Interruption, Stopped
from conformance.run.prediction import Prediction
from conformance.run.selection import Selection, declared_operators, select
from conformance.run.shard import Shard
from conformance.run.single import Examiner
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite

Event = dict[str, Any] | Result | Finding
"""A header or footer as JSON data, or a result or finding, in the order of the run log."""

PROBES = 3
"""How many vectors from all over a run tell a dead backend from one that fails on the first."""


@dataclass(frozen=True)
class Options:
    """What a run asks for.

    ``ops`` and ``only`` (ids or their beginnings) narrow the suite. Each vector is asked
    ``repeat`` times. ``spec`` is the backend as
    the user named it; ``command`` and ``show`` are the arguments that reproduce a finding, see
    :func:`conformance.grade.findings.findings`. ``gate`` holds known failures and what must be
    supported. ``shard`` and ``shuffle`` as in :func:`conformance.run.selection.select`. ``done``
    has the results that are known already, by operator and id: they come first, and the backend is
    not asked again. ``min_strength`` is the percent of mutants that the vectors of each part have
    to kill, None for the usual bar. ``findings`` False leaves out what several results tell
    together, for a shard that is merged at once. ``work`` says how cases of the suite are evaluated
    that are not at hand.
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
    shard: Shard | None = None
    shuffle: int | None = None
    min_strength: float | None = None
    done: Mapping[tuple[str, str], Result] = field(default_factory=dict)
    findings: bool = True
    work: Work = field(default_factory=Work)


def selected(suite: Suite, options: Options, declared: Capabilities | None = None) -> Selection:
    """The vectors that a run tests; of the shipped suite those of the operators that a backend
    declares, where none are named. Raises UsageError for a filter that matches nothing.
    """
    return select(
        suite.manifest,
        ops=options.ops or declared_operators(suite.manifest, declared, options.only),
        only=options.only,
        shard=options.shard,
        shuffle=options.shuffle,
    )


def run(
    suite: Suite,
    backend: Backend | Executor,
    options: Options = Options(),
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
    level = known(options.level, LEVELS, "level")
    precision = parse_precision(options.precision)
    if options.min_strength is not None and not 0 <= options.min_strength <= 100:
        raise UsageError(
            f"the minimum strength is {options.min_strength:g}", hint="give a percentage, 0 to 100"
        )
    if options.repeat < 1:
        raise UsageError(f"repeat is {options.repeat}", hint="run each vector once or more")
    selected(suite, options)  # a filter that matches nothing is found before anything is loaded
    interruption = interruption or Interruption()
    kept, outputs = Results() if results is None else results, OutputLimit()
    interrupted = False

    with ExitStack() as stack:
        asking = backend if isinstance(backend, Executor) else Inline(backend)
        asking.waiting = interruption.stop_if_requested
        try:
            with interruption.backend_runs():  # it may hang while it is loaded
                executor = stack.enter_context(asking)
        except Stopped:
            raise KeyboardInterrupt from None
        examiner = Examiner(executor, suite.specs, level, precision)
        executor, identity = examiner.executor, executor.identity
        selection = selected(suite, options, identity.capabilities)
        for op in selection.by_op:
            suite.specs.get(op)  # one that cannot be used is found before the first result
        watch = options.gate.watch(
            suite.manifest.vectors,
            selection.entries,
            lambda vector: suite.get(vector).case,
            Prediction(suite, level, precision),
        )
        if selection.whole:
            suite.manifest.confirm()  # what a claim names has to be what is tested
        done = [
            (e.op, e.id)
            for e in (selection.entries if options.done else ())
            if (e.op, e.id) in options.done
        ]
        missing = selection.entries
        if done:
            missing = [e for e in selection.entries if (e.op, e.id) not in options.done]
        try:
            with interruption.backend_runs():  # nothing else would hear of Ctrl-C
                examiner.evaluate(suite, missing, options.work)
        except Stopped:
            raise KeyboardInterrupt from None
        queue = Again(executor)
        yield _header(suite, executor, options, selection, precision)
        started = perf_counter()
        for key in done:
            kept.append(outputs.bounded(watch.take(options.done[key])))
            yield kept[-1]

        def taken(call: Callable[[], Outcome]) -> Outcome:
            interruption.stop_if_requested()
            try:
                with interruption.backend_runs():
                    return call()
            except KeyboardInterrupt:
                raise Stopped from None

        def confirmed(verdict: Result, vector: Vector, seen: Outcome) -> Result:
            then = examiner.judged(vector, taken(partial(queue.again, vector)))
            settled = queue.settled(seen, then)
            return verdict if settled is seen else examiner.judged(vector, settled)

        def vectors() -> Iterator[Vector]:
            for entry in missing:
                interruption.stop_if_requested()
                yield examiner.vector(suite, entry)

        def probes() -> Iterator[Vector]:
            for part in _parts(missing):
                read = (examiner.vector(suite, entry) for entry in part)
                asked = (vector for vector in read if examiner.unasked(vector) is None)
                yield from islice(asked, 1)

        executor.probes = probes
        try:
            asked = answered(
                vectors(),
                queue,
                partial(taken, queue.take),
                unasked=examiner.unasked,
                valid_of=examiner.valid_of,
                repeat=options.repeat,
            )
            for vector, seen in asked:
                verdict = seen if isinstance(seen, Result) else examiner.judged(vector, seen)
                if isinstance(seen, Outcome) and options.repeat == 1 and queue.wanted(verdict):
                    try:
                        verdict = confirmed(verdict, vector, seen)
                    except Stopped:  # what the first call showed is known all the same
                        interrupted = True
                del vector, seen  # the next ones are read before these would be replaced
                verdict = outputs.bounded(watch.take(verdict))
                kept.append(verdict)
                yield verdict
                if interrupted:
                    break
            endings = _endings(asking, interruption)
        except Stopped:
            interrupted, endings = True, []

    ordered = in_suite_order(kept, suite)
    if options.findings:
        findings = found(
            ordered,
            suite,
            level=level,
            precision=precision,
            command=options.command,
            show=options.show,
            spec=options.spec,
            declared=identity.capabilities,
        )
        if not interrupted:
            fresh = Fresh(asking.fresh, examiner, suite, selection.entries)
            findings = fresh.confirmed(findings)
        yield from findings
    yield {
        **footer(
            ordered,
            suite,
            selection,
            backend=f"{identity.name} {identity.version}",
            level=level,
            precision=precision,
            command=options.command,
            ops=options.ops,
            declared=identity.capabilities,
            min_strength=options.min_strength,
            interrupted=interrupted,
            expected=watch.summary(whole=not interrupted and options.shard is None)
            | ({"endings": endings} if endings else {}),
            strict=options.gate.strict,
        ),
        **({"exit_code": interruption.exit_code} if interrupted else {}),
        "finished": _now(),
        "seconds": perf_counter() - started,
        "peak_memory_bytes": peak_memory(),
    }


def _endings(executor: Executor, interruption: Interruption) -> list[dict[str, str]]:
    """What was wrong with how processes of the backend ended, once all is answered.

    Raises Stopped where somebody asks to stop meanwhile.
    """
    try:
        with interruption.backend_runs():
            return [{"message": one} for one in executor.farewell()]
    except KeyboardInterrupt:
        raise Stopped from None


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
            "spec": options.spec or who.name,
            "sha256": digest(options.spec),
            "capabilities": None if who.capabilities is None else who.capabilities.to_json(),
        },
        "options": {
            "ops": list(options.ops) if options.ops else None,
            "only": list(options.only),
            "level": options.level,
            "precision": dict(precision),
            "repeat": options.repeat,
            "min_strength": options.min_strength,
            **executor.settings(),
            **options.gate.options(),
            "shuffle": options.shuffle,
            "shard": None if options.shard is None else str(options.shard),
        },
        "environment": fingerprint(who.process) | {"backend": who.facts},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
