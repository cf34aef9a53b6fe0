"""A finding has what its worst element reads; a defect of the drawing costs no more than that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiers

import conformance
from conformance.core.mutant_changes import TextChange
from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import Finding, Result, Status, Vector, Witness
from conformance.run.illustrate import Illustrator
from conformance.specification import find_spec

SUITE = tiers.smoke()


def finding(vector: Vector, index: tuple[int, ...]) -> tuple[Finding, Result]:
    witness = Witness("result", index, "0", "0", "0", "0", "1", None, 1, 1)
    failed = Result(id=vector.id, op=vector.case.op, status=Status.FAIL, edges=())
    found = Finding(
        op=vector.case.op,
        kind="value",
        title="",
        ids=(vector.id,),
        edges=(),
        smallest=vector.id,
        message="",
        witness=witness,
        reproduce="",
        detail={},
    )
    return found, failed


@pytest.mark.parametrize("op", ["AvgPool-16", "AdaptiveAvgPool-8"])
def test_what_is_read_of_the_data_is_what_an_element_is_made_of(op: str) -> None:
    """As many elements as a definition that counts them says, at both ends of the output."""
    spec, illustrator = find_spec(op), Illustrator(SUITE, "must", {})
    counting = TextChange("counting", (("define.result.finish", "", "terms"),))
    entries = [e for e in SUITE.manifest.vectors if e.op == op and e.dtype == "f32"]
    seen = 0
    for entry in (e for e in entries if e.reject is None):
        vector = SUITE.read(entry)
        (terms,) = subject_of(spec, vector.case, vector.inputs).under(
            implementation_of(spec, counting)
        )
        for index in ((0,) * terms.ndim, tuple(n - 1 for n in terms.shape)) if terms.size else ():
            if not terms[index]:
                continue  # of a window without data nothing is specified
            reads = illustrator.illustrated(*finding(vector, index)).detail["reads"]
            assert reads["tensors"][0]["elements"] == terms[index], vector.id
            seen += 1
    assert seen > 10


class Broken:
    """In place of what illustrates or diagnoses: a defect."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def illustrated(self, *_: Any) -> Any:
        raise IndexError("index 9 is out of bounds")

    def run(self) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "broken",
    ["conformance.run.summarise.Illustrator", "conformance.diagnosis.explain_failures.Search"],
)
def test_a_defect_costs_a_picture_or_a_name_and_not_the_run(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken, Broken)

    def zeros(op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        right = conformance.reference(op, inputs, attributes)
        return [np.zeros(one.shape, inputs[0].dtype) for one in right]

    run = conformance.check(SUITE, zeros, ops=["AdaptiveAvgPool-8"], dtypes=["f32"])
    assert not run.passed
    assert run.findings
    told = [finding for finding in run.findings if finding.detail.get("defect")]
    assert told
    assert {one.detail["defect"].partition(":")[0] for one in told} <= {
        "IndexError",
        "ZeroDivisionError",
    }
