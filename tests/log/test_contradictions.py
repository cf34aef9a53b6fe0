"""A reader computes the footer of a log again, and trusts no log in which the two differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sample_runs

from conformance.errors import LogError
from conformance.log.reader import read, read_whole

RUNS: dict[str, Callable[[], list[Any]]] = {
    "passing": sample_runs.passing,
    "failing": sample_runs.failing,
    "partial": sample_runs.partial,
    "inconclusive": sample_runs.inconclusive,
}

VERDICTS = ("conformant", "not conformant", "inconclusive", "no failures", "nothing graded")


def written(tmp_path: Path, events: list[Any], **changes: Any) -> Path:
    """The log of a run whose footer is changed."""
    *body, foot = events
    return sample_runs.write(tmp_path / "run.jsonl", [*body, {**foot, **changes}])


@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_writes_is_what_a_reader_computes(tmp_path, name):
    assert read(written(tmp_path, RUNS[name]())).problems == ()


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_that_does_not_follow_from_the_results(tmp_path, name, verdict):
    events = RUNS[name]()
    path = written(tmp_path, events, verdict=verdict)
    run = read(path)
    if verdict == events[-1]["verdict"]:
        assert run.verdict == verdict
    else:
        assert run.verdict == "inconsistent"
        assert run.problems[0].startswith(f"The footer calls a run {verdict} ")
        with pytest.raises(LogError, match="not that of a whole run"):
            read_whole(path)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("code", [0, 1, 4])
def test_an_exit_code_that_does_not_follow_from_the_results(tmp_path, name, code):
    events = RUNS[name]()
    run = read(written(tmp_path, events, exit_code=code))
    assert bool(run.problems) is (code != events[-1]["exit_code"])
    assert all(one.startswith(f"The exit code is {code}") for one in run.problems)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"precision_reached": {"f16": "exact", "f32": "exact"}}, "another precision reached"),
        ({"precision_reached": {}}, "another precision reached"),
        ({"by_reading": {"clip-divisor": 1000}}, "counts other interpretations"),
    ],
)
def test_what_else_follows_from_the_results(tmp_path, changes, says):
    (problem,) = read(written(tmp_path, sample_runs.passing(), **changes)).problems
    assert says in problem


def test_an_interrupted_run_ends_as_its_signal_says(tmp_path):
    events = sample_runs.interrupted()
    for code in (130, 143):
        assert read(written(tmp_path, events, exit_code=code)).problems == ()
    assert read(written(tmp_path, events, exit_code=0)).problems
