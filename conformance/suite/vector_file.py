"""One vector as the bytes of a ``.npz`` file, and back. The format: docs/vector-format.md."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance import TOOL
from conformance.choices import LEVELS
from conformance.dtypes import Array
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.model import Case, Vector
from conformance.suite import members, strict_json
from conformance.suite.archive import DAMAGED, Archive, write_zip
from conformance.suite.members import CASE_MEMBER, MemberReader, MemberWriter
from conformance.suite.recorded_cases import case_from_json
from conformance.suite.strict_json import JsonObject

FORMAT = 1
MAX_UNPACKED = 64 * 2**20  # bytes
MAX_CASE = 2**20
"""The largest ``case.json`` in bytes; as Python objects JSON takes many times its size."""
INTERPRETATION_NAME = re.compile(r"[a-z0-9+-]{1,100}")

_CASE_KEYS = (
    *("format", "id", "op", "level", "description", "source", "edges", "reject", "attributes"),
    *("types", "shapes", "operands", "pattern", "seed", "inputs", "outputs", "readings"),
)
DIGESTED = ("id", "op", "level", "inputs", "outputs", "readings")
"""The keys of ``case.json``, in its order, that the digest of a vector covers."""
_INPUT_KEYS = ("name", "dtype", "shape", "array")


def encode_vector(vector: Vector) -> bytes:
    """Encode a vector; equal ones give equal bytes with equal versions of zlib.

    Raises ValueError for arrays that are not of the types and number that the vector states.
    """
    return write_zip(list(vector_members(vector).items()))


def vector_members(vector: Vector) -> dict[str, bytes]:
    """Return the unpacked members of a vector's file, in order.

    Raises as :func:`encode_vector` does.
    """
    case = vector.case
    for name in vector.readings:
        if not INTERPRETATION_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of an interpretation")
    writer = MemberWriter()
    document = {
        "format": FORMAT,
        "id": vector.id,
        "op": case.op,
        "level": vector.level,
        "description": vector.description,
        "source": vector.source,
        "edges": list(vector.edges),
        "reject": case.reject,
        "attributes": dict(case.attributes),
        "types": dict(case.types),
        "shapes": {name: list(shape) for name, shape in case.shapes.items()},
        "operands": {name: list(value) for name, value in case.operands.items()},
        "pattern": case.pattern,
        "seed": case.seed,
        "inputs": _input_entries(vector, writer),
        "outputs": writer.outputs("", vector.answers),
        "readings": {
            name: writer.outputs(f"reading_{name}/", answers)
            for name, answers in vector.readings.items()
        },
    }
    return {CASE_MEMBER: strict_json.dumps(document), **dict(writer.written)}


def _input_entries(vector: Vector, writer: MemberWriter) -> list[dict[str, Any] | None]:
    """Return what ``case.json`` says of each input, None of one that is absent."""
    entries: list[dict[str, Any] | None] = [
        writer.input(i, name, array)
        for i, (name, array) in enumerate(zip(vector.names, vector.inputs, strict=True))
    ]
    for index in vector.absent:
        entries.insert(index, None)
    return entries


def content_digest(members: Mapping[str, bytes]) -> str:
    """Compute a digest of what a vector tests and accepts, from its file's members.

    It covers the arrays, and of ``case.json`` what says which array is what; the id covers the
    case. It leaves out what people read and what names the coverage targets, so better words do not
    change it, and does not depend on what packed the file. docs/vector-format.md says how to
    compute it elsewhere. It is the first 128 bits of a SHA-256: they tell files apart that were not
    made to be alike, and a file follows from its case.
    """
    document = strict_json.loads(members[CASE_MEMBER], CASE_MEMBER)
    text = json.dumps({key: document[key] for key in DIGESTED}, separators=(",", ":"))
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {CASE_MEMBER}\n"]
    for name in sorted(members.keys() - {CASE_MEMBER}):
        lines.append(f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


def open_vector_file(data: bytes, source: str) -> Archive:
    """Open the members of a file.

    Raises SuiteError for what is unsafe or damaged.
    """
    return Archive(data, limit=MAX_UNPACKED, source=source)


def decode_vector(
    data: bytes, source: str, *, strict: bool = False, answers: bool = True
) -> Vector:
    """Decode a file; its arrays are read-only and of their logical types.

    ``strict`` also applies the published JSON Schema. Without ``answers`` they and those of
    interpretations are left out, and not read. Raises SuiteError, naming ``source`` and the member,
    for anything that is unsafe, damaged, of a newer format, or not consistent with itself.
    """
    content = open_vector_file(data, source)
    if next(iter(content), None) != CASE_MEMBER:
        raise SuiteError(f"{source}: the first member is not {CASE_MEMBER}", hint=DAMAGED)
    where = f"{source}: {CASE_MEMBER}"
    text = content[CASE_MEMBER]
    if len(text) > MAX_CASE:
        raise SuiteError(f"{where}: more than {MAX_CASE} bytes", hint=DAMAGED)
    document = strict_json.loads(text, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    if strict:
        problems = load_schema("suite/schemas/case.json").problems(document)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise SuiteError(f"{where}: {problems[0]}{more}", hint=DAMAGED)
    record = JsonObject(document, where, _CASE_KEYS)
    reader = MemberReader(content, source)
    case = case_from_json(document, record.text("op"), where)
    if record.text("id") != case.id:
        record.refuse(f"the id is {record.text('id')!r}, the case makes {case.id!r}")
    if record.text("level") not in LEVELS:
        record.refuse(f"level {record.text('level')!r} is not one of {', '.join(LEVELS)}")
    inputs = _inputs(record, case, reader)
    vector = Vector(
        id=case.id,
        case=case,
        level=record.text("level"),
        edges=record.texts("edges"),
        description=record.text("description"),
        source=record.text("source"),
        inputs=tuple(inputs.values()),
        answers=(),
        absent=tuple(i for i, entry in enumerate(record.items("inputs")) if entry is None),
        order=tuple(inputs),
    )
    return _answered(vector, record, reader) if answers else vector


def _answered(vector: Vector, record: JsonObject, reader: MemberReader) -> Vector:
    """The vector with its answers, which must be those of every output, and all that is left."""
    vector = replace(
        vector,
        answers=reader.answers(record.raw("outputs"), f"{record.where}: outputs"),
        readings={
            name: reader.answers(outputs, f"{record.where}: reading {name[:80]!r}")
            for name, outputs in record.table("readings").items()
        },
    )
    _check_answers(record, vector)
    reader.check_all_used()
    return vector


def _inputs(record: JsonObject, case: Case, reader: MemberReader) -> dict[str, Array]:
    """Return the inputs by name, in order; each must be what the case says of it."""
    shapes = {**case.shapes, **{name: (len(value),) for name, value in case.operands.items()}}
    entries = [
        JsonObject(entry, f"{record.where}: input {i}", _INPUT_KEYS)
        for i, entry in enumerate(record.items("inputs"))
        if entry is not None
    ]
    names = [entry.raw("name") for entry in entries]
    # Operands may stand anywhere between the others, which keep their order.
    if sorted(names, key=list(case.operands).__contains__) != list(shapes):
        record.refuse(f"the inputs are not those of shapes and operands, {', '.join(shapes)}")
    inputs: dict[str, Array] = {}
    for entry, name in zip(entries, names, strict=True):
        shape = shapes[name]
        if entry.raw("shape") != list(shape):
            entry.refuse(f"the shape is {repr(entry.raw('shape'))[:80]}, the case says {shape}")
        array = reader.array(entry.raw("array"), members.row_of(entry), list(shape), entry)
        if name in case.operands and array.tolist() != list(case.operands[name]):
            entry.refuse(f"the array is not the value that the case gives, {case.operands[name]}")
        inputs[name] = array
    return inputs


def _check_answers(record: JsonObject, vector: Vector) -> None:
    """Check that a negative test has no outputs, and each interpretation has all."""
    if (vector.case.reject is None) != bool(vector.answers):
        record.refuse("a vector has outputs exactly if it is not to be rejected")
    names = [answer.name for answer in vector.answers]
    for reading, answers in vector.readings.items():
        if not INTERPRETATION_NAME.fullmatch(reading):
            record.refuse(f"{reading[:80]!r} is not the name of an interpretation")
        if not answers or [answer.name for answer in answers] != names:
            record.refuse(f"interpretation {reading!r} lacks the outputs {', '.join(names)}")
