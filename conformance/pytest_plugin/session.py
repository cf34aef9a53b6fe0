"""The session: selects vectors, counts results, and fails if nothing was graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator

import pytest

from conformance.check_options import SESSION_OPTIONS, CheckOptions, parse_value
from conformance.errors import UsageError
from conformance.grade.precision import parse_precision
from conformance.model import FAILED, Result
from conformance.pytest_plugin.collection import (
    NAME,
    PREFIX,
    TARGET_MARK,
    SessionRequest,
    VectorCollector,
    VectorItem,
)
from conformance.pytest_plugin.summary import cause_lines, decode_result, encode_result
from conformance.safe_text import number_of
from conformance.suite.store import open_suite
from conformance.verdict import ENDED

RESULT = "conformance_result"
"""The attribute of a report in which its result travels."""


class VectorSession:
    """The hooks of a session that tests a backend."""

    def __init__(self, config: pytest.Config) -> None:
        config.addinivalue_line(
            "markers",
            f"{NAME}(op, dtype, level, kind, reject): a vector: its operator, element type, level "
            "(must or should), kind (value or reject), and the condition that it breaks.",
        )
        config.addinivalue_line("markers", f"{TARGET_MARK}(name): a coverage target of a vector.")
        # pytest takes what comes before "::" for a path, and these have none.
        vector_arguments = [argument for argument in config.args if argument.startswith(PREFIX)]
        config.args[:] = [argument for argument in config.args if argument not in vector_arguments]
        self._request = SessionRequest(
            backend=config.getoption("conformance_backend"),
            suite=config.getoption("conformance_suite"),
            options=_check_options(config),
            selected=[]
            if PREFIX in vector_arguments
            else [argument.removeprefix(PREFIX) for argument in vector_arguments],
        )
        self._status_counts: Counter[tuple[str, str]] = Counter()
        self._interpretations: Counter[str] = Counter()
        self._results: list[Result] = []
        self._problem = ""

    def pytest_report_header(self) -> str:
        """Describe what is tested."""
        request = self._request
        suite = f"suite {request.suite}" if request.suite else "the shipped core suite"
        return (
            f"conformance: {request.backend}, {suite}, level {request.options.level}, "
            f"precision {request.options.precision}"
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Let the session collect the vectors after the user's own tests."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            vectors = VectorCollector.from_parent(
                collector, name=NAME, nodeid=NAME, request=self._request
            )
            report.result = [*(report.result or ()), vectors]
        return report

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Evaluate the recorded cases of the vectors that are left, which may be few."""
        vectors = [item for item in session.items if isinstance(item, VectorItem)]
        if vectors and not session.config.option.collectonly:
            vectors[0].parent.evaluate(item.entry for item in vectors)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach a vector's result to its report, also in a worker."""
        report = yield
        if call.when == "call" and isinstance(item, VectorItem) and item.result is not None:
            setattr(report, RESULT, encode_result(item.result))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a result; under pytest-xdist they arrive from all workers."""
        if report.when != "call" or not report.nodeid.startswith(PREFIX):
            return
        result = getattr(report, RESULT, None)
        if isinstance(result, str):
            self._results.append(decode_result(result))
        facts = dict(report.user_properties)
        status, kind = facts.get("conformance_verdict"), facts.get("conformance_kind")
        if isinstance(status, str) and isinstance(kind, str):
            self._status_counts[status, kind] += 1
            if status == "pass" and "conformance_reading" in facts:
                self._interpretations[str(facts["conformance_reading"])] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a session that was to test a backend, and graded nothing."""
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        if exitstatus == pytest.ExitCode.OK and not config.getoption("setuponly", False):
            self._problem = self._nothing_graded(config)
            if self._problem:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print causes, counts, and why a session without failures fails."""
        if any(result.status in FAILED for result in self._results):
            for line in self._causes():
                terminalreporter.write_line(line)
        if self._status_counts:
            terminalreporter.write_line(self._counts())
        if self._problem:
            terminalreporter.write_line(f"conformance: {self._problem}", red=True, bold=True)

    def _causes(self) -> Iterator[str]:
        request = self._request
        yield from cause_lines(
            self._results,
            open_suite(request.suite),
            level=request.options.level,
            precision=parse_precision(request.options.precision),
        )

    def _nothing_graded(self, config: pytest.Config) -> str:
        """Return why the session cannot be green; empty if it can."""
        tested = sum(self._status_counts.values())
        if not tested:
            partial = config.getoption("lf", False) or config.getoption("stepwise", False)
            return "" if partial else "no vector was selected, so nothing was graded"
        values = {status: n for (status, kind), n in self._status_counts.items() if kind == "value"}
        refusals = self._status_counts["pass", "reject"]
        if any(values.get(status) for status in ("pass", "fail", "error")):
            return ""
        if refusals and not values:
            return ""  # only negative tests were chosen
        counts = ", ".join(f"{n} {status}" for status, n in values.items() if n)
        return f"no values graded: {counts or number_of(tested, 'vector')} (see -rs)"

    def _counts(self) -> str:
        by_status: Counter[str] = Counter()
        for (status, _), n in self._status_counts.items():
            by_status[status] += n
        parts = [
            f"{by_status[status]} {label}"
            for status, label in (
                ("pass", "passed"),
                ("fail", "failed"),
                ("error", ENDED),
                ("unsupported", "unsupported"),
                ("skipped", "not tested at this level"),
            )
            if by_status[status]
        ]
        if self._interpretations:
            names = ", ".join(
                sorted({n for joined in self._interpretations for n in joined.split("+")})
            )
            parts[0] += (
                f" ({sum(self._interpretations.values())} by an allowed interpretation: {names})"
            )
        known = sum(result.known is not None for result in self._results)
        if known:
            parts.append(f"of these {known} known failures")
        total = number_of(sum(by_status.values()), "vector")
        return f"conformance: {self._request.backend}, {total}: {', '.join(parts)}"


def _check_options(config: pytest.Config) -> CheckOptions:
    """Read the options of a check from those of a session.

    Raises:
        pytest.UsageError: a list that cannot be read.
    """
    given = {name: config.getoption(f"conformance_{name}") for name in SESSION_OPTIONS}
    # An empty text is given too, and refused by the run: a variable that is not set.
    given = {name: value for name, value in given.items() if value is not None}
    try:
        values = {name: parse_value(name, value) for name, value in given.items()}
    except UsageError as error:
        raise pytest.UsageError(f"conformance: {error}") from error
    return CheckOptions(**values)
