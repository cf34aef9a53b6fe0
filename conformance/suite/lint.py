"""Lint of a suite: problems beyond those that make it unreadable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES, Array
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.model import Answer, Case, Vector
from conformance.specification import broken_conditions, violations
from conformance.suite import manifest as manifests
from conformance.suite import strict_json
from conformance.suite.manifest import encode_manifest
from conformance.suite.store import Suite


def lint(suite: Suite, look: Callable[[Vector], object] | None = None) -> tuple[str, ...]:
    """Lint an open suite: return every problem, in the manifest's order.

    Reads all files, withdrawn ones too, and applies the published JSON Schemas. ``look`` is called
    with each vector that can be read and is not withdrawn, so that the caller need not
    read them again. Duplicates are looked for in all of a folder, and within a container.
    """
    where = manifests.FILE_NAME
    problems: list[str] = []
    if not suite.is_shipped:  # that has no manifest of files
        schema = load_schema("suite/schemas/manifest.json")
        problems = [f"{where}: {text}" for text in schema.problems(_as_read(suite.manifest))]
    unfit = list(_specification_problems(suite))
    problems += unfit
    ids_by_inputs: dict[str, str] = {}
    before = None
    for entry, vector in suite.read_all(strict=True):
        if entry is None or isinstance(vector, str):
            problems.append(str(vector))
            continue
        if entry.inside is not before:  # so memory is the same for any number of containers
            before, ids_by_inputs = entry.inside, {}
        if look is not None and entry.id not in suite.manifest.withdrawn:
            look(vector)
        problems += [f"{entry.path}: {problem}" for problem in _vector_problems(vector)]
        if not unfit and suite.specs.carries(entry.op):
            case_problems = _case_problems(suite.specs[entry.op], vector.case)
            problems += [f"{entry.path}: {problem}" for problem in case_problems]
        first = ids_by_inputs.setdefault(inputs_digest(vector), vector.id)
        if first != vector.id:
            problems.append(f"{entry.path}: is a duplicate of {first}")
    return tuple(problems)


def _specification_problems(suite: Suite) -> Iterator[str]:
    """Yield what is wrong with the specifications, and with the names in the manifest."""
    manifest, specs = suite.manifest, suite.specs
    for op in specs:
        try:
            mutants = {fault.id for fault in specs.faults(op)}
        except SuiteError as error:
            yield error.message
            continue
        if specs.carries(op) and (unknown := sorted(manifest.faults[op].keys() - mutants)):
            shown = ", ".join(unknown[:3])
            yield f"{manifests.FILE_NAME}: faults of {op} that it does not have: {shown}"


def _case_problems(spec: Operator, case: Case) -> Iterator[str]:
    """Yield where a case is not what its specification makes of it: valid, or broken."""
    broken = {violation.condition: violation.message for violation in violations(spec, case)}
    allowed = broken_conditions(spec, case)
    if allowed - broken.keys():
        yield f"must be rejected for {case.reject}, but breaks no condition of {spec.op}"
    for condition in broken.keys() - allowed:
        yield f"no valid case of {spec.op}: {broken[condition]}"


def _as_read(manifest: manifests.Manifest) -> Any:
    return strict_json.loads(encode_manifest(manifest), manifests.FILE_NAME)


def inputs_digest(vector: Vector) -> str:
    """Compute a digest of what a backend gets.

    It is equal for vectors that no backend can distinguish.
    """
    operator = [vector.case.op, dict(vector.case.attributes)]
    digest = hashlib.sha256(json.dumps(operator, sort_keys=True).encode())
    for array in vector.inputs:
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _vector_problems(vector: Vector) -> Iterator[str]:
    for text in ("description", "source"):
        if not getattr(vector, text):
            yield f"the {text} is empty"
    for output in vector.answers:
        for problem in _answer_problems(output):
            yield f"{output.name}: {problem}"
    for name, outputs in vector.readings.items():
        if all(_same(*pair) for pair in zip(vector.answers, outputs, strict=True)):
            yield f"interpretation {name!r} gives the same outputs as the specification itself"
        for output in outputs:
            for problem in _answer_problems(output):
                yield f"interpretation {name!r}: {output.name}: {problem}"


def _answer_problems(output: Answer) -> Iterator[str]:
    if output.open is not None and not output.open.any():
        yield "the open mask marks no element; leave it out"
    yield from _choice_problems(output)
    if output.rounded is not None:
        yield from _bound_problems(output)


def _bound_problems(output: Answer) -> Iterator[str]:
    """Yield where ``lo <= rounded <= hi`` does not hold, or ``rounded`` is not ``expected``
    rounded.
    """
    row = DTYPES[output.dtype]
    rounded = output.rounded
    assert rounded is not None  # of a floating-point type, which reading has checked
    for precision, lo, hi in (
        ("standard", output.lo, output.hi),
        ("native", output.lo_native, output.hi_native),
    ):
        if lo is None or hi is None:
            continue
        checked = _checked(output, precision)
        nan = np.isnan(rounded)
        if np.any(checked & ((nan != np.isnan(lo)) | (nan != np.isnan(hi)))):
            yield f"{precision}: NaN is not at the same places in rounded, lo and hi"
        with np.errstate(invalid="ignore"):  # false where one is NaN, and bf16 says so
            outside = (lo > rounded) | (rounded > hi)
        if np.any(checked & outside):
            yield f"{precision}: lo <= rounded <= hi does not hold"
    if output.slack is not None and not np.all(output.slack >= 0):
        yield "slack is not a number of at least 0 everywhere"
    with np.errstate(over="ignore", invalid="ignore"):
        rounded_again = output.expected.astype(row.numpy)  # may round twice: one neighbour off
    both_nan = np.isnan(rounded_again) & np.isnan(rounded)
    if np.any(
        _checked(output, "exact") & ~both_nan & (row.ulp_distance(rounded_again, rounded) > 1)
    ):
        yield "rounded is not expected rounded to the type"


def _choice_problems(output: Answer) -> Iterator[str]:
    """Yield where the allowed values lack the expected one, or are not filled up."""
    if output.choices is None:
        return
    checked = _checked(output, "exact")
    right = output.expected if output.rounded is None else output.rounded
    allowed, expected = (_codes(output, array) for array in (output.choices, right))
    if np.any(checked & ~(allowed == expected[..., np.newaxis]).any(axis=-1)):
        yield "expected is not among choices"
    first = allowed == allowed[..., :1]
    unused = ~output.allowed | (first & (np.arange(allowed.shape[-1]) > 0))
    if np.any(unused[..., :-1] & ~unused[..., 1:]):
        yield "choices fills up before an allowed value"
    earlier = allowed[..., :, np.newaxis] == allowed[..., np.newaxis, :]
    if np.any(np.tril(earlier, -1).any(axis=-1) & ~unused):
        yield "choices names a value twice"


def _codes(output: Answer, array: Array) -> Array:
    """The bits of elements, as whole numbers: those of NaN are equal, too."""
    signed = DTYPES[output.dtype].signed
    return np.ascontiguousarray(array).view(signed).reshape(array.shape)


def _checked(output: Answer, precision: str) -> NDArray[np.bool_]:
    """Return a mask of the elements that are checked at a precision."""
    unchecked = output.unchecked(precision)
    return np.ones(output.expected.shape, np.bool_) if unchecked is None else ~unchecked


def _same(output: Answer, other: Answer) -> bool:
    """Return whether two expected outputs are the same, bit for bit."""
    return output.dtype == other.dtype and all(
        _same_bits(getattr(output, role), getattr(other, role))
        for role in (
            "rounded",
            "lo",
            "hi",
            "lo_native",
            "hi_native",
            "slack",
            "open",
            "choices",
            "expected",
        )
    )


def _same_bits(array: Array | None, other: Array | None) -> bool:
    if array is None or other is None:
        return array is other
    return array.shape == other.shape and array.tobytes() == other.tobytes()
