"""Writing suites: the same bytes each time, and never half a suite whatever happens."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vector_examples import assert_same, index_vector, reject_vector, value_vector

from conformance.errors import SuiteError
from conformance.model import Vector
from conformance.suite.store import Suite, open_suite
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import check_target, write_suite

OLD = (value_vector((1.0, 3.0)), index_vector())
NEW = (value_vector((5.0, 7.0)), reject_vector())


def write(out: Path, vectors: tuple[Vector, ...] = OLD, **changes: Any) -> Suite:
    fields: dict[str, Any] = {"name": "core-1", "seed": 3, "versions": {"numpy": "2"}}
    return write_suite(out, [(v, ("core",)) for v in vectors], **(fields | changes))


def content_of(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def ids(suite: Suite) -> list[str]:
    return [vector.id for vector in suite.vectors()]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    write(folder)
    (folder / "LICENSE").write_text("CC0")
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    known = Unreachable((("one", "other"),))
    suite = write(
        tmp_path / "new" / "suite",
        withdrawn={OLD[0].id: "why"},
        strength={"AvgPool-1": known},
        kills={OLD[1].id: ("shifted", "stuck")},
    )
    assert suite.manifest.strength == {"AvgPool-1": known}
    assert [entry.kills for entry in suite.manifest.listed] == [(), ("shifted", "stuck")]
    assert suite.manifest.withdrawn == {OLD[0].id: "why"}
    assert suite.manifest.versions == {"numpy": "2", "zlib": zlib.ZLIB_RUNTIME_VERSION}
    assert suite.manifest.seed == 3
    (found,) = suite.vectors()
    assert_same(found, OLD[1])


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "other" / "place")
    assert content_of(tmp_path / "one") == content_of(tmp_path / "other" / "place")


def test_a_suite_is_replaced_as_a_whole_and_other_files_stay(out: Path) -> None:
    (out / "notes").mkdir()
    (out / "notes" / "a.txt").write_text("kept")
    (out / "README.md").symlink_to("LICENSE")
    suite = write(out, NEW)
    assert ids(suite) == [v.id for v in NEW]
    assert names(out) == ["AvgPool-1", "LICENSE", "README.md", "manifest.json", "notes"]
    assert (out / "LICENSE").read_text() == "CC0"
    assert (out / "README.md").readlink() == Path("LICENSE")
    assert (out / "notes" / "a.txt").read_text() == "kept"
    assert names(out.parent) == ["suite"]


def test_a_link_to_a_suite_keeps_being_one(out: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(out)
    write(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert ids(open_suite(out)) == [v.id for v in NEW]


@pytest.mark.parametrize("names_in_it", [[], ["LICENSE", "README.md", ".gitignore"]])
def test_a_folder_that_waits_for_a_suite_is_filled(tmp_path: Path, names_in_it: list[str]) -> None:
    for name in names_in_it:
        (tmp_path / name).write_text("mine")
    folder = tmp_path
    write(folder)
    assert {*names_in_it, "manifest.json"} < set(names(folder))


@pytest.mark.parametrize("name", ["thesis.tex", "LICENSE/", "x.npz", ".git/", "AvgPool-1/"])
def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / "work" / name
    (path if name.endswith("/") else path.parent).mkdir(parents=True)
    if not name.endswith("/"):
        path.write_text("mine")
    for attempt in (write, check_target):
        with pytest.raises(SuiteError, match="is not a suite and is not replaced") as caught:
            attempt(tmp_path / "work")
        assert caught.value.hint
    assert path.exists()
    assert names(tmp_path) == ["work"]


@pytest.mark.parametrize("name", [".", "..", "../inner"])
def test_the_current_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    with pytest.raises(SuiteError, match="the current folder is in it"):
        check_target(Path(name))


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SuiteError, match="not a folder"):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_no_vectors_two_of_one_id_or_a_bad_name_leave_the_old_suite(out: Path) -> None:
    before = content_of(out)
    for vectors, message in (
        ((), "without vectors"),
        ((NEW[0], NEW[0]), "two vectors have the id"),
    ):
        with pytest.raises(SuiteError, match=message):
            write(out, vectors)
    with pytest.raises(SuiteError, match="name: Expected"):
        write(out, name="../core")
    with pytest.raises(SuiteError, match="withdraws 'nobody'"):
        write(out, withdrawn={"nobody": "why"})
    assert content_of(out) == before
    assert names(out.parent) == ["suite"]


def test_a_vector_that_nobody_could_read_is_not_written(out: Path) -> None:
    before = content_of(out)
    wrong = dataclasses.replace(NEW[0], inputs=(np.zeros((1, 1, 3), np.float32),))
    with pytest.raises(SuiteError, match=r"the shape is \[1, 1, 3\], the case says"):
        write(out, (wrong,))
    assert content_of(out) == before


class Halt(BaseException):
    """An interruption that no handler expects."""


def fail_at(step: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the given step of those that touch the disk fail, counted from 1."""
    steps = itertools.count(1)

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if next(steps) == step:
                raise error
            return function(*arguments, **named)

        return call

    for owner, name in (
        (os, "fsync"),
        (Path, "mkdir"),
        (Path, "rename"),
        (shutil, "copytree"),
        (shutil, "rmtree"),
    ):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Halt(), OSError(28, "No space left")])
def test_a_failure_at_any_step_leaves_a_whole_suite(
    out: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is made to fail in turn, until the writing succeeds."""
    before, after = content_of(out), None
    raised = SuiteError if isinstance(error, OSError) else type(error)
    for step in range(1, 40):
        with monkeypatch.context() as patch, contextlib.suppress(raised):
            fail_at(step, error, patch)
            write(out, NEW)
            break
        found = content_of(out)
        assert open_suite(out).verify() == ()
        if found != before:
            assert ids(open_suite(out)) == [v.id for v in NEW]
            assert after in (None, found)
            after = found
    assert 8 < step < 39
    write(out, NEW)
    assert names(out.parent) == ["suite"]


def test_an_interruption_among_the_vectors_leaves_the_old_suite(out: Path) -> None:
    before = content_of(out)

    def vectors() -> Iterator[tuple[Vector, tuple[str, ...]]]:
        yield NEW[0], ("core",)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_suite(out, vectors(), name="core-1", seed=0, versions={})
    assert content_of(out) == before
    assert names(out.parent) == ["suite"]


def test_what_a_killed_writer_left_is_cleared(out: Path) -> None:
    """Killed while writing (.new), or just before it cleared the old suite (.old)."""
    shutil.copytree(out, out.with_name(".suite.new"))
    shutil.copytree(out, out.with_name(".suite.old"))
    write(out, NEW)
    assert names(out.parent) == ["suite"]
    assert ids(open_suite(out)) == [v.id for v in NEW]


def test_a_writer_killed_between_its_two_renames_is_recovered_from(out: Path) -> None:
    before = content_of(out)
    out.rename(out.with_name(".suite.old"))
    with pytest.raises(SuiteError, match="no such folder") as caught:
        open_suite(out)
    assert "the old suite is whole: mv " in (caught.value.hint or "")
    with pytest.raises(SuiteError, match="without vectors"):
        write(out, ())
    assert content_of(out) == before


class TestContent:
    def test_its_digest_is_that_of_the_unpacked_members(self, tmp_path: Path) -> None:
        suite = write(tmp_path / "suite")
        (first, *_) = suite.manifest.listed
        with zipfile.ZipFile(suite.path / first.path) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
        case = json.loads(held.pop("case.json"))
        keys = ("id", "op", "level", "inputs", "outputs", "readings")
        text = json.dumps({key: case[key] for key in keys}, separators=(",", ":"))
        parts = [("case.json", text.encode()), *sorted(held.items())]
        lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in parts]
        assert first.content == hashlib.sha256("".join(lines).encode()).hexdigest()[:32]

    def test_better_words_change_nothing(self, tmp_path: Path) -> None:
        vector = value_vector()
        one = write(tmp_path / "one", (vector,))
        other = write(tmp_path / "other", (replace(vector, description="Better.", edges=()),))
        assert one.digest == other.digest

    def test_another_packer_changes_the_file_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = write(tmp_path / "one", (value_vector((1.0,) * 64), index_vector()))
        monkeypatch.setattr(zipfile, "ZIP_DEFLATED", zipfile.ZIP_STORED)
        other = write(tmp_path / "other", (value_vector((1.0,) * 64), index_vector()))
        for a, b in zip(one.manifest.listed, other.manifest.listed, strict=True):
            assert a.content == b.content
            assert a.sha256 != b.sha256

    def test_one_that_is_wrong_is_found_when_it_is_read(self, tmp_path: Path) -> None:
        suite = write(tmp_path / "suite")
        file = suite.path / "manifest.json"
        document = json.loads(file.read_bytes())
        document["vectors"][0]["content"] = "0" * 32
        file.write_text(json.dumps(document))
        (problem,) = open_suite(suite.path).verify()
        assert problem.endswith("what it holds has another digest than the manifest says")
