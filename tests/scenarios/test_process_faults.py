"""Backends that compute rightly and hand over wrongly: each is noticed, and named for what it is.

What a kernel gets wrong is in the catalogue of faults; these go wrong around it, in memory. Each is
a function in which the reference's answers are spoiled, run over the shipped smoke suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiers
from broken import Arrays, honest, with_outputs

import conformance
from conformance.api import Run
from conformance.model import Answer, Result, Status
from conformance.suite.store import Suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
VALUE, INDEX, UNSTEADY = "value", "index", "unsteady"
Function = Callable[[str, Arrays, dict[str, Any]], Any]


@pytest.fixture(scope="module")
def smoke() -> Suite:
    return tiers.smoke()


@pytest.fixture(scope="module")
def few(smoke: Suite, exhaustive: bool) -> Suite:
    """For backends that are wrong everywhere, to explain which takes long: a part of smoke."""
    return smoke if exhaustive else tiers.part(smoke)


def check(suite: Suite, backend: Function, **options: Any) -> Run:
    """A run over a mean, a mean of adaptive windows, and a maximum with its index."""
    return conformance.check(suite, backend, **{"ops": (AVG, ADAPTIVE, MAX), **options})


def kinds(run: Run) -> Counter[str]:
    """How many vectors with an answer have gone wrong, by kind; refusals are all right."""
    assert not run.passed
    asked = [one for one in run.results if one.reject is None and one.status is not Status.PASS]
    assert not [one for one in run.results if one.reject and one.status is Status.FAIL]
    # Wrong values and wrong indices with one cause are one finding.
    assert {finding.kind for finding in run.findings} <= {one.kind for one in asked}
    assert {i for finding in run.findings for i in finding.ids} == {one.id for one in asked}
    return Counter(one.kind for one in asked)


def values(run: Run) -> list[Result]:
    return [one for one in run.results if one.reject is None and one.status is not Status.SKIPPED]


def right(answer: Answer) -> Any:
    return answer.expected if answer.rounded is None else answer.rounded


class TestOutputsThatAreNotWritten:
    """A part of the output is left as the memory was."""

    @staticmethod
    def partly(left: Callable[[Any], Any], part: Callable[[Any], Any]) -> Function:
        """The outputs, but for a part of the flat array that holds what was ``left`` there."""

        def spoiled(outputs: Arrays) -> Arrays:
            found = []
            for output in outputs:
                flat = output.flatten()
                flat[part(flat.size)] = left(flat)[part(flat.size)]
                found.append(flat.reshape(output.shape))
            return found

        return with_outputs(spoiled)

    @staticmethod
    def garbage(flat: Any) -> Any:
        """What somebody else left: np.empty would be it, but now and then by chance right."""
        return (np.arange(flat.nbytes) * 89 + 0xA5).astype(np.uint8).view(flat.dtype)

    @pytest.mark.parametrize("left", tiers.first(["zeros", "garbage"]))
    @pytest.mark.parametrize(
        "part",
        [
            lambda n: slice(None),
            lambda n: slice(n - 1, None),
            lambda n: slice(n // 8 * 8, None),
        ],
        ids=["all", "last", "tail of 8"],
    )
    def test_are_noticed(self, few: Suite, left: str, part: Callable[[int], Any]) -> None:
        memory = self.garbage if left == "garbage" else np.zeros_like
        run = check(few, self.partly(memory, part))
        found = kinds(run)
        assert set(found) <= {VALUE, INDEX}
        for op in (AVG, ADAPTIVE, MAX):
            wrong = [one for one in values(run) if one.op == op and one.status is Status.FAIL]
            assert wrong, op

    @pytest.mark.exhaustive
    def test_all_zeros_pass_on_few_vectors_and_never_on_an_operator(self, smoke: Suite) -> None:
        run = check(smoke, self.partly(np.zeros_like, lambda n: slice(None)))
        passed = [one for one in values(run) if one.status is Status.PASS]
        assert len(passed) < len(values(run)) / 10


class TestViews:
    @staticmethod
    def identity(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
        """Hands back its input where the shape is right, as a copy-free shortcut would."""
        outputs = honest(op, inputs, attributes)
        if outputs[0].shape == inputs[0].shape:
            outputs[0] = inputs[0][...]
        return outputs

    def test_the_input_in_place_of_the_result_is_noticed(self, smoke: Suite) -> None:
        run = check(smoke, self.identity)
        assert set(kinds(run)) == {VALUE}
        value = [one for one in smoke.vectors() if one.case.reject is None]
        same = {
            (one.case.op, one.id)
            for one in value
            if right(one.answers[0]).tobytes() == one.inputs[0].tobytes()
        }
        assert same
        assert all(one.status is Status.PASS for one in values(run) if (one.op, one.id) in same)

    def test_a_view_is_right_where_the_operator_is_the_identity(self, smoke: Suite) -> None:
        """The result shares memory with the input, which is nobody's business but the backend's."""

        def shares(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            outputs = honest(op, inputs, attributes)
            if outputs[0].tobytes() == inputs[0].tobytes():
                outputs[0] = inputs[0].reshape(outputs[0].shape)
                assert np.shares_memory(outputs[0], inputs[0])
                shared.append(op)
            return outputs

        shared: list[str] = []
        assert check(smoke, shares).passed
        assert {AVG, ADAPTIVE} <= set(shared)

    def test_one_buffer_for_all_results_is_right(self, smoke: Suite) -> None:
        """Each result lies in the memory of the one before, which the next call overwrites."""
        buffer = np.empty(1 << 22, np.uint8)

        def reuses(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            found, at = [], 0
            for output in honest(op, inputs, attributes):
                view = buffer[at : at + output.nbytes].view(output.dtype).reshape(output.shape)
                view[...] = output
                found.append(view)
                at += -(-output.nbytes // 8) * 8
            return found

        run = check(smoke, reuses)
        assert run.passed

    def test_an_input_kept_and_changed_later_harms_no_other_vector(self, smoke: Suite) -> None:
        kept: list[Any] = []

        def keeps(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            for old in kept:
                old.fill(77)
            kept[:] = inputs
            outputs = honest(op, inputs, attributes)
            for value in attributes.values():
                if isinstance(value, list):
                    value.clear()
            attributes.clear()
            return outputs

        assert check(smoke, keeps).passed
        assert check(smoke, honest).passed


class TestInputsThatAreChanged:
    @pytest.mark.parametrize("which", [0, -1])
    def test_it_is_a_failure_though_the_outputs_are_right(self, smoke: Suite, which: int) -> None:
        def spoils(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            outputs = honest(op, inputs, attributes)
            inputs[which].reshape(-1)[-1] += 1
            return outputs

        run = check(smoke, spoils)
        found = kinds(run)
        assert set(found) == {"input-changed"}
        # NaN, infinity and large numbers plus 1 are what they were.
        assert found["input-changed"] > len(values(run)) / 2

    def test_one_that_is_put_back_is_not_changed(self, smoke: Suite) -> None:
        def scratch(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            before = inputs[0].copy()
            outputs = honest(op, inputs, attributes)
            inputs[0][...] = 0
            inputs[0][...] = before
            return outputs

        assert check(smoke, scratch).passed


class TestMemoryOrder:
    def test_right_values_in_fortran_order_are_right(self, smoke: Suite) -> None:
        run = check(smoke, with_outputs(lambda outputs: list(map(np.asfortranarray, outputs))))
        assert run.passed

    def test_right_values_in_every_other_element_are_right(self, smoke: Suite) -> None:
        def strided(outputs: Arrays) -> Arrays:
            return [np.repeat(output, 2, axis=-1)[..., ::2] for output in outputs]

        assert check(smoke, with_outputs(strided)).passed

    def test_memory_in_fortran_order_read_in_c_order_is_noticed(
        self, smoke: Suite, exhaustive: bool
    ) -> None:
        def misread(outputs: Arrays) -> Arrays:
            return [output.ravel(order="F").reshape(output.shape) for output in outputs]

        ops = (AVG, ADAPTIVE, MAX) if exhaustive else (ADAPTIVE,)
        run = check(smoke, with_outputs(misread), ops=ops)
        assert set(kinds(run)) <= {VALUE, INDEX}
        assert {one.op for one in run.findings} == set(ops)


class TestRunsThatDiffer:
    def test_every_seventh_call_wrong_is_noticed(self, smoke: Suite) -> None:
        calls = Counter[str]()

        def flaky(op: str, inputs: Arrays, attributes: dict[str, Any]) -> Any:
            outputs = honest(op, inputs, attributes)
            calls[op] += 1
            if calls[op] % 7 == 0:
                outputs[0] = (outputs[0] + outputs[0].dtype.type(3)).astype(outputs[0].dtype)
            return outputs

        run = check(smoke, flaky)
        found = kinds(run)
        assert set(found) == {UNSTEADY}  # what is wrong is called again, and is right then
        # But for what is NaN, infinite, open, or so large that 3 more is nothing.
        assert sum(n // 7 for n in calls.values()) / 3 < found[UNSTEADY]
        assert found[UNSTEADY] <= sum(n // 7 for n in calls.values())


SHAPES: list[tuple[str, Callable[[Arrays], Any], str]] = [
    ("wrong dtype", lambda outputs: [outputs[0] != 0, *outputs[1:]], "dtype"),
    ("an extra output", lambda outputs: [*outputs, outputs[0]], "outputs"),
    ("the last output missing", lambda outputs: outputs[:-1], "outputs"),
    ("flattened", lambda outputs: [outputs[0].reshape(-1), *outputs[1:]], "shape"),
    ("an extra axis", lambda outputs: [outputs[0][None], *outputs[1:]], "shape"),
    ("None for the outputs", lambda outputs: None, "outputs"),
    ("None for an output", lambda outputs: [None, *outputs[1:]], "outputs"),
    ("nested lists", lambda outputs: [outputs[0].tolist(), *outputs[1:]], "outputs"),
    ("foreign byte order", lambda outputs: [swapped(outputs[0]), *outputs[1:]], "dtype"),
]


def swapped(output: Any) -> Any:
    """The right values in the other byte order; bf16 has none, so its code."""
    if output.dtype.kind == "V":
        return output.view(np.uint16)
    return output.astype(output.dtype.newbyteorder())


@pytest.mark.parametrize(
    ("change", "kind"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES]
)
def test_what_is_not_of_the_right_structure_is_an_error_everywhere(
    few: Suite, change: Callable[[Arrays], Any], kind: str
) -> None:
    run = check(few, with_outputs(change))
    assert kinds(run) == {kind: len(values(run))}
    assert all(one.status is Status.ERROR for one in values(run))


@pytest.mark.exhaustive
def test_squeezed_axes_are_an_error_where_there_are_some(smoke: Suite) -> None:
    run = check(smoke, with_outputs(lambda outputs: [outputs[0].squeeze(), *outputs[1:]]))
    assert set(kinds(run)) == {"shape"}
    shapes = {v.id: v.answers[0].expected.shape for v in smoke.vectors() if v.answers}
    for one in values(run):
        assert (one.status is Status.PASS) == (1 not in shapes[one.id]), one.id


@pytest.mark.exhaustive
def test_the_values_of_a_wider_type_are_an_error_and_a_pass_where_it_is_the_type(
    smoke: Suite,
) -> None:
    run = check(smoke, with_outputs(lambda outputs: [outputs[0].astype(np.float64), *outputs[1:]]))
    assert set(kinds(run)) == {"dtype"}
    for one in values(run):
        assert (one.status is Status.PASS) == (one.dtype == "f64"), one.id


def test_outputs_in_each_other_s_place_are_an_error(smoke: Suite) -> None:
    run = check(smoke, with_outputs(lambda outputs: outputs[::-1]), ops=[MAX])
    assert kinds(run) == {"dtype": len(values(run))}


def test_a_bare_array_stands_for_the_only_output(smoke: Suite) -> None:
    assert check(smoke, with_outputs(lambda outputs: outputs[0]), ops=[AVG, ADAPTIVE]).passed
    run = check(smoke, with_outputs(lambda outputs: outputs[0]), ops=[MAX])
    assert kinds(run) == {"outputs": len(values(run))}
