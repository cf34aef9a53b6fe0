"""Recorded cases are evaluated when they are first needed, and never believed unverified."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.errors import EvaluationDefect
from conformance.model import Vector
from conformance.specification import build, find_spec
from conformance.suite import evaluation, vector_cache
from conformance.suite.archive import write_zip
from conformance.suite.entries import Entry
from conformance.suite.store import Suite, open_suite
from conformance.suite.vector_cache import Cache
from conformance.suite.vector_file import vector_members

OP = "onnx.GlobalAveragePool-1"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """An empty cache, of which nothing has been said."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(vector_cache.VARIABLE, str(folder))
    monkeypatch.setattr(evaluation, "_spare", [])
    monkeypatch.setattr(evaluation, "_warned", set())
    return Cache(folder)


@pytest.fixture
def suite() -> Suite:
    return open_suite()


@pytest.fixture
def entry(suite: Suite) -> Entry:
    return next(one for one in suite.manifest.of((OP,)) if one.reject is None)


def kept(cache: Cache, entry: Entry) -> Path:
    return cache.path(entry.op, entry.id, entry.content)


def never(*_: object, **__: object) -> Any:
    raise AssertionError("it is evaluated again")


def check(*more: str) -> Result:
    words = ["check", "--backend", "reference", "--op", OP, "--executor", "inline", *more]
    return CliRunner().invoke(main, words)


def test_the_first_reader_evaluates_and_keeps(
    suite: Suite, entry: Entry, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = suite.read(entry)
    assert kept(cache, entry).is_file()
    monkeypatch.setattr(evaluation, "build", never)
    second = suite.read(entry)
    assert second.case == first.case
    for one, other in zip(first.answers, second.answers, strict=True):
        assert one.expected.tobytes() == other.expected.tobytes()


@pytest.mark.parametrize("damage", [b"", b"PK no archive", None], ids=["empty", "text", "flip"])
def test_a_damaged_file_is_evaluated_again(
    suite: Suite,
    entry: Entry,
    cache: Cache,
    damage: bytes | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sound = suite.content(entry)
    flipped = bytearray(sound)
    flipped[len(flipped) // 2] ^= 1
    kept(cache, entry).write_bytes(bytes(flipped) if damage is None else damage)
    assert suite.content(entry) == sound
    assert kept(cache, entry).read_bytes() == sound
    assert "was damaged: it is evaluated again" in caplog.text


def test_a_file_with_other_names_of_targets_is_evaluated_again(
    suite: Suite, entry: Entry, cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    """Another version left it: names of targets are not part of a digest."""
    sound = suite.content(entry)
    assert entry.recorded is not None
    made = replace(build(find_spec(OP), entry.recorded.case), edges=("an older name",))
    kept(cache, entry).write_bytes(write_zip([*vector_members(made).items()]))
    assert suite.content(entry) == sound
    assert kept(cache, entry).read_bytes() == sound
    assert caplog.text == ""


def test_another_vector_in_its_place_is_refused(suite: Suite, cache: Cache) -> None:
    one, other = [entry for entry in suite.manifest.of((OP,)) if entry.reject is None][:2]
    sound = suite.content(one)
    kept(cache, one).write_bytes(suite.content(other))
    assert suite.content(one) == sound


class TestWrongEvaluation:
    """What is evaluated twice to something else than was recorded ends with exit code 3."""

    @pytest.fixture(autouse=True)
    def wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        build = evaluation.build

        def off_by_one(*arguments: Any) -> Vector:
            self.calls += 1
            made = build(*arguments)
            answers = tuple(
                replace(one, expected=np.array(one.expected) + 1) for one in made.answers
            )
            return replace(made, answers=answers)

        monkeypatch.setattr(evaluation, "build", off_by_one)

    def test_it_is_tried_twice_and_not_kept(self, suite: Suite, entry: Entry, cache: Cache) -> None:
        with pytest.raises(EvaluationDefect, match=r"digest .* was recorded"):
            suite.read(entry)
        assert self.calls == 2
        assert not kept(cache, entry).exists()

    @pytest.mark.usefixtures("cache")
    def test_a_check_grades_nothing(self, entry: Entry) -> None:
        shown = check("--only", entry.id)
        assert shown.exit_code == 3
        assert "was recorded" in shown.stderr
        assert "CONFORMANT" not in shown.output


class TestCheck:
    def test_it_says_beforehand_what_it_evaluates(self, entry: Entry, cache: Cache) -> None:
        shown = check("--only", entry.id)
        assert shown.exit_code == 0, shown.output
        assert f"evaluating 1 case of {OP} first: about 0 s; kept in {cache.folder}" in shown.stderr
        again = check("--only", entry.id)
        assert "evaluating" not in again.stderr
        reports = [
            [line for line in result.stdout.splitlines() if " UTC, " not in line]
            for result in (shown, again)
        ]
        assert reports[0] == reports[1]

    def test_what_is_not_asked_is_not_evaluated(self, cache: Cache, tmp_path: Path) -> None:
        file = tmp_path / "narrow.py"
        file.write_text(
            "from conformance.backends.capabilities import Capabilities\n"
            "class Narrow:\n"
            "    name, version = 'narrow', '1'\n"
            f"    capabilities = Capabilities(operators=('{OP}',), dtypes=('f32',), ranks=(3,))\n"
            "    def run(self, op, inputs, attributes):\n"
            "        return [inputs[0].mean(axis=2, keepdims=True)]\n"
        )
        words = ["check", "--backend", f"{file}:Narrow", "--executor", "inline"]
        shown = CliRunner().invoke(main, words)
        assert f"of {OP} first" in shown.stderr
        names = cache.names(OP)
        assert names
        assert all(name.startswith("f32-") and name.split("-")[1].count("x") == 2 for name in names)
        assert [one.name for one in cache.folder.iterdir()] == [OP]  # of declared operators alone

    def test_a_cache_that_cannot_be_written(self, entry: Entry, cache: Cache) -> None:
        cache.folder.parent.mkdir(exist_ok=True)
        cache.folder.write_text("a file where the folder should be")
        shown = check("--only", entry.id)
        assert shown.exit_code == 0, shown.output
        assert "not kept" in shown.stderr
        assert "1 of 1 vectors passed" in shown.stdout.replace("\n", " ")

    def test_a_full_disk(self, entry: Entry, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Cache, "put", full)
        shown = check("--only", entry.id)
        assert shown.exit_code == 0, shown.output
        assert cache.names(OP) == frozenset()


def _evaluate(ids: list[str]) -> None:
    suite = open_suite()
    suite.ready([entry for entry in suite.manifest.of((OP,)) if entry.id in ids])


def test_processes_share_a_cache(suite: Suite, cache: Cache) -> None:
    entries = [one for one in suite.manifest.of((OP,)) if one.reject is None][:12]
    context = multiprocessing.get_context("spawn")
    ids = [entry.id for entry in entries]
    both = [context.Process(target=_evaluate, args=(ids,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert [one.exitcode for one in both] == [0, 0]
    assert cache.names(OP) == {kept(cache, entry).name for entry in entries}
