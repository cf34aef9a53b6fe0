"""A suite of before attributes were spelled as their documents spell them, and what names its ids.

``former`` is a suite as it was written then: ONNX's pads in two halves, PyTorch's None as a number.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.data import directory
from conformance.grade.selector import Selector
from conformance.log.reader import read
from conformance.model import FAILED
from conformance.reference.build import build
from conformance.run.selection import select
from conformance.spec.loader import find_spec
from conformance.suite.store import Suite, open_suite
from conformance.suite.vector_ids import FILE_NAME, current, means
from conformance.suite.writer import write_suite

FORMER = Path(__file__).parent / "former"
FILES = sorted(FORMER.glob("*/*.npz"))
ODD = "f32-1x1x1-reject-pads-begin-long-70e9485c"
"""What it asked is asked by another vector now, which has another length."""

BACKEND = """
import conformance

def run(op, inputs, attributes):
    (result,) = conformance.reference(op, inputs, attributes)
    return [(result + 1).astype(inputs[0].dtype)]
"""


def as_written(file: Path) -> dict[str, Any]:
    with zipfile.ZipFile(file) as archive:
        found: dict[str, Any] = json.loads(archive.read("case.json"))
    return found


@pytest.fixture(scope="module")
def former() -> Suite:
    return open_suite(FORMER)


@pytest.fixture(scope="module")
def today(former: Suite, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The same questions as they are asked now."""
    found = []
    for entry in former.manifest.vectors:
        case = former.read(entry).case
        if entry.id != ODD:
            found.append((build(find_spec(case.op), case, entry.level), ("core",)))
    out = tmp_path_factory.mktemp("today") / "suite"
    return write_suite(out, found, name="today", seed=0, versions={})


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Result]:
    (tmp_path / "wrong.py").write_text(BACKEND, encoding="utf-8")

    def run(suite: Suite, name: str, *more: str) -> Result:
        words = ["check", "--suite", str(suite.path), "--report", str(tmp_path / name)]
        words += ["--backend", f"{tmp_path / 'wrong.py'}:run", "--executor", "inline", *more]
        return CliRunner().invoke(main, words)

    return run


class TestVectors:
    def test_there_are_some_of_each_kind(self) -> None:
        told = [as_written(file)["attributes"] for file in FILES]
        assert sum("pads_begin" in one for one in told) > 2
        assert sum("pads_end" in one and "pads_begin" not in one for one in told) == 1
        assert sum(one.get("divisor_override") == 0 for one in told) == 1

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_are_read_in_todays_spelling_and_keep_their_ids(
        self, former: Suite, file: Path
    ) -> None:
        vector, written = former.get(file.stem), as_written(file)
        assert vector.id == file.stem == written["id"]
        known = {quantity.name for quantity in find_spec(vector.case.op).attributes}
        assert vector.case.attributes.keys() <= known
        given, zeros = written["attributes"], [0] * (vector.inputs[0].ndim - 2)
        pads = [*given.get("pads_begin", zeros), *given.get("pads_end", zeros)]
        explicit = "pads" in known and given.get("auto_pad", "NOTSET") == "NOTSET"
        assert vector.case.attributes.get("pads") == (pads if explicit else None)
        if vector.answers:
            again = build(find_spec(vector.case.op), vector.case)
            for one, other in zip(again.answers, vector.answers, strict=True):
                np.testing.assert_array_equal(one.expected, other.expected)

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_ids_lead_to_todays(self, former: Suite, file: Path) -> None:
        old = file.stem
        now = current(old)
        assert now != old
        assert current(now) == now
        assert (now == former.get(old).case.id) is (old != ODD)
        for text in (old, old[-8:], now, now[-8:]):
            assert means(text, now)
        for text in ("", "x", f"{old}x"):
            assert not means(text, now)


def test_the_table_leads_from_old_ids_to_those_that_stay() -> None:
    file = directory("specs") / "cases" / FILE_NAME
    renamed = json.loads(file.read_bytes())["renamed"]
    assert len(renamed) > 4000
    assert list(renamed) == sorted(renamed)
    assert not renamed.keys() & set(renamed.values())
    for old, new in renamed.items():
        kind = "-reject-pads-" if "-reject-pads-begin-long-" in old else old[:-8]
        kind = "-reject-pads-long-" if "-reject-pads-end-long-" in old else kind
        assert kind in new


class TestWhatNamesThem:
    def test_a_text_finds_a_vector_by_its_id_of_before(self, today: Suite) -> None:
        for file in FILES:
            if file.stem != ODD:
                (entry,) = select(today.manifest, ops=None, only=[file.stem]).entries
                assert entry.id == current(file.stem) == today.find(file.stem[-8:]).id

    def test_a_selector_by_either_id_has_both(self, former: Suite, today: Suite) -> None:
        old = next(file.stem for file in FILES if file.stem != ODD)
        for named in (old, current(old)):
            selector = Selector("known.yaml:1", vectors=frozenset({named}))
            for suite, expected in ((former, old), (today, current(old))):
                found = [one.id for one in suite.manifest.vectors if selector.lists(one)]
                assert found == [expected]

    def test_a_baseline_of_before_excuses_todays_failures(
        self, check: Callable[..., Result], former: Suite, today: Suite, tmp_path: Path
    ) -> None:
        assert check(former, "old").exit_code == 1
        log = read(tmp_path / "old" / "run.jsonl")
        failed = [result.id for result in log.results if result.status in FAILED]
        assert failed
        entry = {"vectors": failed, "reason": "one too many"}
        known = tmp_path / "known.yaml"
        known.write_text(yaml.safe_dump({"format": 1, "known": [entry]}), encoding="utf-8")
        for suite in (former, today):
            ran = check(suite, "gated", "--known-failures", str(known), "--strict")
            assert ran.exit_code == 0, ran.stdout
        assert check(today, "new").exit_code == 1

    def test_a_requirement_of_before_is_met(
        self, check: Callable[..., Result], today: Suite, tmp_path: Path
    ) -> None:
        ids = [file.stem for file in FILES if file.stem != ODD]
        require = tmp_path / "require.yaml"
        wanted = {"format": 1, "require": [{"vectors": ids}]}
        require.write_text(yaml.safe_dump(wanted), encoding="utf-8")
        check(today, "required", "--require", str(require))
        (met,) = read(tmp_path / "required" / "run.jsonl").footer["required"]
        assert (met["asked"], met["absent"], met["problems"]) == (len(ids), [], [])

    def test_a_log_of_before_is_compared_by_todays_ids(
        self, check: Callable[..., Result], former: Suite, today: Suite, tmp_path: Path
    ) -> None:
        check(former, "old")
        check(today, "new")
        logs = [str(tmp_path / name / "run.jsonl") for name in ("old", "new")]
        compared = CliRunner().invoke(main, ["compare", *logs])
        assert compared.exit_code == 0
        told = " ".join(compared.stdout.split())
        assert "NOTHING BROKEN. Of 5 vectors in both runs: " in told
