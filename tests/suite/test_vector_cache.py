"""The cache of evaluated vectors: what is kept, what goes, and what no reader may believe."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from conformance.suite.vector_cache import Cache, cache_folder

KEY = ("AvgPool-1", "f32-1x1x3-ramp-00000000", "0" * 32)


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "cache")
    assert cache.get(*KEY) is None
    cache.put(*KEY, b"content")
    assert cache.get(*KEY) == b"content"
    assert cache.names("AvgPool-1") == {cache.path(*KEY).name}


def test_another_digest_is_another_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(*KEY, b"old")
    assert cache.get(*KEY[:2], "1" * 32) is None


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    for number in range(12):
        cache.put("A-1", f"id-{number}", "0" * 32, bytes(100))
        used = time.time() - 1000 + number
        os.utime(cache.path("A-1", f"id-{number}", "0" * 32), (used, used))
    cache.trim()
    there = [number for number in range(12) if cache.get("A-1", f"id-{number}", "0" * 32)]
    assert there == [3, 4, 5, 6, 7, 8, 9, 10, 11]  # at most nine tenths of the limit


def test_below_the_limit_all_stay(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=1000)
    cache.put(*KEY, bytes(900))
    cache.trim()
    assert cache.get(*KEY) is not None


def test_a_use_after_an_hour_is_noted(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(*KEY, b"content")
    long_ago = time.time() - 7200
    os.utime(cache.path(*KEY), (long_ago, long_ago))
    cache.get(*KEY)
    assert cache.path(*KEY).stat().st_mtime > long_ago + 3600


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    contents = [bytes([number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=cache.put, args=(*KEY, one)) for one in contents]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert cache.get(*KEY) in contents
    assert cache.names("AvgPool-1") == {cache.path(*KEY).name}


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        cache.put(*KEY, b"content")
    assert cache.names("AvgPool-1") == frozenset()


def test_the_folder_is_named_or_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("CONFORMANCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert "opconform" in cache_folder().parts
