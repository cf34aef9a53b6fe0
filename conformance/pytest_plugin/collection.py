"""A suite as pytest nodes: a collector that reads the manifest, an item for each vector."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.api import check_command, suite_option
from conformance.errors import ConformanceError, UsageError
from conformance.grade.gate import Watch, load_gate
from conformance.grade.precision import parse_precision
from conformance.model import Result, Status
from conformance.pytest_plugin.failure import failure
from conformance.run.check_vector import VectorChecker
from conformance.run.executor_options import Isolation
from conformance.run.mutant_match import Prediction
from conformance.run.selection import declared_operators, select
from conformance.suite.entries import Entry
from conformance.suite.evaluation import Work
from conformance.suite.store import Suite, open_suite

NAME = "conformance"
PREFIX = f"{NAME}::"
EDGE = "conformance_edge"


@dataclass(frozen=True)
class SessionRequest:
    """What the options of the session ask, and the vectors that its arguments name."""

    backend: str
    suite: str | None
    ops: Sequence[str] | None
    level: str
    precision: str
    named: Sequence[str] = ()
    known: str | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of the same check."""
        asked = {"level": self.level, "precision": self.precision}
        return check_command(self.backend, suite_option(self.suite), asked)


class VectorCollector(pytest.Collector):
    """The vectors of a suite, in the order of its manifest.

    Only the manifest is read. The backend is loaded here, once a process, so that one that cannot
    be is an error of collection and not of a thousand tests. As in a check, one that is named runs
    in a process of its own.
    """

    suite: Suite
    checker: VectorChecker
    watch: Watch
    prediction: Prediction

    def __init__(self, *, question: SessionRequest, **more: Any) -> None:
        super().__init__(**more)
        self.question = question

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each vector that is asked for."""
        question = self.question
        try:
            precision = parse_precision(question.precision)
            self.suite = open_suite(question.suite)
            entries = _chosen(self.suite, question)
            self.prediction = Prediction(self.suite, question.level, precision)
            self.watch = _watch(self.suite, entries, question.known, self.prediction)
            if not self.config.option.collectonly:
                executor = Isolation().executor_for(question.backend)
                self.checker = VectorChecker(
                    executor.__enter__(), self.suite.specs, question.level, precision
                )
                self.config.add_cleanup(lambda: executor.__exit__(None, None, None))
                if question.ops is None and not any(question.named):
                    declared = self.checker.executor.identity.capabilities
                    entries = select(
                        self.suite,
                        ops=declared_operators(self.suite.manifest, declared),
                        only=(),
                    ).entries
                self.checker.evaluate(self.suite, entries, Work(say=self._say))
        except ConformanceError as error:
            raise self.CollectError(f"conformance: {error}") from error
        for entry in entries:
            yield VectorItem.from_parent(self, name=f"{entry.op}/{entry.id}", entry=entry)

    def _say(self, text: str) -> None:
        """Write a line where those of pytest stand, and nothing where it has none."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"conformance: {text}")


class VectorItem(pytest.Item):
    """One vector; its test is the verdict of ``conformance check``."""

    parent: VectorCollector

    def __init__(self, *, entry: Entry, **more: Any) -> None:
        super().__init__(**more)
        self.entry = entry
        self.result: Result | None = None
        facts = {"op": entry.op, "dtype": entry.dtype, "level": entry.level, "kind": entry.kind}
        if entry.reject is not None:
            facts["reject"] = entry.reject
        self.add_marker(pytest.mark.conformance(**facts))
        for edge in entry.edges:
            self.add_marker(pytest.mark.conformance_edge(name=edge))
        self.extra_keyword_matches.update(entry.edges)

    def runtest(self) -> None:
        """Ask the vector; fail with the finding, skip with the reason."""
        __tracebackhide__ = True
        collector = self.parent
        try:
            # The session's filters could turn a warning of the backend into an exception, and
            # so change what it answers.
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                vector = collector.checker.vector(collector.suite, self.entry)
                result, outcome = collector.checker.check(vector)
        except ConformanceError as error:
            pytest.fail(str(error), pytrace=False)
        result = self.result = collector.watch.take(result)
        self.user_properties.extend(_properties(result))
        if result.status in (Status.UNSUPPORTED, Status.SKIPPED):
            pytest.skip(result.message)
        if result.known is not None and collector.watch.ledger is not None:
            pytest.xfail(collector.watch.ledger.why(result))
        if result.status is not Status.PASS:
            could_be = collector.prediction.could_be(result)
            checker, command = collector.checker, collector.question.command
            pytest.fail(failure(vector, result, outcome, checker, command, could_be), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The vector's file and the item's name, as a headline."""
        return self.parent.suite.path / self.entry.path, None, self.name


def _watch(
    suite: Suite, entries: Sequence[Entry], known: str | None, prediction: Prediction
) -> Watch:
    """The gate of a session: known failures, or nothing.

    Raises SpecError for a file that cannot be used.
    """
    gate = load_gate(None if known is None else Path(known), specs=suite.specs)
    case_of = lambda vector: suite.get(vector).case  # noqa: E731
    return gate.watch(suite.manifest.vectors, entries, case_of, prediction)


def _chosen(suite: Suite, question: SessionRequest) -> Sequence[Entry]:
    """The vectors of the operators asked that the arguments name, if they name any.

    Raises UsageError for a name that no vector has.
    """
    entries = select(suite, ops=question.ops, only=()).entries
    if not any(question.named):
        return entries
    named: set[str] = set()
    for text in filter(None, question.named):
        op, _, vector = text.partition("/")
        found = select(suite, ops=[op], only=[vector] if vector else ())
        named.update(entry.id for entry in found.entries)
    chosen = tuple(entry for entry in entries if entry.id in named)
    if not chosen:
        raise UsageError(
            "no vector is both named and of an operator that --conformance-op asks for",
            hint="leave --conformance-op out",
        )
    return chosen


def _properties(result: Result) -> Iterator[tuple[str, object]]:
    """What a report of the item carries, to the session's summary and into JUnit files."""
    yield "conformance_verdict", str(result.status)
    yield "conformance_kind", "value" if result.reject is None else "reject"
    if result.reading is not None:
        yield "conformance_reading", result.reading
    if result.precision is not None:
        yield "conformance_precision", result.precision
