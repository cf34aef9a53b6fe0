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
from conformance.core.evaluate import reference_outputs
from conformance.core.loader import is_defined, load_operator
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
from conformance.reference import evaluate
from conformance.run.engine import Event, Options, selected
from conformance.run.engine import run as stream
from conformance.run.executor import Executor
from conformance.run.executor_options import Isolation, words
from conformance.run.interruption import Interruption
from conformance.run.merging import ShardLog, merged
from conformance.run.partition_filter import PartitionFilter
from conformance.run.shard import Shard
from conformance.spec import loader
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite, open_suite
from conformance.verdict import Verdict

__all__ = ["Backend", "Run", "Unsupported", "check", "load_suite", "merge", "reference"]

Function = Callable[[str, list[Array], dict[str, Any]], Any]


@dataclass(frozen=True)
class Run:
    """A finished check. ``log`` is what a run log holds, and what reports are made from."""

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
        """What was asked, of what, and where."""
        return self.log.header

    @property
    def footer(self) -> Mapping[str, Any]:
        """Counts, verdict, sentence, claim and exit code."""
        assert self.log.footer is not None
        return self.log.footer


def load_suite(path_or_name: str | Path | None = None) -> Suite:
    """A suite: a folder, the name of a shipped one, or the shipped core suite (None).

    Raises:
        SuiteError: there is none, or it is damaged, incomplete or of another version.
    """
    return open_suite(path_or_name)


def check(
    suite: Suite | str | Path | None,
    backend: Backend | Function | type | str | Executor,
    *,
    ops: Sequence[str] | None = None,
    only: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    ranks: Sequence[int] = (),
    level: str = "must",
    precision: str | Mapping[str, str] = DEFAULT_PRECISION,
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
    """Run every vector of a suite through a backend and judge the outputs.

    ``backend`` is an object with ``name``, ``version`` and ``run(op, inputs, attributes)``, a
    plain function, or the name, module or file that the command line takes too, with its options:
    ``"torch?device=cuda"``. ``ops`` and
    ``only`` (ids or their beginnings) narrow the suite. ``dtypes`` and ``ranks`` narrow it to data
    of these element types and ranks, and the claim with it. ``level`` is ``must`` (any allowed
    reading passes) or ``should`` (only the specification's own). ``precision`` is ``exact``,
    ``standard`` or ``native``, or one for each dtype: ``{"f16": "native"}`` or
    ``"f16=native,f32=standard"``. ``executor`` is ``process``, the default for a backend that is
    named (but for ``reference`` and ``numpy``): it runs in ``jobs`` processes, in which a vector
    may take ``timeout`` seconds (30) and a process ``memory`` bytes (no limit; ``"2G"`` will do),
    and a crash costs one vector; or ``inline``, in this process, as for any object. ``env`` is the
    folder of another virtual environment for these processes, which needs the backend, numpy and
    ml_dtypes, and not this package. Each vector is
    asked ``repeat`` times, and must be answered alike, to the bit. ``known_failures`` and
    ``require`` are YAML files, see docs/ci.md: a run whose failures are all known has exit code 0,
    but is never conformant, and ``strict`` fails one whose known failures are out of date.
    ``min_strength`` is the percent of the mutants that could show in an element type and rank that
    the vectors that pass have to kill (95): below it a run without failures is inconclusive, and
    has exit code 4; 0 asks for nothing.
    ``shuffle`` is a seed that draws another order of the vectors. ``shard`` (``"3/8"``) asks one
    of several parts of them, which together are all; alone it makes no claim. ``earlier`` is what
    another run of the same question left when it was cut short: its results are kept, come first
    and are not asked again; if it is complete it is the answer.
    ``findings`` False leaves out the distinct failures, which :func:`merge` finds. ``kept`` is
    where the suite is going to lie, if elsewhere, as commands in the log name it.
    ``work`` says how recorded cases are evaluated that are not in the cache: in this process, and
    silently, unless it says otherwise. ``on_event`` sees each event as it happens.

    Ctrl-C, SIGTERM and SIGHUP end the call: its workers end, ``on_event`` sees the findings so far
    and the footer, and then the signal is the host program's. A handler of its own is called, once;
    if it returns, so does the call, with an interrupted run, which is never conformant. In a thread
    other than the main one a Ctrl-C that the main thread leaves unhandled ends the call.

    Raises:
        KeyboardInterrupt: Ctrl-C, where Python's own handler is in place; its attribute ``run``
            has what was found so far, None where the run had not begun.
        BackendError: the backend cannot be found or used, or not in ``env``.
        LogError: ``earlier`` is of another run.
        SpecError: a file of known failures or requirements that cannot be used.
        SuiteError: the suite cannot be used.
        UsageError: an unknown option, a filter that matches nothing, or an ``env`` that is none.
    """
    opened = suite if isinstance(suite, Suite) else load_suite(suite)
    gate = load_gate(
        _path(known_failures),
        _path(require),
        # A file may speak of more operators than this suite has.
        specs=ChainMap(*cast("Any", (opened.specs, loader.shipped_specs()))),
        strict=strict,
        today=_day_of(earlier),
    )
    if isinstance(backend, str):
        backend = canonical(backend)
    spec = backend if isinstance(backend, str) else ""
    runner = Isolation(
        executor, jobs, timeout, memory, None if env is None else str(env)
    ).executor_for(backend)
    suite_words = suite_option(suite if kept is None else kept)
    asked = {"level": level, "precision": precision, "repeat": repeat, **runner.settings()}
    options = Options(
        ops=ops,
        only=only,
        partitions=PartitionFilter.of(dtypes, ranks),
        level=level,
        precision=precision,
        repeat=repeat,
        spec=spec,
        command=check_command(spec, suite_words, asked),
        show=show_words(spec, suite_words, asked),
        gate=gate,
        min_strength=min_strength,
        shuffle=shuffle,
        shard=None if shard is None else Shard.parse(shard),
        done={(one.op, one.id): one for one in earlier.results} if earlier else {},
        findings=findings,
        work=work or Work(),
    )
    collected = _Collected(on_event)
    interruption = Interruption()
    with (
        interruption.listening(),
        closing(
            stream(opened, runner, options, collected.results, interruption=interruption)
        ) as events,
    ):
        header = next(events)
        if earlier is not None:
            entries = {(entry.op, entry.id) for entry in selected(opened, options).entries}
            check_continues(earlier, cast("dict[str, Any]", header), entries)
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


def merge(logs: Sequence[str | Path], suite: Suite | str | Path | None = None) -> Run:
    """One run from the logs of all its shards: what an undivided run would have said.

    ``logs`` are the run logs of ``check(..., shard="1/N")`` to ``"N/N"``, in any order; ``suite``
    is the suite that they were made on, by default the shipped one that they name.

    Raises:
        LogError: a log that cannot be read or is not complete; a shard that is missing, there
            twice or of another run; another suite.
        SuiteError: the suite cannot be used.
        UsageError: no log.
    """
    parts = [ShardLog(Path(log), read(log)) for log in logs]
    if not parts:
        raise UsageError("there are no logs to merge", hint="name the log of each shard")
    header = parts[0].run.header
    suite = _named_by(header) if suite is None else suite
    opened = suite if isinstance(suite, Suite) else load_suite(suite)
    named = suite_option(suite)
    show = show_words(header["backend"]["spec"], named, header["options"])
    command = check_command(header["backend"]["spec"], named, header["options"])
    collected = _Collected(None)
    for event in merged(parts, opened, collected.results, command=command, show=show):
        collected.take(cast("Event", event))
    return Run(collected.log())


def reference(
    op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> list[Array]:
    """The exact outputs of an operator: float64, rounded once; integers in their own type.

    ``op`` is a shipped operator (``AvgPool-1``, ``onnx.Conv-22``), or the path of a specification
    or of a definition. ``inputs`` are in the order of the document; None is an optional one that
    is not given.

    Raises:
        InvalidCase: inputs or attributes that the specification does not allow.
        EvaluationError: a valid case with numbers above 2**62, or more elements than are computed.
        UsageError: an operator that does not exist.
    """
    if is_defined(op):
        return reference_outputs(load_operator(op), inputs, attributes)
    return evaluate(loader.find_spec(op), [x for x in inputs if x is not None], attributes)


class _Collected:
    """The events of a run, gathered into its log; who makes them keeps ``results``."""

    def __init__(self, on_event: Callable[[Event], None] | None) -> None:
        self._on_event = on_event
        self._marks: dict[str, dict[str, Any]] = {}
        self.results = Results()
        self._findings: list[Finding] = []

    def take(self, event: Event) -> None:
        if isinstance(event, Finding):
            self._findings.append(event)
        elif not isinstance(event, Result):
            self._marks[event["event"]] = event
        if self._on_event is not None:
            self._on_event(event)

    def log(self) -> RunLog:
        header, footer = self._marks["header"], self._marks["footer"]
        log = RunLog(header, self.results.plain(), tuple(self._findings), footer)
        return replace(log, problems=tuple(contradictions(log)))


def _day_of(run: RunLog | None) -> date | None:
    """The day on which a run began, which is the one that decides what has expired."""
    try:
        return None if run is None else datetime.fromisoformat(run.header["started"]).date()
    except ValueError:  # a log may say anything
        return None


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _named_by(header: Mapping[str, Any]) -> str | None:
    """The name of the part of the shipped suite that a log is of; None stands for all of it."""
    name, digest = header["suite"]["name"], header["suite"]["digest"]
    shipped = load_suite()
    part = name in shipped.manifest.suites and digest != shipped.digest
    return name if part and load_suite(name).digest == digest else None


def suite_option(suite: Suite | str | Path | None) -> tuple[str, ...]:
    """The option that names the suite again; none where the default is meant."""
    if suite is None:
        return ()
    if isinstance(suite, Suite):
        return ("--suite", suite.name if suite.is_shipped else str(suite.path))
    return ("--suite", str(suite))


def show_words(spec: str, suite_words: Sequence[str], asked: Mapping[str, Any]) -> tuple[str, ...]:
    """What ``conformance show`` and ``repro`` need besides an id to ask the same backend the same.

    ``asked`` are options as in the header of a log.
    """
    if not spec:
        return tuple(suite_words)
    env = asked.get("env")
    where = () if env is None else ("--env", str(env))
    return ("--backend", spec, *where, *suite_words, *_level_and_precision(asked))


def _level_and_precision(asked: Mapping[str, Any]) -> tuple[str, ...]:
    words_: tuple[str, ...] = ()
    if asked["level"] != "must":
        words_ += ("--level", asked["level"])
    precision = format_precision(parse_precision(asked["precision"]))
    return words_ if precision == DEFAULT_PRECISION else (*words_, "--precision", precision)


def check_command(
    spec: str, suite_words: Sequence[str], asked: Mapping[str, Any]
) -> tuple[str, ...]:
    """The command line of the same check, but for operators and vectors; empty if there is none.

    ``asked`` are options as in the header of a log.
    """
    if not spec:
        return ()
    command = ["conformance", "check", "--backend", spec, *suite_words]
    command += _level_and_precision(asked)
    command += words(spec, asked)
    if asked.get("repeat", 1) > 1:
        command += ["--repeat", str(asked["repeat"])]
    return tuple(command)
