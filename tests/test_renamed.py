"""Files that speak of faults and edges by the names that these had before."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import renamed
from conformance.data import directory
from conformance.grade.gate import load_known
from conformance.log.events import finding_from_event, result_from_event
from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import shipped_specs
from conformance.suite import manifest

LOG = Path(__file__).parents[1] / "reports" / "sample" / "openvino" / "run.jsonl.gz"

FAULT, EDGE = "same-upper-like-lower", "same-upper-odd"
"""What is renamed here, of AvgPool-1: both are named in logs and suites of today."""


@pytest.fixture
def renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A catalogue and a specification in which both have other names now."""
    specs = tmp_path / "specs"
    (specs / "faults" / "any").mkdir(parents=True)
    for name in ("AvgPool-1", "AvgPool-14"):
        shutil.copy(directory("specs") / f"{name}.yaml", specs)
    path = specs / "AvgPool-1.yaml"
    text = path.read_text()
    assert text.count(f"\n  {EDGE}:\n") == 1
    path.write_text(text.replace(f"\n  {EDGE}:\n", f"\n  odd-pad:\n    was: [{EDGE}]\n"))
    entry = {"upper-like-lower": {"was": [FAULT], "replace": {}, "says": "."}}
    each = {"tail-{n}": {"was": ["row-tail-unwritten-{n}"], "each": {"n": {"4": 4, "8": 8}}}}
    text = yaml.safe_dump({"faults": {**entry, **each}}, sort_keys=False)
    (specs / "faults" / "any" / "any.yaml").write_text(text)
    monkeypatch.setattr(renamed, "directory", lambda name: tmp_path / name)
    renamed.fault_names.cache_clear()
    renamed.edge_names.cache_clear()
    yield
    monkeypatch.undo()
    renamed.fault_names.cache_clear()
    renamed.edge_names.cache_clear()


@pytest.mark.usefixtures("renaming")
class TestOldNames:
    def test_each_by_its_name_of_now(self) -> None:
        old = [FAULT, "row-tail-unwritten-8", "another"]
        assert renamed.faults(old) == ("upper-like-lower", "tail-8", "another")
        assert renamed.edges("AvgPool-1", [EDGE, "batch"]) == ("odd-pad", "batch")
        assert renamed.edges("AvgPool-14", [EDGE]) == ("odd-pad",)  # it builds on that
        assert renamed.edges("own.Pool-1", [EDGE]) == (EDGE,)
        assert renamed.edges("../AvgPool-1", [EDGE]) == (EDGE,)

    def test_the_manifest_of_today(self) -> None:
        read = manifest.read(directory("vectors") / "manifest.json")
        assert read.faults["AvgPool-1"]["upper-like-lower"] > 0
        assert FAULT not in read.faults["AvgPool-1"]
        assert read.edges["AvgPool-1"]["odd-pad"] > 0
        assert EDGE not in read.edges["AvgPool-1"]

    def test_a_result_and_a_finding_of_a_log(self) -> None:
        result = result_from_event(next(event("result", edges=EDGE)))
        assert "odd-pad" in result.edges
        assert EDGE not in result.edges
        told = next(event("finding", op="AvgPool-1"))
        named = {"id": FAULT, "kind": "auto-pad", "says": ".", "threads": [], "look": ""}
        others = {"ids": [FAULT, "another"], "says": [".", "."]}
        told["diagnosis"] = {"sentence": ".", "faults": [named, 5], "alternatives": [others, {}]}
        diagnosis = finding_from_event(told).diagnosis
        assert diagnosis is not None
        assert diagnosis["faults"] == [{**named, "id": "upper-like-lower"}, 5]
        assert diagnosis["alternatives"][0]["ids"] == ["upper-like-lower", "another"]
        assert finding_from_event({**told, "diagnosis": "hostile"}).diagnosis == "hostile"

    def test_a_baseline(self, tmp_path: Path) -> None:
        entries = [
            {"op": "AvgPool-1", "edges": [EDGE], "reason": "r"},
            {"op": "AvgPool-1", "finding": f"{EDGE}: wrong values", "reason": "r"},
        ]
        path = tmp_path / "known.yaml"
        path.write_text(yaml.safe_dump({"known": entries}))
        by_edge, by_title = load_known(path, shipped_specs()).entries
        assert by_edge.selector.edges == ("odd-pad",)
        assert by_title.finding == "odd-pad: wrong values"


def event(kind: str, **having: str) -> Iterator[dict[str, Any]]:
    with gzip.open(LOG, "rt", encoding="utf-8") as lines:
        for line in lines:
            told = json.loads(line)
            if told["event"] == kind and all(value in told[key] for key, value in having.items()):
                yield told


def test_nothing_has_a_name_that_another_had() -> None:
    known = {fault.id for spec in shipped_specs().values() for fault in mutants_of(spec)}
    assert known.isdisjoint(renamed.fault_names())
    for op, spec in shipped_specs().items():
        assert renamed.edge_names(op).keys().isdisjoint(edge.name for edge in spec.edges)
