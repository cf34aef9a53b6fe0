"""``conformance spec show``: what a page says, in a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import tiers
import tiny
from click.testing import CliRunner, Result
from test_operator_pages import HOSTILE, hostile_account, kind_of

from conformance.cli import main
from conformance.cli.spec import SECTIONS
from conformance.cli.spec_text import COPIED, operator_text
from conformance.cli.spec_text import SECTIONS as TOLD
from conformance.docs.operator_facts import OperatorFacts, collect_facts
from conformance.spec.loader import shipped_specs
from conformance.specification import mutants_of
from conformance.suite.store import open_suite

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"


def show(*arguments: object, columns: int = 80) -> Result:
    words = ["spec", "show", *map(str, arguments)]
    return CliRunner().invoke(main, words, env={"COLUMNS": str(columns)})


def words(shown: str) -> str:
    """The text with its lines run together."""
    return " ".join(shown.split())


@pytest.mark.parametrize("op", tiers.sample(shipped_specs(), kind_of))
def test_tells_everything_in_the_specification(
    op: str, accounts: Mapping[str, OperatorFacts]
) -> None:
    spec, said = shipped_specs()[op], words("\n".join(operator_text(accounts[op], SECTIONS, 80)))
    wanted = [spec.op, spec.summary, spec.document.title, spec.document.url]
    for quantity in spec.quantities.values():
        wanted += [quantity.name, quantity.why]
        if quantity.written:
            codes = [(str(code), str(value)) for value, code in quantity.written.items()]
            codes = [(c.lower() if c in ("True", "False") else c, v) for c, v in codes]
            wanted += [f"{code} ({value.lower()})" for code, value in codes]
        else:
            wanted += [", ".join(quantity.values)]
    for name in spec.definitions:
        wanted += [name]
    for one in spec.require:
        wanted += [one.name, one.that.text, one.why]
    for erratum in spec.errata:
        wanted += [erratum.id, erratum.text, erratum.holds, erratum.why]
    for reading in spec.interpretations:
        wanted += [reading.name, reading.question, reading.adopted, reading.answer, reading.why]
    for point in spec.observe:
        wanted += [point.name, point.question, point.expected]
    for edge in spec.edges:
        wanted += [edge.name, edge.why, edge.when.text]
    for reject in spec.reject:
        wanted += [reject.name, reject.breaks, reject.why]
    for fault in mutants_of(spec):
        wanted += [fault.id, fault.kind, fault.description, fault.equivalent, *fault.threads]
    assert [one for one in wanted if words(one) not in said] == []


def test_the_command_tells_the_same() -> None:
    told = collect_facts(shipped_specs()["MaxPool-1"], open_suite())
    found = show("MaxPool-1", "--all")
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines() == list(operator_text(told, SECTIONS, 80))


def test_it_is_short_if_nothing_is_asked_for() -> None:
    lines = show("AvgPool-1").stdout.splitlines()
    headings = [line for line in lines[1:] if line and not line.startswith(" ")]
    assert headings[:3] == ["Inputs and outputs", "Attributes", "Conditions"]
    assert len(lines) <= 80
    said = words("\n".join(lines))
    assert "The document leaves 10 questions open" in said
    assert all(name in said for name in (*SECTIONS, "--all"))
    assert all(quantity.name in said for quantity in shipped_specs()["AvgPool-1"].attributes)


@pytest.mark.parametrize("columns", [60, 200])
def test_fits_the_terminal(columns: int) -> None:
    words = ("AvgPool-1", "--all", SAMPLE / "torch" / "run.jsonl.gz", "--suite", "smoke")
    lines = show(*words, columns=columns).stdout.splitlines()
    long = [line for line in lines if len(line) > min(columns, 100)]
    assert all(line.strip().startswith(COPIED) for line in long)
    assert not any(line != line.rstrip() for line in lines)


def test_sections_can_be_chosen_and_keep_their_order() -> None:
    lines = show("AvgPool-1", "--section", "rules", "--section", "attributes").stdout.splitlines()
    headings = [line for line in lines[1:] if line and not line.startswith(" ")]
    assert headings == ["Attributes", "Rules"]
    assert tuple(TOLD) == SECTIONS


def test_commands_show_the_vectors(tmp_path: Path) -> None:
    lines = show("AdaptiveMaxPool-8", "--section", "edges").stdout.splitlines()
    commands = [line.strip() for line in lines if "conformance show" in line]
    assert len(commands) == len(shipped_specs()["AdaptiveMaxPool-8"].edges)
    assert CliRunner().invoke(main, commands[0].split()[1:]).exit_code == 0


def test_who_follows_which_reading() -> None:
    logs = [SAMPLE / name / "run.jsonl.gz" for name in ("openvino", "torch")]
    said = words(show("AvgPool-1", "--section", "readings", *logs).stdout)
    assert "openvino 2026.4.1: the whole kernel (48 vectors" in said
    assert "torch 2.13.0+cpu: taps within the padded input (41 vectors" in said


def test_an_operator_of_ones_own(tmp_path: Path) -> None:
    found = show(tiny.write(tmp_path), "--all")
    assert found.exit_code == 0, found.output
    assert "The mean of each pair of neighbours." in found.stdout
    assert "divisor-missing" in found.stdout


def test_hostile_text_cannot_command_a_terminal(tmp_path: Path) -> None:
    told, _ = hostile_account(tmp_path)
    lines = list(operator_text(told, SECTIONS, 80))
    assert all(line.isprintable() for line in lines)
    assert "\\x1b[31mred" in words(" ".join(lines))
    assert HOSTILE not in "\n".join(lines)


def test_an_unknown_operator_or_section_is_named() -> None:
    found = show("AvgPol-1")
    assert found.exit_code == 2
    assert "did you mean 'AvgPool-1'?" in found.stderr
    assert show("AvgPool-1", "--section", "edge").exit_code == 2
