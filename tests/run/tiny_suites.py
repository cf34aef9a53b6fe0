"""Small suites of one operator for tests of executors: vectors are told apart by their size."""

from __future__ import annotations

from conformance.model import Case
from conformance.specification import build, find_spec
from conformance.suite.writer import write_suite

OP = "AdaptiveAvgPool-8"


def adaptive(size, out=2, **more):
    """The mean over ``out`` windows of a row of ``size`` elements."""
    return Case(
        op=OP,
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, size)},
        attributes={},
        operands={"output_size": (out,)},
        **more,
    )


def rejected(size):
    """A case that must be refused."""
    return adaptive(size, -1, reject="negative-output-size")


def suite_of(folder, cases):
    """The suite of some cases."""
    spec = find_spec(OP)
    vectors = [(build(spec, case, "must"), ("core",)) for case in cases]
    return write_suite(folder, vectors, name="rows", seed=0, versions={})


def size_of(result):
    """The size of the row that a result is about."""
    return int(result.id.split("-")[1].split("x")[2])
