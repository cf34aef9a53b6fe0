"""Strata and remainders: what loads, what is said of a wrong file, and the shipped ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from spec_examples import place

from conformance.errors import SpecError
from conformance.model import Case
from conformance.reference import facts
from conformance.reference.values import data_of
from conformance.resources import directory
from conformance.spec.family_index import names as families
from conformance.spec.loader import load_spec_text as load_spec
from conformance.spec.loader import shipped_specs
from conformance.spec.model import OpSpec
from conformance.spec.strata import STRATUM, is_stratum, load_strata, load_strata_text, strata_of
from conformance.suite.recorded_cases import current_value_cases

# Those of definitions have a format of their own: tests/core/test_core_strata.py.
FILES = sorted(
    file for file in (directory("specs") / "strata").glob("*.yaml") if file.stem != "core"
)
OPERATORS = tuple(shipped_specs())
ONE = {"output_size": (1, 1)}
"""A single window."""
DOCUMENT = Path(__file__).parents[2] / "docs" / "strata-format.md"

STRATA = """\
format: 1
family: pooling
about: An example.
data: {mean: [ramp], max: [ramp], lp: [ramp]}
strata:
  small:
    windows: [sliding]
    when: all(kernel == 2 and dilation == 1)
    aim: {kernel: [2]}
    why: It is common.
    sources: [https://example.org/kernel]
remainders:
  row-above-{least}:
    each:
      least: {32: 32, sixty: 60}
    when: any(axis == axes - 1 and length > {least})
    aim: {size: [40]}
    why: Rows of more than {least} are long.
"""


def met(spec: OpSpec, case: Case) -> set[str]:
    """The strata and remainders that a case is in."""
    found = strata_of(spec)
    env = facts(found.whole, case, data_of(spec, case))
    return {edge.name for edge in (*found.strata, *found.remainders) if edge.when.evaluate(env)}


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(SpecError) as raised:
        load_strata_text(text)
    return [(one.line, one.message) for one in raised.value.problems]


class TestAFile:
    def test_a_sound_one_is_sound(self) -> None:
        load_strata_text(STRATA)

    @pytest.mark.parametrize(
        ("wrong", "right", "message"),
        [
            ("family: pooling", "family: poling", "there is no family 'poling'"),
            ("kernel == 2 and", "kernal == 2 and", "kernal"),
            ("all(kernel == 2 and dilation == 1)", "kernel == 2", "no operator can have this"),
            ("length > {least}", "length > {most}", "no operator can have this"),
            ("aim: {kernel: [2]}", "aim: {kernl: [2]}", "no operator of the family has 'kernl'"),
            ("    why: It is common.\n", "", "why"),
            ("https://example.org/kernel", "kernel.c", "kernel.c"),
            ("windows: [sliding]", "windows: [rolling]", "rolling"),
            ("when: all(", "when: al(", "al"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(
        self, wrong: str, right: str, message: str
    ) -> None:
        assert wrong in STRATA
        text = STRATA.replace(wrong, right)
        found = problems(text)
        assert any(message in told for _, told in found), found
        line, _ = place(text, right) if right else (1, 1)
        assert any(abs(at - line) <= 1 for at, _ in found) or not right, found

    def test_without_a_line_it_is_sound_or_has_problems(self) -> None:
        for number in range(len(STRATA.splitlines())):
            lines = STRATA.splitlines()
            del lines[number]
            with suppress(SpecError):
                load_strata_text("\n".join(lines))


class TestTheShippedOnes:
    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_are_sound(self, file: Path) -> None:
        load_strata(file)

    def test_every_family_has_some(self) -> None:
        assert {file.stem for file in FILES} == {*families()}

    def test_every_operator_has_some(self) -> None:
        for op in OPERATORS:
            strata = strata_of(shipped_specs()[op])
            assert strata.strata, op
            assert strata.remainders, op
            assert strata.meaning, op

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_every_stratum_names_a_public_kernel(self, file: Path) -> None:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert all(one["sources"] for one in data["strata"].values())


class TestOfAnOperator:
    def test_names_are_no_edges(self) -> None:
        for spec in shipped_specs().values():
            assert not any(is_stratum(edge.name) for edge in spec.edges)
            found = strata_of(spec)
            assert all(is_stratum(edge.name) for edge in (*found.strata, *found.remainders))

    def test_a_remainder_is_met_within_strata_only(self) -> None:
        spec = shipped_specs()["AvgPool-1"]
        found = [met(spec, case) for case in current_value_cases(spec)[::7]]
        assert any(found)
        for names in found:
            inside = any(name.startswith(STRATUM) for name in names)
            assert inside or not names

    @pytest.mark.parametrize(
        ("op", "attributes", "size", "name", "holds"),
        [
            ("AvgPool-1", {"kernel": [2, 2], "strides": [2, 2]}, (8, 8), "2x2-stride-2", True),
            ("AvgPool-1", {"kernel": [2, 2], "strides": [2, 1]}, (8, 8), "2x2-stride-2", False),
            ("AvgPool-1", {"kernel": [1, 3], "strides": [1, 1]}, (8, 8), "row", True),
            ("AvgPool-1", {"kernel": [3, 1], "strides": [1, 1]}, (8, 8), "row", False),
            ("AvgPool-1", {"kernel": [3, 1], "strides": [1, 1]}, (8, 8), "column", True),
            ("AvgPool-1", {"kernel": [8, 8], "strides": [1, 1]}, (8, 8), "whole-plane", True),
            ("AvgPool-1", {"kernel": [7, 8], "strides": [2, 1]}, (8, 8), "whole-plane", False),
            ("AvgPool-1", {"kernel": [3, 5], "strides": [1, 1]}, (8, 8), "more-than-9-taps", True),
            (
                "AvgPool-1",
                {"kernel": [3, 3], "strides": [4, 4]},
                (9, 9),
                "stride-above-kernel",
                True,
            ),
        ],
    )
    def test_shapes_that_are_known(
        self,
        op: str,
        attributes: dict[str, list[int]],
        size: tuple[int, int],
        name: str,
        holds: bool,
    ) -> None:
        spec = shipped_specs()[op]
        given = {**attributes, "pads_begin": [0, 0], "pads_end": [0, 0], "exclude-pad": True}
        case = Case(op, {"T": "f32"}, {"data": (1, 1, *size)}, given, {}, "ramp", 0)
        assert (f"stratum {name}" in met(spec, case)) is holds

    def test_a_row_of_one_window_is_counted_in_elements(self) -> None:
        spec = shipped_specs()["AdaptiveMaxPool-8"]
        case = Case(spec.op, {"T": "f32"}, {spec.data.name: (1, 1, 2, 40)}, {}, ONE, "slopes", 0)
        found = met(spec, case)
        assert "remainder row-above-32" in found
        assert "remainder row-above-64" not in found

    def test_a_tail_has_a_row_behind_it(self) -> None:
        spec = shipped_specs()["AdaptiveMaxPool-8"]
        shapes = {rows: {spec.data.name: (1, 1, rows, 5)} for rows in (1, 2)}
        asked = {
            rows: Case(spec.op, {"T": "f32"}, of, {}, ONE, "slopes", 0)
            for rows, of in shapes.items()
        }
        assert "remainder width-1-above-4" in met(spec, asked[2])
        assert "remainder width-1-above-4" not in met(spec, asked[1])

    def test_data_that_hide_positions_are_in_no_stratum(self) -> None:
        spec = shipped_specs()["AdaptiveMaxPool-8"]
        case = Case(spec.op, {"T": "f32"}, {spec.data.name: (1, 1, 2, 40)}, {}, ONE, "zeros", 0)
        assert not met(spec, case)

    def test_one_s_own_has_those_that_it_has_words_for(self, tmp_path: Path) -> None:
        text = (directory("specs") / "AvgPool-1.yaml").read_text(encoding="utf-8")
        own = load_spec(text.replace("op: AvgPool-1", "op: MyPool-1"))
        assert strata_of(own).meaning == strata_of(shipped_specs()["AvgPool-1"]).meaning
        assert not any("dilated" in edge.name for edge in strata_of(own).strata)

    def test_another_turn_aims_at_other_remainders(self) -> None:
        found = strata_of(shipped_specs()["AvgPool-1"])
        first, second = found.aims(0), found.aims(1)
        assert len(first) == len(found.strata)
        assert first != second
        # Whatever the remainder is, the stratum is kept.
        for aim, edge in zip(first, found.strata, strict=True):
            assert edge.aims[0].items() <= aim.items()


def test_the_document_s_example_is_a_file_of_strata() -> None:
    block = DOCUMENT.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    load_strata_text(block)
