"""Backends with the faults of public reports: they do what the threads tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers
from graded import KINDS, said
from reported import BF16, REPORTS, Backend

from conformance.dtypes import Array

TABLE = Path(__file__).with_name("README.md")
OPENVINO = {"kernel": [1, 1], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
NAN = np.nan


def plane(*rows: Sequence[float], kind: Any = np.float32) -> Array:
    return np.array([[rows]], kind)


def pooled(name: str, data: Array, *more: Array, **attributes: Any) -> list[Array]:
    report = REPORTS[name]
    return Backend(report).run(report.op, [data, *more], attributes)


def test_the_first_of_a_plane_has_no_index() -> None:
    values, indices = pooled("onednn-global-index", plane([2, 1]), kernel_size=[1, 2])
    assert (values.item(), indices.item()) == (2, -1)


def test_a_nan_stays_in_full_blocks_alone() -> None:
    data = np.tile(plane([NAN, 3]), (1, 5, 1, 1))
    values, _ = pooled("tensorflow-nan-tail", data, kernel_size=[1, 2])
    np.testing.assert_array_equal(values.ravel(), [NAN, NAN, NAN, NAN, 3])


def test_nine_ones_are_less_than_one() -> None:
    (mean,) = pooled(
        "tt-metal-truncated-reciprocal",
        np.ones((1, 1, 3, 3), BF16),
        **OPENVINO | {"kernel": [3, 3], "exclude-pad": True},
    )
    assert mean.item() == 0.99609375


def test_the_mean_of_a_plane_is_no_override() -> None:
    name = "tt-torch-override-global"
    data = plane([1, 2], [3, 6])
    assert pooled(name, data, kernel_size=[2, 2], divisor_override=2)[0].item() == 3
    assert pooled(name, data, kernel_size=[1, 2], divisor_override=2)[0].tolist() == [
        [[[1.5], [4.5]]]
    ]


def test_minus_zero_is_lost_in_long_planes() -> None:
    for length, largest in ((8192, 0), (8193, -np.inf)):
        (value,) = pooled("xla-minus-zero-lost", -np.zeros((1, 1, 1, length), np.float32))
        assert value.item() == largest


def test_a_window_is_as_large_as_the_stride() -> None:
    asked = OPENVINO | {"strides": [2, 2], "exclude-pad": True}
    (means,) = pooled("hls4ml-window-of-the-stride", plane([4, 1, 8, 1], [1, 1, 1, 1]), **asked)
    assert means.ravel().tolist() == [1, 2]


def test_all_padding_counts_in_the_first_row() -> None:
    asked = OPENVINO | {"kernel": [1, 5], "pads_begin": [0, 2], "pads_end": [0, 2]}
    (means,) = pooled(
        "ncnn-border-rows-rescaled", plane([5, 5, 5, 5, 5]), **asked, **{"exclude-pad": True}
    )
    np.testing.assert_allclose(means.ravel(), [5, 4, 5, 4, 5])


def test_the_stride_is_taken_for_padding() -> None:
    asked = {"kernel_size": [2, 2], "stride": [1, 1], "padding": [0, 0]}
    (means,) = pooled("torchsharp-padding-is-stride", plane([4, 4], [4, 4]), **asked)
    assert means.tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


def test_rounding_up_adds_two_windows() -> None:
    asked = OPENVINO | {"kernel": [1, 4], "strides": [1, 2], "rounding_type": "ceil"}
    values, _ = pooled("ncnn-full-padding", plane(range(7)), **asked)
    assert values.ravel().tolist() == [3, 5, 6, 6]


def listed() -> Mapping[str, str]:
    """What the table says of each report."""
    rows = re.findall(r"^\| \[([\w-]+)\]\((\S+)\) \|.*\| (\w+) \|", TABLE.read_text("utf-8"), re.M)
    assert [(name, thread) for name, thread, _ in rows] == [
        (one.id, one.thread) for one in REPORTS.values()
    ]
    return {name: kind for name, _, kind in rows}


def test_the_table_lists_each_report() -> None:
    assert len(listed()) == len(REPORTS)


@pytest.mark.parametrize("name", tiers.first(list(REPORTS)))
def test_a_check_says_no_less_than_the_table(name: str) -> None:
    assert KINDS.index(said(REPORTS[name]).kind) <= KINDS.index(listed()[name])
