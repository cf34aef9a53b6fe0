"""What a change of the text leaves as it is: known from the texts, then from values of a case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_draws import drawn, same_values
from core_operators import operator

from conformance.core import exact
from conformance.core.changes import Change, changed
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.implementation import Implementation, mutated
from conformance.core.index_space import IndexSpace
from conformance.core.kills import implementation_of
from conformance.core.loader import load_operator
from conformance.core.mutant_changes import TextChange
from conformance.core.mutants import mutants_of
from conformance.core.subject import Subject
from conformance.core.text_difference import text_difference
from conformance.errors import ConformanceError
from conformance.model import Case

MEAN = operator("AveragePool")
IMAGE = (2, 3, 9, 8)


def under(change: Change) -> Any:
    return text_difference(MEAN, changed(MEAN, change))


def subject(**attributes: Any) -> Subject:
    attributes = {"kernel": [3, 2], **attributes}
    case = Case(MEAN.op, {"T": "f32"}, {"X": IMAGE}, attributes, pattern="whole", seed=3)
    return Subject(MEAN, case, inputs_of(MEAN, case))


def implementation(edits: dict[str, str], elements: str = "") -> Implementation:
    texts = tuple((location, "", text) for location, text in edits.items())
    return Implementation(MEAN, TextChange("change", texts, elements=elements))


def test_a_changed_let_reaches_what_speaks_of_it() -> None:
    difference = under({"let.span": "size + pad_begin - extent"})
    assert difference.let == {"span"}
    assert difference.reached == {"span", "windows", "out"}
    assert difference.define == frozenset()
    assert not difference.is_empty


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"define.Y.finish": "total / (terms)"}, False),
        ({"define.Y.finish": "total"}, True),
        ({"define.Y.combine": "product"}, True),
        ({"define.Y.outside": "skip"}, True),
        ({"define.Y.with.x": "i * strides + k - pad_begin"}, True),
        ({"attributes.strides.default": "2"}, True),
        ({"outputs.Y.type": "f32"}, True),
    ],
)
def test_it_is_empty_where_both_say_the_same(change: Change, differs: bool) -> None:
    assert under(change).is_empty != differs


@pytest.fixture
def combined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The definitions whose terms were combined, in their order."""
    seen: list[str] = []
    combine = IndexSpace._combined

    def noted(self: IndexSpace, term: Any) -> Any:
        seen.append(self.definition.name)
        return combine(self, term)

    monkeypatch.setattr(IndexSpace, "_combined", noted)
    return seen


def test_what_combines_alike_is_combined_once(combined: list[str]) -> None:
    here = subject()
    here.intervals()
    before = len(combined)
    other = implementation({"define.Y.finish": "total / (terms + 1)"})
    (output,) = here.under(other)
    (low, high) = here.ends(other, "standard")[0]
    assert len(combined) == before
    assert (low <= output).all()
    assert (output <= high).all()
    np.testing.assert_allclose(output * 7, here.outputs[0] * 6, rtol=1e-6)
    here.under(implementation({"define.Y.with.x": "i * strides + k"}))
    assert len(combined) == before  # without padding and dilations that is the same


def test_an_end_of_the_same_values_changes_nothing() -> None:
    whole = implementation({"define.Y.finish": "total / prod(kernel)"})
    plain, padded = subject(), subject(pads_begin=[1, 0])
    assert plain.under(whole) is plain.outputs
    assert padded.under(whole) is not padded.outputs


def test_only_elements_that_differ_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    here = subject(pads_begin=[1, 0])
    sizes: list[int] = []
    rounded = exact.rounded

    def noted(value: exact.Number, *rest: Any) -> Any:
        sizes.append(np.size(value.num))
        return rounded(value, *rest)

    monkeypatch.setattr(exact, "rounded", noted)
    (output,) = here.under(implementation({"define.Y.finish": "total / prod(kernel)"}))
    first_rows = output[:, :, 0].size
    assert 0 < sizes[0] <= first_rows
    assert (output != here.outputs[0]).sum() <= first_rows
    (output,) = here.under(implementation({"define.Y.finish": "2 * total"}, "entry(i, 0) == 0"))
    assert 0 < sizes[1] <= first_rows
    np.testing.assert_array_equal(output[:, :, 1:], here.outputs[0][:, :, 1:])


def test_a_change_of_no_element_changes_nothing() -> None:
    here = subject()
    nowhere = implementation({"define.Y.finish": "2 * total"}, "any(i > 20)")
    assert here.computed(nowhere) is here.outputs


@pytest.mark.parametrize("op", ["AvgPool-1", "MaxPool-14", "onnx.Gemm-13"])
def test_what_is_taken_over_is_what_the_whole_gives(op: str) -> None:
    stated, compared = load_operator(op), 0
    for case in drawn(op, 3):
        inputs = inputs_of(stated, case)
        here = Subject(stated, case, inputs)
        named = dict(zip([tensor.name for tensor in stated.inputs], inputs, strict=True))
        right = Evaluation(stated, case.attributes, named)
        for mutant in mutants_of(stated)[::5]:
            change = mutant.change
            if not isinstance(change, TextChange) or change.elements or change.where:
                continue
            made = implementation_of(stated, mutant)
            try:
                outputs = Evaluation(made.under([change]), case.attributes, named).outputs()
            except ConformanceError:
                continue
            if any(a.size > b.size for a, b in zip(outputs, here.outputs, strict=True)):
                continue  # larger ones are not evaluated
            compared += mutated(right, made, case.attributes) is not None
            assert all(map(same_values, outputs, here.under(made))), mutant.id
    assert compared > 10
