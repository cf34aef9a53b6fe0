"""What a log says of its evidence: read, and not believed where it contradicts itself."""

from __future__ import annotations

import json

import pytest
import sample_runs

from conformance.errors import LogError
from conformance.log.reader import read


@pytest.fixture
def reading(tmp_path):
    def run(events, change=None):
        path = sample_runs.write(tmp_path / "run.jsonl", events)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        if change is not None:
            change(lines[-1])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return read(path)

    return run


def test_verdicts(reading):
    strong = reading(sample_runs.weighed(sample_runs.measured()))
    weak, part = reading(sample_runs.inconclusive()), reading(sample_runs.partial())
    found = [(run.verdict, run.gate_met, run.problems) for run in (strong, weak, part)]
    assert found == [
        ("conformant", True, ()),
        ("inconclusive", False, ()),
        ("no failures", True, ()),
    ]


def part(**changes):
    return lambda footer: footer["strength"]["parts"][0].update(changes)


@pytest.mark.parametrize(
    ("events", "change", "problem"),
    [
        (
            sample_runs.inconclusive(),
            lambda f: f.update(verdict="conformant"),
            "weaker than required",
        ),
        (sample_runs.inconclusive(), lambda f: f.update(exit_code=0), "the run is inconclusive"),
        (sample_runs.inconclusive(), part(killed=241), "calls a run inconclusive whose"),
        (
            sample_runs.weighed(sample_runs.measured()),
            part(state="unknown"),
            "weaker than required",
        ),
        (sample_runs.inconclusive(), lambda f: f.update(interrupted=True), "interrupted run incon"),
        (
            sample_runs.weighed(sample_runs.measured()),
            part(killed=242),
            "more mutants killed or targets",
        ),
        (sample_runs.weighed(sample_runs.measured()), part(killed=9), "weaker than required"),
        (sample_runs.partial(), lambda f: f.update(verdict="conformant"), "a part of the suite"),
    ],
)
def test_what_contradicts_itself_is_not_believed(reading, events, change, problem):
    run = reading(events, change)
    assert run.verdict == "inconsistent"
    assert not run.gate_met
    assert any(problem in one for one in run.problems)


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.pop("strength"),
        lambda f: f.pop("readings"),
        lambda f: f.update(strength=None),
        lambda f: f.update(strength=[]),
        lambda f: f["strength"].pop("bar"),
        lambda f: f["strength"].update(bar="95"),
        lambda f: f["strength"].update(bar=1e9),
        lambda f: f["strength"].update(parts={}),
        lambda f: f["strength"].update(parts=[3]),
        part(killed=-1),
        part(killed="x"),
        part(mutants=None),
        part(rank=2**70),
        part(state="sure"),
        part(why=None),
        lambda f: f["strength"]["parts"][0].pop("profile"),
        lambda f: f.update(verdict="certainly"),
    ],
)
def test_what_is_not_of_the_form_is_refused(reading, change):
    with pytest.raises(LogError, match=r"footer|rank: \d+ does not fit 64 bits"):
        reading(sample_runs.weighed(sample_runs.measured()), change)


def test_nothing_to_kill_divides_nothing(reading):
    run = reading(sample_runs.weighed(sample_runs.measured(0, mutants=0)))
    assert run.evidence.weakest.share == "100 %"


def test_a_member_that_nobody_knows_is_ignored(reading):
    run = reading(sample_runs.weighed(sample_runs.measured()), part(more="x"))
    assert run.verdict == "conformant"
