"""Suites, exports and logs at addresses are those of folders, checked as strictly."""

from __future__ import annotations

import json
import pickle
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result

from conformance import remote
from conformance.cli import main, remote_paths
from conformance.errors import SuiteError, UsageError
from conformance.suite.containers import open_container
from conformance.suite.packing import pack_suite
from conformance.suite.store import Suite, open_suite

pytestmark = pytest.mark.needs("remote")


def command(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def sent(folder: Path, address: str) -> str:
    for file in folder.rglob("*"):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            remote.send(file, remote.remote_path(f"{address}/{name}"))
    return address


def files(address: str) -> dict[str, bytes]:
    place = remote.remote_path(address)
    return {name: (place / name).read_bytes() for name in remote.list_files(place)}


@pytest.fixture(params=["folder", "packed"])
def suite(request: pytest.FixtureRequest, small_suite: Suite, tmp_path: Path) -> Suite:
    return small_suite if request.param == "folder" else pack_suite(small_suite, tmp_path / "s")


def test_a_suite_is_the_same_there(suite: Suite, memory: str) -> None:
    there = open_suite(sent(suite.path, memory))
    assert (there.digest, len(there)) == (suite.digest, len(suite))
    for one, other in zip(there.vectors(), suite.vectors(), strict=True):
        assert one.id == other.id
    there.manifest.confirm()
    assert not there.verify()
    assert pickle.loads(pickle.dumps(there)).path == there.path
    assert str(there.path) == memory


def test_what_was_changed_is_refused(suite: Suite, memory: str) -> None:
    sent(suite.path, memory)
    open_container.cache_clear()
    entry = next(iter(suite.manifest.listed))
    name = entry.path if entry.inside is None else entry.inside.file
    file = remote.remote_path(f"{memory}/{name}")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"\1")
    with pytest.raises(SuiteError, match="not the one that the manifest lists"):
        list(open_suite(memory).vectors())
    file.write_bytes(content + b"more")
    with pytest.raises(SuiteError, match="bytes expected, more found"):
        list(open_suite(memory).vectors())
    file.unlink()
    with pytest.raises(SuiteError, match="listed files missing"):
        open_suite(memory)
    file.write_bytes(content)
    (remote.remote_path(memory) / "AvgPool-1" / "another.npz").write_bytes(b"")
    with pytest.raises(SuiteError, match="vector files that the manifest does not list"):
        open_suite(memory)


def test_no_suite_no_package_no_such_kind(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SuiteError, match="so not a suite") as missing:
        open_suite(memory)
    assert "address" in str(missing.value)
    with pytest.raises(UsageError, match="s3://, memory:// and file:// are known"):
        open_suite("nothing://known")
    monkeypatch.setitem(sys.modules, "upath", None)
    with pytest.raises(UsageError, match=r"pip install 'opconform\[remote\]'"):
        open_suite(memory)


def test_what_is_an_address() -> None:
    for text in ("s3://bucket/suite", "memory://x", "file:///tmp/x"):
        assert remote.is_address(text)
    for text in ("exec:./runner", "c:/x", "s3:/x", "a/b://c", "zip://x::s3://y", "s3://a b", None):
        assert not remote.is_address(text)
    assert remote.remote_path("file:///tmp/x") == Path("/tmp/x")


def test_names_that_lead_elsewhere_are_left_out(memory: str) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    place = remote.remote_path(memory)
    (place / "good.txt").write_bytes(b"")
    base = place.path  # type: ignore[attr-defined]
    for name in ("/absolute", "../above", ".hidden", "a/../../b", "c\\d", "e:f"):
        MemoryFileSystem.store[f"{base}/{name}"] = MemoryFileSystem.store[f"{base}/good.txt"]
    assert remote.list_files(place) == ["good.txt"]


def test_errors_of_any_file_system_are_told(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    class Endpoint(Exception):
        pass

    def fail(*_: object, **__: object) -> None:
        raise Endpoint("no route")

    monkeypatch.setattr(MemoryFileSystem, "_open", fail)
    monkeypatch.setattr(MemoryFileSystem, "info", fail)
    with pytest.raises(SuiteError, match="Endpoint: no route"):
        open_suite(memory)
    result = command("compare", f"{memory}/a.jsonl", f"{memory}/b.jsonl")
    assert result.exit_code == 2
    assert "cannot be read: Endpoint: no route" in result.output


def test_a_check_reads_and_writes_addresses(
    small_suite: Suite, memory: str, tmp_path: Path
) -> None:
    sent(small_suite.path, f"{memory}/suite")
    words = ["check", "--backend", "numpy", "--suite"]
    there = command(*words, f"{memory}/suite", "--out", f"{memory}/out")
    here = command(*words, small_suite.path, "--out", tmp_path / "out")
    assert there.exit_code == here.exit_code == 0, there.output
    assert f"sent 2 files to {memory}/out" in there.output
    found = files(f"{memory}/out")
    assert set(found) == {"run.jsonl", "index.html"}
    compared = command("compare", f"{memory}/out/run.jsonl", tmp_path / "out" / "run.jsonl")
    assert compared.exit_code == 0, compared.output
    again = command(*words, f"{memory}/suite", "--out", f"{memory}/out", "--resume")
    assert "nothing to resume: the run is complete" in again.output
    page = command("report", f"{memory}/out/run.jsonl")
    assert page.exit_code == 2
    assert "say where with --out" in page.output
    page = command("report", f"{memory}/out/run.jsonl", "--out", f"{memory}/page")
    assert page.exit_code == 0, page.output
    assert set(files(f"{memory}/page")) == {"index.html"}
    log = tmp_path / "out" / "run.jsonl"
    assert command("report", log, log, "--out", f"{memory}/both").exit_code == 0
    assert (
        b'href="./' not in files(f"{memory}/both")["comparison.html"]
    )  # of a page that stays here


def test_a_running_log_is_sent_while_it_grows(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_paths, "LOG_SECONDS", 0.01)
    log = remote.remote_path(f"{memory}/run.jsonl")
    with remote_paths.published(remote.remote_path(memory), memory, new=False) as folder:
        folder.mkdir()
        for text in ("one\n", "one\ntwo\n"):
            (folder / "run.jsonl").write_text(text)
            end = time.monotonic() + 10
            while not log.exists() or log.read_text() != text:
                assert time.monotonic() < end
                time.sleep(0.01)
        (folder / "index.html").write_text("page")
        assert set(files(memory)) == {"run.jsonl"}
    assert set(files(memory)) == {"run.jsonl", "index.html"}
    assert not folder.exists()


def test_what_cannot_be_sent_stays(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError("no credentials")

    sending = remote_paths.published(remote.remote_path(memory), memory, new=True)
    folder = sending.__enter__()
    folder.mkdir()
    (folder / "kept").write_text("yes")
    monkeypatch.setattr(remote, "send", fail)
    with pytest.raises(UsageError, match="no credentials") as failed:
        sending.__exit__(None, None, None)
    assert str(folder) in str(failed.value)
    assert (folder / "kept").read_text() == "yes"


def test_suites_and_exports_are_written_there(memory: str, tmp_path: Path) -> None:
    words = ["generate", "--op", "AdaptiveAvgPool-8", "--drawn", "6", "--out"]
    assert command(*words, f"{memory}/drawn").exit_code == 0
    assert command(*words, tmp_path / "drawn").exit_code == 0
    there = files(f"{memory}/drawn")
    assert there == {
        file.relative_to(tmp_path / "drawn").as_posix(): file.read_bytes()
        for file in (tmp_path / "drawn").rglob("*")
        if file.is_file()
    }
    again = command(*words, f"{memory}/drawn")
    assert again.exit_code == 2
    assert "files are there already" in again.output
    asked = ["--suite", f"{memory}/drawn"]
    exported = command("export", "--format", "npy", *asked, "--out", f"{memory}/board")
    assert exported.exit_code == 0, exported.output
    nonce = re.search(r'"nonce": "(\w+)"', exported.output)
    assert nonce is not None
    device = {"name": "board", "version": "1", "nonce": nonce[1]}
    remote.remote_path(f"{memory}/board/device.json").write_text(json.dumps(device))
    graded = command("check-outputs", f"{memory}/board", *asked)
    assert graded.exit_code == 2
    assert "there is no out0.bin" in graded.output
    for case in {name.partition("/")[0] for name in files(f"{memory}/board") if "/" in name}:
        remote.remote_path(f"{memory}/board/{case}/ending.txt").write_text("unsupported all")
    graded = command("check-outputs", f"{memory}/board", *asked, "--out", f"{memory}/graded")
    assert graded.exit_code == 1, graded.output  # nothing was graded
    assert "board 1" in graded.output
    assert set(files(f"{memory}/graded")) == {"run.jsonl", "index.html"}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of S3 on the loopback."""
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()  # of a server that is gone
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    address = f"s3://{uuid4().hex}"
    remote.remote_path(address).mkdir()
    yield address
    server.stop()


@pytest.mark.needs("dev")
def test_s3(bucket: str, small_suite: Suite, tmp_path: Path) -> None:
    there = open_suite(sent(small_suite.path, f"{bucket}/suite"))
    assert there.digest == small_suite.digest
    result = command("check", "--backend", "numpy", "--suite", there.path, "--out", f"{bucket}/r")
    assert result.exit_code == 0, result.output
    assert set(files(f"{bucket}/r")) == {"run.jsonl", "index.html"}
    with pytest.raises(SuiteError, match="so not a suite"):
        open_suite(f"{bucket}/none")
    with pytest.raises(SuiteError):
        open_suite("s3://no-such-bucket/suite")
