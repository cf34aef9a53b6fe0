"""The catalogue of faults: what loads, what is said of a wrong file, and the shipped one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from spec_examples import place

from conformance.errors import Problem, SpecError
from conformance.json_schema import load_schema
from conformance.resources import directory
from conformance.spec import mutants
from conformance.spec.catalogue import Mutant, load_catalogue, load_catalogue_text, mutants_of
from conformance.spec.family_index import is_family
from conformance.spec.loader import load_spec_text as load_spec
from conformance.spec.loader import shipped_specs
from conformance.spec.model import OpSpec
from conformance.spec.yaml_reader import parse_yaml

DOCUMENT = Path(__file__).parents[2] / "docs" / "fault-format.md"
FAULTS = directory("specs") / "faults"
OF_DEFINITIONS = ("core",)
FILES = sorted(path for path in FAULTS.glob("*/*.yaml") if path.parent.name not in OF_DEFINITIONS)
"""Those of families: what is said of definitions is in tests/core/test_core_catalogue.py."""
OPERATORS = tuple(shipped_specs())
AVERAGES = tuple(
    op
    for op, spec in shipped_specs().items()
    if any(one.startswith("AvgPool-") for one in spec.lineage)
)
ADAPTIVE = tuple(op for op, spec in shipped_specs().items() if "AdaptiveAvgPool-8" in spec.lineage)

DOCUMENTED = "document: {title: An example, url: https://example.org}\n"
CATALOGUE = """\
format: 1
kind: divisor
about: The sum of a window is right, and is divided by something else.
look: The line that divides.
faults:
  one-more:
    operators: [AvgPool-1, AdaptiveAvgPool-8]
    replace: {divisor: original + 1}
    where: prod(on_data) > 0
    threads: [https://example.org/1, https://example.org/2]
    says: The sum of n terms is divided by n + 1.
  tail-{lanes}-{type}:
    operators: [AvgPool-1]
    each: {lanes: {"4": 4, eight: 8}, type: {half: f16, single: f32}}
    replace: {divisor: "original + {lanes}", exclude-pad: true}
    where: c % {lanes} == 0 and T == {type}
    reading: clip-divisor
    equivalent: {tail-eight-single: Nobody can see it.}
    says: Of {type} the tail of {lanes} is wrong.
  one-less:
    operators: [AvgPool-1]
    replace: {divisor: "max(1, original - 1)"}
    equivalent: {AvgPool-1: Nobody can see this one.}
    says: The sum of n terms is divided by n - 1.
"""


def spoiled(old: str, new: str) -> str:
    assert CATALOGUE.count(old) == 1, old
    return CATALOGUE.replace(old, new)


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as caught:
        load_catalogue_text(text, "faults.yaml")
    return caught.value.problems


def of_named(text: str) -> list[Mutant]:
    """The faults of the operators that a file names, without those of their dialects."""
    return [fault for fault in load_catalogue_text(text) if fault.op in text]


def test_a_fault_tells_its_cause_and_where_it_was_fixed() -> None:
    told = "    cause: f{type} is odd\n    fixed: {runtime: '1.2'}\n    says: Of {type}"
    found = {fault.id: fault for fault in of_named(spoiled("    says: Of {type}", told))}
    assert found["tail-4-half"].cause == "fhalf is odd"
    assert found["tail-4-half"].fixed == {"runtime": "1.2"}
    assert (found["one-less"].cause, found["one-less"].fixed) == ("", {})
    # So does what a suite carries of the catalogue.
    spec = shipped_specs()["AvgPool-1"]
    carried = json.dumps(mutants.mutants_to_data(spec, [found["tail-4-half"], found["one-less"]]))
    again = mutants.load_mutants_text(carried, spec)
    assert [(one.cause, one.fixed) for one in again] == [
        ("fhalf is odd", {"runtime": "1.2"}),
        ("", {}),
    ]


def test_a_fault_for_each_operator_and_choice() -> None:
    found = of_named(CATALOGUE)
    assert [(fault.op, fault.id) for fault in found] == [
        ("AvgPool-1", "one-more"),
        ("AdaptiveAvgPool-8", "one-more"),
        ("AvgPool-1", "tail-4-half"),
        ("AvgPool-1", "tail-4-single"),
        ("AvgPool-1", "tail-eight-half"),
        ("AvgPool-1", "tail-eight-single"),
        ("AvgPool-1", "one-less"),
    ]
    assert {fault.kind for fault in found} == {"divisor"}
    more, _, half, *_, single, less = found
    assert more.threads == ("https://example.org/1", "https://example.org/2")
    assert more.description == "The sum of n terms is divided by n + 1."
    assert (more.excused_by, more.equivalent) == ("", "")
    assert (half.excused_by, half.equivalent) == ("clip-divisor", "")
    assert single.equivalent == "Nobody can see it."
    assert less.equivalent == "Nobody can see this one."


def test_keys_stand_in_ids_and_sentences_and_values_in_expressions() -> None:
    *_, single, _ = of_named(CATALOGUE)
    assert single.description == "Of single the tail of eight is wrong."
    assert single.change.name == single.id
    assert single.change.replace["divisor"].text == "original + 8"
    assert single.change.where is not None
    assert single.change.where.text == "c % 8 == 0 and T == f32"
    # A hyphen of an attribute is an underscore, and a truth value of YAML one of the language.
    assert single.change.replace["exclude_pad"].text == "true"


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"),
    [
        # structure
        ("format: 1", "format: 2", "2", "'2' is not allowed here", "reads format 1"),
        ("kind: divisor", "kind: The Divisor", "The", "'The Divisor' cannot be a name", ""),
        ("kind: divisor", "kind: divisor\nsort: x", "sort", "'sort' is not known here", ""),
        ("kind: divisor\n", "", "format", "'kind' is missing", ""),
        ("  one-less:\n", "  One less:\n", "One", "'One less' cannot be a name here", ""),
        ("where: prod", "were: prod", "were", "'were' is not known here", "'where'"),
        ("    threads: [https://example.org/1,", "    threads: [x,", "x,", "'x' cannot be", ""),
        ("[https://example.org/1, https", "[https://example.org/2, https", "[h", "twice", ""),
        ("[AvgPool-1, AdaptiveAvgPool-8]", "[]", "[]", "the list needs at least 1", ""),
        ("{divisor: original + 1}", "{}", "{}", "there is nothing here", ""),
        ("{divisor: original + 1}", "{divisor: [1]}", "[1]", "a list is not allowed here", ""),
        ("says: The sum of n terms is divided by n - 1.", 'says: ""', '""', "no text", ""),
        # names
        ("AdaptiveAvgPool-8]", "AdaptiveAvgPol-8]", "AdaptiveAvgPol-8", "no operator", "Pool-8'"),
        ("{divisor: original + 1}", "{diviser: 1}", "one-more", "no rule 'diviser'", "'divisor'"),
        ("{divisor: original + 1}", "{size: 1}", "one-more", "no rule 'size'", ""),
        ("clip-divisor", "clip-diviser", "clip-diviser", "no interpretation", "'clip-divisor'"),
        ("{tail-eight-single:", "{tail-8-single:", "tail-8-s", "neither an operator nor", "single"),
        ("{AvgPool-1: N", "{AvgPool-2: N", "AvgPool-2", "neither an operator nor", "'AvgPool-1'"),
        # each
        ("{lanes: {", "{lane: {", "tail-", "does not give every {name}", ""),
        (", single: f32}", ", single: f3}", "tail-", "'f3'", ""),
        # expressions
        ("original + 1", "original +", "one-more", "AvgPool-1, one-more: ", ""),
        ("original + 1", "original + kernal", "one-more", "unknown name 'kernal'", "'kernel'"),
        ("original + 1", "divisor + 1", "one-more", "what depends on 'divisor'", "'original'"),
        ("original + 1", "on_data", "one-more", "per axis", ""),
        ("original + 1", "t + 1", "one-more", "", ""),
        ("prod(on_data) > 0", "prod(on_data)", "one-more", "", "compare the number"),
        ("prod(on_data) > 0", "on_data > 0", "one-more", "", ""),
        ("prod(on_data) > 0", "at == 0", "one-more", "", ""),
        ("prod(on_data) > 0", "prod(on_dat) > 0", "one-more", "'on_dat'", "'on_data'"),
    ],
)
def test_a_wrong_file(old: str, new: str, at: str, message: str, hint: str) -> None:
    text = spoiled(old, new)
    first = problems_of(text)[0]
    assert message in first.message
    assert hint in first.hint
    assert first.file == "faults.yaml"
    marked = {"format": "format: 1", "one-more": "  one-more:", "tail-": "  tail-{lanes}-{type}:"}
    assert (first.line, first.column) == place(text, marked.get(at, new), at)


def test_a_definition_may_not_reach_itself_through_another() -> None:
    text = spoiled("{divisor: original + 1}", "{taps: prod(on_data)}")
    assert "what depends on" not in problems_of(text)[0].message  # it cannot even speak of it
    text = spoiled("{divisor: original + 1}", '{pad_end: "pad_begin", pad_begin: "pad_end"}')
    messages = [problem.message for problem in problems_of(text)]
    assert any("'pad_end' is replaced by what depends on 'pad_end'" in m for m in messages)


def test_misread_attributes_may_change_places() -> None:
    text = spoiled("{divisor: original + 1}", "{kernel: strides, strides: kernel}")
    text = text.replace("[AvgPool-1, AdaptiveAvgPool-8]", "[AvgPool-1]")
    fault = load_catalogue_text(text)[0]
    assert sorted(fault.change.replace) == ["kernel", "strides"]


def test_two_faults_of_one_name() -> None:
    text = spoiled('{"4": 4, eight: 8}', '{"4": 4}').replace("  one-less:", "  tail-4-half:")
    messages = [p.message for p in problems_of(text.replace("tail-eight-single", "tail-4-half"))]
    assert "two mutants are called 'tail-4-half'" in messages


def test_a_fault_twice_in_a_file_is_a_key_twice() -> None:
    (problem, *_) = problems_of(spoiled("  one-less:", "  one-more:"))
    assert "one-more" in problem.message


def test_all_problems_are_told_at_once() -> None:
    text = spoiled("AdaptiveAvgPool-8]", "Pool]").replace("clip-divisor", "clip")
    assert len({problem.line for problem in problems_of(text)}) == 2


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        load_catalogue(tmp_path / "none.yaml")


def test_a_file_cut_short_is_never_a_defect() -> None:
    for length in range(0, len(CATALOGUE), len(CATALOGUE) // 20):
        with suppress(SpecError):
            assert load_catalogue_text(CATALOGUE[:length])


def test_the_documented_example_loads() -> None:
    (example,) = re.findall(r"```yaml\n(format: 1\nkind: .*?)```", DOCUMENT.read_text(), re.DOTALL)
    counting = [op for op in AVERAGES if "counts_pads" in shipped_specs()[op].definitions]
    assert [(fault.op, fault.id) for fault in load_catalogue_text(example)] == [
        *((op, "divisor-one-more") for op in OPERATORS if op in AVERAGES + ADAPTIVE),
        *((op, f"clips-overhang-on-{axis}-axis") for op in counting for axis in ("first", "last")),
    ]


def test_a_name_with_a_version_is_that_version_and_its_dialects() -> None:
    found = [fault for fault in load_catalogue_text(CATALOGUE) if fault.id == "one-less"]
    dialects = [op for op in AVERAGES if not op.startswith("AvgPool-")]
    assert [fault.op for fault in found] == ["AvgPool-1", *dialects]
    assert dialects
    both = "[AvgPool-1, AvgPool-14]".join(CATALOGUE.rsplit("[AvgPool-1]", 1))
    found = [fault for fault in load_catalogue_text(both) if fault.id == "one-less"]
    assert [fault.op for fault in found] == ["AvgPool-1", *dialects, "AvgPool-14"]


def test_a_name_without_a_version_is_every_version() -> None:
    text = spoiled("{AvgPool-1: Nobody can", "{AvgPool: Nobody can")
    last = "[AvgPool]".join(text.rsplit("[AvgPool-1]", 1))
    found = [fault for fault in load_catalogue_text(last) if fault.id == "one-less"]
    assert [fault.op for fault in found] == list(AVERAGES)
    assert len(found) > 1
    assert {fault.equivalent for fault in found} == {"Nobody can see this one."}
    twice = spoiled("[AvgPool-1, AdaptiveAvgPool-8]", "[AvgPool, AvgPool-1]")
    (problem,) = problems_of(twice)
    assert problem.message == "two mutants are called 'one-more'"


def test_a_dialect_without_the_names_of_a_fault_does_not_have_it() -> None:
    text = spoiled("{divisor: original + 1}", "{dilations: 1}").replace(
        "[AvgPool-1, AdaptiveAvgPool-8]", "[MaxPool-8]"
    )
    found = {fault.op for fault in load_catalogue_text(text) if fault.id == "one-more"}
    assert {"MaxPool-8", "torch.max_pool-2"} <= found
    assert "MaxPool-1" not in found


def by_rule(entry: str) -> str:
    return (
        CATALOGUE.split("faults:")[0] + f"faults:\n  a-bug:\n    says: It is wrong.\n    {entry}\n"
    )


def having(entry: str) -> set[str]:
    return {fault.op for fault in load_catalogue_text(by_rule(entry))}


@pytest.mark.parametrize(
    ("entry", "those"),
    [
        ("replace: {divisor: original + 1}", lambda spec: reduces(spec) != "max"),
        ("replace: {accumulator: f16}", lambda spec: reduces(spec) != "max"),
        ("replace: {begins: zero}", lambda spec: reduces(spec) == "max"),
        ("replace: {index: original + 1}", lambda spec: spec.outputs[-1].holds == "index"),
        ("replace: {taps: original + 1}", lambda spec: True),
        ("replace: {strides: 1}", lambda spec: "strides" in spec.quantities),
        ("replace: {output_size: 1}", lambda spec: "output_size" in spec.quantities),
        ("replace: {rounding_type: ceil_torch}", lambda spec: "ceil_torch" in text_of(spec)),
        (
            "replace: {taps: 1}\n    only: {windows: [sliding]}",
            lambda spec: "strides" in spec.quantities,
        ),
    ],
)
def test_an_entry_without_operators_is_for_those_whose_rules_it_can_replace(
    entry: str, those: Callable[[OpSpec], bool]
) -> None:
    expected = {op for op, spec in shipped_specs().items() if those(spec)}
    assert having(entry) == expected
    assert expected


def reduces(spec: OpSpec) -> str:
    return spec.definitions["reduce"].text


def text_of(spec: OpSpec) -> str:
    return " ".join(map(str, spec.quantities.values()))


def test_a_rule_that_a_specification_has_is_no_fault_of_it() -> None:
    assert "torch.max_pool-2" in having("replace: {begins: lowest}")
    assert "MaxPool-8" not in having("replace: {begins: lowest}")


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ("replace: {divisor: original + on_dat}", "unknown name 'on_dat'", "'on_data'"),
        ("replace: {diviser: 1}", "no shipped operator can have", "'divisor'"),
        ("replace: {begins: zero}\n    only: {reduce: [mean]}", "no shipped operator", ""),
    ],
)
def test_an_entry_that_nothing_can_have(entry: str, message: str, hint: str) -> None:
    (problem,) = problems_of(by_rule(entry))
    assert message in problem.message
    assert hint in problem.hint


def test_every_key_is_documented() -> None:
    keys = load_schema("spec/faults.schema.json").rules["$defs"]["fault"]["properties"]
    text = DOCUMENT.read_text()
    assert [key for key in keys if f"| `{key}` |" not in text] == []
    assert all("description" in value for value in keys.values())


# The shipped catalogue.


def test_each_file_is_in_the_folder_of_a_family() -> None:
    assert len(FILES) > 20
    definitions = [path for name in OF_DEFINITIONS for path in (FAULTS / name).glob("*.yaml")]
    assert sorted(FAULTS.rglob("*.yaml")) == sorted((*FILES, *definitions))
    assert all(is_family(path.parent.name) for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file(path: Path) -> None:
    found = load_catalogue(path)
    assert {fault.kind for fault in found} == {path.stem}
    assert path.read_text().splitlines()[0].endswith("docs/fault-format.md")
    assert yaml.safe_load(path.read_text()) == parse_yaml(path.read_text(), str(path)).data


@pytest.mark.parametrize("op", OPERATORS)
def test_every_fault_has_an_id_and_a_sentence_of_its_own(op: str) -> None:
    found = mutants_of(shipped_specs()[op])
    for part in ("id", "description"):
        counts = Counter(getattr(fault, part) for fault in found)
        assert [text for text, count in counts.items() if count > 1] == []
    for fault in found:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fault.id)
        assert fault.description.endswith(".")
        assert ". " not in fault.description, "one sentence"
        assert "{" not in fault.description
        assert not fault.equivalent or fault.equivalent.endswith(".")


@pytest.mark.parametrize("op", OPERATORS)
def test_no_two_faults_replace_the_same(op: str) -> None:
    def meaning(fault: Mutant) -> tuple[object, ...]:
        where = fault.change.where
        replaced = sorted((name, rule.text) for name, rule in fault.change.replace.items())
        return (*replaced, where.text if where else "")

    counts = Counter(meaning(fault) for fault in mutants_of(shipped_specs()[op]))
    assert [text for text, count in counts.items() if count > 1] == []


def test_a_fault_has_one_kind_whatever_the_operator() -> None:
    kinds: dict[str, set[str]] = {}
    for op in OPERATORS:
        for fault in mutants_of(shipped_specs()[op]):
            kinds.setdefault(fault.id, set()).add(fault.kind)
    assert {name for name, found in kinds.items() if len(found) > 1} == set()
    assert len(kinds) >= 130


def test_a_thread_is_about_few_faults() -> None:
    known = [fault for spec in shipped_specs().values() for fault in mutants_of(spec)]
    about = {(thread, fault.id) for fault in known for thread in fault.threads}
    cited = Counter(thread for thread, _ in about)
    assert all(
        re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", t) for t in cited
    )
    assert max(cited.values()) <= 4


def test_few_faults_are_excused() -> None:
    # A global pool has one window, and nothing that goes wrong from window to window.
    windowed = [spec for op, spec in shipped_specs().items() if ".Global" not in op]
    found = [fault for spec in windowed for fault in mutants_of(spec)]
    assert 3 <= sum(bool(fault.equivalent) for fault in found) <= len(found) // 40
    assert 3 <= sum(bool(fault.excused_by) for fault in found) <= len(found) // 20


def test_an_operator_of_ones_own_has_the_faults_of_what_it_extends() -> None:
    own = load_spec("format: 1\nop: Own-1\nextends: AvgPool-16\n" + DOCUMENTED)
    assert [fault.id for fault in mutants_of(own)] == [
        f.id for f in mutants_of(shipped_specs()["AvgPool-16"])
    ]
    assert {fault.op for fault in mutants_of(own)} == {"Own-1"}
