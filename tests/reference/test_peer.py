"""The reference against another project's own cases for these operators, where they lie beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers
from conformance.dtypes import DTYPES
from conformance.model import ALL_OPEN
from conformance.specification import case_from_inputs, find_spec

CASES = Path(__file__).resolve().parents[3] / "shared" / "peer" / "openvino_reference_cases.json"
OPS = ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")


def peer_cases() -> list[dict[str, Any]]:
    if not CASES.is_file():
        return []
    return [case for case in json.loads(CASES.read_text()) if case["op"] in OPS]


@pytest.mark.skipif(not CASES.is_file(), reason="the peer's cases do not lie beside the checkout")
def test_all_cases_are_here() -> None:
    assert len(peer_cases()) == 17


@pytest.mark.parametrize("case", peer_cases(), ids=lambda case: f"{case['op']}-{case['in_shape']}")
def test_agrees(case: dict[str, Any]) -> None:
    dtypes = [name for name in case["dtypes"] if name in ("f16", "bf16", "f32", "f64")]
    assert dtypes
    for dtype in dtypes:
        data = np.array(case["data"], np.float64).reshape(case["in_shape"])
        inputs = [data.astype(DTYPES[dtype].numpy)]
        attributes: dict[str, Any] = {}
        if "output_size" in case:
            inputs.append(np.array(case["output_size"], np.int64))
        if "index_element_type" in case:
            attributes["index_element_type"] = case["index_element_type"]
        for name in ("kernel", "strides", "pads_begin", "pads_end", "rounding_type"):
            if name in case:
                attributes[name] = case[name]
        if "exclude_pad" in case:
            attributes["exclude-pad"] = case["exclude_pad"]
        if "auto_pad" in case:
            # Their "notset" is the document's default.
            known = case["auto_pad"] != "notset"
            attributes["auto_pad"] = case["auto_pad"] if known else "explicit"
        spec = find_spec(case["op"])
        found = answers(spec, case_from_inputs(spec, inputs, attributes), inputs)
        expected = np.array(case["expected"], np.float64).reshape(case["out_shape"])
        # Their expected values are written with float32 digits.
        tolerance = 2.0 ** -(DTYPES[dtype].digits - 2)
        # What the document gives no value, they expect to be 0.
        nowhere = found[0].open if found[0].open is not None else np.uint8(0)
        right = np.where(nowhere == ALL_OPEN, 0, found[0].expected)
        np.testing.assert_allclose(right, expected, rtol=max(tolerance, 1e-5))
        if "expected_indices" in case:
            indices = np.array(case["expected_indices"]).reshape(case["out_shape"])
            np.testing.assert_array_equal(found[1].expected, indices)
