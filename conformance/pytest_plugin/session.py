"""The session: selects vectors, counts verdicts, and fails if nothing was graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator

import pytest

from conformance.grade.precision import parse_precision
from conformance.model import FAILED, Result
from conformance.pytest_plugin.collection import (
    EDGE,
    NAME,
    PREFIX,
    SessionRequest,
    VectorCollector,
    VectorItem,
)
from conformance.pytest_plugin.summary import packed, told, unpacked
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
        config.addinivalue_line("markers", f"{EDGE}(name): a coverage target of a vector.")
        # pytest takes what comes before "::" for a path, and these have none.
        own = [argument for argument in config.args if argument.startswith(PREFIX)]
        config.args[:] = [argument for argument in config.args if argument not in own]
        self._question = SessionRequest(
            backend=config.getoption("conformance_backend"),
            suite=config.getoption("conformance_suite"),
            ops=config.getoption("conformance_op"),
            level=config.getoption("conformance_level"),
            precision=config.getoption("conformance_precision"),
            known=config.getoption("conformance_known_failures"),
            named=[] if PREFIX in own else [argument.removeprefix(PREFIX) for argument in own],
        )
        self._verdicts: Counter[tuple[str, str]] = Counter()
        self._readings: Counter[str] = Counter()
        self._results: list[Result] = []
        self._problem = ""

    def pytest_report_header(self) -> str:
        """What is tested."""
        asked = self._question
        suite = f"suite {asked.suite}" if asked.suite else "the shipped core suite"
        return (
            f"conformance: {asked.backend}, {suite}, level {asked.level}, "
            f"precision {asked.precision}"
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The session collects the vectors too, after the user's own tests."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            vectors = VectorCollector.from_parent(
                collector, name=NAME, nodeid=NAME, question=self._question
            )
            report.result = [*(report.result or ()), vectors]
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The report of a vector carries its result, from a worker too."""
        report = yield
        if call.when == "call" and isinstance(item, VectorItem) and item.result is not None:
            setattr(report, RESULT, packed(item.result))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a verdict; under pytest-xdist they arrive here from all workers."""
        if report.when != "call" or not report.nodeid.startswith(PREFIX):
            return
        result = getattr(report, RESULT, None)
        if isinstance(result, str):
            self._results.append(unpacked(result))
        facts = dict(report.user_properties)
        verdict, kind = facts.get("conformance_verdict"), facts.get("conformance_kind")
        if isinstance(verdict, str) and isinstance(kind, str):
            self._verdicts[verdict, kind] += 1
            if verdict == "pass" and "conformance_reading" in facts:
                self._readings[str(facts["conformance_reading"])] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a session that asked for a backend to be tested, and graded nothing."""
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        if exitstatus == pytest.ExitCode.OK and not config.getoption("setuponly", False):
            self._problem = self._nothing_graded(config)
            if self._problem:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The causes of what failed, the counts in a line, and why the session fails if no test
        does.
        """
        if any(result.status in FAILED for result in self._results):
            for line in self._causes():
                terminalreporter.write_line(line)
        if self._verdicts:
            terminalreporter.write_line(self._counts())
        if self._problem:
            terminalreporter.write_line(f"conformance: {self._problem}", red=True, bold=True)

    def _causes(self) -> Iterator[str]:
        asked = self._question
        yield from told(
            self._results,
            open_suite(asked.suite),
            level=asked.level,
            precision=parse_precision(asked.precision),
        )

    def _nothing_graded(self, config: pytest.Config) -> str:
        """What keeps the session from being green; empty if nothing does."""
        asked = sum(self._verdicts.values())
        if not asked:
            partial = config.getoption("lf", False) or config.getoption("stepwise", False)
            return "" if partial else "no vector was selected, so nothing was graded"
        values = {verdict: n for (verdict, kind), n in self._verdicts.items() if kind == "value"}
        refusals = self._verdicts["pass", "reject"]
        if any(values.get(verdict) for verdict in ("pass", "fail", "error")):
            return ""
        if refusals and not values:
            return ""  # only must-reject vectors were chosen
        said = ", ".join(f"{n} {verdict}" for verdict, n in values.items() if n)
        return f"no values graded: {said or number_of(asked, 'vector')} (see -rs)"

    def _counts(self) -> str:
        by_verdict: Counter[str] = Counter()
        for (verdict, _), n in self._verdicts.items():
            by_verdict[verdict] += n
        parts = [
            f"{by_verdict[verdict]} {words}"
            for verdict, words in (
                ("pass", "passed"),
                ("fail", "failed"),
                ("error", ENDED),
                ("unsupported", "unsupported"),
                ("skipped", "not tested at this level"),
            )
            if by_verdict[verdict]
        ]
        if self._readings:
            names = ", ".join(sorted({n for joined in self._readings for n in joined.split("+")}))
            parts[0] += f" ({sum(self._readings.values())} by an allowed interpretation: {names})"
        known = sum(result.known is not None for result in self._results)
        if known:
            parts.append(f"of these {known} known failures")
        total = number_of(sum(by_verdict.values()), "vector")
        return f"conformance: {self._question.backend}, {total}: {', '.join(parts)}"
