"""Specification files: what loads, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from spec_examples import EXAMPLE, place, spoiled

from conformance.core.operator_reader import read_operator
from conformance.errors import Problem, SpecError, UsageError
from conformance.model import Case
from conformance.spec.yaml_reader import MAX_BYTES, parse_yaml
from conformance.specification import (
    case_in_a_line,
    find_spec,
    load_whole,
    shipped_specs,
    violations,
)


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as caught:
        read_operator(text, "spec.yaml")
    with pytest.raises(SpecError) as again:  # what is kept of a file is not spoiled by judging it
        read_operator(text, "spec.yaml")
    assert again.value.problems == caught.value.problems
    return caught.value.problems


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"),
    [
        ("types: {T", "typs: {T", "typs", "'typs' is not known here", "'types'"),
        ("T: [f16, f32]", "T: [f16, f3]", "f3]", "'f3' is not allowed here", "'f32'"),
        ("T: [f16, f32]", "T: []", "[]", "the list needs at least 1", ""),
        ("T: [f16, f32]", "T: [f16, f16]", "[f16", "given twice", ""),
        ("min: 1", "min: [1]", "[1]", "a list is not allowed here", ""),
        ("summary: The mean of", "summary:\nfamily: ", "family", "'family' is not known here", ""),
        ("block-fits:", "Block fits:", "Block", "'Block fits' cannot be a name here", ""),
        ("combine: sum", "combine: som", "som", "'som' is not allowed here", "'sum'"),
        ("rest: size % block", "rest: size % blok", "blok", "unknown name 'blok'", "'block'"),
        ("rest: size % block", "rest: rest + block", "rest + b", "unknown name 'rest'", ""),
        ("rest: size % block", "rest: size / / block", "/ block", "no expression", ""),
        ("type: T, shape", "type: U, shape", "U,", "'U' is not a type", ""),
        ("result, type: T}", "result, type: block}", "block}", "is not a type", ""),
        ("[ramp, normal]", "[rump]", "rump", "'rump' is no pattern of data", "'ramp'"),
        ("rank: [3, 4]", "rank: [4, 3]", "[4, 3]", "the least rank is larger", ""),
        ("where: rest > 0", "where: rest", "rest", "this is a whole number", "> 0"),
        ("when: all(rest == 0)", "when: rest == 0", "rest == 0", "each axis", "all(...)"),
        ("why: The document does", "wy: The document does", "wy", "'wy' is not known", "'why'"),
    ],
)
def test_one_problem(old: str, new: str, at: str, message: str, hint: str) -> None:
    text = spoiled((old, new))
    (problem,) = [p for p in problems_of(text) if message in p.message]
    assert (problem.line, problem.column) == place(text, new, at)
    assert hint in problem.hint
    assert problem.file == "spec.yaml"


def test_names_in_a_circle_are_unknown() -> None:
    text = spoiled(("  rest: size % block", "  rest: one\n  one: two + size\n  two: rest * 2"))
    assert {problem.line for problem in problems_of(text)} <= {14, 15, 16}


def test_all_problems_at_once_and_none_twice() -> None:
    found = problems_of(
        spoiled(
            ("min: 1", "mn: 1"),
            ("combine: sum", "combine: sam"),
            ("finish: total / prod(block)", "finsh: 1"),
        )
    )
    assert [p.message for p in found] == [
        "'mn' is not known here",
        "'sam' is not allowed here",
        "'finsh' is not known here",
    ]
    found = problems_of(
        spoiled(("size % block", "size % axess"), ("block <= size", "block <= sze"))
    )
    assert {p.message for p in found} >= {"unknown name 'axess'", "unknown name 'sze'"}
    assert [(p.line, p.column) for p in found] == sorted({(p.line, p.column) for p in found})


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: &x [1, 2]\nb: *x\n", (1, 4), "anchors"),
        ("a: *x\n", (1, 4), "anchors"),
        ("a: !!python/object/apply:os.system [ls]\n", (1, 4), "tags"),
        ("a: !!binary aGVsbG8=\n", (1, 4), "tags"),
        ("a: 1\nb: [2\n", (3, 1), "not YAML"),
        ("a: b: c\n", (1, 5), "not YAML"),
        ("a: 1\n---\nb: 2\n", (2, 1), "second document"),
        ("a: \t1\n", (1, 4), "not YAML"),
        ("? [1, 2]\n: 3\n", (1, 3), "a key is one word"),
        ("a: 1\nb: \x07\n", (2, 4), "'\\x07' is not allowed"),
        ("", (1, 1), "empty"),
        ("# nothing\n", (1, 1), "empty"),
        ("- 1\n", (1, 1), "a list is not allowed here"),
        ("[" * 40 + "]" * 40, (1, 22), "nested more than 20"),
        ("{a: " * 40 + "}" * 40, (1, 85), "nested more than 20"),
        ("a: " + "x" * MAX_BYTES, (1, 1), "too large"),
    ],
)
def test_yaml(text: str, place: tuple[int, int], message: str) -> None:
    first = problems_of(text)[0]
    assert message in str(first)
    assert (first.line, first.column) == place


def test_a_yaml_bomb_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12)]
    (problem,) = problems_of("\n".join(lines))
    assert (problem.line, problem.column) == (1, 5)


def test_a_repeated_key_names_the_first() -> None:
    text = spoiled(("    combine: sum", "    combine: sum\n    combine: max"))
    (problem,) = problems_of(text)
    assert problem.message == "'combine' is given twice"
    assert (problem.line, problem.column) == place(text, "    combine: max\n", "combine")
    assert problem.hint == f"first in line {problem.line - 1}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("yes", "yes"),
        ("off", "off"),
        ("True", "True"),
        ("12", 12),
        ("-3", -3),
        ("010", "010"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", "1.5"),
        ("--5", "--5"),
        ("9" * 30, "9" * 30),
        ('"12"', "12"),
        ("2020-01-01", "2020-01-01"),
        ("~", None),
        ("", None),
    ],
)
def test_scalars_mean_the_same_to_every_reader(written: str, value: object) -> None:
    found = parse_yaml(f"a: {written}\n", "x").data["a"]
    assert found == value
    assert type(found) is type(value)


def test_an_expression_over_several_lines_is_placed_at_its_start() -> None:
    text = spoiled(("rest: size % block", "rest:\n    size\n    % blok"))
    (problem,) = [one for one in problems_of(text) if "blok" in one.message]
    assert (problem.line, problem.column) == place(text, "    size\n", "size")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "own.BlockMean-1.yaml"
    path.write_text(EXAMPLE)
    assert find_spec(str(path)).op == "own.BlockMean-1"
    assert find_spec(str(path)).data == load_whole(EXAMPLE, str(path)).data
    path.write_bytes(b"op: \xff")
    with pytest.raises(SpecError, match="not UTF-8"):
        find_spec(str(path))
    with pytest.raises(SpecError, match=r"missing\.yaml: no such file$"):
        find_spec(str(tmp_path / "missing.yaml"))


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    base, path = tmp_path / "own.BlockMean-1.yaml", tmp_path / "own.BlockMean-2.yaml"
    base.write_text(EXAMPLE)
    path.write_text("op: own.BlockMean-2\nextends: own.BlockMean-1\nsummary: A\n")
    assert find_spec(str(path)).data["let"] == {"rest": "size % block"}
    base.write_text(EXAMPLE.replace("rest: size % block", "rest: size % block + 0"))
    assert find_spec(str(path)).data["let"] == {"rest": "size % block + 0"}
    path.write_text(path.read_text().replace("summary: A", "summary: B"))
    assert find_spec(str(path)).data["summary"] == "B"
    base.write_text(EXAMPLE.replace("rest: size % block", "rest: size % blok"))
    with pytest.raises(SpecError, match="unknown name 'blok'"):
        find_spec(str(path))


@pytest.mark.parametrize(
    ("op", "hint"),
    [
        ("AvgPool-2", "AvgPool-1"),
        ("avgpool-1", "AvgPool-1"),
        ("Frobenius", "known: AdaptiveAvgPool-8"),
    ],
)
def test_an_unknown_operator(op: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_spec(op)
    assert hint in (caught.value.hint or "")


class AnotherReader(yaml.SafeLoader):
    """A YAML 1.1 reader, as editors have, that keeps numbers with a point as they are written."""


AnotherReader.add_constructor("tag:yaml.org,2002:float", AnotherReader.construct_yaml_str)


def test_the_shipped_files_mean_the_same_to_another_reader() -> None:
    for spec in shipped_specs().values():
        text = Path(spec.file).read_text()
        again = yaml.load(text, AnotherReader)
        assert again == parse_yaml(text, spec.file).data


@pytest.mark.parametrize("cut", range(60))
def test_a_file_cut_short_is_never_a_defect(cut: int) -> None:
    text = EXAMPLE[: len(EXAMPLE) * cut // 60]
    if "outputs:" in text and text.rstrip().endswith("}"):
        return  # what would follow may be left out
    assert problems_of(text)


@pytest.mark.parametrize(
    ("op", "size"), [("torch.avg_pool-2", (5, 5)), ("torch.max_pool-2", (4, 7))], ids=str
)
def test_what_a_case_asks_in_a_line(op: str, size: tuple[int, int]) -> None:
    given = {"kernel_size": [2, 2], "padding": [0, 1], "ceil_mode": True}
    case = Case(op, {"T": "f32"}, {"data": (1, 1, *size)}, given)
    shape = f"1x1x{size[0]}x{size[1]}"
    line = f"data {shape} f32, kernel_size 2,2, padding 0,1, ceil_mode true"
    assert case_in_a_line(find_spec(op), case.request) == line


def test_an_attribute_may_have_another_name_in_expressions() -> None:
    spec = read_operator(spoiled(("  block: {", "  axis-size: {as: block, ")))
    assert [*spec.spelled] == ["axis-size"]
    case = Case(spec.op, {"T": "f32"}, {"data": (1, 1, 4, 6)}, {"axis-size": [2, 3]})
    assert violations(spec, case) == ()
    (broken,) = violations(spec, Case(spec.op, case.types, case.shapes, {"axis-size": [2, 7]}))
    assert broken.condition == "block-fits"
