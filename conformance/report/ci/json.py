"""A run as one JSON document, of the shape that ``report.schema.json`` describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.log.encoding import encode
from conformance.log.events import as_event
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.report.view import run_view

FILE = "report.json"

FORMAT = 1
"""The format of the document that this version writes."""


def render(run: RunLog) -> str:
    """Return the document: the trusted verdict, then the events of the log, one a line.

    The text is ASCII: whatever a backend said travels in JSON escapes, as it does in the log.
    """
    view = run_view(run)
    members = {
        "format": str(FORMAT),
        "verdict": json.dumps(run.verdict),
        "gate_met": json.dumps(run.gate_met),
        "sentence": json.dumps(view.full_sentence),
        "problems": json.dumps(list(run.problems)),
        "header": _event(run.header),
        "footer": "null" if run.footer is None else _event(run.footer),
        "findings": _array(run.findings),
        "results": _array(run.results),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in members.items()) + "\n}\n"


def _array(items: Iterable[Result | Finding]) -> str:
    lines = ",\n".join(_event(as_event(item)) for item in items)
    return f"[\n{lines}\n]" if lines else "[]"


def _event(event: Mapping[str, Any]) -> str:
    return encode(event).rstrip("\n")
