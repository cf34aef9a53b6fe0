"""Specification files: what loads, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from spec_examples import EXAMPLE, place, spoiled

from conformance.errors import Problem, SpecError, UsageError
from conformance.generate.pool import draw
from conformance.json_schema import load_schema
from conformance.model import Case
from conformance.spec.case_environment import Environment
from conformance.spec.expressions import Domain
from conformance.spec.loader import find_spec, lineage, load_spec, load_spec_text, shipped_specs
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.spec.yaml_reader import MAX_BYTES, parse_yaml


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as caught:
        load_spec_text(text, "spec.yaml")
    with pytest.raises(SpecError) as again:  # what is kept of a file is not spoiled by judging it
        load_spec_text(text, "spec.yaml")
    assert again.value.problems == caught.value.problems
    return caught.value.problems


def test_the_documented_example_loads() -> None:
    spec = load_spec_text(EXAMPLE)
    assert (spec.op, spec.ranks, [a.name for a in spec.attributes]) == (
        "BlockMean-1",
        range(3, 5),
        ["block"],
    )
    assert spec.definitions["step"].kind.per_axis
    assert spec.definitions["step"].evaluate({"axis": (0, 1)}) == (1, 1)
    assert spec.definitions["ties"].evaluate({}) == "first"
    assert spec.edges[1].aims[0]["size"].min is spec.edges[1].aims[0]["size"].max
    (reading,) = spec.interpretations
    assert (reading.question, reading.adopted, reading.answer) == (
        "elements that fill no block",
        "left out",
        "a smaller block",
    )
    (point,) = spec.observe
    assert (point.name, point.question, point.expected) == (
        "zero-mean",
        "sign of a mean of -0 alone",
        "",
    )
    assert point.where.kind.domain is Domain.ELEMENT
    assert spec.positions["edges", "rest"][1:] == place(EXAMPLE, "  rest: {when", "rest")


@pytest.mark.parametrize("op", shipped_specs())
def test_shipped(op: str) -> None:
    spec = shipped_specs()[op]
    assert spec == find_spec(op)
    assert spec.lineage == lineage(op)
    for edge in spec.edges:
        assert edge.when.kind.domain is Domain.CASE
        assert edge.why
    aimed = [aim for edge in spec.edges for aim in edge.aims]
    assert all(quantity in spec.quantities for aim in aimed for quantity in _aimed(spec, aim))


def _aimed(spec: OpSpec, aim: object) -> set[str]:
    assert isinstance(aim, dict)
    return set(aim) - {"pattern", *spec.types}


def test_an_attribute_may_have_another_name_in_expressions() -> None:
    text = EXAMPLE.replace("  block: {type: int,", "  axis: {type: int, as: block,")
    spec = load_spec_text(text)
    quantity = spec.quantities["block"]
    assert (quantity.name, quantity.key) == ("axis", "block")
    case = Case("BlockMean-1", {"T": "f32"}, {"data": (1, 1, 4, 6)}, {"axis": [2, 3]})
    assert violations(spec, case) == ()
    assert Environment(spec, case)["rest"] == (0, 0)
    (problem,) = problems_of(
        EXAMPLE.replace("  block: {type: int,", "  axis: {type: int, as: rank,")
    )[:1]
    assert problem.message == "'rank' is already a name of the family"


def test_a_default_is_that_of_each_axis() -> None:
    text = EXAMPLE.replace("per: axis, required: true, min: 1,", "per: axis, default: 2, min: 1,")
    spec = load_spec_text(text)
    case = Case("BlockMean-1", {"T": "f32"}, {"data": (1, 1, 4, 5)}, {})
    assert Environment(spec, case)["rest"] == (0, 1)
    assert spec.quantities["block"].of({}, 3) == [2, 2, 2]
    assert spec.quantities["block"].of({"block": [1, 3]}, 2) == [1, 3]


def test_shipped_details() -> None:
    spec = shipped_specs()["AvgPool-1"]
    exclude = spec.quantities["exclude_pad"]
    assert (exclude.name, exclude.type, exclude.required, exclude.default) == (
        "exclude-pad",
        "bool",
        True,
        None,
    )
    assert list(spec.quantities) == [
        *("auto_pad", "rounding_type", "exclude_pad", "kernel", "strides"),
        *("pads_begin", "pads_end", "N", "C", "size"),
    ]
    edges = {edge.name: edge for edge in spec.edges}
    assert edges["channels-above-block"].aims[0]["C"].values == (5, 9, 17, 33)
    assert [aim["pattern"].values for aim in edges["many-taps"].aims] == [("steady",)] * 2
    assert edges["zeros"].aims[0]["pattern"].values == ("zeros", "mixed")
    rejects = {reject.name: reject for reject in spec.reject}
    assert rejects["unknown-auto-pad"].set == {"auto_pad": "same"}
    assert rejects["excluded-pads-begin-above-kernel"].aim["exclude_pad"].values == (True,)
    assert rejects["kernel-short"].ranks == (4, 5)
    assert [v.level for v in spec.interpretations] == ["should"] * 6


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"),
    [
        # structure
        ("format: 1", "format: 2", "2", "'2' is not allowed here", "reads format 1"),
        ("format: 1", 'format: "1"', '"1"', "'1' is not allowed here", "reads format 1"),
        ("family: pooling", "famly: pooling", "famly", "'famly' is not known", "'family'"),
        ("family: pooling", "family: poling", "poling", "no family 'poling'", "'pooling'"),
        ("T: [f16, f32]", "T: [f16, f3]", "f3", "'f3' is not allowed here", "'f32'"),
        ("T: [f16, f32]", "T: []", "[]", "the list needs at least 1", ""),
        ("T: [f16, f32]", "T: [f16, f16]", "[f16", "given twice", ""),
        ("required: true", "required: yes", "yes", "'yes' is not allowed", "write true or false"),
        ("type: int, per", "type: integer, per", "integer", "'integer' is not allowed", "'int'"),
        ("min: 1, draw: {max: 4}", "min: [1]", "[1]", "a list is not allowed here", ""),
        ("prod(on_data)}", "prod(on_data), open: }", " }", "nothing is not allowed", ""),
        ("why: Blocks cover the data.", "why: Blocks, and", "and", "'and' is not known", "comma"),
        ("rank-2: {", "Rank 2: {", "Rank", "'Rank 2' cannot be a name here", ""),
        ("  rest: size % block", "  re-st: size % block", "re-st", "cannot be a name", ""),
        # names
        ("rest: size % block", "rest: size % blok", "blok", "unknown name 'blok'", "'block'"),
        ("rest: size % block", "i: size % block", "i: size", "already a name of the family", ""),
        ("rest: size % block", "min: size % block", "min: s", "already a word of the lang", ""),
        ("rest: size % block", "in: size % block", "in: s", "already a word of the lang", ""),
        ("rest: size % block", "taps: size % block", "taps: s", "already a rule", ""),
        ("rest: size % block", "ramp: size % block", "ramp:", "also a value of an enum", ""),
        ("  taps: block\n", "  tap: t < block\n  tops: block\n", "tops", "no rule 'tops'", "taps"),
        ("type: T, shape: [N", "type: U, shape: [N", "U,", "'U' is not a type", ""),
        ("name: result, type: T", "name: result, type: block", "block,", "is not a type", ""),
        ("patterns: [ramp, normal]", "patterns: [rump]", "rump", "is not a pattern", "'ramp'"),
        ("shape: [N, C, size], rank", "shape: [C, N, size], rank", "[C", "another shape", ""),
        ("shape: [N, C, out]", "shape: [N, C, on_data]", "on_data", "is not a dimension", ""),
        ("rank: [3, 4]", "rank: [4, 3]", "[4, 3]", "there is no such rank", ""),
        ("breaks: block.min", "breaks: blok.min", "blok", "no condition 'blok.min'", "block.min"),
        ("{set: {block: 0}", "{set: {blok: 0}", "blok", "no quantity 'blok'", "'block'"),
        ("{length: {block:", "{length: {N:", "N: axes", "'N' has no length", ""),
        ("{rank: 2,", "{rank: 2, set: {N: 0},", "rank-2", "in one way", ""),
        ("aim: {size: block}", "aim: {sise: block}", "sise", "'sise' is not drawn", "'size'"),
        ("aim: {size: block}", "aim: {pattern: rump}", "rump", "not a value of 'pattern'", "ramp"),
        ("aim: {size: block}", "aim: {N: [1, x]}", "x]", "'x' is not a value of 'N'", ""),
        ("aim: {size: block}", "aim: {T: {min: 1}}", "{min: 1}", "'T' has no order", ""),
        # questions
        (
            "keeps-the-rest:\n    question: elements that fill no block\n",
            "keeps-the-rest:\n",
            "keeps",
            "'question' is missing",
            "leaves open",
        ),
        ("answer: a smaller block", 'answer: ""', '""', "there is no text", "A few words"),
        ("    where: minus_zero", "    were: minus_zero", "were", "'were' is not known", "where"),
        ("    where: minus", "    expected: 0\n    where: minus", "0\n", "'0' is not allowed", ""),
        ("  zero-mean:", "  keeps-the-rest:", "keeps", "also an interpretation", "both alike"),
        ("minus_zero_taps ==", "minus_taps ==", "minus_taps", "unknown name", "minus_zero_taps"),
        ("where: minus_zero_taps ==", "where: block ==", "block ==", "per axis", "all(...)"),
        # expressions
        ("3 * block", "3 / block", "/ block", "'/' is not allowed", "ceil_div"),
        ("draw: {max: 4}", "draw: {max: size}", "size}", "unknown name 'size'", ""),
        ("draw: {max: 4}", "draw: {max: rest}", "rest}", "unknown name 'rest'", ""),
        ("out: size // block", "out: size // block + i", "size // block + i", "each window", ""),
        ("out: size // block", 'out: "size // blok"', "blok", "unknown name 'blok'", "'block'"),
        ("  reduce: mean", "  reduce: men", "men", "unknown name 'men'", "'mean'"),
        ("  reduce: mean", "  reduce: first", "first", "'first' is not a value here", ""),
        ("  divisor: prod(taps)\n", "", "rules:", "'divisor' is missing for a mean", "divided"),
        ("  taps: block\n", "", "rules:", "the rule 'taps' is missing", "how many taps"),
        ("holds: value", "holds: index", "index", "there is no index unless", ""),
        ("when: all(rest == 0)", "when: rest == 0", "rest == 0", "per axis", "all(...)"),
        ("when: all(out == 1)", "when: any(start > 0)", "any(st", "each window", "somewhere"),
        ("start: i * block", "start: i * on_data", "i * on_data", "'on_data' is not known", ""),
        ("start: i * block", "start: any(i > 0)", "any(i > 0)", "truth value", "where"),
        ("that: block <= size", "that: on_data > 0", "on_data > 0", "depends on 'on_data'", ""),
        ("that: block <= size", "that: somewhere(all(i > 2))", "somewh", "depends on 'i'", ""),
        ("rest: size % block", "rest: rest + block", "rest + b", "rest -> rest", ""),
        ('{out: "ceil_div(size, block)"', "{out: out + 1", "out + 1", "depends on 'out'", "orig"),
        ('{out: "ceil_div(size, block)"', "{uot: original + 1", "uot", "no rule", "'out'"),
        ("where: any(rest > 0)", "where: any(start > 0)", "any(start", "cannot be replaced", ""),
    ],
)
def test_one_problem(old: str, new: str, at: str, message: str, hint: str) -> None:
    text = spoiled((old, new))
    (problem,) = [p for p in problems_of(text) if message in p.message]
    marked = at if at == "rules:" else _around(text, old, new)
    assert (problem.line, problem.column) == place(text, marked, at)
    assert hint in problem.hint
    assert problem.file == "spec.yaml"


def _around(text: str, old: str, new: str) -> str:
    """What was put in, with enough beside it to be found."""
    start = EXAMPLE.index(old)
    return text[max(0, start - 12) : start + len(new) + 12]


def test_definitions_in_a_circle() -> None:
    text = spoiled(("  rest: size % block", "  rest: one\n  one: two + size\n  two: rest * 2"))
    (problem,) = problems_of(text)
    assert problem.message == "'rest' is defined by itself: rest -> one -> two -> rest"
    assert (problem.line, problem.column) == place(text, "rest: one", "one")


def test_later_definitions_are_known() -> None:
    spec = load_spec_text(
        spoiled(("  rest: size % block", "  rest: all_of % block\n  all_of: size"))
    )
    assert spec.definitions["rest"].names == {"all_of", "block"}


def test_all_problems_at_once_and_none_twice() -> None:
    text = spoiled(
        ("type: int, per", "typ: int, per"),  # block is broken: what speaks of it is not judged
        ("rest: size % block", "rest: size % axess"),
        ("reduce: mean", "reduce: mena"),
        ("when: all(rest == 0)", "when: all(N == 0)"),
        ("breaks: rank", "breaks: rnk"),
        ("divisor: prod(taps)", "dvsr: 1"),
    )
    found = problems_of(text)
    assert [p.message for p in found] == [
        "'type' is missing",
        "'typ' is not known here",
        "unknown name 'axess'",
        "unknown name 'mena'",
        "the family pooling has no rule 'dvsr'",
        "this is a truth value",
        "there is no condition 'rnk'",
    ]
    assert [(p.line, p.column) for p in found] == sorted((p.line, p.column) for p in found)


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
    text = spoiled(("  start: i * block", "  start: i * block\n  start: i"))
    (problem,) = problems_of(text)
    assert problem.message == "'start' is given twice"
    assert (problem.line, problem.column) == place(text, "  start: i\n", "start")
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
    (problem,) = problems_of(text)
    assert (problem.line, problem.column) == place(text, "    size\n", "size")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "BlockMean-1.yaml"
    path.write_text(EXAMPLE)
    assert load_spec(path) == load_spec_text(EXAMPLE, str(path))
    assert find_spec(str(path)).op == "BlockMean-1"
    path.write_bytes(b"op: \xff")
    with pytest.raises(SpecError, match="not UTF-8"):
        load_spec(path)
    with pytest.raises(SpecError, match=r"missing\.yaml: no such file$"):
        load_spec(tmp_path / "missing.yaml")


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    base, path = tmp_path / "BlockMean-1.yaml", tmp_path / "BlockMean-2.yaml"
    base.write_text(EXAMPLE)
    path.write_text(
        "format: 1\nop: BlockMean-2\nextends: BlockMean-1\n"
        "document: {title: A, url: https://example.org}\n"
    )
    first = find_spec(str(path))
    assert find_spec(str(path)) is first
    base.write_text(EXAMPLE.replace("rest: size % block", "rest: size % block + 0"))
    assert find_spec(str(path)).definitions["rest"].text == "size % block + 0"
    path.write_text(path.read_text().replace("title: A", "title: B"))
    assert find_spec(str(path)).document.title == "B"
    base.write_text(EXAMPLE.replace("rest: size % block", "rest: size % blok"))
    with pytest.raises(SpecError, match="unknown name 'blok'"):
        find_spec(str(path))


@pytest.mark.parametrize(
    ("op", "hint"),
    [
        ("AvgPool-2", "AvgPool-1"),
        ("avgpool-1", "AvgPool-1"),
        ("Softmax", "known: AdaptiveAvgPool-8"),
    ],
)
def test_an_unknown_operator(op: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_spec(op)
    assert hint in (caught.value.hint or "")


def test_the_schema_explains_every_key() -> None:
    rules = load_schema("spec/spec.schema.json").rules

    def undescribed(part: dict[str, object], where: str) -> list[str]:
        missing = []
        properties = part.get("properties", {})
        assert isinstance(properties, dict)
        for key, value in properties.items():
            resolved = value
            if "$ref" in value and "description" not in value:
                resolved = rules["$defs"][value["$ref"].rsplit("/", 1)[1]]
            if "description" not in resolved:
                missing.append(f"{where}.{key}")
        return missing

    missing = undescribed(rules, "")
    for name, part in rules["$defs"].items():
        missing += undescribed(part, name)
    assert missing == []


def test_the_shipped_files_mean_the_same_to_another_reader() -> None:
    """A YAML 1.1 reader, as editors have, finds the same data as ours."""
    for spec in shipped_specs().values():
        text = Path(spec.file).read_text()
        assert yaml.safe_load(text) == parse_yaml(text, spec.file).data


@pytest.mark.parametrize("cut", range(60))
def test_a_file_cut_short_is_never_a_defect(cut: int) -> None:
    text = EXAMPLE[: len(EXAMPLE) * cut // 60]
    if "outputs:" in text and text.rstrip().endswith("}"):
        return  # what would follow may be left out
    assert problems_of(text)


class TestWritten:
    """Values that the document writes in another way than expressions do."""

    TEXT = EXAMPLE.replace(
        "  block: {type: int,",
        "  ceil_mode: {type: enum, as: towards, values: [down, up], "
        "written: {down: 0, up: 1}, default: down}\n"
        "  include: {type: bool, as: leaves_out, written: {false: 1, true: 0}, default: true}\n"
        "  block: {type: int,",
    )

    def case(self, **attributes: object) -> Case:
        return Case("BlockMean-1", {"T": "f32"}, {"data": (1, 1, 4)}, {"block": [2], **attributes})

    @pytest.mark.parametrize(
        ("attributes", "rounding", "leaves_out"),
        [
            ({}, "down", True),
            ({"ceil_mode": 0, "include": 1}, "down", False),
            ({"ceil_mode": 1, "include": 0}, "up", True),
        ],
    )
    def test_are_read(self, attributes: dict[str, int], rounding: str, leaves_out: bool) -> None:
        spec = load_spec_text(self.TEXT)
        env = Environment(spec, self.case(**attributes))
        assert (env["towards"], env["leaves_out"]) == (rounding, leaves_out)
        assert violations(spec, self.case(**attributes)) == ()

    @pytest.mark.parametrize("value", [2, -1, True, "up", "0", 0.0, None, [1]])
    def test_others_are_violations(self, value: object) -> None:
        spec = load_spec_text(self.TEXT)
        (one,) = violations(spec, self.case(ceil_mode=value))
        assert one.condition in ("towards.values", "towards.type")
        (one,) = violations(spec, self.case(include=value))
        assert one.condition == "leaves_out.type"

    def test_are_what_cases_hold(self) -> None:
        spec = load_spec_text(self.TEXT)
        drawn = draw(spec, 3, 40, root=0)
        assert {case.attributes.get("ceil_mode") for case in drawn} == {None, 0, 1}
        assert {case.attributes.get("include") for case in drawn} == {None, 0, 1}
        for case in drawn:
            assert type(case.attributes.get("include", 0)) is int
            assert violations(spec, case) == ()

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("{down: 0, up: 1}", "{down: 0}", "not what the values are"),
            ("{down: 0, up: 1}", "{down: 0, up: 1, other: 2}", "not what the values are"),
            ("{down: 0, up: 1}", "{down: 1, up: 1}", "two values are written alike"),
            ("{false: 1, true: 0}", "{0: 1, 1: 0}", "not what the values are"),
        ],
    )
    def test_problems(self, old: str, new: str, message: str) -> None:
        assert [one.message for one in problems_of(self.TEXT.replace(old, new))] == [message]

    def test_a_number_is_written_one_way(self) -> None:
        text = EXAMPLE.replace("  block: {type: int,", "  block: {type: int, written: {x: 1},")
        assert [one.message for one in problems_of(text)] == ["not what the values are"]
