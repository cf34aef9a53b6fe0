"""Real workers: results are those of one process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiers
from squares import Mortal, Square, Wrong

from conformance import parallel
from conformance.audit import audit_suite as audits
from conformance.cluster import fingerprint as prints
from conformance.cluster import workers
from conformance.cluster.workers import Cluster, connected
from conformance.errors import SuiteError, UsageError
from conformance.generate.drawn import draw_all, pieces
from conformance.specification import find_spec
from conformance.suite.packing import Packer
from conformance.suite.store import Suite

pytestmark = pytest.mark.needs("dask")


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Of two workers, or of one where that is quicker: starting one takes seconds."""
    with connected("local:2" if request.config.getoption("exhaustive") else "local:1") as found:
        yield found


def done(cluster: Cluster, *work: Square) -> list[int]:
    return list(parallel.run(work, processes=cluster, progress=nobody, total=len(work)))


def nobody(*_: object) -> None:
    pass


def test_results_are_in_order(cluster: Cluster) -> None:
    said: list[tuple[str, int, int]] = []
    found = parallel.run(
        (Square(n) for n in range(7)),
        processes=cluster,
        progress=lambda *words: said.append(words),
        total=7,
        ahead=2,
    )
    assert list(found) == [n**2 for n in range(7)]
    assert said == [("square", n, 7) for n in range(7)]
    assert cluster.count == parallel.number_of(cluster) >= 1


def test_the_error_of_a_task_is_its_own(cluster: Cluster) -> None:
    with pytest.raises(SuiteError, match="no square of 2") as failed:
        done(cluster, Square(1), Wrong(2), Square(3))
    assert failed.value.hint == "take another"
    assert done(cluster, Square(4)) == [16]


def test_a_killed_worker_costs_a_second_try(cluster: Cluster, tmp_path: Path) -> None:
    mortal = Mortal(3, folder=tmp_path)
    assert done(cluster, Square(2), mortal, Square(4), Square(5)) == [4, 9, 16, 25]
    assert (tmp_path / "3").exists()


@pytest.mark.exhaustive
def test_what_kills_each_worker_is_named(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="square, piece 1 of 1: the worker was lost") as failed:
        done(cluster, Mortal(3, folder=tmp_path, always=True))
    assert "memory" in str(failed.value)
    assert done(cluster, Square(6)) == [36]


def test_another_version_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    prints.fingerprint.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(prints, "__version__", "9.9")
            with pytest.raises(UsageError, match=r"conformance is \S+, here 9\.9") as refused:
                workers._check_versions(cluster._client)
            assert "scheduler" in str(refused.value) or "tcp://127.0.0.1" in str(refused.value)
            with pytest.raises(UsageError, match=r"a worker computes otherwise: conformance is"):
                done(cluster, Square(1))
    finally:
        prints.fingerprint.cache_clear()
    workers._check_versions(cluster._client)


def test_a_scheduler_that_is_there_already(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = cluster._client.scheduler_info()["address"]
    with connected(address) as other:
        assert other.count >= 1
        assert done(other, Square(7), Square(8)) == [49, 64]
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.2)
    with (
        pytest.raises(UsageError, match="no scheduler answers"),
        connected("tcp://127.0.0.1:1"),
    ):
        raise AssertionError
    with (
        pytest.raises(UsageError, match="Dask has no certificates"),
        connected(address.replace("tcp", "tls")),
    ):
        raise AssertionError
    assert done(cluster, Square(9)) == [81]


def test_all_listen_on_the_loopback_alone(cluster: Cluster) -> None:
    info = cluster._client.scheduler_info(n_workers=-1)
    assert info["address"].startswith("tcp://127.0.0.1:")
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        for one in process.net_connections():
            assert one.status != psutil.CONN_LISTEN or one.laddr.ip == "127.0.0.1"
    workers._check_reach(cluster._client, insecure=False)


def test_drawn_containers_have_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    spec = find_spec("AdaptiveAvgPool-8")
    found: dict[str, bytes] = {}
    for name, processes in (("here", 1), ("there", cluster)):
        folder = tmp_path / name
        folder.mkdir()
        work = [
            replace(one, count=min(one.count, 6)) for one in pieces(spec, 9, root=2, folder=folder)
        ]
        packer: Any = Packer(folder, {})
        draw_all(work, packer, processes=processes, progress=nobody)
        found[name] = b"".join(one.read_bytes() for one in sorted(folder.rglob("*.zip")))
        packer.finish({})
    assert found["here"] == found["there"]


@pytest.mark.exhaustive
def test_an_audit_counts_the_same(cluster: Cluster) -> None:
    smoke, op = tiers.smoke(), "AdaptiveAvgPool-8"
    some = tuple(one for one in smoke.manifest.of([op]) if one.reject is None)[:4]
    suite = Suite(smoke.path, replace(smoke.manifest, listed=some))
    one, two = (
        audits.audit(suite, [op], processes=processes, progress=nobody)
        for processes in (1, cluster)
    )
    assert [score.kills for score in one] == [score.kills for score in two]
    assert one[0].kills


PROGRAM = """
import time
from conformance import parallel
from conformance.cluster.workers import connected

class Sleep:
    label = "sleep"
    def run(self):
        time.sleep(60)

if __name__ == "__main__":
    with connected("local:2") as cluster:
        print("there", flush=True)
        work = [Sleep(), Sleep(), Sleep()]
        list(parallel.run(work, processes=cluster, progress=lambda *_: None, total=3))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_stays(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C goes to every process of a terminal; a kill to the first alone."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "there\n"
        others = psutil.Process(first.pid).children(recursive=True)
        assert len(others) >= 2
        time.sleep(0.5)
        if number == signal.SIGINT:
            os.killpg(first.pid, number)
        else:
            first.kill()
        first.wait(timeout=20)
    _, alive = psutil.wait_procs(others, timeout=20)
    assert not alive


@pytest.mark.needs("openssl")
@pytest.mark.exhaustive
def test_certificates_of_one_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    for name in ("ca", "stranger"):
        own = ["-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}"]
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *own)
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=m", "-keyout", "m.key", "-out", "m"
    )
    authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    openssl("x509", "-req", "-in", "m", *authority, "-days", "1", "-out", "m.pem")

    def settings(name: str) -> dict[str, str]:
        tls = "distributed.comm.tls"
        files = {"cert": str(tmp_path / f"{name}.pem"), "key": str(tmp_path / f"{name}.key")}
        return {f"{tls}.ca-file": str(tmp_path / "ca.pem")} | {
            f"{tls}.{who}.{kind}": file
            for who in ("client", "scheduler", "worker")
            for kind, file in files.items()
        }

    monkeypatch.setattr(workers, "CONNECT_SECONDS", 10)
    with (
        dask.config.set(settings("m")),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls",
            security=Security(require_encryption=True),
            dashboard_address="127.0.0.1:0",
        ) as there,
    ):
        address = there.scheduler_address
        assert address.startswith("tls://")
        with connected(address) as found:
            assert done(found, Square(11)) == [121]
        for name in ("stranger", "m"):
            plain = address if name == "stranger" else address.replace("tls", "tcp")
            with (
                dask.config.set(settings(name)),
                pytest.raises(UsageError, match="no scheduler answers"),
                connected(plain),
            ):
                raise AssertionError


@pytest.mark.exhaustive
def test_a_command_whose_worker_is_killed_writes_the_same(tmp_path: Path) -> None:
    words = ["generate", "--op", "AvgPool-1", "--drawn", "60", "--seed", "4", "--out"]
    program = [sys.executable, "-m", "conformance", *words]
    subprocess.run([*program, tmp_path / "here"], check=True, capture_output=True)
    with subprocess.Popen(
        [*program, tmp_path / "there", "--cluster", "local:2"], stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stderr is not None
        assert command.stderr.readline() == "cluster: 2 workers\n"
        time.sleep(1)
        # A nanny is a thread of the command, so its children are workers, and Python's own helper.
        processes = psutil.Process(command.pid).children()
        victim = next(one for one in processes if "resource_tracker" not in "".join(one.cmdline()))
        victim.kill()
        command.stderr.read()
        assert command.wait(timeout=120) == 0
    here, there = (
        {file.relative_to(root): file.read_bytes() for file in root.rglob("*") if file.is_file()}
        for root in (tmp_path / "here", tmp_path / "there")
    )
    assert here == there
    assert len(here) == 4  # manifest, index, values, negative tests
