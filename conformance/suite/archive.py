"""Zip archives of small members: reproducible to write, safe to read."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.errors import SuiteError

MAX_MEMBERS = 4096
MEMBER_NAME = re.compile(r"[a-z0-9_+-]{1,120}(/[a-z0-9_+-]{1,120})?\.(json|npy)")
DAMAGED = "the file is damaged or was not written by this tool; fetch or generate it again"

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can hold
_UNIX = 3
_REGULAR_FILE = 0o100644 << 16
_ENCRYPTED = 0x1
_LOCAL_HEADER = 30  # bytes before a member's name; APPNOTE.TXT 4.3.7
_END = struct.Struct("<4s4H2LH")  # the end of the directory; 4.3.16
_END64 = b"PK\x06\x07"
_DIRECTORY_ENTRY = 46 + 241 + 64  # bytes; the longest name, and room for extra fields
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

# What zipfile raises on archives made to break it, beside BadZipFile.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def unreadable_error(path: Path, error: OSError) -> SuiteError:
    """Return the error of a file that cannot be opened or read."""
    hint = "check its permissions, and that it is a file"
    if isinstance(error, FileNotFoundError):
        hint = "check the path, or fetch or generate it again"
    return SuiteError(f"{path}: cannot be read: {error.strerror or error}", hint=hint)


def write_zip(
    members: Sequence[tuple[str, bytes]],
    *,
    names: re.Pattern[str] = MEMBER_NAME,
    stored: bool = False,
) -> bytes:
    """Write a zip archive of ``(name, content)`` members, in the order given.

    Members are deflated, or ``stored`` as they are.

    No time and no host enters the archive, so equal members give equal bytes with equal versions
    of zlib. Raises ValueError for a name that is not one of ``names``.
    """
    if len({name for name, _ in members}) != len(members):
        raise ValueError("two members have the same name")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            if not names.fullmatch(name):
                raise ValueError(f"{name!r} is not a member name")
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = _UNIX
            info.external_attr = _REGULAR_FILE
            method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content, method, compresslevel=6)
    return buffer.getvalue()


def read_zip(data: bytes, *, limit: int, source: str = "archive") -> dict[str, bytes]:
    """Read the members of a zip archive, in its order; see :class:`Archive`."""
    return dict(Archive(data, limit=limit, source=source))


class Archive(Mapping[str, bytes]):
    """The members of a zip archive by name, in its order; each is unpacked when it is read.

    They are never more than ``limit`` bytes in all, nor is much more allocated, whatever the
    archive declares. Raises SuiteError, naming ``source`` and the member, for anything but a plain
    archive of stored or deflated members whose names match ``names``: at once for what the
    directory tells, on access for a member that is damaged.
    """

    def __init__(
        self,
        data: bytes,
        *,
        limit: int,
        source: str = "archive",
        names: re.Pattern[str] = MEMBER_NAME,
    ) -> None:
        self._data, self._source = data, source
        _check_end(data, source)
        with _readable(source), zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _check_directory(infos, archive.start_dir, limit, source, names)
        self._infos = {info.filename: info for info in infos}

    def __getitem__(self, name: str) -> bytes:
        info = self._infos[name]
        with _readable(self._source):
            return _plain(self._data, info) or _content(self._data, info, self._source)

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turn what zipfile raises into a SuiteError."""
    try:
        yield
    except _ZIP_ERRORS as error:
        raise SuiteError(f"{source}: not a readable zip archive: {error}", hint=DAMAGED) from error


def _check_end(data: bytes, source: str) -> None:
    """Refuse an archive whose directory is so long that merely listing it takes too much."""
    if len(data) < _END.size:
        return  # no archive, and zipfile says so
    signature, _, _, _, _, size, _, comment = _END.unpack(data[-_END.size :])
    if signature != b"PK\x05\x06" or comment or data[-_END.size - 20 :].startswith(_END64):
        raise SuiteError(
            f"{source}: not a readable zip archive: it does not end in a plain directory",
            hint=DAMAGED,
        )
    if size > MAX_MEMBERS * _DIRECTORY_ENTRY:
        raise SuiteError(f"{source}: a directory of {size} bytes", hint=DAMAGED)


def _check_directory(
    infos: list[zipfile.ZipInfo],
    directory_at: int,
    limit: int,
    source: str,
    names: re.Pattern[str],
) -> None:
    """Refuse an archive by what its directory says, before any member is read."""
    if len(infos) > MAX_MEMBERS:
        raise SuiteError(
            f"{source}: {len(infos)} members, at most {MAX_MEMBERS} are read", hint=DAMAGED
        )
    names_so_far: set[str] = set()
    for info in infos:
        name = info.orig_filename
        problem = None
        if not names.fullmatch(name):
            problem = "a name that is not allowed"
        elif name in names_so_far:
            problem = "a name that another member has"
        elif info.flag_bits & _ENCRYPTED:
            problem = "encryption"
        elif info.compress_type not in _METHODS:
            problem = f"compression method {info.compress_type}, not stored (0) or deflated (8)"
        if problem:
            raise SuiteError(f"{source}: member {name!r} has {problem}", hint=DAMAGED)
        names_so_far.add(name)
    total = sum(info.file_size for info in infos)
    if total > limit:
        raise SuiteError(
            f"{source}: {total} bytes unpacked, at most {limit} are read", hint=DAMAGED
        )
    # Members that share compressed data unpack to far more than the archive's size suggests.
    by_offset = sorted(infos, key=lambda info: info.header_offset)
    starts = [*(info.header_offset for info in by_offset), directory_at]
    for info, following in zip(by_offset, starts[1:], strict=True):
        end = info.header_offset + _LOCAL_HEADER + len(info.orig_filename) + info.compress_size
        if end > following:
            raise SuiteError(
                f"{source}: member {info.filename!r} overlaps another part of the archive",
                hint=DAMAGED,
            )


def _plain(data: bytes, info: zipfile.ZipInfo) -> bytes | None:
    """Return the content of a member that is just what its entry says; None leaves it to zipfile.

    zipfile reads members through three layers of files, which takes most of reading a vector.
    """
    name_at = info.header_offset + _LOCAL_HEADER
    header = data[info.header_offset : name_at]
    if len(header) < _LOCAL_HEADER or header[:4] != b"PK\3\4" or info.flag_bits:
        return None
    name_length, extra = struct.unpack_from("<2H", header, 26)
    start = name_at + name_length + extra
    packed = data[start : start + info.compress_size]
    if data[name_at : name_at + name_length] != info.orig_filename.encode():
        return None
    content = packed
    if info.compress_type == zipfile.ZIP_DEFLATED:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = stream.decompress(packed, info.file_size + 1)
        except zlib.error:
            return None
        if not stream.eof or stream.unused_data:
            return None
    sound = len(content) == info.file_size and zlib.crc32(content) == info.CRC
    return content if sound else None


def _content(data: bytes, info: zipfile.ZipInfo, source: str) -> bytes:
    """Read a member; at most the size that was declared is unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(info) as member:
        content = member.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise SuiteError(
            f"{source}: member {info.filename!r} has {len(content)} bytes, "
            f"{info.file_size} were declared",
            hint=DAMAGED,
        )
    return content
