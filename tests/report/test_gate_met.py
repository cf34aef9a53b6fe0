"""When a gate may let a run pass: only where its own results bear out the exit code 0."""

from __future__ import annotations

from dataclasses import replace

import pytest
import runs
import sample_runs

from conformance.model import Status
from conformance.report.ci.failures import RunFailures, run_problem
from conformance.report.view import run_view


def test_met():
    log = runs.run(sample_runs.passing())
    assert log.gate_met
    assert run_problem(run_view(log)) is None
    assert runs.all_known().gate_met


def test_an_exit_code_that_the_results_do_not_bear_out_is_not_believed():
    log = runs.run(sample_runs.failing())
    assert not replace(log, footer={**log.footer, "exit_code": 0}).gate_met
    passing = runs.run(sample_runs.passing())
    rejected = tuple(replace(result, reject="zero-stride") for result in passing.results)
    unsupported = tuple(replace(r, status=Status.UNSUPPORTED) for r in passing.results)
    for results in ((), rejected, unsupported):
        assert not replace(passing, results=results, problems=()).gate_met


@pytest.mark.parametrize("kind", sorted(runs.QUIET))
def test_a_red_run_without_a_failure_raises_the_alarm(kind):
    assert run_problem(run_view(runs.run(runs.RED[kind]())))


def test_failures_speak_for_themselves_unless_something_required_is_missing():
    log = runs.run(sample_runs.failing())
    assert run_problem(run_view(log)) is None
    required = [sample_runs.requirement("caps.yaml:1", problems=["f64 is not supported"])]
    lacking = replace(log, footer={**log.footer, "required": required})
    assert "exit code 1" in run_problem(run_view(lacking))


def test_a_cause_is_known_only_where_all_of_it_is():
    log = runs.all_known("see issue 7")
    cause = log.causes[0]
    assert RunFailures(log).known_reason(cause) == "see issue 7"
    last = max(cause.vectors)
    new = tuple(
        replace(result, known=None) if (result.op, result.id) == last else result
        for result in log.results
    )
    assert RunFailures(replace(log, results=new)).known_reason(cause) is None
    gone = tuple(result for result in log.results if (result.op, result.id) != last)
    assert RunFailures(replace(log, results=gone)).known_reason(cause) is None


def test_the_reason_comes_with_its_link_and_its_end():
    log = runs.all_known("slow to mend")
    entry = log.footer["known_failures"][0] | {"link": "https://x.org/7", "expires": "2027-01-31"}
    log = replace(log, footer={**log.footer, "known_failures": [entry]})
    assert RunFailures(log).known_reason(log.causes[0]) == (
        "slow to mend; https://x.org/7; until 2027-01-31"
    )
    without = replace(log, footer={**log.footer, "known_failures": []})
    assert RunFailures(without).known_reason(log.causes[0]) == "known.yaml:3"
