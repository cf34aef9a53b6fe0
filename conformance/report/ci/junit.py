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
from conformance.report.ci.listed import ListedFailures, alarm
from conformance.report.view import View, view
from conformance.report.wording import evidence, precision
from conformance.safe_text import one_line, visible

FILE = "junit.xml"


def render(run: RunLog) -> str:
    """The document. What is wrong with the run as a whole is an error of a testcase of its own."""
    shown = view(run)
    root = Element("testsuites")
    trouble = alarm(shown)
    if trouble is not None:
        _testsuite(root, "conformance", shown, [_run_case(trouble)])
    failures = ListedFailures(run)
    cases: dict[str, list[Element]] = {op: [] for op in run.tallies}
    for result in run.results:
        cases[result.op].append(_case(result, failures))
    for op in cases:
        _testsuite(root, op, shown, cases[op])
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _testsuite(root: Element, name: str, shown: View, cases: list[Element]) -> None:
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
    suite.attrib.update(_timestamp(shown.run))
    properties = SubElement(suite, "properties")
    for key, value in _properties(shown):
        SubElement(properties, "property", name=key, value=_line(value))
    suite.extend(cases)
    SubElement(suite, "system-out").text = _text("\n".join(_end(name, shown)))
    SubElement(suite, "system-err")


def _end(name: str, shown: View) -> Iterable[str]:
    """The verdict, and the causes of an operator's failures."""
    yield f"{shown.headline}. {shown.advised}"
    yield from (one.cause.headline for one in shown.causes if name in one.cause.operators)


def _properties(shown: View) -> Iterable[tuple[str, str]]:
    start = shown.run.start
    yield "tool", f"{start.tool.name} {start.tool.version}"
    yield "backend", f"{start.backend.name} {start.backend.version}"
    yield "suite", f"{start.suite.name} {start.suite.digest}"
    yield "level", start.options.level
    yield "precision", precision(start.options.precision)
    yield "verdict", shown.verdict
    if shown.strength:
        yield "strength", shown.strength.removeprefix("strength ")


def _timestamp(run: RunLog) -> dict[str, str]:
    """When the run began, as the schemas want it; left out where the log has no such time."""
    try:
        moment = datetime.fromisoformat(run.start.started)
    except ValueError:
        return {}
    return {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%S")}


def _run_case(trouble: str) -> Element:
    case = Element("testcase", name="the run", classname="conformance", time="0.000000")
    SubElement(case, "error", type="run", message=_line(trouble)).text = _text(trouble)
    return case


def _case(result: Result, failures: ListedFailures) -> Element:
    case = Element(
        "testcase",
        name=_line(result.id),
        classname=f"conformance.{_line(result.op)}",
        time=f"{result.seconds:.6f}",
    )
    reason = failures.why_known(result)
    if result.status in FAILED and reason is None:
        tag = "failure" if result.status is Status.FAIL else "error"
        cause = failures.cause_of(result)
        said = result.message if cause is None else f"{cause.title}: {result.message}"
        wrong = SubElement(case, tag, type=_line(result.kind), message=_line(said))
        wrong.text = _text("\n".join(_body(result, failures.of(result), cause)))
    elif result.status in FAILED:
        SubElement(case, "skipped", message=_line(f"known failure: {reason}"))
    elif result.status is Status.UNSUPPORTED:
        SubElement(case, "skipped", message=_line(f"unsupported: {result.message}"))
    elif result.status is Status.SKIPPED:
        SubElement(case, "skipped", message=_line(result.message or "not tested at this level"))
    return case


def _body(result: Result, finding: Finding | None, cause: Cause | None) -> Iterable[str]:
    """What failed, under which conditions, and what it comes from."""
    yield result.message
    if cause is not None:
        yield f"cause: {cause.headline}"
    yield from (f"{label}: {text}" for label, text in evidence(result.witness))
    if result.edges:
        yield f"edges: {', '.join(result.edges)}"
    if finding is not None:
        yield f"here: {finding.op}: {finding.title}"
        if told := diagnosis_text(finding):
            yield told
        if finding.reproduce:
            yield f"minimal reproducer: {finding.reproduce}"


# XML 1.0 does not allow some characters: they are shown as escapes.
_text, _line = visible, one_line
