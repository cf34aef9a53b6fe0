"""What a probe found, as JSON with a schema (docs/probe.md).

What is read from a file is strict JSON of bounded size that keeps to the schema; no more is
believed of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from conformance import TOOL
from conformance.dtypes import DTYPES, Array
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.probe.asking import Answered
from conformance.probe.models import codes
from conformance.probe.session import Probed
from conformance.probe.statements import Fit
from conformance.run.environment import fingerprint
from conformance.suite import strict_json

_RUN_LOG = re.compile(rb'\x1f\x8b|\{"event": ?"header"')
"""How a run log begins, compressed or not."""

FORMAT = 1
FILE = "probe.json"

MOST_MODELS = 12
"""Models that fit and are listed in words, at most; their number is always told."""


def document(outcome: Probed, spec: str) -> dict[str, Any]:
    """A probe of the backend that ``spec`` names, as JSON data."""
    inputs: dict[str, list[list[Any]]] = {}
    calls = [_call(seen, inputs) for seen in outcome.seen]
    identity = outcome.identity
    return {
        "format": FORMAT,
        "tool": TOOL,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "backend": {"spec": spec, "name": identity.name, "version": identity.version},
        "facts": dict(identity.facts),
        "environment": fingerprint(identity.process),
        "seed": outcome.seed,
        "processes": [
            {"about": one.about, "variables": dict(one.variables)} for one in outcome.processes
        ],
        "statements": [
            {**asdict(one), "shown_by": [list(shown) for shown in one.shown_by]}
            for one in outcome.statements
        ],
        "fits": [_fit(one) for one in outcome.fits],
        "skipped": [{"what": what, "why": why} for what, why in outcome.skipped],
        "calls": calls,
        "inputs": inputs,
    }


def dump(found: Mapping[str, Any]) -> bytes:
    """The content of the file."""
    return strict_json.dumps(json.loads(json.dumps(found)))


def read(path: Path) -> dict[str, Any]:
    """A probe from a file. Raises SuiteError for what is none or does not keep to the schema."""
    where = str(path)
    content = strict_json.content(path)
    if _RUN_LOG.match(content):
        raise SuiteError(
            f"{where}: this is a run log, not a {FILE}",
            hint="conformance compare OLD NEW compares two run logs",
        )
    found = strict_json.loads(content, where)
    strict_json.check_format(found, where, FORMAT, TOOL)
    check(found, where)
    assert isinstance(found, dict)
    return found


def _fit(fit: Fit) -> dict[str, Any]:
    told = {one.name: getattr(fit, one.name) for one in fields(Fit)}
    return {**told, "models": fit.models[:MOST_MODELS], "fitting": len(fit.models)}


def _call(seen: Answered, inputs: dict[str, list[list[Any]]]) -> dict[str, Any]:
    call = seen.call
    digits = 2 * DTYPES[call.dtype].numpy.itemsize
    planes = []
    for number, plane in enumerate(call.planes):
        key, runs = written(call.inputs[number], call.dtype)
        inputs.setdefault(key, runs)
        result = "" if seen.results is None else f"{int(seen.results[number]):0{digits}x}"
        planes.append([plane.about, plane.name, key, result])
    return {
        "id": call.id,
        "op": call.spec.op,
        "dtype": call.dtype,
        "window": call.form.window,
        "elements": call.form.elements,
        "across": call.form.across,
        "case": call.case.asked,
        "message": seen.message,
        "planes": planes,
    }


def written(values: Array, dtype: str) -> tuple[str, list[list[Any]]]:
    """Numbers as runs, ``[count, code in hexadecimal]``, with a name that their content makes."""
    kind = DTYPES[dtype]
    bits = codes(values, kind)
    begins = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    lengths = np.diff(np.concatenate([begins, [len(bits)]])).tolist()
    digits = 2 * kind.numpy.itemsize
    runs = [[n, f"{int(bits[i]):0{digits}x}"] for n, i in zip(lengths, begins, strict=True)]
    name = hashlib.sha256(json.dumps([dtype, runs]).encode()).hexdigest()[:12]
    return name, runs


def number(code: str, dtype: str) -> str:
    """A code in hexadecimal as people write the number."""
    kind = DTYPES[dtype]
    value = np.array([int(code, 16)], np.uint64).astype(kind.code).view(kind.numpy)[0]
    return str(int(value)) if not kind.is_float else repr(float(value))


def check(found: Any, where: str) -> None:
    """Raises SuiteError for what does not keep to the schema, or speaks of what is not there."""
    problem = load_schema("probe/probe.schema.json").first_problem(found)
    if problem is not None:
        raise SuiteError(f"{where}: {problem}", hint=AGAIN)
    planes = {call["id"]: len(call["planes"]) for call in found["calls"]}
    for call in found["calls"]:
        for _, _, key, _ in call["planes"]:
            if key not in found["inputs"]:
                raise SuiteError(f"{where}: {call['id'][:80]}: no inputs {key}", hint=AGAIN)
    for one in found["statements"]:
        for call, place in one["shown_by"]:
            if place >= planes.get(call, 0):
                raise SuiteError(f"{where}: no result {place} of {call[:80]}", hint=AGAIN)


AGAIN = "the file was changed or is damaged: probe the backend again"
