"""``conformance show --backend``: what a person sees of a backend's answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.model import Vector
from conformance.specification import find_spec, outputs
from conformance.suite.store import Suite

LIBRARY = """
import numpy as np
from conformance import Unsupported
from conformance.backends import Capabilities
from conformance.implementations import implementation_of, subject_of
from conformance.specification import (
    case_from_inputs, find_spec, interpretation_changes, outputs,
)

def right(op, inputs, attributes):
    return outputs(find_spec(op), inputs, attributes)

def wrong(op, inputs, attributes):
    given = right(op, inputs, attributes)
    flat = given[-1].copy().reshape(-1)
    flat[-1] += 1 if flat.dtype.kind == "f" else 100
    given[-1] = flat.reshape(given[-1].shape)
    return given

def clipping(op, inputs, attributes):
    spec = find_spec(op)
    clip = implementation_of(spec, interpretation_changes(spec)["clip-divisor"])
    return list(subject_of(spec, case_from_inputs(spec, inputs, attributes), inputs).under(clip))

def accepting(op, inputs, attributes):
    return [inputs[0]]

def transposed(op, inputs, attributes):
    return [array.T for array in right(op, inputs, attributes)]

def nothing(op, inputs, attributes):
    return None

def raising(op, inputs, attributes):
    raise RuntimeError("\\x1b[31mred\\u202e\\nsecond line")

class Narrow:
    name, version = "nar\\x1brow", "1\\n2"
    capabilities = Capabilities(dtypes=("f16",))
    run = staticmethod(right)
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "library.py"
    file.write_text(LIBRARY, encoding="utf-8")
    return file


def vector_of(suite: Suite, op: str, *, reject: str | None = None, dtype: str = "f32") -> Vector:
    entries = suite.manifest.vectors
    (entry,) = (e for e in entries if (e.op, e.reject, e.dtype) == (op, reject, dtype))
    return suite.read(entry)


def show(suite: Suite, vector: Vector, backend: str, *more: str) -> Result:
    words = ["show", vector.id, "--suite", str(suite.path), "--backend", backend, *more]
    return CliRunner().invoke(main, words, env={"COLUMNS": "100"})


def answer(suite: Suite, vector: Vector, backend: str, *more: str) -> str:
    """What stands below the question."""
    found = show(suite, vector, backend, *more)
    assert found.exit_code == 0, found.output
    return found.stdout.partition("\n\n")[2]


def flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def said(text: str, name: str) -> str:
    """The rest of the one line that begins with a word."""
    (line,) = (line for line in text.splitlines() if line.split()[:1] == [name])
    return " ".join(line.split()[1:])


def test_a_right_answer_says_so(small_suite: Suite, library: Path) -> None:
    vector = vector_of(small_suite, "AvgPool-1")
    text = answer(small_suite, vector, f"{library}:right")
    verdict = "right unversioned passes at level must and precision standard"
    assert flat(text) == f"{verdict}; it reaches precision exact"


def test_a_wrong_answer_with_its_window(small_suite: Suite, library: Path) -> None:
    vector = vector_of(small_suite, "AvgPool-1")
    text = answer(small_suite, vector, f"{library}:wrong")
    assert "wrong unversioned fails at level must and precision standard" in text
    last = vector.answers[0].expected.shape[-1] - 1
    row = next(line for line in text.splitlines() if line.split()[:1] == [f"0,0,{last},{last}"])
    (result,) = outputs(find_spec("AvgPool-1"), vector.inputs, vector.case.attributes)
    expected = result[0, 0, -1, -1]
    got = np.float32(expected) + 1
    steps = int(got.view(np.int32)) - int(np.float32(expected).view(np.int32))
    assert row.split()[-3:] == [str(got), f"{steps:,}", "ULP"]
    # One tap of nine is on data: the window begins at the last element and overhangs.
    assert "1 element read, 8 positions outside." in text
    first = " ".join(f"{value:g}" for value in vector.inputs[0][0, 0, 3, :3])
    assert said(text, "3") == f"{first} [{vector.inputs[0][0, 0, 3, 3]:g}] [.] [.]"
    assert said(text, "got") == f"{got!s} ({steps:,} ULP, wrong at standard)"


@pytest.mark.exhaustive
def test_what_is_expected_is_that_of_the_closest_reading(small_suite: Suite, library: Path) -> None:
    vector = vector_of(small_suite, "AvgPool-1")
    text = answer(small_suite, vector, f"{library}:clipping")
    assert "by the allowed interpretation clip-divisor; it reaches precision exact" in " ".join(
        text.split()
    )
    strict = answer(small_suite, vector, f"{library}:clipping", "--level", "should")
    assert "follows interpretation clip-divisor, which level should excludes" in " ".join(
        strict.split()
    )
    assert said(strict, "expected") == "0.8888888888888888"
    element = answer(small_suite, vector, f"{library}:clipping", "--element", "0,0,2,2")
    assert said(element, "expected") == "2.0"
    assert "result, by interpretation clip-divisor" in element
    assert said(element, "got").endswith("accepted at standard)")
    assert "as specified" in element


def test_indices_have_no_distance(small_suite: Suite, library: Path) -> None:
    vector = vector_of(small_suite, "AdaptiveMaxPool-8")
    text = answer(small_suite, vector, f"{library}:wrong")
    last = ",".join(str(n - 1) for n in vector.answers[1].expected.shape)
    row = next(line for line in text.splitlines() if line.split()[:1] == [last])
    assert row.split()[-1] == str(vector.answers[1].expected.reshape(-1)[-1] + 100)
    got = [" ".join(line.split()) for line in text.splitlines() if line.split()[:1] == ["got"]]
    assert got[0].endswith("(0 ULP, accepted at standard)")
    assert got[1].endswith("(wrong at standard)")


@pytest.mark.parametrize(
    ("backend", "op", "reject", "message"),
    [
        ("accepting", "AvgPool-1", "zero-stride", "fails at level must and precision standard: "
         "accepted, but zero-stride must be rejected"),
        ("right", "AvgPool-1", "zero-stride", "it rejects the case, as it must (InvalidCase: "),
        ("transposed", "AdaptiveAvgPool-8", None, "ends in an error at level must and precision "
         "standard: result: shape (4, 2, 1) instead of (1, 2, 4)"),
        ("nothing", "AvgPool-1", None, "returned NoneType, not a list of arrays"),
        ("accepting", "AdaptiveMaxPool-8", None, "returned 1 outputs instead of 2"),
        ("raising", "AvgPool-1", None, "RuntimeError: ?[31mred? second line"),
        ("Narrow", "AvgPool-1", None, "nar\\x1brow 1 2 does not support this vector at level must "
         "and precision standard: f32 is not among the declared types"),
        ("right", "AvgPool-1", "empty-batch", "is not tested at level must and precision standard: "
         "a vector of level should is not tested"),
    ],
)  # fmt: skip
def test_what_has_no_elements_to_compare(
    small_suite: Suite, library: Path, backend: str, op: str, reject: str | None, message: str
) -> None:
    vector = vector_of(small_suite, op, reject=reject)
    text = answer(small_suite, vector, f"{library}:{backend}")
    assert message in flat(text)
    assert all(c.isprintable() or c == "\n" for c in text)


def test_a_precision_that_is_not_reached(small_suite: Suite) -> None:
    vector = vector_of(small_suite, "AdaptiveAvgPool-8", dtype="f64")
    text = answer(small_suite, vector, "numpy", "--precision", "exact")
    result = answer(small_suite, vector, "numpy")
    reached = result.split()[-1]
    assert ("passes" in text) == (reached == "exact")
    assert "at level must and precision exact" in flat(text)


def test_few_or_all_wrong_elements(small_suite: Suite, tmp_path: Path) -> None:
    from conformance.model import Case
    from conformance.specification import build
    from conformance.suite.writer import write_suite

    case = Case(
        op="AdaptiveAvgPool-8",
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 61)},
        attributes={},
        operands={"output_size": (60,)},
    )
    vector = build(find_spec(case.op), case)
    suite = write_suite(tmp_path / "long", [(vector, ("core",))], name="long", seed=0, versions={})
    file = tmp_path / "zeros.py"
    file.write_text("import numpy as np\ndef run(op, inputs, attributes):\n"
                    "    return [np.zeros((1, 1, 60), np.float32)]\n")  # fmt: skip
    few, every = answer(suite, vector, str(file)), answer(suite, vector, str(file), "--all")
    assert "... and 36 more" in few
    assert sum(line.strip().startswith("0,0,") for line in few.splitlines()) == 24
    assert sum(line.strip().startswith("0,0,") for line in every.splitlines()) == 60


def test_a_backend_that_is_not_there(small_suite: Suite) -> None:
    found = show(small_suite, vector_of(small_suite, "AvgPool-1"), "opnvino")
    assert found.exit_code == 2
    assert "did you mean 'openvino'" in found.stderr
