"""Opening suites and reading their vectors; every kind of damage is refused and named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from vector_examples import assert_same, index_vector, reject_vector, value_vector

from conformance.errors import SuiteError, UsageError
from conformance.model import Vector
from conformance.suite import manifest as manifests
from conformance.suite import recorded_cases
from conformance.suite.store import Suite, open_suite, suite_argument
from conformance.suite.vector_file import encode_vector
from conformance.suite.writer import write_suite

VECTORS = (
    value_vector(),
    value_vector((1.0, 2.0, 3.0, 4.0), dtype="f16"),
    index_vector(),
    reject_vector(),
)
SMOKE = {VECTORS[0].id, VECTORS[2].id}


def write(folder: Path, vectors: tuple[Vector, ...] = VECTORS, name: str = "core-1") -> Suite:
    pairs = [(v, ("core", "smoke") if v.id in SMOKE else ("core",)) for v in vectors]
    return write_suite(folder, pairs, name=name, seed=1, versions={"numpy": "2"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "suite").path


def file_of(folder: Path, vector: Vector) -> Path:
    return folder / vector.case.op / f"{vector.id}.npz"


def edit_manifest(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    file = folder / "manifest.json"
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))


def open_refusal(folder: Path) -> str:
    with pytest.raises(SuiteError) as caught:
        open_suite(folder)
    assert caught.value.hint
    return caught.value.message


def read_refusal(folder: Path) -> str:
    suite = open_suite(folder)
    with pytest.raises(SuiteError) as caught:
        list(suite.vectors())
    assert caught.value.hint
    assert caught.value.message in suite.verify()
    return caught.value.message


class TestReading:
    def test_vectors_come_in_the_order_of_the_manifest(self, folder: Path) -> None:
        suite = open_suite(folder)
        assert len(suite) == 4
        assert suite.name == "core-1"
        assert suite.verify() == ()
        for found, written in zip(suite.vectors(), VECTORS, strict=True):
            assert_same(found, written)

    def test_vectors_are_read_one_at_a_time(self, folder: Path) -> None:
        vectors = open_suite(folder).vectors()
        file_of(folder, VECTORS[1]).unlink()
        assert next(vectors).id == VECTORS[0].id
        with pytest.raises(SuiteError, match="cannot be read"):
            next(vectors)

    def test_without_answers_a_vector_is_its_question_alone(self, folder: Path) -> None:
        suite = open_suite(folder)
        for whole, question in zip(suite.vectors(), suite.vectors(answers=False), strict=True):
            assert question.answers == ()
            assert question.readings == {}
            assert_same(replace(question, answers=whole.answers, readings=whole.readings), whole)

    def test_operators_are_chosen_by_name(self, folder: Path) -> None:
        suite = open_suite(str(folder))
        assert [v.id for v in suite.vectors(["AdaptiveMaxPool-8"])] == [VECTORS[2].id]
        assert list(suite.vectors([])) == []
        with pytest.raises(UsageError, match=r"no operator 'AvgPool-2'") as caught:
            suite.vectors(["AvgPool-2"])
        assert caught.value.hint == "did you mean 'AvgPool-1'?"

    def test_a_vector_is_found_by_id_beginning_or_digest(self, folder: Path) -> None:
        suite = open_suite(folder)
        for vector in VECTORS:
            assert_same(suite.get(vector.id), vector)
            assert suite.find(vector.id).id == vector.id
            assert suite.find(vector.id[-8:]).id == vector.id
            assert suite.find(vector.id[:-4]).id == vector.id

    def test_a_vector_that_is_not_there_is_answered_with_near_ones(self, folder: Path) -> None:
        suite = open_suite(folder)
        typo = VECTORS[1].id.replace("ramp", "rmap")
        for ask in (suite.get, suite.find):
            with pytest.raises(UsageError, match=f"no vector '{typo}'") as caught:
                ask(typo)
            assert VECTORS[1].id in (caught.value.hint or "")
        with pytest.raises(UsageError, match="no vector ''"):
            suite.find("")
        with pytest.raises(UsageError, match="3 vectors of the suite 'core-1' begin with 'f32"):
            suite.find("f32")

    def test_an_id_of_the_shipped_suite_is_of_those_suites_that_it_is_in(self) -> None:
        core, smoke = open_suite(), open_suite("smoke")
        entries = core.manifest.of(["AvgPool-1"])
        of_smoke = next(entry.id for entry in entries if "smoke" in entry.suites)
        elsewhere = next(entry.id for entry in entries if "smoke" not in entry.suites)
        for id in (of_smoke, elsewhere):
            assert core.get(id).id == id
        assert smoke.get(of_smoke).id == of_smoke
        assert smoke.manifest.listed.find(elsewhere) is None

    def test_a_withdrawn_vector_is_not_asked(self, folder: Path) -> None:
        gone = VECTORS[1].id
        before = open_suite(folder).digest
        edit_manifest(folder, lambda d: d.update(withdrawn={gone: "its bound was too narrow"}))
        suite = open_suite(folder)
        assert len(suite) == 3
        assert gone not in [v.id for v in suite.vectors()]
        assert suite.digest != before
        for ask in (suite.get, suite.find):
            with pytest.raises(UsageError, match="is withdrawn: its bound was too narrow"):
                ask(gone)


class TestNames:
    def test_none_is_the_shipped_suite(self) -> None:
        assert open_suite().is_shipped
        assert open_suite().digest == open_suite("core").digest

    def test_a_name_is_a_part_of_the_shipped_suite(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        write(tmp_path / "smoke", VECTORS[3:])
        monkeypatch.chdir(tmp_path)
        smoke = open_suite("smoke")
        assert (smoke.name, smoke.is_shipped) == ("smoke", True)
        assert all("smoke" in entry.suites for entry in smoke.manifest.vectors)
        assert 0 < len(smoke) < len(open_suite())
        assert smoke.digest != open_suite().digest
        assert len(open_suite("./smoke")) == len(open_suite(Path("smoke"))) == 1

    @pytest.mark.parametrize(
        ("out", "text"),
        [("smoke", "./smoke"), ("core", "./core"), ("mine", "mine"), ("out/smoke", "out/smoke")],
    )
    def test_a_folder_is_told_so_that_it_is_found(self, out: str, text: str) -> None:
        assert suite_argument(Path(out)) == text

    def test_a_folder_needs_no_dots_if_no_suite_has_its_name(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(folder.parent)
        assert len(open_suite("suite")) == 4

    def test_a_name_that_is_not_known_is_answered_with_a_near_one(self) -> None:
        with pytest.raises(SuiteError, match="no suite and no folder is called 'smok'") as caught:
            open_suite("smok")
        assert caught.value.hint == "did you mean 'smoke'?"
        with pytest.raises(SuiteError) as caught:
            open_suite("zzz")
        assert caught.value.hint == "the shipped suites are core, large, smoke"

    def test_without_a_shipped_suite_a_name_is_no_suite(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(recorded_cases, "directory", lambda name: tmp_path / "nothing")
        with pytest.raises(SuiteError, match="called 'smoke'") as caught:
            open_suite("smoke")
        assert caught.value.hint == "none is shipped"
        with pytest.raises(SuiteError, match="no recorded cases are shipped"):
            open_suite()


class TestDamage:
    def test_no_folder(self, tmp_path: Path) -> None:
        assert "absent: no such folder" in open_refusal(tmp_path / "absent")
        assert "no such folder" in open_refusal(tmp_path / "nul\0")
        (tmp_path / "file").touch()
        assert "no such folder" in open_refusal(tmp_path / "file")

    def test_no_manifest(self, tmp_path: Path) -> None:
        assert "no manifest.json, so not a suite" in open_refusal(tmp_path)

    @pytest.mark.parametrize("name", [".", "..", "/"])
    def test_a_folder_without_a_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        (tmp_path / "inner").mkdir()
        monkeypatch.chdir(tmp_path / "inner")
        assert "no manifest.json, so not a suite" in open_refusal(Path(name))

    def test_half_a_manifest(self, folder: Path) -> None:
        file = folder / "manifest.json"
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        assert "manifest.json: not readable as JSON" in open_refusal(folder)

    def test_no_vectors(self, folder: Path) -> None:
        edit_manifest(folder, lambda d: d.update(vectors=[], counts={}, edges={}, faults={}))
        assert "the suite has no vectors" in open_refusal(folder)

    def test_all_vectors_withdrawn(self, folder: Path) -> None:
        edit_manifest(folder, lambda d: d.update(withdrawn={v.id: "wrong" for v in VECTORS}))
        assert "the suite has no vectors" in open_refusal(folder)

    def test_a_missing_file(self, folder: Path) -> None:
        file = file_of(folder, VECTORS[0])
        file.unlink()
        assert f"1 of 4 listed files missing: AvgPool-1/{file.name}" in open_refusal(folder)
        file.mkdir()
        assert "1 of 4 listed files missing" in open_refusal(folder)

    @pytest.mark.parametrize("place", ["other.npz", "AvgPool-1/other.npz", "deep/er/other.npz"])
    def test_an_unlisted_file(self, folder: Path, place: str) -> None:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(encode_vector(VECTORS[0]))
        assert f"1 vector files that the manifest does not list: {place}" in open_refusal(folder)

    def test_other_files_are_nobodys_business(self, folder: Path) -> None:
        (folder / "LICENSE").write_text("CC0")
        (folder / "AvgPool-1" / "._x.npz").write_text("written by a file manager")
        assert open_suite(folder).verify() == ()

    def test_a_changed_file(self, folder: Path) -> None:
        file = file_of(folder, VECTORS[0])
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        message = read_refusal(folder)
        expected = open_suite(folder).manifest.files[f"AvgPool-1/{file.name}"].sha256[:12]
        assert f"{file}: the file is not the one" in message
        assert f"sha256 {expected}… expected, " in message

    def test_a_file_of_another_length(self, folder: Path) -> None:
        file = file_of(folder, VECTORS[0])
        content = file.read_bytes()
        file.write_bytes(content + b"x")
        assert f"({len(content):,} bytes expected, more found)" in read_refusal(folder)
        file.write_bytes(content[:-1])
        assert f"expected, {len(content) - 1} found)" in read_refusal(folder)

    def test_a_file_that_claims_to_be_huge(self, folder: Path) -> None:
        edit_manifest(folder, lambda d: d["vectors"][0].update(bytes=2**40))  # type: ignore[index]
        assert f"{2**40} bytes, at most" in read_refusal(folder)

    def test_files_that_changed_places(self, folder: Path) -> None:
        one, other = file_of(folder, VECTORS[0]), file_of(folder, VECTORS[1])
        content = other.read_bytes()
        other.write_bytes(one.read_bytes())
        one.write_bytes(content)
        assert "the file is not the one that the manifest lists" in read_refusal(folder)

    def test_a_manifest_that_describes_another_vector(self, folder: Path) -> None:
        edit_manifest(folder, lambda d: d["vectors"][0].update(level="should"))  # type: ignore[index]
        assert "describes the vector otherwise than its file" in read_refusal(folder)

    def test_every_damaged_file_is_listed_by_verify(self, folder: Path) -> None:
        for vector in VECTORS[:3]:
            file = file_of(folder, vector)
            file.write_bytes(bytes(file.stat().st_size))
        problems = open_suite(folder).verify()
        assert len(problems) == 3

    def test_a_link_that_leaves_the_folder(self, folder: Path, tmp_path: Path) -> None:
        file = file_of(folder, VECTORS[0])
        file.rename(tmp_path / "outside.npz")
        file.symlink_to(tmp_path / "outside.npz")
        assert f"{file}: a symbolic link that leaves" in open_refusal(folder)

    def test_a_linked_folder_that_leaves(self, folder: Path, tmp_path: Path) -> None:
        (folder / "AvgPool-1").rename(tmp_path / "outside")
        (folder / "AvgPool-1").symlink_to(tmp_path / "outside")
        assert "AvgPool-1: a symbolic link that leaves" in open_refusal(folder)

    def test_a_link_that_stays_is_followed(self, folder: Path, tmp_path: Path) -> None:
        file = file_of(folder, VECTORS[0])
        file.rename(folder / "content")
        file.symlink_to(folder / "content")
        (tmp_path / "link").symlink_to(folder)
        assert open_suite(tmp_path / "link").verify() == ()

    def test_a_pipe_does_not_stop_it(self, folder: Path) -> None:
        file = file_of(folder, VECTORS[0])
        file.unlink()
        os.mkfifo(file)
        assert "1 of 4 listed files missing" in open_refusal(folder)

    def test_a_linked_loop(self, folder: Path) -> None:
        (folder / "loop").symlink_to("loop")
        message = open_refusal(folder)
        assert str(folder) in message

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_that_may_not_be_read(self, folder: Path) -> None:
        (folder / "AvgPool-1").chmod(0)
        assert "Permission denied" in open_refusal(folder)


def test_the_manifest_is_checked_before_any_file(folder: Path) -> None:
    edit_manifest(folder, lambda d: d.update(format=manifests.FORMAT + 1))
    assert "which reads formats up to 1" in open_refusal(folder)
