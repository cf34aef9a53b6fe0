"""Which places ``--cluster`` takes, and which it refuses, and why."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.cluster.address import ClusterAddress, check_safe, parse
from conformance.cluster.fingerprint import differences, fingerprint
from conformance.errors import UsageError


def test_processes_here_and_addresses() -> None:
    assert parse("local:3") == ClusterAddress(count=3)
    assert parse("tls://10.1.2.3:8786") == ClusterAddress(address="tls://10.1.2.3:8786")
    assert parse("tls://scheduler.example:8786").encrypted
    for loopback in ("tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"):
        assert parse(loopback) == ClusterAddress(address=loopback)
        assert not parse(loopback).encrypted


@pytest.mark.parametrize(
    "text",
    [
        *("", "local", "local:0", "local:-1", "local:2 ", "127.0.0.1:8786", "tcp://127.0.0.1"),
        *("ws://127.0.0.1:8786", "tcp://127.0.0.1:x", "tcp://[::1:8786", "inproc://1/2/3"),
        *("tcp://127.0.0.1:8786/path", "tls://:8786", "tls://a\x1b:8786", "local:65"),
    ],
)
def test_text_that_is_no_place(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert "give local:N" in str(refused.value)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["tcp://10.1.2.3:8786", "tcp://scheduler:8786", "tcp://127.0.0.1.example:8786"]
)
def test_a_plain_address_of_a_network_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="anyone on this network could run programs here"):
        parse(address)
    with pytest.raises(UsageError, match="anyone on this network"):
        check_safe(address, insecure=False)  # where a loopback scheduler has such a worker
    assert parse(address, insecure=True) == ClusterAddress(address=address)


def test_other_versions_are_told_apart() -> None:
    here = fingerprint()
    assert {"conformance", "code", "specifications", "python", "numpy", "distributed"} <= {*here}
    assert not differences(here, dict(here))
    other = {**here, "numpy": "1.0"}
    del other["zlib"]
    assert differences(here, other) == [
        f"zlib is missing, here {here['zlib']}",
        f"numpy is 1.0, here {here['numpy']}",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["suite", "audit", "--cluster", "tcp://10.1.2.3:8786"], "--insecure allows it"),
        (
            ["suite", "audit", "--cluster", "local:2", "-j", "2"],
            "cannot be combined with -j",
        ),
        (["suite", "audit", "--insecure"], "--insecure needs --cluster"),
        (["generate", "--cluster", "local:2"], "--cluster needs --drawn"),
    ],
)
def test_what_excludes_each_other(words: list[str], told: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert told in result.output


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    result = CliRunner().invoke(
        main, ["suite", "audit", "--suite", "smoke", "--cluster", "local:2"]
    )
    assert result.exit_code == 2
    assert "pip install 'opconform[dask]'" in result.output
