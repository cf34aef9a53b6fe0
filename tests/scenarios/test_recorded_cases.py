"""The shipped suite is made from recorded cases, byte for byte, and its manifest says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import resources
from conformance.audit.audit_suite import audit
from conformance.cli import main
from conformance.generate import recorded
from conformance.specification import find_spec, mutants_of
from conformance.suite import manifest_check, recorded_cases, recordings
from conformance.suite.archive import read_zip
from conformance.suite.entries import Entry
from conformance.suite.evaluation import EvaluationTask
from conformance.suite.manifest_check import manifest_problems
from conformance.suite.recorded_cases import (
    RecordedCases,
    encode_recorded_cases,
    read_recorded_cases,
    recorded_cases_file,
)
from conformance.suite.shipped_suite import is_outdated
from conformance.suite.store import Suite, open_suite
from conformance.suite.survivors import SurvivorTable
from conformance.suite.vector_cache import Cache, cache_folder

OP = "AdaptiveMaxPool-8"
RECORDED = sorted(path.stem for path in (resources.directory("specs") / "cases").glob("*.jsonl"))


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return open_suite()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    out = tmp_path_factory.mktemp("made") / "suite"
    words = ["generate", "--op", OP, "--op", "AvgPool-1", "--suite", "smoke", "--out", str(out)]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    assert "recorded cases; --seed N selects new ones" in shown.stderr
    return open_suite(out)


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Iterator[None]:
    """Recorded cases that are not spoilt are parsed once."""
    read, known = read_recorded_cases, {}

    def kept(file: Path) -> RecordedCases:
        key = file.name, file.read_bytes()
        if key not in known:
            known[key] = read(file)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (recorded_cases, recordings, manifest_check):
            patch.setattr(module, "read_recorded_cases", kept)
        yield


def test_a_case_is_found_by_the_beginning_or_the_end_of_its_id(shipped: Suite) -> None:
    first = next(iter(shipped.manifest.of([OP])))
    assert shipped.find(first.id[:-1]).id == first.id
    assert shipped.find(first.id[-8:]).id == first.id


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the specifications with what is recorded of one operator, to be spoilt."""
    copy = tmp_path / "specs"
    found = resources.directory
    shutil.copytree(found("specs"), copy)
    monkeypatch.setattr(
        recorded_cases, "directory", lambda name: copy if name == "specs" else found(name)
    )
    return copy


def unpacked(suite: Suite, entry: Entry) -> dict[str, bytes]:
    return read_zip(suite.content(entry), limit=1 << 26)


def test_their_vectors_are_those_that_are_shipped(made: Suite, shipped: Suite) -> None:
    assert made.manifest.ops == (OP, "AvgPool-1")
    for op in made.manifest.ops:
        wanted = [entry for entry in shipped.manifest.of((op,)) if "smoke" in entry.suites]
        there = [entry for entry in made.manifest.listed if entry.op == op]
        assert [entry.id for entry in there] == [entry.id for entry in wanted]
        assert [entry.content for entry in there] == [entry.content for entry in wanted]
        for entry, other in zip(there, wanted, strict=True):
            assert unpacked(made, entry) == unpacked(shipped, other)


def test_the_files_in_the_repository_are_theirs() -> None:
    folder = open_suite(resources.directory("vectors"))
    recorded_of = open_suite().manifest.of(folder.manifest.ops)
    listed = {entry.id: replace(entry, bytes=0, sha256="") for entry in folder.manifest.listed}
    assert listed == {entry.id: entry for entry in recorded_of if not entry.is_large}


def test_so_is_what_the_manifest_says_of_them(made: Suite, shipped: Suite) -> None:
    """But for the strength of each part, which is core's."""
    known = {entry.id: entry for entry in shipped.manifest.of(made.manifest.ops)}
    for entry in made.manifest.listed:
        assert replace(entry, bytes=0, sha256="") == known[entry.id]
    for op in made.manifest.ops:
        whole = replace(shipped.manifest.strength[op], parts=SurvivorTable())
        assert made.manifest.strength[op] == whole
    assert made.manifest.seed == read_recorded_cases(recorded_cases_file(OP)).seed


@pytest.mark.exhaustive
def test_recording_them_again_gives_the_same_text(tmp_path: Path) -> None:
    out, again = tmp_path / "suite", tmp_path / "again"
    words = [["generate", "--op", OP, "--out", str(out)]]
    words += [["suite", "record", str(out), "--out", str(again)]]
    for one in words:
        shown = CliRunner().invoke(main, one)
        assert shown.exit_code == 0, shown.output
    ours = (resources.directory("specs") / "cases" / f"{OP}.jsonl").read_text().splitlines()
    theirs = (again / "cases" / f"{OP}.jsonl").read_text().splitlines()
    # The seed and versions that selected them are not those of today.
    ours[0], theirs[0] = (
        json.dumps(json.loads(line) | {"seed": 0, "versions": {}}) for line in (ours[0], theirs[0])
    )
    assert theirs == ours


@pytest.mark.parametrize("op", RECORDED)
def test_mutants_are_killed_or_listed_as_survivors(op: str) -> None:
    cases = read_recorded_cases(recorded_cases_file(op))
    killed = {mutant for entry in cases.recorded for mutant in entry.kills}
    ids = {mutant.id for mutant in mutants_of(find_spec(op)) if not mutant.equivalent}
    assert ids - killed <= cases.parts.never_killed


@pytest.mark.parametrize("op", RECORDED)
def test_every_file_is_of_the_specification_that_it_was_recorded_for(op: str) -> None:
    found = recorded.read(op)
    assert found is not None
    assert found.op == op
    assert not is_outdated(find_spec(op), found)


@pytest.mark.parametrize("op", RECORDED)
def test_cases_evaluate_to_the_recorded_digests(op: str, exhaustive: bool) -> None:
    """Each is evaluated anew, and kept for the tests that read it."""
    entries = read_recorded_cases(recorded_cases_file(op)).recorded
    if not exhaustive:
        entries = tuple(entry for entry in entries if not entry.is_large)[::150]
    # This raises EvaluationDefect where a digest is another.
    EvaluationTask(find_spec(op), entries, Cache(cache_folder())).run()


def test_excused_kills_are_those_of_an_audit(shipped: Suite, tmp_path: Path) -> None:
    out = tmp_path / "suite"
    words = ["generate", "--op", "AdaptiveMaxPool-8", "--suite", "smoke", "--out", str(out)]
    assert CliRunner().invoke(main, words).exit_code == 0
    (score,) = audit(open_suite(out), ["AdaptiveMaxPool-8"], processes=1, progress=lambda *_: None)
    known = read_recorded_cases(recorded_cases_file("AdaptiveMaxPool-8"))
    seen = 0
    for one in known.recorded:
        if "smoke" in one.suites and one.case.reject is None:
            kills = score.kills[one.case.id]
            assert one.kills == tuple(sorted(kill.mutant for kill in kills))
            assert one.excused == tuple(sorted(kill.mutant for kill in kills if not kill.at_must))
            seen += len(one.excused)
    assert seen


class TestLint:
    def test_what_is_recorded_is_sound(self) -> None:
        assert list(manifest_problems()) == []

    def test_a_kill_that_is_edited(self, specs: Path) -> None:
        file = specs / "cases" / f"{OP}.jsonl"
        known = read_recorded_cases(file)
        bare = [one.case.id.startswith("f32") for one in known.recorded]
        killed = [
            {
                bug
                for one, own in zip(known.recorded, bare, strict=True)
                if own is f32
                for bug in one.kills
            }
            for f32 in (True, False)
        ]
        lost = min(killed[0] & killed[1] - known.parts.mutants)
        spoilt = [
            replace(
                one,
                kills=tuple(bug for bug in one.kills if bug != lost or not own),
                excused=tuple(bug for bug in one.excused if bug != lost or not own),
            )
            for one, own in zip(known.recorded, bare, strict=True)
        ]
        file.write_bytes(encode_recorded_cases(replace(known, recorded=tuple(spoilt))))
        found = list(manifest_problems())
        assert any(f"{lost} is not killed, but not listed as a survivor" in one for one in found)

    def test_a_specification_that_has_changed(self, specs: Path) -> None:
        file = specs / "cases" / f"{OP}.jsonl"
        file.write_bytes(
            encode_recorded_cases(replace(read_recorded_cases(file), specification="0" * 64))
        )
        (found,) = manifest_problems()
        assert found.startswith(f"{OP}.jsonl: recorded for another version of {OP}")

    def test_a_damaged_file(self, specs: Path) -> None:
        file = specs / "cases" / f"{OP}.jsonl"
        file.write_bytes(file.read_bytes()[:-30])
        (found,) = manifest_problems()
        assert f"{OP}.jsonl:" in found
        assert "not readable as JSON" in found


def test_what_has_changed_since_is_told(specs: Path, tmp_path: Path) -> None:
    file = specs / "cases" / f"{OP}.jsonl"
    file.write_bytes(
        encode_recorded_cases(replace(read_recorded_cases(file), specification="0" * 64))
    )
    out = str(tmp_path / "out")
    shown = CliRunner().invoke(main, ["generate", "--op", OP, "--suite", "smoke", "--out", out])
    assert shown.exit_code == 0
    assert f"warning: {OP} has changed since its cases were recorded" in shown.stderr


def test_what_is_withdrawn_is_recorded_as_such(made: Suite) -> None:
    first, *others = (entry.id for entry in made.manifest.listed if entry.op == OP)
    suite = Suite(made.path, replace(made.manifest, withdrawn={first: "it is wrong"}))
    found = recorded.record(suite, OP)
    small = recorded.small(found)
    assert [one.case.id for one in small.recorded] == [first, *others]
    assert found.withdrawn == {first: "it is wrong"}
