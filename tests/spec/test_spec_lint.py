"""What ``conformance spec lint`` finds beyond what keeps a file from loading."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from spec_examples import EXAMPLE, place, spoiled

from conformance.cli.spec import spec as spec_group
from conformance.core.loader import shipped_names
from conformance.spec.lint import lint, untested_conditions
from conformance.spec.loader import load_spec_text, shipped_specs


def run(*arguments: str) -> Result:
    return CliRunner().invoke(spec_group, ["lint", *arguments])


@pytest.mark.parametrize("op", shipped_specs())
def test_shipped_specifications_are_clean(op: str) -> None:
    assert lint(shipped_specs()[op]) == ()
    assert untested_conditions(shipped_specs()[op]) == {}


def test_the_documented_example_is_clean() -> None:
    assert lint(load_spec_text(EXAMPLE, "BlockMean-1.yaml")) == ()


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("op: BlockMean-1", "op: BlockMean-2", "op:", "the file is called 'BlockMean-1'"),
        (
            "  rest: size % block",
            "  rest: size % block\n  more: rest",
            "more",
            "nothing uses 'more'",
        ),
        (
            "prod(on_data)}",
            "prod(taps)}",
            "divisor: prod(taps)}",
            "'divisor' is replaced by itself",
        ),
        ('"ceil_div(size, block)"', "original", "out: original", "'out' is replaced by itself"),
        (
            "sign of a mean of -0 alone",
            "elements that fill no block",
            "zero-mean",
            "same question as",
        ),
        (
            "answer: a smaller block",
            "answer: left out",
            "answer: left",
            "the expected one (adopted)",
        ),
        (
            "any(rest > 0), why: The last",
            "all(rest == 0), why: The last",
            "rest: {when: all(rest == 0), why: The last",
            "as 'no-",
        ),
        ("when: N > 1", "when: 2 > 1", "batch: {", "the same for every case"),
        ("when: N > 1", "when: C > 2", "N: {min", "no coverage target (edge) depends on 'N'"),
        ("draw: {max: 4}", "draw: {min: 0}", "draw: {min: 0}", "below its minimum 1"),
        ("draw: {max: 4}", "max: 3, draw: {max: 4}", "draw: {max: 4}", "above its maximum 3"),
        ("draw: {max: 4}", "draw: {values: [0, 2]}", "draw: {values", "below its minimum 1"),
        ("draw: {min: 1, max: 3}", "draw: {min: 3, max: 1}", "draw: {min: 3", "between 3 and 1"),
        ("block: {min: 2}, size", "block: 0, size", "aim: {block: 0", "below its minimum 1"),
        (
            "why: More than one image.",
            "why: More than one image., common: More than one image.",
            "common: More",
            "only repeats what the target is",
        ),
        (
            "why: More than one image.}\n  channels: {when: C > 1, why: More than one channel.",
            "why: More than one image., common: All.}\n"
            "  channels: {when: C > 1, why: More than one channel., common: Most.",
            "common: Most",
            "2 of 5 coverage targets are marked as common",
        ),
        ("breaks: rank,", "level: should, breaks: rank,", "rank-2", "at level must, this case at"),
        ("rank: 2,", "rank: 2, ranks: [5],", "rank-2", "rank 5 is not a rank of the data"),
    ],
)
def test_one_finding(old: str, new: str, at: str, message: str) -> None:
    text = spoiled((old, new))
    (problem,) = [p for p in lint(load_spec_text(text, "BlockMean-1.yaml")) if message in p.message]
    assert (problem.line, problem.column) == place(text, at)
    assert problem.hint


@pytest.mark.parametrize(
    ("condition", "at"), [("block-fits", "block-fits: {that"), ("rank", "inputs:")]
)
def test_a_condition_without_a_negative_test(condition: str, at: str) -> None:
    text = spoiled((f"breaks: {condition},", "breaks: block.min,"))
    found = untested_conditions(load_spec_text(text, "BlockMean-1.yaml"))
    assert list(found) == [condition]
    assert (found[condition].line, found[condition].column) == place(text, at)
    assert f"breaks: {condition}" in found[condition].hint


def test_what_is_to_do_is_apart_from_problems_and_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "BlockMean-1.yaml"
    file.write_text(EXAMPLE[: EXAMPLE.index("reject:")])
    result = run(str(file))
    assert result.exit_code == 2
    (line,) = [one for one in result.output.splitlines() if "no negative test" in one]
    conditions = "block.length, block.min, rank, block-fits"
    assert line == f"{file}:11:3: to do: 4 conditions have no negative test: {conditions}"
    assert result.output.splitlines()[-1] == f"{file}: 4 negative tests to do"


@pytest.mark.exhaustive
def test_the_command_checks_what_is_shipped() -> None:
    result = run()
    assert result.exit_code == 0
    said = [line.split(": ")[1].split(",")[0] for line in result.output.splitlines()]
    assert said == ["ok"] * (len(shipped_specs()) + len(shipped_names()))


def test_the_command_shows_every_file_and_every_problem(tmp_path: Path) -> None:
    good, odd, bad = (tmp_path / name / "BlockMean-1.yaml" for name in ("good", "odd", "bad"))
    for path, text in (
        (good, EXAMPLE),
        (odd, spoiled(("when: N > 1", "when: C > 2"))),
        (
            bad,
            spoiled(("rest: size % block", "rest: size % blok"), ("reduce: mean", "reduce: men")),
        ),
    ):
        path.parent.mkdir()
        path.write_text(text)
    result = run(*map(str, (good, odd, bad)))
    assert result.exit_code == 2
    lines = result.output.splitlines()
    assert f"{good}: ok, 5 coverage targets, 4 negative tests, 1 interpretations" in lines
    assert f"{odd}:14:3: no coverage target (edge) depends on 'N'" in lines
    assert f"{odd}: 1 problem" in lines
    assert f"{bad}:22:16: unknown name 'blok'" in lines
    assert "    hint: did you mean 'block'?" in lines
    assert lines[-1] == f"{bad}: 2 problems"


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.yaml"))
    assert result.exit_code == 2
    assert "none.yaml: no such file" in result.output


def test_help_shows_examples() -> None:
    result = run("--help")
    assert "conformance spec lint specs/MyOp-1.yaml" in result.output
    assert "docs/spec-format.md" in result.output
