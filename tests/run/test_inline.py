from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from conformance.errors import Unsupported
from conformance.grade.outcome import Ending
from conformance.model import Case, Vector
from conformance.run.inline import execute


def vector(*inputs, **attributes):
    case = Case(op="Op-1", types={"T": "f32"}, shapes={}, attributes=attributes)
    return Vector("id", case, "must", (), "", "", inputs, ())


DATA = np.arange(6, dtype=np.float32).reshape(1, 2, 3)


def outcome(run, *inputs, **attributes):
    return execute(SimpleNamespace(run=run), vector(*(inputs or (DATA,)), **attributes))


class TestWhatABackendIsGiven:
    def test_fresh_writable_contiguous_copies(self):
        source = np.asfortranarray(DATA)
        source.flags.writeable = False
        seen = []

        def run(op, inputs, attributes):
            seen.extend(inputs)
            assert op == "Op-1"
            assert type(inputs) is list
            return inputs

        outcome(run, source)
        (array,) = seen
        assert array.flags.writeable
        assert array.flags.c_contiguous
        assert not np.shares_memory(array, source)
        np.testing.assert_array_equal(array, source)

    def test_a_scalar_has_no_dimension(self):
        seen = []
        result = outcome(lambda op, inputs, a: seen.extend(inputs) or inputs, np.array(3.0))
        assert seen[0].shape == ()
        assert [array.shape for array in result.returned] == [()]

    def test_bf16_arrays_are_of_the_logical_type(self):
        seen = []
        outcome(lambda op, inputs, a: seen.extend(inputs), DATA.astype(ml_dtypes.bfloat16))
        assert seen[0].dtype == ml_dtypes.bfloat16

    def test_attributes_may_be_changed_without_effect(self):
        asked = vector(DATA, kernel=[2, 3], **{"exclude-pad": True})

        def run(op, inputs, attributes):
            assert attributes == {"kernel": [2, 3], "exclude-pad": True}
            assert type(attributes) is dict
            attributes["kernel"].append(9)
            attributes.clear()

        for _ in range(2):
            assert execute(SimpleNamespace(run=run), asked).ending is Ending.RETURNED


class TestWhatIsObserved:
    def test_outputs_are_copied_at_once(self):
        buffer = np.zeros(3, np.float32)
        seen = outcome(lambda op, inputs, a: [buffer])
        buffer[:] = 7
        assert seen.returned[0].tolist() == [0, 0, 0]
        assert outcome(lambda op, inputs, a: buffer).returned.tolist() == [7, 7, 7]

    def test_an_output_larger_than_memory_is_not_copied(self):
        huge = np.broadcast_to(np.float32(0), (2**20, 2**20))
        assert outcome(lambda op, inputs, a: [huge]).returned[0] is huge

    @pytest.mark.parametrize("returned", [None, 3, "text", {"a": 1}])
    def test_other_objects_are_left_as_they_are(self, returned):
        assert outcome(lambda op, inputs, a: returned).returned is returned

    def test_time_is_that_of_the_call(self):
        assert 0 <= outcome(lambda op, inputs, a: []).seconds < 1

    def test_unchanged_inputs(self):
        nan = np.array([np.nan, -0.0], np.float32)
        assert outcome(lambda op, inputs, a: inputs, nan).changed == ()

    @pytest.mark.parametrize(
        "change",
        [
            lambda array: array.__setitem__((0, 0, 0), -0.0),
            lambda array: setattr(array, "shape", (6,)),
            lambda array: setattr(array, "dtype", np.dtype(np.int32)),
            lambda array: array.sort(axis=1) or array[:].fill(9),
        ],
    )
    def test_changed_inputs(self, change):
        def run(op, inputs, attributes):
            change(inputs[1])
            inputs.clear()
            return []

        assert outcome(run, DATA, DATA).changed == (1,)
        assert DATA[0, 0, 0] == 0

    def test_a_change_before_an_exception_is_seen(self):
        def run(op, inputs, attributes):
            inputs[0][:] = 1
            raise ValueError("no")

        seen = outcome(run)
        assert (seen.ending, seen.changed) == (Ending.RAISED, (0,))


class TestHowACallEnds:
    @pytest.mark.parametrize(
        ("error", "ending", "message"),
        [
            (ValueError("bad stride"), Ending.RAISED, "ValueError: bad stride"),
            (MemoryError(), Ending.RAISED, "MemoryError"),
            (Unsupported("no bf16"), Ending.UNSUPPORTED, "no bf16"),
            (Unsupported(), Ending.UNSUPPORTED, "Unsupported"),
            (SystemExit(0), Ending.ABORTED, "SystemExit: 0"),
            (ModuleNotFoundError("no mylib"), Ending.ABORTED, "ModuleNotFoundError: no mylib"),
            (GeneratorExit(), Ending.ABORTED, "GeneratorExit"),
        ],
    )
    def test_raised(self, error, ending, message):
        def run(op, inputs, attributes):
            raise error

        seen = outcome(run)
        assert (seen.ending, seen.message, seen.returned) == (ending, message, None)

    def test_the_keyboard_passes_through(self):
        def run(op, inputs, attributes):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            outcome(run)
