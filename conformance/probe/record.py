"""The JSON document of a probe (docs/probe.md): made, read and checked.

A file is read as strict JSON of bounded size that keeps to the schema; nothing else is trusted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from conformance import TOOL
from conformance.dtypes import DTYPES, Array
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.probe.models import codes
from conformance.probe.probe_calls import ProbeResponse
from conformance.probe.session import ProbeResult
from conformance.run.environment import fingerprint
from conformance.suite import strict_json
from conformance.suite.strict_json import read_bytes

_RUN_LOG = re.compile(rb'\x1f\x8b|\{"event": ?"header"')
"""How a run log begins, compressed or not."""

FORMAT = 1
FILE = "probe.json"

MAX_MODELS = 12
"""Fitting models that are listed in words; their number is always given."""


def probe_document(result: ProbeResult, backend_name: str) -> dict[str, Any]:
    """Return a probe as JSON data; ``backend_name`` is the name that the user gave."""
    inputs: dict[str, list[list[Any]]] = {}
    calls = [_call(response, inputs) for response in result.responses]
    identity = result.identity
    return {
        "format": FORMAT,
        "tool": TOOL,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "backend": {"spec": backend_name, "name": identity.name, "version": identity.version},
        "facts": dict(identity.facts),
        "environment": fingerprint(identity.process),
        "seed": result.seed,
        "processes": [asdict(process) for process in result.processes],
        "statements": [
            {**asdict(statement), "shown_by": [list(shown) for shown in statement.shown_by]}
            for statement in result.statements
        ],
        "fits": [
            {**asdict(fit), "models": fit.models[:MAX_MODELS], "fitting": len(fit.models)}
            for fit in result.fits
        ],
        "skipped": [{"what": subject, "why": reason} for subject, reason in result.skipped],
        "calls": calls,
        "inputs": inputs,
    }


def encode_probe(probe: Mapping[str, Any]) -> bytes:
    """Encode a probe as the content of its file."""
    return strict_json.dumps(json.loads(json.dumps(probe)))


def read_probe(path: Path) -> dict[str, Any]:
    """Read a probe from a file.

    Raises:
        SuiteError: the file holds no probe, or does not keep to the schema.
    """
    where = str(path)
    content = read_bytes(path)
    if _RUN_LOG.match(content):
        raise SuiteError(
            f"{where}: this is a run log, not a {FILE}",
            hint="conformance compare OLD NEW compares two run logs",
        )
    probe = strict_json.loads(content, where)
    strict_json.check_format(probe, where, FORMAT, TOOL)
    check_probe(probe, where)
    assert isinstance(probe, dict)
    return probe


def _call(response: ProbeResponse, inputs: dict[str, list[list[Any]]]) -> dict[str, Any]:
    call = response.call
    planes = []
    for number, plane in enumerate(call.planes):
        key, runs = _runs(call.inputs[number], call.dtype)
        inputs.setdefault(key, runs)
        result = "" if response.results is None else _hex(response.results[number], call.dtype)
        planes.append([plane.about, plane.name, key, result])
    return {
        "id": call.id,
        "op": call.spec.op,
        "dtype": call.dtype,
        "window": call.form.window,
        "elements": call.form.elements,
        "across": call.form.across,
        "case": call.case.request,
        "message": response.message,
        "planes": planes,
    }


def _hex(code: Any, dtype: str) -> str:
    return f"{int(code):0{2 * DTYPES[dtype].numpy.itemsize}x}"


def _runs(values: Array, dtype: str) -> tuple[str, list[list[Any]]]:
    """Return numbers as runs ``[count, code in hexadecimal]``, and a digest of them."""
    bits = codes(values, DTYPES[dtype])
    begins = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    lengths = np.diff(np.concatenate([begins, [len(bits)]])).tolist()
    runs = [[n, _hex(bits[i], dtype)] for n, i in zip(lengths, begins, strict=True)]
    return hashlib.sha256(json.dumps([dtype, runs]).encode()).hexdigest()[:12], runs


def number(code: str, dtype: str) -> str:
    """Return the number of a code in hexadecimal, as people write it."""
    kind = DTYPES[dtype]
    value = np.array([int(code, 16)], np.uint64).astype(kind.code).view(kind.numpy)[0]
    return str(int(value)) if not kind.is_float else repr(float(value))


def check_probe(probe: Any, where: str) -> None:
    """Check a probe against its schema, and that what it refers to exists.

    Raises:
        SuiteError: it does not.
    """
    problem = load_schema("probe/probe.schema.json").first_problem(probe)
    if problem is not None:
        raise SuiteError(f"{where}: {problem}", hint=AGAIN)
    plane_counts = {call["id"]: len(call["planes"]) for call in probe["calls"]}
    for call in probe["calls"]:
        for _, _, key, _ in call["planes"]:
            if key not in probe["inputs"]:
                raise SuiteError(f"{where}: {call['id'][:80]}: no inputs {key}", hint=AGAIN)
    for statement in probe["statements"]:
        for call, index in statement["shown_by"]:
            if index >= plane_counts.get(call, 0):
                raise SuiteError(f"{where}: no result {index} of {call[:80]}", hint=AGAIN)


AGAIN = "the file was changed or is damaged: probe the backend again"
