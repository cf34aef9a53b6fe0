"""What ``conformance spec lint`` finds by drawing cases."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner
from spec_examples import EXAMPLE, place, spoiled

from conformance.cli.spec import spec as spec_group
from conformance.errors import Problem
from conformance.generate.sampled_lint import lint
from conformance.spec.loader import load_spec, load_spec_text, shipped_specs

BEGINS_BEFORE = (
    ("start: i * block", "start: (i - 1) * block"),
    ("divisor: prod(on_data)}", "divisor: prod(taps)}"),
)
"""The first window lies before the data."""


def problems(*changes: tuple[str, str]) -> tuple[str, tuple[Problem, ...]]:
    text = spoiled(*changes)
    return text, lint(load_spec_text(text, "BlockMean-1.yaml"))


@pytest.fixture
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "z3" else found(name)
    )


# The quick ones of each kind; .ci/run checks all with "conformance spec lint".
@pytest.mark.parametrize("op", ["AdaptiveMaxPool-8", "MaxPool-14", "AvgPool-1"])
def test_shipped_specifications_are_clean(op: str) -> None:
    assert lint(shipped_specs()[op]) == ()


def test_the_documented_example_is_clean() -> None:
    assert lint(load_spec_text(EXAMPLE, "BlockMean-1.yaml")) == ()


class TestZeroDivisor:
    def test_is_asked_for_where_a_divisor_can_be_zero(self) -> None:
        divisor = ("divisor: prod(taps)\n", "divisor: prod(on_data)\n")
        text, (problem,) = problems(*BEGINS_BEFORE, divisor)
        assert (problem.line, problem.column) == place(text, divisor[1], "divisor")
        assert "divisor == 0" in problem.message
        assert "'zero_divisor: one' is assumed" in problem.message
        assert "write 'zero_divisor' under 'rules', divides or one" in problem.hint

    @pytest.mark.parametrize(
        "rules",
        [
            "divisor: prod(on_data)\n  zero_divisor: one\n",
            "divisor: prod(on_data)\n  zero_divisor: divides\n",
            "divisor: prod(on_data)\n  open: prod(on_data) == 0\n",
            "divisor: max(1, prod(on_data))\n",
        ],
    )
    def test_is_not_where_it_is_given_or_decides_nothing(self, rules: str) -> None:
        _, found = problems(*BEGINS_BEFORE, ("divisor: prod(taps)\n", rules))
        assert "zero_divisor" not in " ".join(map(str, found))

    def test_does_not_matter_to_integers(self) -> None:
        changes = (*BEGINS_BEFORE, ("divisor: prod(taps)\n", "divisor: prod(on_data)\n"))
        assert problems(*changes, ("T: [f16, f32]", "T: [i32]"))[1] == ()


class TestTargets:
    def test_that_contradicts_the_conditions_is_named_with_its_line(self) -> None:
        text, (problem,) = problems(("when: N > 1", "when: N > 1 and any(block > size)"))
        assert (problem.line, problem.column) == place(text, "batch: {when")
        assert problem.message == "no case meets 'batch': it contradicts require block-fits"

    def test_that_data_never_meet(self) -> None:
        _, (problem,) = problems(("when: N > 1", "when: N > 1 and somewhere(nan_taps > 0)"))
        assert problem.message.startswith("no case meets 'batch': it contradicts data nan_taps")

    def test_without_a_proof_it_is_said_in_how_many_tries(self, without_z3: None) -> None:
        _, (problem,) = problems(("when: N > 1", "when: N > 1 and N < 1"))
        assert "no case that meets 'batch' was found, in " in problem.message
        assert int(problem.message.split(" in ")[1].split()[0]) > 500
        assert problem.message.endswith("it is not proven impossible")

    def test_that_only_the_solver_finds_a_case_of_is_none(self) -> None:
        assert problems(("when: N > 1", "when: N > 1 and C == 77"))[1] == ()

    def test_that_is_inherited_may_be_excluded(self) -> None:
        """torch.max_pool inherits one of MaxPool-1 that its limit of the padding excludes."""
        spec = shipped_specs()["torch.max_pool-2"]
        at = {key: spec.positions["edges", "empty", *key][0] for key in ((), ("when",))}
        assert Path(at[()]).stem == spec.op
        assert Path(at["when",]).stem == "MaxPool-1"
        assert "empty" not in " ".join(problem.message for problem in lint(spec))


class TestNegativeTests:
    @pytest.mark.parametrize(
        ("old", "new", "name", "message"),
        [
            (
                "{block: 0}",
                "{block: 1}",
                "block-zero",
                "'block-zero' should break only 'block.min' at rank 3, but no case breaks it",
            ),
            (
                "rank: 2,",
                "rank: 4,",
                "rank-2",
                "'rank-2' should break only 'rank' at rank 4, but no case breaks it",
            ),
            (
                "{block: size + 1}",
                "{block: -size}",
                "block-too-large",
                "'block-too-large' should break only 'block-fits' at rank 3, but cases also break "
                "'block.min'",
            ),
        ],
    )
    def test_that_does_not_break_its_condition_alone(
        self, old: str, new: str, name: str, message: str
    ) -> None:
        text, (problem,) = problems((old, new))
        assert (problem.line, problem.column) == place(text, f"{name}: {{")
        assert problem.message == message
        assert problem.hint

    def test_that_is_inherited_though_the_dialect_allows_its_value(self, tmp_path: Path) -> None:
        """MaxPool-14 has such an attribute, and removes the negative test."""
        file = tmp_path / "Wider-1.yaml"
        text = (
            "format: 1\nop: Wider-1\nextends: MaxPool-8\n"
            "document: {title: A, url: https://example.org}\n"
            "attributes:\n  rounding_type: {values: [floor, ceil, ceil_torch]}\n"
        )
        file.write_text(text)
        (problem,) = lint(load_spec(file))
        assert (problem.file, problem.line, problem.column) == (
            str(file),
            *place(text, "rounding_type: {"),
        )
        inherited = shipped_specs()["MaxPool-8"].positions["reject", "ceil-torch"]
        assert problem.message == (
            "'ceil-torch' should break only 'rounding_type.values' at rank 4, but no case breaks "
            f"it: it is inherited from {inherited[0]}:{inherited[1]}"
        )
        assert problem.hint == (
            "if it is legal here, remove it: 'ceil-torch:' without a value under 'reject'; "
            "otherwise give it another 'set' there"
        )
        file.write_text(text + "reject:\n  ceil-torch:\n")
        assert lint(load_spec(file)) == ()


def test_conditions_that_nothing_meets_are_named_with_their_line(tmp_path: Path) -> None:
    text = spoiled(("that: block <= size", "that: block <= size and any(block > size)"))
    file = tmp_path / "BlockMean-1.yaml"
    file.write_text(text)
    result = CliRunner().invoke(spec_group, ["lint", str(file)])
    assert result.exit_code == 2
    line, column = place(text, "block-fits: {that")
    first = result.output.splitlines()[0]
    assert first.startswith(f"{file}:{line}:{column}: no valid case of BlockMean-1 was found: 'bl")


def test_bounds_without_a_value_are_a_problem() -> None:
    _, (problem,) = problems(("max: 3 * block}", "max: 3 // (block - block)}"))
    assert problem.message.startswith("cases cannot be drawn: ")
    assert problem.hint
