"""Packed suites: the same vectors as in the folder, in any parts, and nothing else is believed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vector_examples import assert_same, index_vector, reject_vector, value_vector

from conformance.errors import SuiteError, UsageError
from conformance.json_schema import load_schema
from conformance.run.selection import counted, select
from conformance.run.shard import Shard
from conformance.suite import containers, packing
from conformance.suite.containers import index_entry, open_container
from conformance.suite.entries import Entry
from conformance.suite.lint import lint
from conformance.suite.listing import Listing
from conformance.suite.packing import encode_container, pack_suite, unpack_suite
from conformance.suite.store import Suite, open_suite
from conformance.suite.writer import write_suite

COUNT = 23


def vectors() -> list[Any]:
    """Values of two operators and two types, negative tests between them, in a mixed order."""
    numbers = [tuple(float(n) for n in range(3 + i)) for i in range(COUNT - 3)]
    values = [value_vector(row, dtype=("f32", "f64")[i % 2]) for i, row in enumerate(numbers)]
    return [
        *[replace(v, edges=("stride-1", "batch")[: 1 + i % 2]) for i, v in enumerate(values[:9])],
        reject_vector(),
        index_vector(),
        *values[9:],
        value_vector((1.0, 2.0), op="AvgPool-14"),
    ]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers of four vectors, none of which is kept from an earlier test."""
    monkeypatch.setattr(packing, "MAX_VECTORS", 4)
    open_container.cache_clear()


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite in a folder and the same one packed, of which tests get copies."""
    made, path = vectors(), tmp_path_factory.mktemp("originals")
    folder = write_suite(
        path / "folder",
        [(vector, ("core",) if i % 3 else ("core", "smoke")) for i, vector in enumerate(made)],
        name="core-1",
        seed=3,
        versions={"numpy": "2"},
        kills={made[0].id: ("clipped",), made[1].id: ("clipped", "divisor-one-more")},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "MAX_VECTORS", 4)
        pack_suite(folder, path / "packed")
    return path


@pytest.fixture
def folder(originals: Path, tmp_path: Path) -> Suite:
    return open_suite(shutil.copytree(originals / "folder", tmp_path / "folder"))


@pytest.fixture
def packed(few: None, originals: Path, tmp_path: Path) -> Suite:
    return open_suite(shutil.copytree(originals / "packed", tmp_path / "packed"))


def files(suite: Suite) -> dict[str, bytes]:
    return {
        path.relative_to(suite.path).as_posix(): path.read_bytes()
        for path in suite.path.rglob("*")
        if path.is_file()
    }


class TestTheSame:
    def test_vectors_counts_and_digest(self, folder: Suite, packed: Suite) -> None:
        assert len(packed) == len(folder) == COUNT
        assert packed.digest == folder.digest
        assert packed.manifest.totals == folder.manifest.totals
        assert list(packed.manifest.vectors) == list(folder.manifest.vectors)
        for one, other in zip(packed.vectors(), folder.vectors(), strict=True):
            assert_same(one, other)
        assert packed.verify() == lint(packed) == ()
        packed.manifest.confirm()
        document = json.loads((packed.path / "manifest.json").read_bytes())
        assert load_schema("suite/schemas/manifest.json").problems(document) == ()

    def test_it_goes_back_to_the_same_bytes(
        self, folder: Suite, packed: Suite, tmp_path: Path
    ) -> None:
        assert files(unpack_suite(packed, tmp_path / "back")) == files(folder)
        again = pack_suite(open_suite(tmp_path / "back"), tmp_path / "again")
        assert files(again) == files(packed)
        assert files(pack_suite(packed, tmp_path / "from packed")) == files(packed)

    def test_what_is_withdrawn_stays_so(self, folder: Suite, few: None, tmp_path: Path) -> None:
        gone = folder.manifest.listed[2].id
        file = folder.path / "manifest.json"
        document = json.loads(file.read_bytes()) | {"withdrawn": {gone: "Wrong."}}
        file.write_text(json.dumps(document))
        whole = open_suite(folder.path)
        packed = pack_suite(whole, tmp_path / "packed")
        assert packed.digest == whole.digest != folder.digest
        assert len(packed) == COUNT - 1
        assert gone not in {entry.id for entry in packed.manifest.vectors}
        with pytest.raises(UsageError, match="withdrawn: Wrong"):
            packed.get(gone)
        assert packed.verify() == ()

    def test_unzip_and_numpy_are_enough(self, packed: Suite) -> None:
        numbers = np.load(packed.path / "ids.npy")
        listed = json.loads((packed.path / "manifest.json").read_bytes())["containers"]
        for number, container in enumerate(listed):
            with zipfile.ZipFile(packed.path / container["file"]) as archive:
                part = json.loads(archive.read("manifest.json"))
                assert len(part["vectors"]) == container["count"]
                for entry in part["vectors"]:
                    content = archive.read(f"{entry['id']}.npz")
                    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
                    arrays = np.load(io.BytesIO(content))
                    assert "input_0" in arrays.files
                    digest = int(entry["id"][-8:], 16)
                    assert number in numbers[numbers >> 20 == digest] & 0xFFFFF

    def test_one_vector_is_found_in_one_container(
        self, packed: Suite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ids = [entry.id for entry in packed.manifest.vectors]
        read: set[str] = set()
        whole = containers.read_bounded

        def bounded(file: Path, size: int, most: int) -> bytes:
            read.add(file.name)
            return whole(file, size, most)

        monkeypatch.setattr(containers, "read_bounded", bounded)
        for vector_id in ids:
            open_container.cache_clear()
            read.clear()
            assert packed.get(vector_id).id == vector_id
            assert len(read - {"ids.npy"}) == 1
        assert packed.find(ids[5][-8:]).id == ids[5]
        assert packed.find(ids[5][:-3]).id == ids[5]
        for unknown in ("f32-no-such", "f32-1x1x3-ramp-00000000"):
            with pytest.raises(UsageError, match=f"no vector '{unknown}'"):
                packed.get(unknown)

    def test_operators_are_read_alone(self, folder: Suite, packed: Suite) -> None:
        for op in folder.manifest.ops:
            for container in packed.manifest.packed.containers:  # type: ignore[union-attr]
                if container.op != op:
                    (packed.path / container.file).rename(packed.path / f"{container.sha256}.away")
            open_container.cache_clear()
            own = [v.id for v in packed.vectors([op])]
            assert own == [v.id for v in folder.vectors([op])]
            for container in packed.manifest.packed.containers:  # type: ignore[union-attr]
                if container.op != op:
                    (packed.path / f"{container.sha256}.away").rename(packed.path / container.file)

    def test_a_subset_is_a_suite(self, folder: Suite, packed: Suite) -> None:
        smoke = Suite(packed.path, packed.manifest.subset("smoke"))
        assert smoke.digest == folder.manifest.subset("smoke").digest
        assert smoke.verify() == ()


class TestParts:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.integers(1, COUNT), st.data())
    def test_shards_are_the_whole_once(self, packed: Suite, of: int, data: st.DataObject) -> None:
        ops = data.draw(st.sampled_from([None, ["AvgPool-1"], ["AvgPool-14", "AvgPool-1"]]))
        whole = packed.manifest.of(ops)
        if of > len(whole):
            with pytest.raises(UsageError, match="would be empty"):
                Shard(1, of).part(whole)
            return
        parts = [Shard(number, of).part(whole) for number in range(1, of + 1)]
        place = {entry.id: i for i, entry in enumerate(whole)}
        ids = [[entry.id for entry in part] for part in parts]
        assert sorted(i for own in ids for i in own) == sorted(place)
        assert {len(own) for own in ids} <= {len(whole) // of, -(-len(whole) // of)}
        for own, part in zip(ids, parts, strict=True):
            assert own == sorted(own, key=place.__getitem__)
            assert counted(part) == counted(tuple(part))
        assert ids == [[e.id for e in Shard(n, of).part(whole)] for n in range(1, of + 1)]
        for op, kinds in counted(whole).items():
            for kind, count in kinds.items():
                own = [counted(part).get(op, {}).get(kind, 0) for part in parts]
                assert max(own) - min(own) <= 1, (op, kind, count)

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.integers(-COUNT, COUNT), st.integers(-COUNT, COUNT))
    def test_a_piece_is_what_a_tuple_gives(self, packed: Suite, start: int, stop: int) -> None:
        whole = packed.manifest.vectors
        assert isinstance(whole, Listing)
        assert tuple(whole[start:stop]) == tuple(whole)[start:stop]
        assert len(whole[start:stop]) == len(tuple(whole)[start:stop])
        if start < COUNT:
            assert whole[start] == tuple(whole)[start]
        else:
            with pytest.raises(IndexError):
                whole[start]

    def test_a_selection_is_that_of_the_folder(self, folder: Suite, packed: Suite) -> None:
        def chosen(suite: Suite, **options: Any) -> Any:
            selection = select(suite, **options)
            ids = [entry.id for entry in selection.entries]
            return ids, selection.by_op, selection.in_suite, selection.whole

        for options in (
            {"ops": None, "only": ()},
            {"ops": ["AvgPool-14"], "only": ("f32",)},
            {"ops": ["AvgPool-1"], "only": (), "shuffle": 3},
            {"ops": None, "only": ("f64-1x1x4",), "shuffle": 3},
        ):
            assert chosen(packed, **options) == chosen(folder, **options), options
        for suite in (folder, packed):
            with pytest.raises(UsageError, match="no selected vector"):
                chosen(suite, ops=["AvgPool-14"], only=("f64-1x1x4",))


def rewritten(suite: Suite, change: Callable[[dict[str, Any]], object]) -> None:
    """The manifest with a change, as somebody hostile would make it."""
    file = suite.path / "manifest.json"
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))


def with_container(suite: Suite, content: bytes) -> str:
    """The first container replaced, with its size and digest in the manifest; its name."""
    document = json.loads((suite.path / "manifest.json").read_bytes())
    first = document["containers"][0]
    (suite.path / first["file"]).write_bytes(content)
    own = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    rewritten(suite, lambda d: d["containers"][0].update(own))
    open_container.cache_clear()
    return str(first["file"])


def members(suite: Suite) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(suite.path / "AvgPool-1" / "00001.zip") as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(some: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in some:
            archive.writestr(name, content)
    return buffer.getvalue()


def edited(suite: Suite, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The first container with a change in its part of the manifest."""
    (name, part), *rest = members(suite)
    document = json.loads(part)
    change(document)
    return zipped([(name, json.dumps(document).encode()), *rest])


def open_refusal(suite: Suite) -> str:
    with pytest.raises(SuiteError) as caught:
        open_suite(suite.path)
    assert caught.value.hint
    return caught.value.message


def read_refusal(suite: Suite) -> str:
    opened = open_suite(suite.path)
    with pytest.raises(SuiteError) as caught:
        list(opened.vectors())
    assert caught.value.hint
    assert caught.value.message in opened.verify()
    assert caught.value.message in lint(opened)
    return caught.value.message


def confirm_refusal(suite: Suite) -> str:
    open_container.cache_clear()
    opened = open_suite(suite.path)
    with pytest.raises(SuiteError) as caught:
        opened.manifest.confirm()
    assert caught.value.message in opened.verify()
    return caught.value.message


class TestHostile:
    def test_a_container_that_is_cut_changed_longer_or_gone(self, packed: Suite) -> None:
        file = packed.path / "AvgPool-1" / "00001.zip"
        content = file.read_bytes()
        for changed, message in (
            (content[:-1], f"({len(content):,} bytes expected, {len(content) - 1:,} found)"),
            (content + b"x", f"({len(content):,} bytes expected, more found)"),
            (content[:-30] + bytes(30), "the file is not the one that the manifest lists (sha256"),
        ):
            file.write_bytes(changed)
            open_container.cache_clear()
            assert message in read_refusal(packed)
        file.unlink()
        assert "1 of 9 listed files missing: AvgPool-1/00001.zip" in open_refusal(packed)

    @pytest.mark.parametrize("name", ["AvgPool-1/00009.zip", "deep/er/x.zip", "AvgPool-1/x.npz"])
    def test_a_file_that_is_not_listed(self, packed: Suite, name: str) -> None:
        (packed.path / name).parent.mkdir(parents=True, exist_ok=True)
        (packed.path / name).write_bytes(b"")
        assert f"that the manifest does not list: {name}" in open_refusal(packed)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda d: d["containers"][0].update(file="../x.zip"), "containers[0].file: Expected"),
            (lambda d: d["containers"][0].update(file="/etc/x.zip"), "'/etc/x.zip'"),
            (lambda d: d["containers"][0].update(file="a/b/x.zip"), "'a/b/x.zip'"),
            (lambda d: d["containers"][0].update(file=d["containers"][1]["file"]), "are one file"),
            (
                lambda d: d["containers"][0].update(count=0),
                "count: Expected `int` >= 1: 0",
            ),
            (lambda d: d["containers"][0].update(kind="all"), "containers[0].kind: Expected"),
            (
                lambda d: d["containers"][0].update(count=5),
                "counts are not those",
            ),
            (
                lambda d: d["containers"][0].update(op="../x"),
                "containers[0].op: Expected",
            ),
            (lambda d: d["containers"].pop(), "counts are not those"),
            (lambda d: d.update(vectors=[]), "unknown field `vectors`"),
            (lambda d: d.pop("digest"), "missing required field `digest`"),
            (lambda d: d.update(format=1), "'format' is not 2"),
            (lambda d: d.update(format=3), "which reads formats up to 2"),
            (
                lambda d: d["counts"].update({"../x": {"value": 0, "reject": 0}}),
                "are not of the same operators",
            ),
            (lambda d: d["edges"].pop("AvgPool-1"), "not of the same operators"),
            (
                lambda d: d["edges"]["AvgPool-1"].update(batch=-1),
                "batch: Expected `int` >= 0: -1",
            ),
            (lambda d: d["index"].update(sha256="0"), "index.sha256: Expected"),
        ],
    )
    def test_a_manifest_that_does_not_fit(
        self, packed: Suite, change: Callable[[dict[str, Any]], object], message: str
    ) -> None:
        rewritten(packed, change)
        assert message in open_refusal(packed)

    def test_a_huge_container_is_not_read(self, packed: Suite) -> None:
        rewritten(packed, lambda d: d["containers"][0].update(bytes=2**40))
        assert f"{2**40} bytes, at most" in read_refusal(packed)

    @pytest.mark.parametrize(
        ("extra", "message"),
        [
            ([("../x.npz", b"")], "member '../x.npz' has a name that is not allowed"),
            ([("/etc/x.npz", b"")], "has a name that is not allowed"),
            ([("a/x.npz", b"")], "has a name that is not allowed"),
            ([("x.npz", b"")], "not the members of the container, in their order"),
        ],
    )
    def test_a_member_too_many(
        self, packed: Suite, extra: list[tuple[str, bytes]], message: str
    ) -> None:
        with_container(packed, zipped([*members(packed), *extra]))
        assert message in read_refusal(packed)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_member_twice_missing_or_elsewhere(self, packed: Suite) -> None:
        part, first, *rest = members(packed)
        with_container(packed, zipped([part, first, first, *rest]))
        assert "has a name that another member has" in read_refusal(packed)
        for some in ([part, *rest], [part, *rest, first]):
            with_container(packed, zipped(some))
            assert "not the members of the container, in their order" in read_refusal(packed)
        with_container(packed, zipped([first, part, *rest]))
        assert "the first member is not manifest.json" in read_refusal(packed)

    def test_a_bomb(self, packed: Suite) -> None:
        part, *rest = members(packed)
        bomb = (rest[0][0], bytes(containers.MAX_BYTES))
        with_container(packed, zipped([part, bomb, *rest[1:]], zipfile.ZIP_DEFLATED))
        assert f"at most {containers.MAX_BYTES} are read" in read_refusal(packed)

    def test_no_archive(self, packed: Suite) -> None:
        with_container(packed, b"not at all an archive of anything")
        assert "not a readable zip archive" in read_refusal(packed)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda d: d["vectors"][0].update(id="../x"), "vectors[0].id: Expected"),
            (
                lambda d: d["vectors"][0].update(op="AvgPool-14", kills=[], edges=[]),
                "the counts stated for",
            ),
            (lambda d: d["vectors"][0].update(edges=[7]), "where ascending places in the table"),
            (lambda d: d["vectors"].pop(), "the counts stated for"),
            (lambda d: d["vectors"].append(d["vectors"][0]), "is listed more than once"),
            (lambda d: d.update(format=3), "which reads formats up to 2"),
            (lambda d: d.update(more=1), "unknown field `more`"),
            (lambda d: d["edges"]["AvgPool-1"].update(x=1), "the edges stated for AvgPool-1"),
        ],
    )
    def test_a_part_that_does_not_fit(
        self, packed: Suite, change: Callable[[dict[str, Any]], object], message: str
    ) -> None:
        with_container(packed, edited(packed, change))
        assert message in read_refusal(packed)

    def test_a_part_that_describes_a_vector_otherwise(self, packed: Suite) -> None:
        with_container(packed, edited(packed, lambda d: d["vectors"][0].update(level="should")))
        assert "describes the vector otherwise than its file" in read_refusal(packed)
        with_container(packed, edited(packed, lambda d: d["vectors"][0].update(sha256="0" * 64)))
        assert "the file is not the one that the manifest lists" in read_refusal(packed)

    def test_a_container_of_another_operator_kind_or_count(self, packed: Suite) -> None:
        last = packed.manifest.packed.containers[-1]  # type: ignore[union-attr]
        with_container(packed, (packed.path / last.file).read_bytes())
        assert "describes the container otherwise than its part" in read_refusal(packed)

    def test_a_digest_that_is_claimed_is_confirmed(self, packed: Suite) -> None:
        """Or a weaker suite could be passed off as the one that a claim names."""
        rewritten(packed, lambda d: d.update(digest="0" * 64))
        assert "its digest are not those of the containers" in confirm_refusal(packed)

    def test_totals_that_are_claimed_are_confirmed(self, packed: Suite) -> None:
        rewritten(packed, lambda d: d["faults"]["AvgPool-1"].update(clipped=9))
        assert "its totals are not those" in confirm_refusal(packed)

    def test_a_withdrawal_that_withdraws_nothing(self, packed: Suite) -> None:
        rewritten(packed, lambda d: d.update(withdrawn={"f32-1x1x3-ramp-00000000": "Wrong."}))
        assert "which is not listed" in confirm_refusal(packed)

    def test_an_index_that_is_another(self, packed: Suite) -> None:
        (packed.path / "ids.npy").write_bytes(b"x")
        entry = next(iter(packed.manifest.vectors))
        with pytest.raises(SuiteError, match="bytes expected, 1 found"):
            open_suite(packed.path).get(entry.id)

    def test_one_id_in_two_containers(self, packed: Suite, tmp_path: Path) -> None:
        entry = next(iter(packed.manifest.listed))
        content = packed.content(entry)
        folder = tmp_path / "twice"
        folder.mkdir()
        packer = packing.Packer(folder, {})
        packer.take(entry, content)
        packer._flush()
        packer.take(entry, content)
        with pytest.raises(SuiteError, match="is listed more than once"):
            packer.finish({})


def test_an_id_that_no_index_finds_is_not_packed() -> None:
    entry = Entry("x", "Op-1", "must", "f32", None, (), (), (), 1, "0" * 64)
    with pytest.raises(SuiteError, match="'x' ends in no digest"):
        index_entry(entry, 0)


class TestInterruption:
    def test_at_any_container_the_old_suite_stays(
        self, few: None, folder: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = pack_suite(folder, tmp_path / "packed")
        before = files(old)
        whole = encode_container
        for at in range(8):
            calls = iter(range(100))

            def failing(some: Any, at: int = at, calls: Any = calls) -> bytes:
                if next(calls) == at:
                    raise OSError(28, "No space left on device")
                return whole(some)

            monkeypatch.setattr(packing, "encode_container", failing)
            with pytest.raises(SuiteError, match="No space left") as caught:
                pack_suite(folder, tmp_path / "packed")
            assert "the old suite is unchanged" in (caught.value.hint or "")
            assert files(open_suite(old.path)) == before
            assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "packed"]

    def test_a_folder_takes_the_place_of_a_packed_suite_and_back(
        self, few: None, folder: Suite, tmp_path: Path
    ) -> None:
        (tmp_path / "suite").mkdir()
        (tmp_path / "suite" / "LICENSE").write_text("CC0")
        packed = pack_suite(folder, tmp_path / "suite")
        (packed.path / "AvgPool-1" / "notes.zip.txt").write_text("mine")
        unpacked = unpack_suite(packed, tmp_path / "back")
        for suite in (unpacked, packed):
            write = pack_suite if suite is unpacked else unpack_suite
            made = write(open_suite(suite.path), tmp_path / "suite")
            assert made.digest == folder.digest
            kept = {"LICENSE", "AvgPool-1/notes.zip.txt"}
            assert kept <= files(made).keys()
            assert made.verify() == ()
