"""The shipped catalogue of known bugs, over all operators; what its files may say is in core."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tiers
import yaml

from conformance.core.catalogue import catalogue_mutants, left_out
from conformance.core.operator import Operator
from conformance.json_schema import load_schema
from conformance.resources import directory
from conformance.spec.catalogue import Mutant, Why
from conformance.spec.yaml_reader import parse_yaml
from conformance.specification import find_spec, shipped_operators

DOCUMENT = Path(__file__).parents[2] / "docs" / "fault-format.md"
FILES = sorted((directory("specs") / "faults").rglob("*.yaml"))


def newest(op: str) -> Iterator[str]:
    """Versions of an operator differ little: the last of the alphabet is the sample."""
    yield op.rpartition("-")[0]


EACH = pytest.mark.parametrize("op", tiers.sweep(sorted(shipped_operators(), reverse=True), newest))


@pytest.fixture(scope="module")
def operators(exhaustive: bool) -> list[Operator]:
    every = sorted(shipped_operators(), reverse=True)
    chosen = every if exhaustive else tiers.sample(every, newest)
    return [find_spec(op) for op in chosen]


@pytest.fixture(scope="module")
def known(operators: list[Operator]) -> list[Mutant]:
    return [mutant for operator in operators for mutant in catalogue_mutants(operator)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file(path: Path) -> None:
    text = path.read_text("utf-8")
    assert yaml.safe_load(text) == parse_yaml(text, str(path)).data
    assert yaml.safe_load(text)["kind"] == path.stem


def test_every_key_is_documented() -> None:
    keys = load_schema("core/faults.schema.json").rules["$defs"]["fault"]["properties"]
    text = DOCUMENT.read_text("utf-8")
    assert [key for key in keys if f"| `{key}` |" not in text] == []


@EACH
def test_every_fault_has_an_id_and_a_sentence_of_its_own(op: str) -> None:
    found = catalogue_mutants(find_spec(op))
    for part in ("id", "description"):
        counts = Counter(getattr(fault, part) for fault in found)
        assert [text for text, count in counts.items() if count > 1] == []
    for fault in found:
        assert fault.op == op
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fault.id)
        assert fault.description.endswith(".")
        assert ". " not in fault.description, "one sentence"
        assert "{" not in fault.description
        assert not fault.equivalent or fault.equivalent.endswith(".")


@EACH
def test_no_two_faults_change_the_same(op: str) -> None:
    changes = Counter(replace(one.change, name="") for one in catalogue_mutants(find_spec(op)))  # type: ignore[type-var]
    assert [change for change, count in changes.items() if count > 1] == []


def test_each_operator_has_each_mutant_of_the_files_about_it_or_leaves_it_out() -> None:
    told = [
        sorted(one.id for one in (*catalogue_mutants(spec), *left_out(spec)))
        for spec in map(find_spec, ("AvgPool-1", "AdaptiveMaxPool-8", "torch.avg_pool-2"))
    ]
    assert len(told[0]) > 800
    assert told[0] == told[1] == told[2]


def test_a_fault_has_one_kind_whatever_the_operator(known: list[Mutant]) -> None:
    """But for two divisors, which a mean and a norm each have in their own file."""
    kinds: dict[str, set[str]] = {}
    for fault in known:
        kinds.setdefault(fault.id, set()).add(fault.kind)
    several = {name: found for name, found in kinds.items() if len(found) > 1}
    assert several.keys() == {"divisor-one-more", "full-kernel-always"}
    assert all(found == {"divisor", "norm"} for found in several.values())
    assert len(kinds) >= 800


def test_a_thread_is_about_few_faults(known: list[Mutant]) -> None:
    about = {(thread, fault.id) for fault in known for thread in fault.threads}
    cited = Counter(thread for thread, _ in about)
    assert all(
        re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", t) for t in cited
    )
    assert max(cited.values()) <= 6


def test_few_faults_are_excused(known: list[Mutant]) -> None:
    # A global pool has one window, and nothing that goes wrong from window to window.
    found = [fault for fault in known if ".Global" not in fault.op]
    assert 3 <= sum(bool(fault.equivalent) for fault in found) <= len(found) // 40
    assert 3 <= sum(bool(fault.excused_by) for fault in found) <= len(found) // 20


def test_an_operator_of_ones_own_has_the_faults_of_what_it_extends_but_those_by_name(
    tmp_path: Path,
) -> None:
    file = tmp_path / "own.Pool-1.yaml"
    file.write_text("op: own.Pool-1\nextends: AvgPool-16\n")
    own = find_spec(str(file))
    named = {one.id for one in left_out(own) if one.why is Why.NAMED}
    inherited = [one.id for one in catalogue_mutants(find_spec("AvgPool-16"))]
    assert len(named.intersection(inherited)) < 20
    assert [one.id for one in catalogue_mutants(own)] == [n for n in inherited if n not in named]
    assert {fault.op for fault in catalogue_mutants(own)} == {"own.Pool-1"}
