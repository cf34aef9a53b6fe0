"""The Python interface: load a suite, check a backend, compute expected values.

import conformance

run = conformance.check(conformance.load_suite(), my_backend)
assert run.conformant, [r.message for r in run.results if r.status in ("fail", "error")]
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, cast

from conformance.backends.backend_name import canonical
from conformance.backends.protocol import Backend
from conformance.check_options import CheckOptions, describe_options
from conformance.core.evaluate import reference_outputs
from conformance.dtypes import Array
from conformance.errors import Unsupported, UsageError
from conformance.grade.gate import load_gate
from conformance.grade.precision import DEFAULT_PRECISION, format_precision, parse_precision
from conformance.log.contradictions import contradictions
from conformance.log.headers import check_continues
from conformance.log.reader import read
from conformance.log.results import Results
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.run.engine import Event, RunContext, selected
from conformance.run.engine import run as stream
from conformance.run.executor import Executor
from conformance.run.executor_options import Isolation, words
from conformance.run.interruption import Interruption
from conformance.run.merging import ShardLog, merged
from conformance.specification import find_spec, shipped_specs
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite, open_suite
from conformance.verdict import Verdict

__all__ = ["Backend", "Run", "Unsupported", "check", "load_suite", "merge", "reference"]

Function = Callable[[str, list[Array], dict[str, Any]], Any]


@dataclass(frozen=True)
class Run:
    """A finished check. ``log`` has what a run log has, of which reports are made."""

    log: RunLog

    @property
    def conformant(self) -> bool:
        """Whether nothing went wrong, and what was graded is enough to say so.

        Never true of a part of a suite, or of the smoke suite: see :attr:`passed`.
        """
        return self.log.verdict is Verdict.CONFORMANT

    @property
    def passed(self) -> bool:
        """Whether a gate lets it pass: exit code 0. Of a part of a suite this is no claim."""
        return self.log.gate_met

    @property
    def results(self) -> Sequence[Result]:
        """One result a vector, in the order of the suite."""
        return self.log.results

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The distinct failures, worst first."""
        return self.log.findings

    @property
    def header(self) -> Mapping[str, Any]:
        """Suite, backend, options and environment."""
        return self.log.header

    @property
    def footer(self) -> Mapping[str, Any]:
        """Counts, verdict, sentence, claim and exit code."""
        assert self.log.footer is not None
        return self.log.footer


def load_suite(path_or_name: str | Path | None = None) -> Suite:
    """Open a suite by its folder or shipped name; None for the core suite.

    Raises:
        SuiteError: it does not exist, or is damaged, incomplete or of another version.
    """
    return open_suite(path_or_name)


def check(
    suite: Suite | str | Path | None,
    backend: Backend | Function | type | str | Executor,
    *,
    ops: Sequence[str] = (),
    only: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    ranks: Sequence[int] = (),
    level: str = "must",
    precision: str | Mapping[str, str] = "standard",
    executor: str | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    env: str | Path | None = None,
    repeat: int = 1,
    known_failures: str | Path | None = None,
    require: str | Path | None = None,
    strict: bool = False,
    min_strength: float | None = None,
    shuffle: int | None = None,
    shard: str | None = None,
    earlier: RunLog | None = None,
    findings: bool = True,
    kept: Path | None = None,
    work: Work | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Run:
    """Run every vector of a suite through a backend and grade the outputs.

    The options are those of ``conformance check``, with which they share name, default and meaning;
    ``help(conformance.check)`` describes each.

    Ctrl-C, SIGTERM and SIGHUP end the call: its workers end, ``on_event`` sees the findings so far
    and the footer, and then the signal is the host program's. A handler of its own is called, once;
    if it returns, so does the call, with an interrupted run, which is never conformant. In a thread
    other than the main one a Ctrl-C that the main thread leaves unhandled ends the call.

    Args:
        suite: a suite, its folder, the name of a shipped one, or None for the shipped core suite.
        backend: an object with ``name``, ``version`` and ``run(op, inputs, attributes)``, or a
            plain function: it runs in this process. Or the name, module or file that the command
            line takes, with its options: ``"torch?device=cuda"``.
        precision: also a mapping, ``{"f16": "native"}``.
        memory: also a number of bytes.
        earlier: the log of an interrupted run with the same options: its results are kept, come
            first and are not computed again. A complete one is returned.
        findings: False leaves out the distinct failures, which :func:`merge` finds.
        kept: where the suite is going to be, if elsewhere, as commands in the log name it.
        work: how recorded cases are evaluated that are not in the cache: in this process and
            silently by default.
        on_event: sees each event as it happens.

    Raises:
        KeyboardInterrupt: Ctrl-C, where Python's own handler is in place; its attribute ``run``
            has the results so far, None where the run had not begun.
        BackendError: the backend cannot be found or used, or not in ``env``.
        LogError: ``earlier`` is of another run.
        SpecError: a file of known failures or requirements that cannot be used.
        SuiteError: the suite cannot be used.
        UsageError: an unknown option, a filter that matches nothing, or an ``env`` that is none.
    """
    options = CheckOptions.among(locals())
    opened = suite if isinstance(suite, Suite) else load_suite(suite)
    gate = load_gate(
        _path(options.known_failures),
        _path(options.require),
        # A file may speak of more operators than this suite has.
        specs=ChainMap(*cast("Any", (opened.specs, shipped_specs()))),
        strict=options.strict,
        today=_day_of(earlier),
    )
    if isinstance(backend, str):
        backend = canonical(backend)
    runner = Isolation.of(options).executor_for(backend)
    backend_name = backend if isinstance(backend, str) else ""
    suite_words = suite_arguments(suite if kept is None else kept)
    settings = {**vars(options), **runner.settings()}

    def accept(header: Mapping[str, Any]) -> None:
        if earlier is not None:
            entries = {(entry.op, entry.id) for entry in selected(opened, options).entries}
            check_continues(earlier, header, entries)

    context = RunContext(
        backend_name=backend_name,
        command=check_command(backend_name, suite_words, settings),
        show=show_arguments(backend_name, suite_words, settings),
        gate=gate,
        done={(result.op, result.id): result for result in earlier.results} if earlier else {},
        findings=findings,
        work=work or Work(),
        accept=accept,
    )
    collected = _Collected(on_event)
    interruption = Interruption()
    with (
        interruption.listening(),
        closing(
            stream(opened, runner, options, context, collected.results, interruption=interruption)
        ) as events,
    ):
        header = next(events)
        if earlier is not None:
            if earlier.complete:
                return Run(earlier)
            header = dict(earlier.header)  # it says when the run began
        for event in chain((header,), events):
            collected.take(event)
        run = interruption.run = Run(collected.log())
    if run.footer["interrupted"] and not interruption.noted:
        # The backend raised it, or this is not the main thread.
        raise interruption.with_run(KeyboardInterrupt())
    return run


check.__doc__ = f"{check.__doc__}\n{describe_options()}\n"


def merge(logs: Sequence[str | Path], suite: Suite | str | Path | None = None) -> Run:
    """Merge the logs of all shards into the run that an undivided check gives.

    Args:
        logs: the run logs of ``check(..., shard="1/N")`` to ``"N/N"``, in any order.
        suite: the suite of these checks, by default the shipped one that they name.

    Raises:
        LogError: a log that cannot be read or is not complete; a shard that is missing, given
            twice or of another run; another suite.
        SuiteError: the suite cannot be used.
        UsageError: no log.
    """
    shards = [ShardLog(Path(log), read(log)) for log in logs]
    if not shards:
        raise UsageError("there are no logs to merge", hint="name the log of each shard")
    header = shards[0].run.header
    backend_name, options = header["backend"]["spec"], header["options"]
    suite = _shipped_suite_of(header) if suite is None else suite
    opened = suite if isinstance(suite, Suite) else load_suite(suite)
    suite_words = suite_arguments(suite)
    show = show_arguments(backend_name, suite_words, options)
    command = check_command(backend_name, suite_words, options)
    collected = _Collected(None)
    for event in merged(shards, opened, collected.results, command=command, show=show):
        collected.take(cast("Event", event))
    return Run(collected.log())


def reference(
    op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> list[Array]:
    """Compute the exact outputs of an operator.

    Args:
        op: a shipped operator (``AvgPool-1``, ``onnx.Conv-22``), or the path of a specification.
        inputs: in the order of the document; None is an optional one that is not given.

    Returns:
        float64, rounded once; integers in their own type.

    Raises:
        InvalidCase: inputs or attributes that the specification does not allow.
        EvaluationError: a valid case with numbers above 2**62, or more elements than are computed.
        UsageError: an operator that does not exist.
    """
    return reference_outputs(find_spec(op), inputs, attributes)


class _Collected:
    """The events of a run, gathered into its log; the engine adds to ``results``."""

    def __init__(self, on_event: Callable[[Event], None] | None) -> None:
        self._on_event = on_event
        self._ends: dict[str, dict[str, Any]] = {}
        self.results = Results()
        self._findings: list[Finding] = []

    def take(self, event: Event) -> None:
        if isinstance(event, Finding):
            self._findings.append(event)
        elif not isinstance(event, Result):
            self._ends[event["event"]] = event
        if self._on_event is not None:
            self._on_event(event)

    def log(self) -> RunLog:
        header, footer = self._ends["header"], self._ends["footer"]
        log = RunLog(header, self.results.plain(), tuple(self._findings), footer)
        return replace(log, problems=tuple(contradictions(log)))


def _day_of(run: RunLog | None) -> date | None:
    """Return the day on which a run began, which decides what has expired."""
    try:
        return None if run is None else datetime.fromisoformat(run.header["started"]).date()
    except ValueError:  # a log may hold anything
        return None


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _shipped_suite_of(header: Mapping[str, Any]) -> str | None:
    """Return the name of the shipped suite that a log is of; None stands for all of it."""
    name, digest = header["suite"]["name"], header["suite"]["digest"]
    shipped = load_suite()
    is_subset = name in shipped.manifest.suites and digest != shipped.digest
    return name if is_subset and load_suite(name).digest == digest else None


def suite_arguments(suite: Suite | str | Path | None) -> tuple[str, ...]:
    """Return the option that names a suite again; empty for the default."""
    if suite is None:
        return ()
    if isinstance(suite, Suite):
        return ("--suite", suite.name if suite.is_shipped else str(suite.path))
    return ("--suite", str(suite))


def show_arguments(
    backend_name: str, suite_words: Sequence[str], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the arguments of ``conformance show`` and ``repro`` besides an id.

    Args:
        options: as in the header of a log.
    """
    if not backend_name:
        return tuple(suite_words)
    env = options.get("env")
    env_words = () if env is None else ("--env", str(env))
    return ("--backend", backend_name, *env_words, *suite_words, *_grading_arguments(options))


def _grading_arguments(options: Mapping[str, Any]) -> tuple[str, ...]:
    arguments: tuple[str, ...] = ()
    if options["level"] != "must":
        arguments += ("--level", options["level"])
    precision = format_precision(parse_precision(options["precision"]))
    if precision == DEFAULT_PRECISION:
        return arguments
    return (*arguments, "--precision", precision)


def check_command(
    backend_name: str, suite_words: Sequence[str], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the command of the same check, without operators and vectors.

    It is empty where the backend has no name.

    Args:
        options: as in the header of a log.
    """
    if not backend_name:
        return ()
    command = ["conformance", "check", "--backend", backend_name, *suite_words]
    command += _grading_arguments(options)
    command += words(backend_name, options)
    if options.get("repeat", 1) > 1:
        command += ["--repeat", str(options["repeat"])]
    return tuple(command)
