"""Pages tell all that a specification says, are safe to open, and are the same every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sample_runs
import tiers
from pages import Page, check_safe, check_structure
from spec_examples import EXAMPLE

from conformance.docs.html import file_name, index_page, link, meanings, operator_page
from conformance.docs.operator_facts import OperatorFacts, collect_facts
from conformance.log.reader import read
from conformance.log.run_log import RunLog
from conformance.safe_text import visible
from conformance.spec.catalogue import Mutant
from conformance.spec.loader import load_spec_text, shipped_specs
from conformance.spec.model import Document, Erratum, OpSpec
from conformance.suite.store import Suite

SMOKE = tiers.smoke()
OPS = SMOKE.manifest.ops
HOSTILE = sample_runs.HOSTILE


def seen(text: str) -> str:
    """How a page shows a text: what cannot be seen as escapes, white space run together."""
    return " ".join(visible(text).split())


def kind_of(name: str) -> Iterator[str]:
    """What a page is of: a dialect, a kind of pooling, with or without indices."""
    yield name.rpartition(".")[0]
    yield name.rpartition(".")[2].partition("-")[0].lower()


@cache
def parsed(page: str) -> Page:
    return Page(page)


@pytest.mark.parametrize("name", tiers.sweep([*OPS, "index"], kind_of))
class TestEveryPage:
    def test_needs_nothing_but_itself(self, name: str, pages: Mapping[str, str]) -> None:
        check_safe(pages[name], inline=("style",))

    def test_structure(self, name: str, pages: Mapping[str, str]) -> None:
        check_structure(pages[name])

    def test_links_lead_to_pages_here_or_on_the_web(
        self, name: str, pages: Mapping[str, str]
    ) -> None:
        here = {"./index.html", *(f"./{file_name(op)}" for op in OPS)}
        for attributes in parsed(pages[name]).all("a"):
            target = attributes["href"]
            assert target.startswith(("#", "https://", "http://")) or target in here

    @pytest.mark.exhaustive  # of many vectors smaller windows are chosen
    def test_is_small_enough_to_open_at_once(self, name: str, pages: Mapping[str, str]) -> None:
        assert len(pages[name].encode()) < 1_000_000


@pytest.mark.parametrize("op", tiers.sweep(OPS, kind_of))
class TestOperator:
    def test_tells_everything_in_the_specification(
        self, op: str, pages: Mapping[str, str], accounts: Mapping[str, OperatorFacts]
    ) -> None:
        told, text = accounts[op], parsed(pages[op]).text
        spec = told.spec
        wanted = [spec.summary, spec.document.title]
        for quantity in spec.quantities.values():
            wanted += [quantity.name, quantity.why, *quantity.values]
        wanted += [output.name for output in spec.outputs]
        for one in spec.require:
            wanted += [one.name, one.why]
        for erratum in spec.errata:
            wanted += [erratum.id, erratum.text, erratum.holds, erratum.why]
        for reading in spec.interpretations:
            wanted += [reading.name, reading.adopted, reading.answer, reading.why]
            wanted += [reading.question[1:]]
        for point in spec.observe:
            wanted += [point.name, point.question[1:], point.expected]
        for edge in spec.edges:
            wanted += [edge.name, edge.why]
        for reject in spec.reject:
            wanted += [reject.name, reject.why, reject.breaks]
        for fault in told.mutants:
            wanted += [fault.id, fault.description]
        assert [one for one in wanted if seen(one) not in text] == []

    def test_every_name_in_a_formula_is_explained(
        self, op: str, pages: Mapping[str, str], accounts: Mapping[str, OperatorFacts]
    ) -> None:
        spec = accounts[op].spec
        anchors = {a["id"] for _, a in parsed(pages[op]).elements if "id" in a}
        for name, meaning in meanings(spec).items():
            assert f"name-{name}" in anchors
            assert meaning
        read_in_text = {name for one in spec.definitions.values() for name in one.names}
        assert read_in_text <= meanings(spec).keys()
        for name in ("out", "start", "taps"):
            linked = {
                a["href"][6:] for a in parsed(pages[op]).all("a") if a["href"].startswith("#name-")
            }
            assert spec.definitions[name].names - {"axis"} <= linked

    def test_each_edge_has_a_picture_and_commands(
        self, op: str, pages: Mapping[str, str], accounts: Mapping[str, OperatorFacts]
    ) -> None:
        told = accounts[op]
        for edge in told.spec.edges:
            card = pages[op].split(f'<h3 id="edge-{edge.name}">')[1].split("</article>")[0]
            shown = told.covering(edge.name)
            assert card.count("<svg") == bool(shown)
            if not shown:
                proven = SMOKE.manifest.strength[op].infeasible.values()
                assert all((edge.name, edge.name) in pairs for pairs in proven)
            for vector in shown[:3]:
                assert f"conformance show {vector.id}<" in card
        for reject in told.spec.reject:
            assert told.negative_tests(reject.name)[0].id in pages[op]

    def test_threads_are_linked_and_counts_are_those_of_the_manifest(
        self,
        op: str,
        pages: Mapping[str, str],
        accounts: Mapping[str, OperatorFacts],
        exhaustive: bool,
    ) -> None:
        targets = {a["href"] for a in parsed(pages[op]).all("a")}
        told = accounts[op]
        vectors = {vector.id for vector in told.vectors}
        entries = [one for one in tiers.suite(exhaustive).manifest.vectors if one.op == op]
        assert {entry.id for entry in entries} == vectors
        for fault in told.mutants:
            assert set(fault.threads) <= targets
            row = pages[op].split(f'<tr id="fault-{fault.id}">')[1].split("</tr>")[0]
            noticed = sum(fault.id in entry.kills for entry in entries)
            assert row.endswith(f'<td class="number">{noticed:,}</td>')

    def test_who_follows_which_reading(
        self, op: str, pages: Mapping[str, str], runs: tuple[RunLog, ...]
    ) -> None:
        told = 0
        for run in runs:
            backend = f"{run.header['backend']['name']} {run.header['backend']['version']}"
            for reading in run.readings:
                if reading.op != op:
                    continue
                card = pages[op].split(f'aria-labelledby="reading-{reading.point}">')[1]
                text = Page(card.split("</article>")[0]).text
                assert backend in text
                for answer in reading.answers:
                    told += 1
                    assert f"{answer.answer} {'(expected) ' * answer.adopted}" in text
                    assert answer.example in text
        asked = {reading.op for run in runs for reading in run.readings}
        assert asked >= {"AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"}
        assert told > 3 or op not in asked


def test_same_input_same_bytes(
    pages: Mapping[str, str],
    runs: tuple[RunLog, ...],
    accounts: Mapping[str, OperatorFacts],
    exhaustive: bool,
) -> None:
    suite = tiers.suite(exhaustive)
    again = collect_facts(shipped_specs()[OPS[0]], suite, runs)
    assert operator_page(again) == pages[OPS[0]]
    every = tuple(accounts[op] for op in OPS)
    assert index_page(every, runs, suite.name) == pages["index"]


def test_without_runs_and_vectors_a_page_says_what_is_missing(small_suite: Suite) -> None:
    page = operator_page(collect_facts(load_spec_text(EXAMPLE), small_suite))
    check_structure(page)
    text = Page(page).text
    assert "Give run logs to conformance spec docs to add what backends do." in text
    assert "conformance show" not in text
    assert "<svg" not in page
    assert "divisor-missing" in text
    assert "No behaviour is implementation-defined." not in text


def hostile_spec() -> OpSpec:
    """The worked example with hostile text in each place where a file may have any text."""
    spec = load_spec_text(EXAMPLE)

    def spoiled(entries: Any, *names: str) -> Any:
        return tuple(replace(one, **dict.fromkeys(names, HOSTILE)) for one in entries)

    return replace(
        spec,
        summary=HOSTILE,
        document=Document(HOSTILE, "javascript:alert(1)"),
        attributes=spoiled(spec.attributes, "why"),
        require=spoiled(spec.require, "why"),
        interpretations=spoiled(spec.interpretations, "why", "question", "adopted", "answer"),
        observe=spoiled(spec.observe, "question", "expected"),
        edges=spoiled(spec.edges, "why"),
        reject=spoiled(spec.reject, "why"),
        errata=(Erratum(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
    )


def hostile_account(tmp_path: Path) -> tuple[OperatorFacts, RunLog]:
    spec = hostile_spec()
    events = sample_runs.hostile()
    footer = events[-1]
    footer["readings"][0] |= {"op": spec.op, "point": spec.interpretations[0].name}
    run = read(sample_runs.write(tmp_path / "run.jsonl", events))
    told = collect_facts(spec, SMOKE, [run])
    assert told.backend_answers[spec.interpretations[0].name]
    variant = spec.interpretations[0]
    fault = Mutant(
        "a-fault", HOSTILE, spec.op, variant, HOSTILE, (HOSTILE, "https://x/<b>"), "", ""
    )
    return replace(told, mutants=(fault,), kill_counts={"a-fault": 0}), run


def test_hostile_text_is_text(tmp_path: Path) -> None:
    told, run = hostile_account(tmp_path)
    told = replace(told, show=f"conformance show --suite '{HOSTILE}'")
    for page in (operator_page(told), index_page((told,), (run,), HOSTILE)):
        check_safe(page, inline=("style",))
        parsed = Page(page)
        assert seen(HOSTILE) in parsed.text
        assert "49" not in parsed.text  # {{ 7 * 7 }} is not worked out
        for attributes in parsed.all("a"):
            assert attributes["href"].startswith(("#", "https://", "./index.html", "./BlockMean"))


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://example.org/a?b=c&d=e#f", True),
        ("http://example.org", True),
        ("HTTPS://example.org", False),
        ("javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("//example.org", False),
        ("https:///path", False),
        (" https://example.org", False),
        ("https://[", True),
        ('https://a/"><script>', True),
        ("https://a/\u202eb\x00", True),
    ],
)
def test_only_web_addresses_become_links(url: str, linked: bool) -> None:
    shown = str(link(url))
    assert shown.isprintable()
    assert ("<a " in shown) == linked
    assert "<script" not in shown
    assert shown.count('"') in (0, 4)
