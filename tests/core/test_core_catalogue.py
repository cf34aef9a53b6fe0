"""The catalogue of known bugs of definitions: which operators have one, and that cases show it."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import tiers
from core_draws import drawn

from conformance.core.catalogue import catalogue_mutants, left_out, load_catalogue_text
from conformance.core.data import inputs_of
from conformance.core.implementation import Implementation
from conformance.core.kills import implementation_of, is_killed
from conformance.core.loader import load_operator, shipped_names
from conformance.core.mutant_changes import HabitChange, PathChange, TextChange
from conformance.core.operator_reader import read_operator
from conformance.core.subject import Subject
from conformance.errors import SpecError
from conformance.generate.pool import drawn_pool
from conformance.model import Case
from conformance.resources import directory
from conformance.spec.catalogue import StatedEquivalence, Why
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

FILES = sorted((directory("specs") / "faults").glob("*.yaml"))
LATEST = (
    "Convolution-1",
    "GroupConvolution-1",
    "MatMul-1",
    "onnx.Conv-22",
    "onnx.ConvTranspose-22",
    "onnx.Gemm-13",
    "onnx.MatMul-13",
)
HEAD = "format: 1\nkind: trial\nabout: Trial.\nlook: Nowhere.\nfaults:\n"


@cache
def shown(op: str) -> frozenset[str]:
    """The mutants of the catalogue that drawn cases of an operator kill."""
    operator = load_operator(op)
    left = list(catalogue_mutants(operator))
    for case in chain(drawn(op, 150), drawn_pool(operator, 1, 300)):
        here = Subject(operator, case, inputs_of(operator, case))
        left = [mutant for mutant in left if not is_killed(here, mutant)]
    return frozenset(m.id for m in catalogue_mutants(operator)) - {m.id for m in left}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_sound(path: Path) -> None:
    mutants = load_catalogue_text(path.read_text("utf-8"), path.name)
    assert {mutant.kind for mutant in mutants} == {path.stem}


@pytest.mark.parametrize("op", tiers.first(LATEST))
def test_drawn_cases_show_twenty_at_least(op: str) -> None:
    assert len(shown(op)) >= 20


@pytest.mark.exhaustive
def test_each_mutant_is_shown_for_some_operator() -> None:
    operators = [*map(load_operator, shipped_names())]
    mutants = [m for operator in operators for m in catalogue_mutants(operator)]
    every = {m.id for m in mutants if not m.equivalent and not m.stated_equivalences}
    recorded = [read_recorded_cases(recorded_cases_file(o.op)).recorded for o in operators]
    killed = {name for entries in recorded for entry in entries for name in entry.kills}
    left = every - killed
    for op in LATEST:
        left = left - shown(op) if left else left
    assert left == set()


def test_the_documented_entries_are_for_operators() -> None:
    document = Path(__file__).parents[2] / "docs" / "fault-format.md"
    (example,) = re.findall(r"```yaml\nfaults:\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    ids = {(m.op, m.id) for m in load_catalogue_text(HEAD + example)}
    assert {
        ("onnx.Conv-22", "same-pad-ignores-dilation"),
        ("MatMul-1", "depth-tail-left-out-8"),
    } <= ids


def test_of_what_is_left_out_there_is_a_reason() -> None:
    reasons = {reason.id: reason for reason in left_out(load_operator("onnx.MatMul-13"))}
    assert reasons["output-padding-dropped"].why is Why.LACKS
    assert reasons["output-padding-dropped"].of == "let.full"
    assert str(reasons["kernel-reversed"].error).startswith("onnx.MatMul-13 has no 'tap'")
    assert "depth-tail-left-out-8" not in reasons


def test_one_entry_is_for_every_operator_that_has_the_roles() -> None:
    changes = {
        op: next(
            m.change
            for m in catalogue_mutants(load_operator(op))
            if m.id == "depth-tail-left-out-8"
        )
        for op in ("onnx.Conv-22", "MatMul-1")
    }
    assert [c.index for c in changes.values() if isinstance(c, PathChange)] == ["c", "k"]


def result(op: str, mutant: str, case: Case, *inputs: np.ndarray) -> list[float]:
    """The elements that an operator gives with a mutant of the catalogue."""
    operator = load_operator(op)
    change = next(m.change for m in catalogue_mutants(operator) if m.id == mutant)
    assert isinstance(change, TextChange | PathChange | HabitChange)
    here = Subject(operator, case, [*inputs, *[None] * (len(operator.inputs) - len(inputs))])
    (output,) = here.under(Implementation(operator, change))
    return list(output.ravel().tolist())


def test_the_product_of_a_public_report() -> None:
    # https://github.com/microsoft/onnxruntime/issues/20030: [17, 23, 39, 53] is right.
    a, b = np.float32([[1, 2], [3, 4]]), np.float32([[5, 7], [6, 8]])
    case = Case("onnx.MatMul-13", {"T": "f32"}, {"A": (2, 2), "B": (2, 2)}, {})
    assert result(case.op, "packed-stride-mismatch", case, a, b) == [5, 7, 15, 21]


def test_the_padding_of_a_public_report() -> None:
    # https://github.com/tensorflow/tflite-micro/issues/2319: 8 elements, 3 taps, 2 apart.
    x, w = np.ones((1, 1, 8), np.float32), np.ones((1, 1, 3), np.float32)
    attributes = {"auto_pad": "SAME_UPPER", "dilations": [2]}
    case = Case("onnx.Conv-22", {"T": "f32"}, {"X": x.shape, "W": w.shape}, attributes)
    assert result(case.op, "same-pad-ignores-dilation", case, x, w) == [2, 3, 3, 3, 3, 2]


TRIAL = """op: Trial-1
types: {T: [f32, f64]}
dims: {N: {}, K: {}}
roles: {inner: k}
inputs: [{name: X, type: T, shape: [N, K]}]
define:
  Y: {at: {n: N}, over: {k: K}, term: "X[n, k]", combine: sum}
  Z: {at: {n: N}, over: {k: K}, term: "X[n, k]", combine: max, finish: total + 1}
outputs: [{name: Y, type: T}, {name: Z, type: T}]
"""


def of_trial(entry: str) -> list[list[float]]:
    """The outputs that an entry leaves of 1, 2; 3, 4."""
    operator = read_operator(TRIAL)
    (mutant,) = load_catalogue_text(f"{HEAD}  x:\n    says: S.\n{entry}\n", "x.yaml", (operator,))
    case = Case("Trial-1", {"T": "f32"}, {"X": (2, 2)}, {})
    subject = Subject(operator, case, [np.float32([[1, 2], [3, 4]])])
    return [output.tolist() for output in subject.under(implementation_of(operator, mutant))]


@pytest.mark.parametrize(
    ("entry", "outputs"),
    [
        # Every output, the elements named only; there was no condition to keep a term.
        ("    change: {define.*.finish: 0}\n    elements: n == 1", [[3, 0], [3, 0]]),
        ("    change: {define.*.keep: original and inner > 0}", [[2, 4], [3, 5]]),
        (
            "    change: {define.Y.finish: {total: total + 1}}\n    elements: n == 0",
            [[4, 7], [3, 5]],
        ),
        # Also what only some operators have; here the first output has no 1.
        (
            "    change: {define.Y.finish: 0, define.Z.finish~: {1: 2}, let.a~: 1}",
            [[0, 0], [4, 6]],
        ),
        ("    change: {define.Y.finish: 0}\n    where: T == f32", [[0, 0], [3, 5]]),
        ("    change: {define.Y.finish: 0}\n    where: T == f64", [[3, 7], [3, 5]]),
        (
            "    change: {define.Y.finish: 0}\n    only: {roles: [inner], lacks: [outer]}",
            [[0, 0], [3, 5]],
        ),
        ("    change: {define.Y.finish: 0}\n    only: {combine: sum}", [[0, 0], [3, 5]]),
    ],
)
def test_an_entry_says_which_cases_and_elements_it_is_of(
    entry: str, outputs: list[list[float]]
) -> None:
    assert of_trial(entry) == outputs


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("roles: [outer]", "Trial-1 has no 'outer'"),
        ("lacks: [inner]", "Trial-1 has 'inner'"),
        ("combine: max", "Trial-1 combines by sum"),
    ],
)
def test_an_entry_says_which_operators_it_is_of(limit: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        of_trial(f"    change: {{define.Y.finish: 0}}\n    only: {{{limit}}}")


def test_an_entry_says_why_no_case_can_kill_it() -> None:
    entry = """  x-{k}:
    each: {k: {"0": 0, "1": 1}}
    says: S.
    change: {define.Y.finish: "{k}"}
    equivalent: {x-0: It is.}
    stated: [{types: [f64], of: [Trial], why: None is drawn.}, {ranks: [3], of: [x-0], why: No.}]
"""
    first, second = load_catalogue_text(HEAD + entry, "x.yaml", (read_operator(TRIAL),))
    assert (first.equivalent, second.equivalent) == ("It is.", "")
    none_is_drawn = StatedEquivalence("None is drawn.", types=("f64",))
    assert second.stated_equivalences == (none_is_drawn,)
    assert first.stated_equivalences == (none_is_drawn, StatedEquivalence("No.", ranks=(3,)))


@pytest.mark.parametrize(
    ("role", "line", "column", "message"),
    [
        ("depth: j", 4, 17, "unknown name 'j'"),
        ("depth: k +", 4, 20, "this is no expression (invalid syntax)"),
        ("2k: k", 4, 10, "'2k' cannot be a name here"),
        ("depth: [k]", 4, 17, "a list is not allowed here"),
    ],
)
def test_roles_that_name_nothing_are_refused(
    role: str, line: int, column: int, message: str
) -> None:
    text = f"""op: Trial-1
types: {{T: [f32]}}
dims: {{K: {{}}}}
roles: {{ {role}}}
inputs: [{{name: X, type: T, shape: [K]}}]
define: {{Y: {{at: {{}}, over: {{k: K}}, term: "X[k]", combine: sum}}}}
outputs: [{{name: Y, type: T}}]
"""
    with pytest.raises(SpecError) as caught:
        read_operator(text, "trial.yaml")
    assert [(p.line, p.column, p.message) for p in caught.value.problems] == [
        (line, column, message)
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("  x:\n    says: S.\n", 6, 3, "here are 0 of them"),
        (
            "  x:\n    says: S.\n    change: {let.out: 1}\n    colour: red\n",
            9,
            5,
            "'colour' is not known here",
        ),
        ("  x:\n    says: S.\n    change: {let.out: 1 +}\n", 8, 26, "invalid syntax"),
        ("  x:\n    says: S.\n    change: {let.out: depht}\n", 6, 3, "has no 'depht'"),
        ("  x:\n    says: S.\n    change: {let.nowhere: 1}\n", 6, 3, "has no 'let.nowhere'"),
        ("  x:\n    says: S.\n    machine: {sums: f12}\n", 8, 21, "no element type 'f12'"),
        (
            "  x:\n    says: S.\n    path: {index: nothing, block: 4, gives: zero}\n",
            6,
            3,
            "has no index 'nothing'",
        ),
        (
            "  x:\n    says: S.\n    path: {index: row, block: 0, gives: zero}\n",
            8,
            31,
            "the number is at least 1",
        ),
        (
            "  x:\n    says: S.\n    path: {index: row, block: '{b}', gives: zero}\n",
            6,
            3,
            "'each' does not give every {name}",
        ),
        ("  x:\n    says: S.\n    where: 1 <\n    change: {let.out: 1}\n", 8, 15, "invalid syntax"),
        (
            "  x:\n    says: S.\n    elements: 1 <\n    change: {let.out: 1}\n",
            8,
            18,
            "invalid syntax",
        ),
        (
            "  x:\n    says: S.\n    machine: {flushes: true}\n    elements: n == 0\n",
            9,
            5,
            "'elements' needs 'change'",
        ),
        (
            "  x:\n    says: S.\n    change: {let.out: 1}\n    only: {lacks: [out]}\n",
            6,
            3,
            "no shipped operator can have this mutant",
        ),
    ],
)
def test_hostile_files_are_refused_by_line_and_column(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        load_catalogue_text(HEAD + text, "trial.yaml")
    problems = {(p.line, p.column): p.message for p in caught.value.problems}
    assert message in problems[line, column]
