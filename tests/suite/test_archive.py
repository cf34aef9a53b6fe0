"""Archives: the same bytes for the same members, and a clear refusal of hostile ones."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.errors import SuiteError
from conformance.suite import archive
from conformance.suite.archive import MAX_MEMBERS, read_zip, write_zip

LIMIT = 10_000


def plain_zip(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def refusal(data: bytes, limit: int = LIMIT) -> str:
    with pytest.raises(SuiteError) as caught:
        read_zip(data, limit=limit, source="some.npz")
    assert caught.value.hint
    assert caught.value.message.startswith("some.npz: ")
    return caught.value.message


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9_+-]{1,9}(/[a-z0-9_+-]{1,9})?\.(npy|json)", fullmatch=True),
        st.binary(max_size=50),
    )
)
def test_members_come_back_in_order(members: dict[str, bytes]) -> None:
    packed = write_zip(list(members.items()))
    assert write_zip(list(members.items())) == packed
    found = read_zip(packed, limit=LIMIT)
    assert list(found.items()) == list(members.items())


def test_another_process_packs_the_same_bytes() -> None:
    code = (
        "import sys; from conformance.suite.archive import write_zip;"
        "sys.stdout.buffer.write(write_zip([('a.json', b'{}'), ('b/c.npy', bytes(1000))]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert found.stdout == write_zip([("a.json", b"{}"), ("b/c.npy", bytes(1000))])


def test_stored_members_are_read() -> None:
    assert read_zip(plain_zip([("a.npy", b"abc")], zipfile.ZIP_STORED), limit=3) == {
        "a.npy": b"abc"
    }


@pytest.mark.parametrize(
    "name",
    [
        "../a.npy",
        "/a.npy",
        "a/../b.npy",
        "a\\b.npy",
        "C:a.npy",
        "a/b/c.npy",
        "a.npy/",
        "a",
        "a.exe",
        "A.npy",
        ".npy",
        "a b.npy",
        "ü.npy",
        "a" * 121 + ".npy",
    ],
)
def test_names_that_are_not_plain_are_refused(name: str) -> None:
    assert "has a name that is not allowed" in refusal(plain_zip([(name, b"")]))
    with pytest.raises(ValueError, match="not a member name"):
        write_zip([(name, b"")])


def test_a_name_that_hides_its_end_is_refused() -> None:
    data = plain_zip([("a.npyX../b", b"")]).replace(b"a.npyX../b", b"a.npy\0../b")
    assert "has a name that is not allowed" in refusal(data)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = plain_zip([("a.npy", b"one"), ("a.npy", b"two")])
    assert "'a.npy' has a name that another member has" in refusal(data)
    with pytest.raises(ValueError, match="same name"):
        write_zip([("a.npy", b"one"), ("a.npy", b"two")])


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(method: int) -> None:
    message = refusal(plain_zip([("a.npy", b"abc")], method))
    assert f"compression method {method}, not stored (0) or deflated (8)" in message


def test_encryption_is_refused() -> None:
    data = bytearray(plain_zip([("a.npy", b"abc")]))
    at = data.index(b"PK\x01\x02") + 8
    data[at] |= 1
    assert "'a.npy' has encryption" in refusal(bytes(data))


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip archive", bytes(100)])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert "not a readable zip archive" in refusal(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_is_read_without_zipfile_is_what_zipfile_reads(
    method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any byte changed: the same members, or the same refusal."""
    data = plain_zip([("a.json", b"{}" * 20), ("b/c.npy", bytes(range(40)))], method)

    def outcome(changed: bytes) -> object:
        try:
            return read_zip(changed, limit=LIMIT)
        except SuiteError as error:
            return error.message

    spoiled = [data]
    for place in range(len(data)):
        for bits in (0x01, 0x08, 0x80, 0xFF):
            spoiled.append(bytes([*data[:place], data[place] ^ bits, *data[place + 1 :]]))
    found = [outcome(one) for one in spoiled]
    assert archive._plain(data, zipfile.ZipFile(io.BytesIO(data)).infolist()[0]) == b"{}" * 20
    monkeypatch.setattr(archive, "_plain", lambda *_: None)
    assert found == [outcome(one) for one in spoiled]


def test_a_wrong_checksum_is_refused() -> None:
    data = plain_zip([("a.npy", b"abcdef")], zipfile.ZIP_STORED).replace(b"abcdef", b"abcdeF")
    assert "Bad CRC-32 for file 'a.npy'" in refusal(data)


def test_more_members_than_allowed_are_refused() -> None:
    data = plain_zip([(f"a{i}.npy", b"") for i in range(MAX_MEMBERS + 1)])
    assert f"at most {MAX_MEMBERS} are read" in refusal(data)


def test_more_bytes_than_the_limit_are_refused() -> None:
    data = plain_zip([("a.npy", bytes(6000)), ("b.npy", bytes(6000))])
    assert "12000 bytes unpacked, at most 10000 are read" in refusal(data)


def declaring(data: bytes, size: int) -> bytes:
    """The archive of one member, whose headers declare another unpacked size."""
    changed = bytearray(data)
    struct.pack_into("<I", changed, changed.index(b"PK\x03\x04") + 22, size)
    struct.pack_into("<I", changed, changed.index(b"PK\x01\x02") + 24, size)
    return bytes(changed)


@pytest.mark.parametrize("declared", [0, 1, 4999, 5001, LIMIT])
def test_a_wrong_declared_size_is_refused(declared: int) -> None:
    refusal(declaring(plain_zip([("a.npy", bytes(5000))]), declared))


def test_a_bomb_that_declares_little_is_not_unpacked() -> None:
    bomb = declaring(plain_zip([("a.npy", bytes(50_000_000))]), 100)
    tracemalloc.start()
    try:
        refusal(bomb)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_members_that_share_their_data_are_refused() -> None:
    """A directory in which every entry points at the same compressed bytes."""
    one = plain_zip([("a.npy", bytes(1000))])
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry = one[start:end]
    directory = entry + entry.replace(b"a.npy", b"b.npy")
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), start, 0)
    assert "'a.npy' overlaps another part of the archive" in refusal(one[:start] + directory + tail)


def test_a_member_inside_another_one_s_data_is_refused() -> None:
    """Stored data that are themselves a member, header and all: bombs are nested so."""
    inner = plain_zip([("b.npy", bytes(1000))])
    start = inner.index(b"PK\x01\x02")
    outer = plain_zip([("a.npy", inner[:start])], zipfile.ZIP_STORED)
    directory, end = outer.index(b"PK\x01\x02", start), outer.rindex(b"PK\x05\x06")
    entry = bytearray(inner[start : inner.index(b"PK\x05\x06")])
    struct.pack_into("<L", entry, 42, outer.index(inner[:start]))  # where its header is
    both = outer[directory:end] + bytes(entry)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(both), directory, 0)
    data = outer[:directory] + both + tail
    assert "'a.npy' overlaps another part of the archive" in refusal(data)
