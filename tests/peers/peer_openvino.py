"""OpenVINO's own reference tests, which lie beside the checkout as data, as questions to ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peer_cases import PeerCase, rounding

from conformance.dtypes import DTYPES
from conformance.specification import find_spec

FILE = Path(__file__).resolve().parents[3] / "shared" / "peer" / "openvino_reference_cases.json"

ASKED_AS = {
    "AvgPool-1": ("AvgPool-1",),
    "AvgPool-14": ("AvgPool-1", "AvgPool-14"),
    "MaxPool-8": ("MaxPool-8",),
    "MaxPool-14": ("MaxPool-14",),
    "AdaptiveAvgPool-8": ("AdaptiveAvgPool-8",),
    "AdaptiveMaxPool-8": ("AdaptiveMaxPool-8",),
}
"""Which of our operators each of theirs is a question to. What AvgPool-14 is asked, AvgPool-1 can
be asked too, with the rounding that gives as many windows."""

RTOL = 1e-2
"""The relative difference that these tests declare, taken at every element. Their comparison lets
more through, how much depends on the version."""


def cases(op: str) -> list[PeerCase]:
    """The cases that ask one of our operators, in each type that they run in and it has.

    The same question of two of their operators is counted once.
    """
    found: dict[str, PeerCase] = {}
    for raw in json.loads(FILE.read_text("utf-8")):
        if op in ASKED_AS.get(raw["op"], ()):
            for one in mapped(raw, op):
                found.setdefault(one.name, one)
    return list(found.values())


def mapped(raw: dict[str, Any], op: str) -> Iterator[PeerCase]:
    """One case of the file, asked of ``op``, in each of its types."""
    attributes = _attributes(raw, op)
    operands = [np.array(raw["output_size"], np.int64)] if "output_size" in raw else []
    for dtype in _types(raw, op):
        inputs = (_tensor(raw["data"], raw["in_shape"], dtype), *operands)
        expected = [_tensor(raw["expected"], raw["out_shape"], dtype)]
        if "expected_indices" in raw:
            index = attributes["index_element_type"]
            expected.append(_tensor(raw["expected_indices"], raw["out_shape"], index))
        text = json.dumps([dtype, raw["data"], raw["in_shape"], attributes, raw["expected"]])
        yield PeerCase(
            name=f"{op} {text}",
            op=op,
            inputs=inputs,
            attributes=attributes,
            expected=tuple(expected),
            rtol=RTOL,
            atol=0,
            bytes=sum(array.nbytes for array in (*inputs, *expected)),
        )


def _types(raw: dict[str, Any], op: str) -> Sequence[str]:
    """The types to ask in: those of the case that our operator has."""
    return [dtype for dtype in raw["dtypes"] if dtype in find_spec(op).types["T"]]


def _attributes(raw: dict[str, Any], op: str) -> dict[str, Any]:
    if "kernel" not in raw:
        names = ("index_element_type",)
        return {name: raw[name] for name in names if name in raw}
    kind = raw["rounding_type"]
    if kind == "ceil_torch" and op == "AvgPool-1":
        pads = [sum(both) for both in zip(raw["pads_begin"], raw["pads_end"], strict=True)]
        shapes = raw["in_shape"][2:], raw["out_shape"][2:]
        kind = rounding(*shapes, raw["kernel"], raw["strides"], pads)
    names = ("kernel", "strides", "dilations", "axis", "index_element_type")
    # Theirs may be empty, and then count as zeros.
    none = [0] * len(raw["kernel"])
    pads = {name: raw[name] or none for name in ("pads_begin", "pads_end")}
    exclude = {"exclude-pad": raw["exclude_pad"]} if "exclude_pad" in raw else {}
    return {
        **{name: raw[name] for name in names if name in raw},
        **pads,
        **exclude,
        "rounding_type": kind,
        # Their "notset" is the document's default.
        "auto_pad": "explicit" if raw["auto_pad"] == "notset" else raw["auto_pad"],
    }


def _tensor(values: list[float], shape: list[int], dtype: str) -> np.ndarray:
    return np.array(values, np.float64).reshape(shape).astype(DTYPES[dtype].numpy)
