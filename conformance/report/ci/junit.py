"""A run as JUnit XML: a testsuite per operator, a testcase per vector.

There is no standard. What is written satisfies both schemas in common use, the one of the Jenkins
xUnit plugin and the stricter one of Apache Ant's tasks, which is why every testsuite has
properties, a host and two streams of output.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.log.causes import Cause
from conformance.log.diagnosis import diagnosis_text
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Finding, Result, Status
from conformance.report.ci.failures import RunFailures, run_problem
from conformance.report.view import View, run_view
from conformance.report.wording import precision_text, worst_element_rows
from conformance.safe_text import one_line, visible

FILE = "junit.xml"


def render(run: RunLog) -> str:
    """Return the document; a problem of the run itself is a testcase with an error."""
    view = run_view(run)
    root = Element("testsuites")
    problem = run_problem(view)
    if problem is not None:
        _testsuite(root, "conformance", view, [_run_case(problem)])
    failures = RunFailures(run)
    cases: dict[str, list[Element]] = {op: [] for op in run.tallies}
    for result in run.results:
        cases[result.op].append(_case(result, failures))
    for op in cases:
        _testsuite(root, op, view, cases[op])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _testsuite(root: Element, name: str, view: View, cases: list[Element]) -> None:
    kinds = [child.tag for case in cases for child in case]
    suite = SubElement(
        root,
        "testsuite",
        name=_line(name),
        package="conformance",
        id=str(len(root)),
        hostname="localhost",
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{sum(float(case.attrib['time']) for case in cases):.3f}",
    )
    suite.attrib.update(_timestamp(view.run))
    properties = SubElement(suite, "properties")
    for key, value in _properties(view):
        SubElement(properties, "property", name=key, value=_line(value))
    suite.extend(cases)
    SubElement(suite, "system-out").text = _text("\n".join(_end(name, view)))
    SubElement(suite, "system-err")


def _end(name: str, view: View) -> Iterable[str]:
    """Yield the verdict, and the causes of an operator's failures."""
    yield f"{view.headline}. {view.full_sentence}"
    causes = (cause_view.cause for cause_view in view.causes)
    yield from (cause.headline for cause in causes if name in cause.operators)


def _properties(view: View) -> Iterable[tuple[str, str]]:
    start = view.run.start
    yield "tool", f"{start.tool.name} {start.tool.version}"
    yield "backend", f"{start.backend.name} {start.backend.version}"
    yield "suite", f"{start.suite.name} {start.suite.digest}"
    yield "level", start.options.level
    yield "precision", precision_text(start.options.precision)
    yield "verdict", view.verdict
    if view.strength:
        yield "strength", view.strength.removeprefix("strength ")


def _timestamp(run: RunLog) -> dict[str, str]:
    """Return when the run began, as the schemas want it; empty if the log has no such time."""
    try:
        moment = datetime.fromisoformat(run.start.started)
    except ValueError:
        return {}
    return {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%S")}


def _run_case(problem: str) -> Element:
    case = Element("testcase", name="the run", classname="conformance", time="0.000000")
    SubElement(case, "error", type="run", message=_line(problem)).text = _text(problem)
    return case


def _case(result: Result, failures: RunFailures) -> Element:
    case = Element(
        "testcase",
        name=_line(result.id),
        classname=f"conformance.{_line(result.op)}",
        time=f"{result.seconds:.6f}",
    )
    reason = failures.known_reason(result)
    if result.status in FAILED and reason is None:
        tag = "failure" if result.status is Status.FAIL else "error"
        cause = failures.cause_of(result)
        message = result.message if cause is None else f"{cause.title}: {result.message}"
        failure = SubElement(case, tag, type=_line(result.kind), message=_line(message))
        failure.text = _text("\n".join(_body(result, failures.finding_of(result), cause)))
    elif result.status in FAILED:
        SubElement(case, "skipped", message=_line(f"known failure: {reason}"))
    elif result.status is Status.UNSUPPORTED:
        SubElement(case, "skipped", message=_line(f"unsupported: {result.message}"))
    elif result.status is Status.SKIPPED:
        SubElement(case, "skipped", message=_line(result.message or "not tested at this level"))
    return case


def _body(result: Result, finding: Finding | None, cause: Cause | None) -> Iterable[str]:
    """Yield what failed, under which conditions, and its cause."""
    yield result.message
    if cause is not None:
        yield f"cause: {cause.headline}"
    yield from (f"{label}: {text}" for label, text in worst_element_rows(result.witness))
    if result.edges:
        yield f"edges: {', '.join(result.edges)}"
    if finding is not None:
        yield f"here: {finding.op}: {finding.title}"
        if explanation := diagnosis_text(finding):
            yield explanation
        if finding.reproduce:
            yield f"minimal reproducer: {finding.reproduce}"


# XML 1.0 does not allow some characters: they are shown as escapes.
_text, _line = visible, one_line
