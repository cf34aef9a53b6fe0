"""Lint of a suite: problems beyond those that make it unreadable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.model import OPEN_BIT, Answer, Case, Vector
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations
from conformance.suite import manifest as manifests
from conformance.suite import strict_json
from conformance.suite.manifest import encode_manifest
from conformance.suite.store import Suite


def lint(suite: Suite, look: Callable[[Vector], object] | None = None) -> tuple[str, ...]:
    """Every problem of a suite that is open, in the manifest's order; none if it is fit to use.

    Reads all files, withdrawn ones too, and applies the published JSON Schemas. ``look`` is called
    with each vector that can be read and is not withdrawn, so that whoever has more to ask of them
    need not read them again. Duplicates are looked for in all of a folder, and within a container.
    """
    where = manifests.FILE_NAME
    problems: list[str] = []
    if not suite.is_shipped:  # that has no manifest of files
        schema = load_schema("suite/schemas/manifest.json")
        problems = [f"{where}: {text}" for text in schema.problems(_as_read(suite.manifest))]
    unfit = list(_specification_problems(suite))
    problems += unfit
    asked: dict[str, str] = {}
    before = None
    for entry, vector in suite.tried(strict=True):
        if entry is None or isinstance(vector, str):
            problems.append(str(vector))
            continue
        if entry.inside is not before:  # so memory is the same for any number of containers
            before, asked = entry.inside, {}
        if look is not None and entry.id not in suite.manifest.withdrawn:
            look(vector)
        problems += [f"{entry.path}: {problem}" for problem in _vector_problems(vector)]
        if not unfit and suite.specs.carries(entry.op):
            found = _case_problems(suite.specs[entry.op], vector.case)
            problems += [f"{entry.path}: {problem}" for problem in found]
        first = asked.setdefault(inputs_digest(vector), vector.id)
        if first != vector.id:
            problems.append(f"{entry.path}: is a duplicate of {first}")
    return tuple(problems)


def _specification_problems(suite: Suite) -> Iterator[str]:
    """What is wrong with the specifications of the suite, and with how the manifest names parts."""
    manifest, specs = suite.manifest, suite.specs
    for op in specs:
        try:
            edges = {edge.name for edge in specs[op].edges}
            faults = {fault.id for fault in specs.faults(op)}
        except SuiteError as error:
            yield error.message
            continue
        if specs.carries(op):
            for what, named, known in (
                ("edges", manifest.edges[op], edges),
                ("faults", manifest.faults[op], faults),
            ):
                if unknown := sorted(named.keys() - known):
                    names = ", ".join(unknown[:3])
                    yield f"{manifests.FILE_NAME}: {what} of {op} that it does not have: {names}"


def _case_problems(spec: OpSpec, case: Case) -> Iterator[str]:
    """Where a case is not what the specification makes of it: valid, or broken as it says."""
    broken = {violation.condition: violation.message for violation in violations(spec, case)}
    allowed = {entry.breaks for entry in spec.reject if entry.name == case.reject}
    if allowed - broken.keys():
        yield f"must be rejected for {case.reject}, but breaks no condition of {spec.op}"
    for condition in broken.keys() - allowed:
        yield f"no valid case of {spec.op}: {broken[condition]}"


def _as_read(manifest: manifests.Manifest) -> Any:
    return strict_json.loads(encode_manifest(manifest), manifests.FILE_NAME)


def inputs_digest(vector: Vector) -> str:
    """A digest of what a backend is given: equal for vectors that no backend can tell apart."""
    given = [vector.case.op, dict(vector.case.attributes)]
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
    for array in vector.inputs:
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _vector_problems(vector: Vector) -> Iterator[str]:
    for text in ("description", "source"):
        if not getattr(vector, text):
            yield f"the {text} is empty"
    for answer in vector.answers:
        for problem in _answer_problems(answer):
            yield f"{answer.name}: {problem}"
    for reading, answers in vector.readings.items():
        if all(_same(*pair) for pair in zip(vector.answers, answers, strict=True)):
            yield f"interpretation {reading!r} gives the same outputs as the specification itself"
        for answer in answers:
            for problem in _answer_problems(answer):
                yield f"interpretation {reading!r}: {answer.name}: {problem}"


def _answer_problems(answer: Answer) -> Iterator[str]:
    if answer.open is not None and not answer.open.any():
        yield "the open mask marks no element; leave it out"
    yield from _choice_problems(answer) if answer.rounded is None else _bound_problems(answer)


def _bound_problems(answer: Answer) -> Iterator[str]:
    """Where ``lo <= rounded <= hi`` does not hold, or ``rounded`` is not ``expected`` rounded."""
    row = DTYPES[answer.dtype]
    rounded = answer.rounded
    assert rounded is not None  # of a floating-point type, which reading has checked
    for precision, lo, hi in (
        ("standard", answer.lo, answer.hi),
        ("native", answer.lo_native, answer.hi_native),
    ):
        if lo is None or hi is None:
            continue
        asked = _asked(answer, precision)
        nan = np.isnan(rounded)
        if np.any(asked & ((nan != np.isnan(lo)) | (nan != np.isnan(hi)))):
            yield f"{precision}: NaN is not at the same places in rounded, lo and hi"
        with np.errstate(invalid="ignore"):  # false where one is NaN, and bf16 says so
            outside = (lo > rounded) | (rounded > hi)
        if np.any(asked & outside):
            yield f"{precision}: lo <= rounded <= hi does not hold"
    with np.errstate(over="ignore", invalid="ignore"):
        again = answer.expected.astype(row.numpy)  # may round twice: one neighbour off
    both_nan = np.isnan(again) & np.isnan(rounded)
    if np.any(_asked(answer, "exact") & ~both_nan & (row.ulp_distance(again, rounded) > 1)):
        yield "rounded is not expected rounded to the type"


def _choice_problems(answer: Answer) -> Iterator[str]:
    """Where the allowed values do not hold the expected one, or are not filled up with -1."""
    if answer.choices is None:
        return
    asked = _asked(answer, "exact")
    allowed = answer.choices
    if np.any(asked & ~(allowed == answer.expected[..., np.newaxis]).any(axis=-1)):
        yield "expected is not among choices"
    unused = allowed == -1
    if np.any(unused[..., :-1] & ~unused[..., 1:]):
        yield "choices has -1 before an allowed value"
    ordered = np.sort(allowed, axis=-1)
    if np.any((ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] != -1)):
        yield "choices names a value twice"


def _asked(answer: Answer, precision: str) -> NDArray[np.bool_]:
    """True where an element is checked at this precision."""
    if answer.open is None:
        return np.ones(answer.expected.shape, np.bool_)
    asked: NDArray[np.bool_] = (answer.open & OPEN_BIT[precision]) == 0
    return asked


def _same(one: Answer, other: Answer) -> bool:
    """True if two answers are the same, bit for bit."""
    return one.dtype == other.dtype and all(
        _same_bits(getattr(one, role), getattr(other, role))
        for role in ("rounded", "lo", "hi", "lo_native", "hi_native", "open", "choices", "expected")
    )


def _same_bits(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and one.tobytes() == other.tobytes()
