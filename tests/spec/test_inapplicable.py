"""Which mutants an operator does not have, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from spec_examples import spoiled

from conformance.cli.spec import spec as spec_group
from conformance.spec import catalogue
from conformance.spec.catalogue import Why, left_out, mutants_of
from conformance.spec.inapplicable import inapplicable_lines
from conformance.spec.loader import load_spec_text, shipped_specs
from conformance.spec.yaml_reader import parse_yaml

MUTANTS = """\
format: 1
kind: some
about: What goes wrong.
look: Where.
faults:
  has: {replace: {divisor: original + 1}, says: A.}
  other-kind: {only: {reduce: [max]}, replace: {out: 1}, says: A.}
  by-name: {operators: [MaxPool-14], replace: {out: 1}, says: A.}
  no-change: {replace: {out: original}, says: A.}
  another-type: {replace: {divisor: 1}, where: T == bf16, says: A.}
  takes-{other}-for-same:
    each: {other: {lower: same_lower, upper: same_upper}}
    replace: {divisor: 1}
    where: auto_pad == {other}
    says: A.
  another-rule: {replace: {divisor_override: 0}, says: A.}
  circular: {replace: {divisor: divisor + 1}, says: A.}
"""

BORDER = (
    "attributes:\n",
    "attributes:\n  border: {type: enum, values: [same, none], default: none}\n",
)
"""An attribute that the catalogue calls auto_pad, with a value that it calls same_upper."""

ROLES = ("require:\n", "roles: {auto_pad: border, same_upper: same}\n\nrequire:\n")


@pytest.fixture
def small_catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "_of_family", lambda _: (parse_yaml(MUTANTS, "some.yaml"),))
    mutants_of.cache_clear()
    yield
    mutants_of.cache_clear()


@pytest.mark.usefixtures("small_catalogue")
class TestReasons:
    def test_each_mutant_is_there_or_left_out_for_a_reason(self) -> None:
        spec = load_spec_text(spoiled(BORDER), "BlockMean-1.yaml")
        assert [fault.id for fault in mutants_of(spec)] == ["has"]
        assert [(one.id, one.why, one.of) for one in left_out(spec)] == [
            ("other-kind", Why.KIND, "reduce max"),
            ("by-name", Why.NAMED, ""),
            ("no-change", Why.IDLE, ""),
            ("another-type", Why.LACKS, "bf16"),
            ("takes-lower-for-same", Why.LACKS, "auto_pad"),
            ("takes-upper-for-same", Why.LACKS, "auto_pad"),
            ("another-rule", Why.LACKS, "divisor_override"),
            ("circular", Why.LACKS, ""),
        ]

    def test_they_are_counted_by_reason(self) -> None:
        assert [*inapplicable_lines(load_spec_text(spoiled(BORDER), "BlockMean-1.yaml"))] == [
            "8 of 9 mutants do not apply:",
            "missing role: 2 (auto_pad 2); "
            "where the operator has such a thing, name it under 'roles'",
            "other kinds of operators: 1 (reduce max 1)",
            "other operators, by name: 1",
            "no difference: 1",
            "missing element type: 1 (bf16 1)",
            "missing name: 1 (divisor_override 1)",
            "not expressible in its rules: 1",
        ]

    def test_a_role_that_is_given_is_needed_no_more(self) -> None:
        spec = load_spec_text(spoiled(BORDER, ROLES), "BlockMean-1.yaml")
        assert [fault.id for fault in mutants_of(spec)] == ["has", "takes-upper-for-same"]
        assert [*inapplicable_lines(spec)][:2] == [
            "7 of 9 mutants do not apply:",
            "other kinds of operators: 1 (reduce max 1)",
        ]
        assert "missing role: 1 (same_lower 1)" in " ".join(inapplicable_lines(spec))

    def test_lint_says_it_of_an_own_operator_alone(self, tmp_path: Path) -> None:
        file = tmp_path / "BlockMean-1.yaml"
        file.write_text(spoiled(BORDER))
        own, ours = (
            CliRunner().invoke(spec_group, ["lint", str(one)]).output
            for one in (file, shipped_specs()["AdaptiveMaxPool-8"].file)
        )
        assert f"{file}: 8 of 9 mutants do not apply:\n    missing role: 2 (auto_pad 2)" in own
        assert ours.count("\n") == 1


def test_the_shipped_catalogue_is_accounted_for() -> None:
    """Each operator has each mutant, or leaves it out."""
    told = []
    for op in ("AvgPool-1", "AdaptiveMaxPool-8", "torch.avg_pool-2"):
        spec = shipped_specs()[op]
        told.append(sorted(one.id for one in (*mutants_of(spec), *left_out(spec))))
    assert len(told[0]) == len({*told[0]})
    assert told[0] == told[1] == told[2]
