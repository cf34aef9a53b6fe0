"""What an adapter raises outside of its framework's call is its own failure, and one cause."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
import tiers

import conformance
from conformance.backends import framework
from conformance.backends.framework_call import MAX_CAUSES
from conformance.failure_kind import Severity
from conformance.grade.outcome import Ending
from conformance.log.causes import causes
from conformance.model import Case, Status, Vector
from conformance.run.inline import execute

CASE = Case(op="Op-1", types={"T": "f32"}, shapes={}, attributes={})
ASKED = Vector("id", CASE, "must", (), "", "", (np.zeros(1, np.float32),), ())


def ending(run, **members):
    return execute(SimpleNamespace(run=run, **members), ASKED).ending


def inside(op, inputs, attributes):
    with framework():
        raise ValueError("no such kernel")


def outside(op, inputs, attributes):
    with framework():
        pass
    raise ValueError("the adapter's own")


def before(op, inputs, attributes):
    raise KeyError("kernel")


def translated(op, inputs, attributes):
    try:
        inside(op, inputs, attributes)
    except ValueError as error:
        raise RuntimeError("refused") from error


def recovered(op, inputs, attributes):
    """A refusal that was handled does not cover what goes wrong afterwards."""
    with suppress(ValueError):
        inside(op, inputs, attributes)
    raise KeyError("pads")


def endless(op, inputs, attributes):
    first = last = RuntimeError("0")
    for number in range(MAX_CAUSES + 1):
        last.__cause__ = RuntimeError(str(number))
        last = last.__cause__
    raise first


class TestWhoseFailureItIs:
    @pytest.mark.parametrize("run", [inside, translated])
    def test_the_frameworks(self, run):
        assert ending(run, marked=True) is Ending.RAISED

    @pytest.mark.parametrize("run", [outside, before, recovered, endless])
    def test_the_adapters(self, run):
        assert ending(run, marked=True) is Ending.ADAPTER

    def test_one_raised_before_says_nothing_of_the_next(self):
        assert ending(inside, marked=True) is Ending.RAISED
        assert ending(before, marked=True) is Ending.ADAPTER

    @pytest.mark.parametrize("marked", [{}, {"marked": False}, {"marked": "yes"}])
    def test_without_marks_all_is_the_frameworks(self, marked):
        assert ending(before, **marked) is Ending.RAISED


class Broken:
    name, version, marked = "broken", "1", True

    def run(self, op, inputs, attributes):
        raise KeyError(f"no attribute {len(attributes)} times")


def test_it_is_one_cause_of_all_operators():
    ops = ["AvgPool-1", "AdaptiveAvgPool-8"]
    run = conformance.check(tiers.smoke(), Broken(), ops=ops)
    asked = [result for result in run.results if result.status is not Status.SKIPPED]
    assert {result.status for result in asked} == {Status.ERROR}
    assert {result.op for result in asked} == set(ops)
    assert {finding.kind for finding in run.findings} == {"adapter"}
    assert all("the adapter failed outside" in finding.title for finding in run.findings)
    (cause,) = causes(run.findings, run.results)
    assert cause.vectors == {(result.op, result.id) for result in asked}
    assert set(cause.operators) == set(ops)
    assert cause.explained
    assert cause.severity is Severity.RAISED
    assert cause.title.startswith("The adapter fails outside of its framework's call: “")
