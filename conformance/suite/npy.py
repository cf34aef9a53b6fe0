"""``.npy`` members: plain arrays of the storage types, read safely.

Only the header that ``numpy.save`` writes for a little-endian array in C order is read. It is
matched as text, never evaluated; pickled objects and structures do not match.
"""

from __future__ import annotations

import io
import math
import re

import numpy as np
from numpy.lib import format as npy_format

from conformance.dtypes import DTYPES, Array
from conformance.errors import SuiteError
from conformance.suite.archive import DAMAGED

MAX_HEADER = 1024

_MAGIC = b"\x93NUMPY"
_STORED = {row.storage.str: row.storage for row in DTYPES.values()}
_HEADER = re.compile(
    r"\{'descr': (?P<descr>'[^']*'|\[.*\]), 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>|\d{1,12},|\d{1,12}(?:, \d{1,12}){1,31})\), \} *\n"
)


def write_npy(array: Array) -> bytes:
    """Write an array of a storage type as a ``.npy`` file (version 1.0, C order).

    Raises ValueError for another type.
    """
    if array.dtype.str not in _STORED:
        raise ValueError(f"{array.dtype} is not a storage type")
    buffer = io.BytesIO()
    plain = np.asarray(array, order="C")
    npy_format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read_npy(data: bytes, where: str) -> Array:
    """Read the array in ``data``, read-only and without a copy.

    Raises SuiteError, beginning with ``where``, unless the header is plain and declares exactly
    the bytes that follow it.
    """
    if data[:6] != _MAGIC or len(data) < 10:
        raise _refused(where, "does not begin like a .npy file")
    match data[6], data[7]:
        case 1, 0:
            start = 10
        case 2, 0:
            start = 12
        case major, minor:
            raise _refused(where, f"has .npy version {major}.{minor}, not 1.0 or 2.0")
    length = int.from_bytes(data[8:start], "little")
    if length > MAX_HEADER:
        raise _refused(where, f"has a header of {length} bytes, at most {MAX_HEADER} are read")
    header = data[start : start + length].decode("latin-1")
    match = _HEADER.fullmatch(header)
    if not match:
        raise _refused(where, f"has a header that is not plain: {header.strip()[:100]!r}")
    dtype = _STORED.get(match["descr"][1:-1])
    if dtype is None:
        raise _refused(
            where,
            f"holds elements of type {match['descr'][:40]}, not {', '.join(sorted(_STORED))}",
        )
    if match["fortran"] == "True":
        raise _refused(where, "is in Fortran order, not C order")
    shape = tuple(int(size) for size in match["shape"].replace(",", " ").split())
    # Python integers, so that a huge shape is counted right and refused before it is allocated.
    declared = math.prod(shape) * dtype.itemsize
    present = len(data) - start - length
    if declared != present:
        raise _refused(where, f"declares {declared} bytes of elements and holds {present}")
    return np.ndarray(shape, dtype, buffer=data, offset=start + length)


def _refused(where: str, problem: str) -> SuiteError:
    return SuiteError(f"{where} {problem}", hint=DAMAGED)
