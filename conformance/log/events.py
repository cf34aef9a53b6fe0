"""Converts results, findings and witnesses to events of a run log and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.json_schema import load_schema
from conformance.model import Finding, Result, Returned, Status, Witness

FORMAT = 1
"""The format of the run log that this version writes."""

ARRAYS = ("inputs", "expected", "returned")
"""The arrays that are kept of a failure."""

MAX_ELEMENTS = 20
"""Wrong elements of a finding that are listed, and shown, at most."""

PIECE = 4000
"""Characters of one piece of a long text that may not be cut."""


def event_problem(event: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an event; None if it keeps to the published schema."""
    name = event.get("event")
    if name not in ("header", "result", "finding", "footer"):
        return f"unknown event {str(name)[:40]!r}"
    # The schema of all events would try each kind on every line.
    problem = load_schema("log/run-log.schema.json", name).first_problem(event)
    return problem and f"{name} {problem}"


def as_event(item: Mapping[str, Any] | Result | Finding) -> Mapping[str, Any]:
    """What a run yields, as an event; a header or footer is one already."""
    if isinstance(item, Result):
        return result_event(item)
    return finding_event(item) if isinstance(item, Finding) else item


def result_event(result: Result) -> dict[str, Any]:
    """The line that a result leaves in the log."""
    return {
        "event": "result",
        "id": result.id,
        "op": result.op,
        "status": result.status.value,
        "kind": result.kind,
        "level": result.level,
        "dtype": result.dtype,
        "edges": list(result.edges),
        "message": result.message,
        "reading": result.reading,
        "precision": result.precision,
        "size": result.size,
        "reject": result.reject,
        "seconds": result.seconds,
        "witness": _witness_data(result.witness),
        "shows": {point: list(kinds) for point, kinds in result.shows.items()},
        "known": result.known,
        "rank": result.rank,
        **_only_some_have(result),
    }


def _only_some_have(result: Result) -> dict[str, Any]:
    some: dict[str, Any] = {}
    if result.within is not None:
        some["within"] = list(result.within)
    if result.left_out:
        some["left_out"] = list(result.left_out)
    if result.wrong:
        some["wrong"] = result.wrong
    if result.asked is not None:
        some["asked"] = dict(result.asked)
    for name in ARRAYS:
        kept = getattr(result, name)
        if kept is not None:
            some[name] = [_returned_data(one) for one in kept]
    return some


def result_from_event(event: Mapping[str, Any]) -> Result:
    """The result on a line; the event must satisfy the schema."""
    return Result(
        id=event["id"],
        op=event["op"],
        status=Status(event["status"]),
        edges=tuple(event["edges"]),
        message=event["message"],
        kind=event["kind"],
        reading=event["reading"],
        precision=event["precision"],
        level=event["level"],
        dtype=event["dtype"],
        size=event["size"],
        reject=event["reject"],
        seconds=event["seconds"],
        witness=_witness(event["witness"]),
        shows={point: tuple(kinds) for point, kinds in event["shows"].items()},
        known=event["known"],
        rank=event["rank"],
        within=None if event.get("within") is None else tuple(event["within"]),
        left_out=tuple(event.get("left_out", ())),
        **{name: _returned(event.get(name)) for name in ARRAYS},
        wrong=event.get("wrong", ""),
        asked=event.get("asked"),
    )


def finding_event(finding: Finding) -> dict[str, Any]:
    """The line that a finding leaves in the log."""
    return {
        "event": "finding",
        "op": finding.op,
        "kind": finding.kind,
        "title": finding.title,
        "ids": list(finding.ids),
        "edges": list(finding.edges),
        "smallest": finding.smallest,
        "message": finding.message,
        "witness": _witness_data(finding.witness),
        "reproduce": finding.reproduce,
        "diagnosis": None if finding.diagnosis is None else dict(finding.diagnosis),
        "detail": dict(finding.detail),
    }


def finding_from_event(event: Mapping[str, Any]) -> Finding:
    """The finding on a line; the event must satisfy the schema."""
    return Finding(
        op=event["op"],
        kind=event["kind"],
        title=event["title"],
        ids=tuple(event["ids"]),
        edges=tuple(event["edges"]),
        smallest=event["smallest"],
        message=event["message"],
        witness=_witness(event["witness"]),
        reproduce=event["reproduce"],
        detail=event["detail"],
        diagnosis=event["diagnosis"],
    )


def _returned_data(one: Returned) -> dict[str, Any]:
    text = base64.b64encode(one.packed).decode("ascii")
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    return {"dtype": one.dtype, "shape": list(one.shape), "zlib": pieces}


def _returned(data: Sequence[Mapping[str, Any]] | None) -> tuple[Returned, ...] | None:
    """The outputs on a line; None where they are not what this version writes."""
    try:
        return None if data is None else tuple(map(_one_returned, data))
    except binascii.Error:
        return None


def _one_returned(data: Mapping[str, Any]) -> Returned:
    packed = base64.b64decode("".join(data["zlib"]), validate=True)
    return Returned(data["dtype"], tuple(data["shape"]), packed)


def _witness_data(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "output": witness.output,
        "index": list(witness.index),
        "exact": witness.exact,
        "rounded": witness.rounded,
        "lo": witness.lo,
        "hi": witness.hi,
        "got": witness.got,
        "ulp": witness.ulp,
        "wrong": witness.wrong,
        "total": witness.total,
    }


def _witness(data: Mapping[str, Any] | None) -> Witness | None:
    if data is None:
        return None
    ulp = data["ulp"]
    return Witness(
        output=data["output"],
        index=tuple(data["index"]),
        exact=data["exact"],
        rounded=data["rounded"],
        lo=data["lo"],
        hi=data["hi"],
        got=data["got"],
        # Far from every number (a NaN, say) is infinitely far, which JSON spells as text.
        ulp=None if ulp is None else float(ulp),
        wrong=data["wrong"],
        total=data["total"],
    )
