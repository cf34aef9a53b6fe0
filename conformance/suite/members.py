"""Arrays and expected outputs as members of a vector file.

``case.json`` names the member that holds each array. Arrays of the same bits (bounds equal to
the rounded value, an interpretation's unchanged output) are stored once and named more than once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType, name_of
from conformance.errors import SuiteError
from conformance.model import ALL_OPEN, Answer
from conformance.suite.archive import DAMAGED
from conformance.suite.npy import read_npy, write_npy
from conformance.suite.strict_json import JsonObject

CASE_MEMBER = "case.json"
"""The member that says what the others are."""

_OUTPUT_KEYS = ("name", "dtype", "shape", "arrays")
_BOUNDS = ("rounded", "lo", "hi", "lo_native", "hi_native", "slack")
_FLOAT_ROLES = {"expected", "rounded", "lo", "hi"}
_FLOAT_OPTIONAL = {"lo_native", "hi_native", "slack", "open", "choices"}
_INTEGER_ROLES = {"expected"}
_INTEGER_OPTIONAL = {"choices", "open"}
_MASK = DTYPES["u8"]


class MemberWriter:
    """The array members of a file that is being written, in order, in ``written``."""

    def __init__(self) -> None:
        self.written: list[tuple[str, bytes]] = []
        self._names: dict[bytes, str] = {}

    def input(self, position: int, name: str, array: Array) -> dict[str, Any]:
        """Add an input of a logical type; return its entry in ``case.json``."""
        dtype = name_of(array.dtype)
        if dtype not in DTYPES:
            raise ValueError(f"input {name!r} is of type {dtype}, which no file holds")
        member = f"input_{position}.npy"
        self.written.append((member, write_npy(DTYPES[dtype].to_storage(array))))
        return {"name": name, "dtype": dtype, "shape": list(array.shape), "array": member}

    def outputs(self, folder: str, expected_outputs: Sequence[Answer]) -> list[dict[str, Any]]:
        """Add the expected outputs; return their entries in ``case.json``."""
        return [self._output(folder, i, output) for i, output in enumerate(expected_outputs)]

    def _output(self, folder: str, position: int, output: Answer) -> dict[str, Any]:
        row = DTYPES[output.dtype]
        stored: dict[str, Array] = {}
        for role in (*_BOUNDS, "choices"):
            array = getattr(output, role)
            if array is not None:
                stored[role] = row.to_storage(array)
        if output.open is not None:
            stored["open"] = _MASK.to_storage(output.open)
        stored["expected"] = _stored_expected(output, row)
        names = {
            role: self._answer_member(f"{folder}{role}_{position}.npy", array)
            for role, array in stored.items()
        }
        entry = {
            "name": output.name,
            "dtype": output.dtype,
            "shape": list(output.expected.shape),
            "arrays": {"expected": names.pop("expected"), **names},
        }
        return {**entry, "bits": True} if output.bits else entry

    def _answer_member(self, name: str, stored: Array) -> str:
        """Return the member that holds these bits: one already written, or a new one."""
        content = write_npy(stored)
        member = self._names.setdefault(content, name)
        if member == name:
            self.written.append((name, content))
        return member


def _stored_expected(output: Answer, row: DType) -> Array:
    """Return ``expected``, or ``rounded`` if that is the same number: one member holds both."""
    if not row.is_float:
        return row.to_storage(output.expected)
    stored = DTYPES["f64"].to_storage(output.expected)
    if output.rounded is None or _widened(output.rounded).tobytes() != stored.tobytes():
        return stored
    return row.to_storage(output.rounded)


def _widened(array: Array) -> Array:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return array.astype(np.float64)


class MemberReader:
    """The array members of a file that is being read, each parsed once and never copied."""

    def __init__(self, members: Mapping[str, bytes], source: str) -> None:
        self._members = members
        self._source = source
        self._parsed: dict[str, Array] = {}

    def check_all_used(self) -> None:
        """Refuse a member that ``case.json`` does not name. Raises SuiteError."""
        unused = self._members.keys() - self._parsed.keys() - {CASE_MEMBER}
        if unused:
            raise SuiteError(
                f"{self._source}: case.json does not name the member {min(unused)!r}", hint=DAMAGED
            )

    def array(self, name: object, row: DType, shape: object, record: JsonObject) -> Array:
        """Return an array in its logical type, read-only, of the given type and shape.

        Raises SuiteError for another type or shape, and for a member that is missing or damaged.
        """
        stored = self._stored(name, record)
        if stored.dtype != row.storage:
            record.refuse(f"{name} is of type {stored.dtype}; {row.name} is held as {row.storage}")
        if list(stored.shape) != shape:
            record.refuse(f"{name} has the shape {list(stored.shape)}, not {repr(shape)[:80]}")
        return row.from_storage(stored)

    def answers(self, outputs: object, where: str) -> tuple[Answer, ...]:
        """Parse the expected outputs from their entries in ``case.json``."""
        if not isinstance(outputs, list):
            raise SuiteError(f"{where}: not a list", hint=DAMAGED)
        return tuple(
            self._answer(JsonObject(output, f"{where}: output {i}", _OUTPUT_KEYS, ("bits",)))
            for i, output in enumerate(outputs)
        )

    def _stored(self, name: object, record: JsonObject) -> Array:
        if not isinstance(name, str) or name not in self._members:
            record.refuse(f"names the member {repr(name)[:80]}, which the file does not hold")
        if name not in self._parsed:
            self._parsed[name] = read_npy(self._members[name], f"{self._source}: member {name!r}")
        return self._parsed[name]

    def _answer(self, record: JsonObject) -> Answer:
        row = row_of(record)
        shape = record.raw("shape")
        members = record.table("arrays")
        needed, optional = (
            (_FLOAT_ROLES, _FLOAT_OPTIONAL) if row.is_float else (_INTEGER_ROLES, _INTEGER_OPTIONAL)
        )
        if not needed <= members.keys() <= needed | optional:
            record.refuse(
                f"{row.name} needs the arrays {', '.join(sorted(needed))}, "
                f"and may have {', '.join(sorted(optional))}"
            )
        if ("lo_native" in members) != ("hi_native" in members):
            record.refuse("lo_native and hi_native come together")
        arrays = {
            role: self.array(members[role], row, shape, record)
            for role in _BOUNDS
            if role in members
        }
        arrays["expected"] = self._expected(members["expected"], row, shape, record)
        if "open" in members:
            arrays["open"] = self._mask(members["open"], shape, record)
        if "choices" in members:
            arrays["choices"] = self._choices(members["choices"], row, shape, record)
        return Answer(
            name=record.text("name"), dtype=row.name, bits=self._keeps_bits(row, record), **arrays
        )

    @staticmethod
    def _keeps_bits(row: DType, record: JsonObject) -> bool:
        if not record.has("bits"):
            return False
        if record.raw("bits") is not True or not row.is_float:
            record.refuse("'bits' is true, and of floating-point numbers, or is left out")
        return True

    def _expected(self, name: object, row: DType, shape: object, record: JsonObject) -> Array:
        """Return float64, widened if it is stored in the output's type; or the integer type."""
        if not row.is_float:
            return self.array(name, row, shape, record)
        if self._stored(name, record).dtype != row.storage:
            return self.array(name, DTYPES["f64"], shape, record)
        wide = _widened(self.array(name, row, shape, record))
        wide.flags.writeable = False
        return wide

    def _mask(self, name: object, shape: object, record: JsonObject) -> NDArray[np.uint8]:
        mask = self.array(name, _MASK, shape, record)
        if mask.size and mask.max() > ALL_OPEN:
            record.refuse(f"{name} has bits that stand for no precision")
        return mask

    def _choices(self, name: object, row: DType, shape: list[int], record: JsonObject) -> Array:
        last_axis = self._stored(name, record).shape[-1:] or (0,)
        return self.array(name, row, [*shape, *last_axis], record)


def row_of(record: JsonObject) -> DType:
    """Return the element type that the record's ``dtype`` names."""
    row = DTYPES.get(record.text("dtype"))
    if row is None:
        record.refuse(f"{record.text('dtype')!r} is not one of {', '.join(DTYPES)}")
    return row
