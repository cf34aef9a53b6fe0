"""A suite as pytest nodes: a collector that reads the manifest, an item for each vector."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.api import check_command, suite_arguments
from conformance.check_options import DEFAULTS, CheckOptions
from conformance.errors import ConformanceError, UsageError
from conformance.grade.gate import GateRun, load_gate
from conformance.grade.precision import parse_precision
from conformance.model import Result, Status
from conformance.pytest_plugin.failure import failure_text
from conformance.run.check_vector import VectorChecker
from conformance.run.engine import selected
from conformance.run.executor_options import Isolation
from conformance.run.mutant_match import Prediction
from conformance.run.selection import select
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite, open_suite

NAME = "conformance"
PREFIX = f"{NAME}::"
TARGET_MARK = "conformance_edge"


@dataclass(frozen=True)
class SessionRequest:
    """The options of a session, and the vectors that its arguments name."""

    backend: str
    suite: str | None
    options: CheckOptions = DEFAULTS
    selected: Sequence[str] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of the same check."""
        graded_by = {"level": self.options.level, "precision": self.options.precision}
        return check_command(self.backend, suite_arguments(self.suite), graded_by)


class VectorCollector(pytest.Collector):
    """A collector of the vectors of a suite, in the order of its manifest.

    It reads only the manifest. It loads the backend, once a process, so that a failure to load is
    an error of collection and not of a thousand tests. As in a check, a named backend runs in a
    process of its own.
    """

    suite: Suite
    checker: VectorChecker
    gate: GateRun
    matcher: Prediction

    def __init__(self, *, request: SessionRequest, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.request = request

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each selected vector."""
        request, options = self.request, self.request.options
        try:
            precision = parse_precision(options.precision)
            self.suite = open_suite(request.suite)
            entries = _select_entries(self.suite, request)
            self.matcher = Prediction(self.suite, options.level, precision)
            self.gate = _gate_run(self.suite, entries, options.known_failures, self.matcher)
            if not self.config.option.collectonly:
                executor = Isolation().executor_for(request.backend)
                self.checker = VectorChecker(
                    executor.__enter__(), self.suite.specs, options.level, precision
                )
                self.config.add_cleanup(lambda: executor.__exit__(None, None, None))
                if not any(request.selected):
                    declared = self.checker.executor.identity.capabilities
                    entries = selected(self.suite, options, declared).entries
        except ConformanceError as error:
            raise self.CollectError(f"conformance: {error}") from error
        for entry in entries:
            yield VectorItem.from_parent(self, name=f"{entry.op}/{entry.id}", entry=entry)

    def evaluate(self, entries: Iterable[Entry]) -> None:
        """Evaluate the recorded cases of some vectors.

        Raises :class:`pytest.UsageError` for one that gives another digest.
        """
        try:
            self.checker.evaluate(self.suite, entries, Work(say=self._say))
        except ConformanceError as error:
            raise pytest.UsageError(f"conformance: {error}") from error

    def _say(self, text: str) -> None:
        """Write a line among those of pytest; nothing if it writes none."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"conformance: {text}")


class VectorItem(pytest.Item):
    """A vector; its test passes if ``conformance check`` passes it."""

    parent: VectorCollector

    def __init__(self, *, entry: Entry, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.entry = entry
        self.result: Result | None = None
        facts = {"op": entry.op, "dtype": entry.dtype, "level": entry.level, "kind": entry.kind}
        if entry.reject is not None:
            facts["reject"] = entry.reject
        self.add_marker(pytest.mark.conformance(**facts))
        for target in entry.edges:
            self.add_marker(pytest.mark.conformance_edge(name=target))
        self.extra_keyword_matches.update(entry.edges)

    def runtest(self) -> None:
        """Run the vector; fail with the finding, skip with the reason."""
        __tracebackhide__ = True
        collector = self.parent
        try:
            # The session's filters could turn a warning of the backend into an exception, and
            # so change its outputs.
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                vector = collector.checker.vector(collector.suite, self.entry)
                result, outcome = collector.checker.check(vector)
        except ConformanceError as error:
            pytest.fail(str(error), pytrace=False)
        result = self.result = collector.gate.take(result)
        self.user_properties.extend(_properties(result))
        if result.status in (Status.UNSUPPORTED, Status.SKIPPED):
            pytest.skip(result.message)
        if result.known is not None and collector.gate.ledger is not None:
            pytest.xfail(collector.gate.ledger.why(result))
        if result.status is not Status.PASS:
            could_be = collector.matcher.could_be(result)
            checker, command = collector.checker, collector.request.command
            text = failure_text(vector, result, outcome, checker, command, could_be)
            pytest.fail(text, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the vector's file and, as a headline, the item's name."""
        return self.parent.suite.path / self.entry.path, None, self.name


def _gate_run(
    suite: Suite, entries: Sequence[Entry], known_failures: str | Path | None, matcher: Prediction
) -> GateRun:
    """Start the gate of a session: known failures, or nothing.

    Raises:
        SpecError: a file cannot be used.
    """
    gate = load_gate(None if known_failures is None else Path(known_failures), specs=suite.specs)
    case_of = lambda vector: suite.get(vector).case  # noqa: E731
    return gate.start_run(suite.manifest.vectors, entries, case_of, matcher)


def _select_entries(suite: Suite, request: SessionRequest) -> Sequence[Entry]:
    """Select the vectors that the options select, of those that the arguments name, if any.

    Raises:
        UsageError: no vector is selected, or none has a name that is given.
    """
    entries = selected(suite, request.options).entries
    if not any(request.selected):
        return entries
    ids: set[str] = set()
    for text in filter(None, request.selected):
        op, _, vector = text.partition("/")
        selection = select(suite, ops=[op], only=[vector] if vector else ())
        ids.update(entry.id for entry in selection.entries)
    entries_named = tuple(entry for entry in entries if entry.id in ids)
    if not entries_named:
        raise UsageError(
            "no vector is both named and selected by --conformance-op, -dtypes and -ranks",
            hint="leave --conformance-op, --conformance-dtypes and --conformance-ranks out",
        )
    return entries_named


def _properties(result: Result) -> Iterator[tuple[str, object]]:
    """Yield what a report of the item carries to the summary and into JUnit files."""
    yield "conformance_verdict", str(result.status)
    yield "conformance_kind", "value" if result.reject is None else "reject"
    if result.reading is not None:
        yield "conformance_reading", result.reading
    if result.precision is not None:
        yield "conformance_precision", result.precision
