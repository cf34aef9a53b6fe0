"""Run logs for tests of reports: red ones of every kind, and hostile ones drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sample_runs
import tiers
from hypothesis import settings
from hypothesis import strategies as st

from conformance.log.contradictions import contradictions
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result, Status

FEW = settings(max_examples=tiers.examples(40, few=15), deadline=None)


def run(events: sample_runs.Events) -> RunLog:
    """The run that these events tell of, as a reader would see it."""
    marks = {event["event"]: event for event in events if isinstance(event, dict)}
    log = RunLog(
        marks["header"],
        tuple(event for event in events if isinstance(event, Result)),
        tuple(event for event in events if isinstance(event, Finding)),
        marks.get("footer"),
    )
    return replace(log, problems=tuple(contradictions(log)))


def _without_a_result() -> sample_runs.Events:
    events = sample_runs.passing()
    del events[7]
    return events


def _with_footer(**changes: object) -> sample_runs.Events:
    *rest, footer = sample_runs.passing()
    return [*rest, footer | changes]


def lacking(events: sample_runs.Events) -> sample_runs.Events:
    """The run, with something that is required and not supported."""
    head, *rest, foot = events
    options = {**head["options"], "require": "caps.yaml"}
    required = [sample_runs.requirement("caps.yaml:1", problems=["f64 is not supported"])]
    return [{**head, "options": options}, *rest, {**foot, "exit_code": 1, "required": required}]


RED: dict[str, Callable[[], sample_runs.Events]] = {
    "failing": sample_runs.failing,
    "interrupted": sample_runs.interrupted,
    "nothing graded": sample_runs.nothing_graded,
    "cut short": lambda: sample_runs.passing()[:-1],
    "only a header": lambda: sample_runs.passing()[:1],
    "cut short after a failure": lambda: sample_runs.failing()[:-4],
    "a result is missing": _without_a_result,
    "exit code 1": lambda: lacking(sample_runs.passing()),
    "exit code 1 for no reason": lambda: _with_footer(exit_code=1),
    "not conformant for no vector": lambda: _with_footer(verdict="not conformant", exit_code=1),
}
"""Runs that no format may show as a success, whatever their vectors look like."""

QUIET = set(RED) - {"failing", "cut short after a failure"}
"""Those of them in which no vector failed."""


def all_known(reason: str = "see issue 7") -> RunLog:
    """A run that fails only as its vendor has listed: not conformant, with exit code 0."""
    log = run(sample_runs.failing())
    results = tuple(
        replace(result, known="known.yaml:3")
        if result.status in (Status.FAIL, Status.ERROR)
        else result
        for result in log.results
    )
    ops = {result.id: result.op for result in results}
    findings = tuple(
        replace(finding, ids=tuple(name for name in finding.ids if ops[name] == finding.op))
        for finding in log.findings
    )
    count = sum(result.known is not None for result in results)
    words = {"about": "something", "reason": reason, "link": None, "expires": None}
    known = sample_runs.known_failure("known.yaml:3", failures=count, **words)
    assert log.footer is not None
    footer = {**log.footer, "exit_code": 0, "known_failures": [known]}
    return replace(log, results=results, findings=findings, footer=footer, problems=())


PIECES = (
    *("]]>", "<![CDATA[", "--", "</testcase>", "&amp;", "\x00", "\x0b", "\x85", "\u2028", "\ufffe"),
    *("\ud800", "\udfff", "\u202e", "\u2066", "\x1b[31m", "\x1b]0;t\x07", "\r", "\n", "\r\n"),
    *("::error::x", "\n::set-env name=X::y", "##[error]x", "::stop-commands::t", "%0A", "%25", "%"),
    *("|", "`", "```", "````\n", "\n# h\n", "\n- i", "[a](http://x.org)", "![](x)", "<b>", "<!--"),
    *(
        "www.x.org",
        "https://x.org",
        "a@x.org",
        "*b*",
        "_i_",
        "~~s~~",
        "\\",
        "{0}",
        "{{",
        "](",
        "$x",
    ),
    *("../../x", "C:\\x.py:O", "/x.py:O", "x y.py:O", "dir/ä.py:O", "", " "),
)

hostile_text = st.lists(
    st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=()), max_size=8), max_size=6
).map("".join)


@st.composite
def hostile_runs(draw: st.DrawFn) -> RunLog:
    """Runs of a backend, a suite and a specification that say whatever they want."""
    text = draw(hostile_text)
    events = sample_runs.hostile(text)
    if draw(st.booleans()):
        events = events[: draw(st.integers(1, len(events)))]
    log = run(events)
    op = draw(hostile_text)
    log.header["suite"]["by_op"][op] = {"value": 1, "reject": 0}
    results = tuple(replace(result, op=op) for result in log.results[:2])
    return replace(log, results=results + log.results[2:])
