"""A negative test passes only where the valid case that it was made from is accepted."""

from __future__ import annotations

import numpy as np
import pytest
import tiers

import conformance
from conformance.backends.reference import Reference
from conformance.model import Status
from conformance.run.check_vector import VectorChecker
from conformance.run.inline import Inline
from conformance.run.valid_counterpart import paired
from conformance.specification import violations

FAR = {"rank-2", "rank-6", "kernel-long", "kernel-short"}
"""Negative tests of which some have no valid case so near: one more axis would do, and a kernel."""


@pytest.fixture(scope="module")
def pairs(exhaustive):
    return of(tiers.suite(exhaustive))


def of(suite):
    """The negative tests of a suite, each with its specification and the valid vector, if any."""
    negative = [e for e in suite.manifest.vectors if e.kind != "value"]
    tests = [(suite.specs[e.op], suite.read(e)) for e in negative]
    return [(spec, vector, paired(spec, vector)) for spec, vector in tests]


def test_nearly_each_has_a_valid_case_beside_it(pairs):
    assert len(pairs) > 100
    alone = [vector.case.reject for _, vector, valid in pairs if valid is None]
    assert set(alone) <= FAR
    assert len(alone) < len(pairs) / 10
    for spec, vector, valid in pairs:
        if valid is not None:
            assert valid.case.reject is None
            assert not violations(spec, valid.case)
            assert [a.dtype for a in valid.inputs] == [a.dtype for a in vector.inputs]
            assert valid.inputs[0].shape == valid.case.shapes[spec.inputs[0].name]


def test_which_differs_in_one_thing_alone(pairs):
    for _, vector, valid in pairs:
        if valid is None or valid.case.rank != vector.case.rank:
            continue  # of one more axis nothing is stated
        before, after = (
            {**case.attributes, **case.operands, **case.shapes}
            for case in (vector.case, valid.case)
        )
        changed = [n for n in {*before, *after} if before.get(n) != after.get(n)]
        assert len(changed) == 1, vector.id


def test_the_reference_accepts_it():
    reference = Reference()
    for spec, _, valid in of(tiers.part(tiers.smoke())):
        if valid is not None:
            reference.run(spec.op, [np.array(a) for a in valid.inputs], valid.case.attributes)


class Refuses:
    name, version = "refuses", "1"

    def __init__(self, *, valid: bool) -> None:
        self.valid = valid
        self.asked: list[str] = []

    def run(self, op, inputs, attributes):
        self.asked.append(str(attributes))
        if self.valid:
            raise RuntimeError("opset 22 is under development")
        return Reference().run(op, inputs, attributes)


@pytest.mark.parametrize(("valid", "status"), [(True, Status.UNSUPPORTED), (False, Status.PASS)])
class TestWhoRefusesAll:
    def test_refuses_no_negative_test(self, valid, status):
        suite = tiers.smoke()
        backend = Refuses(valid=valid)
        only = [v.id for spec, v, valid in of(suite) if spec.op == "AvgPool-1" and valid]
        run = conformance.check(suite, backend, ops=["AvgPool-1"], only=only)
        assert {one.status for one in run.results if one.level == "must"} == {status}
        told = [one.message for one in run.results if one.level == "must"]
        assert all(("opset 22 is under development" in text) is valid for text in told)

    def test_nor_a_single_one(self, valid, status):
        suite = tiers.smoke()
        entry = next(e for e in suite.manifest.vectors if e.reject == "zero-stride")
        with Inline(Refuses(valid=valid)) as executor:
            result, _ = VectorChecker(executor, suite.specs, "must", {}).check(suite.read(entry))
        assert result.status is status


def test_a_valid_case_is_asked_once():
    suite = tiers.smoke()
    backend = Refuses(valid=False)
    tests = [one for one in of(suite) if one[0].op == "AvgPool-1" and one[1].level == "must"]
    conformance.check(suite, backend, ops=["AvgPool-1"], only=[vector.id for _, vector, _ in tests])
    valid = {one.id for _, _, one in tests if one is not None}
    assert len(backend.asked) == len(tests) + len(valid)
    assert len(valid) < len(tests)
