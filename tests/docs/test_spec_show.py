"""``conformance spec show``: an operator in a terminal or a pipe."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.cli.spec import SECTIONS
from conformance.cli.spec_text import COPIED, operator_text
from conformance.cli.spec_text import SECTIONS as HEADINGS
from conformance.core.loader import load_operator, shipped_names
from conformance.docs.operator_facts import OperatorFacts


def show(*arguments: object, columns: int = 80) -> Result:
    words = ["spec", "show", *map(str, arguments)]
    return CliRunner().invoke(main, words, env={"COLUMNS": str(columns)})


def words(shown: str) -> str:
    """The text with its lines run together."""
    return " ".join(shown.split())


def headings(shown: Result) -> list[str]:
    return [line for line in shown.stdout.splitlines()[1:] if line and not line.startswith(" ")]


@pytest.mark.parametrize("op", shipped_names())
def test_everything_that_a_definition_says_is_shown(op: str) -> None:
    operator = load_operator(op)
    shown = words("\n".join(operator_text(OperatorFacts(operator), SECTIONS, 80)))
    wanted = [operator.op, operator.data["summary"], *operator.data["document"].values()]
    for attribute in operator.attributes.values():
        wanted += [attribute.spelling, ", ".join(attribute.values)]
    wanted += [*operator.tensors, *operator.dims, *operator.let, *operator.require]
    for erratum in operator.errata:
        wanted += [erratum.id, erratum.text, erratum.holds, erratum.why]
    for option in operator.interpretations:
        wanted += [option.name, option.question, option.adopted, option.answer, option.why]
    for profile in operator.profiles:
        wanted += [profile.name, profile.why, profile.when]
    assert [text for text in wanted if words(text) not in shown] == []


def test_the_command_shows_the_same() -> None:
    facts = OperatorFacts(load_operator("MaxPool-1"))
    assert show("MaxPool-1").stdout.splitlines() == list(operator_text(facts, SECTIONS, 80))


@pytest.mark.parametrize("columns", [60, 200])
def test_it_fits_the_terminal(columns: int) -> None:
    lines = show("AvgPool-1", columns=columns).stdout.splitlines()
    long = [line for line in lines if len(line) > min(columns, 100)]
    assert all(line.strip().startswith(COPIED) for line in long)
    assert not any(line != line.rstrip() for line in lines)


def test_sections_can_be_chosen_and_keep_their_order() -> None:
    shown = show("AvgPool-1", "--section", "rules", "--section", "attributes")
    assert headings(shown) == ["Attributes", "Definition"]
    assert tuple(HEADINGS) == SECTIONS
    assert headings(show("AvgPool-1")) == [heading for heading, _ in HEADINGS.values()]


def test_an_operator_of_ones_own(tmp_path: Path) -> None:
    shown = show(tiny.write(tmp_path))
    assert shown.exit_code == 0, shown.output
    assert "The mean of each pair of neighbours." in shown.stdout
    assert "each-pair" in shown.stdout


def test_an_unknown_operator_or_section_is_named() -> None:
    shown = show("AvgPol-1")
    assert shown.exit_code == 2
    assert "did you mean 'AvgPool-1'?" in shown.stderr
    assert show("AvgPool-1", "--section", "rule").exit_code == 2
