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


@pytest.fixture(scope="module")
def negative(exhaustive):
    suite = tiers.suite(exhaustive)
    return of(suite)


def of(suite):
    """The negative tests of a suite, each with its specification."""
    return [(suite.specs[e.op], suite.read(e)) for e in suite.manifest.vectors if e.kind != "value"]


def test_each_has_a_valid_case_beside_it(negative):
    assert len(negative) > 100
    for spec, vector in negative:
        valid = paired(spec, vector)
        assert valid is not None, vector.id
        assert valid.case.reject is None
        assert not violations(spec, valid.case)
        assert [a.dtype for a in valid.inputs] == [a.dtype for a in vector.inputs]
        assert valid.inputs[0].shape == valid.case.shapes[spec.data.name]


def test_which_differs_in_what_is_broken_alone(negative):
    for spec, vector in negative:
        entry = next(one for one in spec.reject if one.name == vector.case.reject)
        if entry.rank is not None:
            continue
        valid = paired(spec, vector).case
        broken = {*entry.set, *entry.length}
        touched = {q.name for q in spec.quantities.values() if {q.key, q.whole} & broken}
        before, after = dict(vector.case.attributes), dict(valid.attributes)
        assert all(before.get(n) == after.get(n) for n in {*before, *after} - touched), vector.id


def test_the_reference_accepts_it():
    reference = Reference()
    for spec, vector in of(tiers.part(tiers.smoke())):
        valid = paired(spec, vector)
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
        only = [e.id for e in suite.manifest.vectors if e.op == "AvgPool-1" and e.kind != "value"]
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
    negative = [e for e in suite.manifest.vectors if e.op == "AvgPool-1" and e.kind != "value"]
    conformance.check(suite, backend, ops=["AvgPool-1"], only=[e.id for e in negative])
    valid = {paired(suite.specs[e.op], suite.read(e)).id for e in negative if e.level == "must"}
    assert len(backend.asked) == sum(e.level == "must" for e in negative) + len(valid)
    assert len(valid) < len(negative)
