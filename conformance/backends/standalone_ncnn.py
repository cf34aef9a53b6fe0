"""Runs a net by ncnn. Scripts contain this text, so it imports nothing of ours."""

import os
from contextlib import nullcontext
from typing import Any

import ncnn
import numpy as np


def run_net(inputs: Any, text: str, mark: Any = nullcontext) -> list[Any]:
    """Return the blob ``result`` of a net without weights for the blob ``data``."""
    data = inputs[0]
    with mark():
        net = ncnn.Net()
        check_status(net.load_param_mem(text))
        load_nothing(net)
        # Nets have no axis for the batch, and pools treat an image as they treat a channel.
        planes = extract(net, data.reshape(-1, *data.shape[2:]))
    return [planes.reshape(*data.shape[:2], *planes.shape[1:])]


def run_layer(
    inputs: Any,
    text: str,
    blobs: Any,
    transposed: Any,
    batched: bool,
    is_scalar: bool,
    mark: Any = nullcontext,
) -> list[Any]:
    """Return the blob ``result`` of a net of several inputs.

    Args:
        blobs: for each blob the number of an input, and the shape to bring it to.
        transposed: the blobs whose last two axes are exchanged.
        batched: whether the first input is a batch, of which each image goes through the net.
        is_scalar: whether the result has no dimension, of which ncnn has one at least.
    """
    arrays = []
    for blob, (index, shape) in enumerate(blobs):
        array = inputs[index] if shape is None else inputs[index].reshape(shape)
        arrays.append(array.swapaxes(-1, -2).copy() if blob in transposed else array)
    first, *others = arrays
    with mark():
        net = ncnn.Net()
        check_status(net.load_param_mem(text))
        load_nothing(net)
        images = first if batched else [first]
        results = [extract_layer(net, [image, *others]) for image in images]
    if is_scalar:
        return [results[0].reshape(())]
    return [np.stack(results) if batched else results[0]]


def extract_layer(net: Any, arrays: Any) -> Any:
    """Return a copy of the result for the blobs ``in0``, ``in1`` and so on."""
    extractor = net.create_extractor()
    for k, array in enumerate(arrays):
        check_status(extractor.input(f"in{k}", ncnn.Mat(array).clone()))
    status, result = extractor.extract("result")
    check_status(status)
    return np.array(result)


def load_nothing(net: Any) -> None:
    """Load no weights, which makes layers ready to run."""
    if hasattr(net, "load_model_mem"):
        net.load_model_mem("")
    else:  # before 2025 weights came from files only
        check_status(net.load_model(os.devnull))


def extract(net: Any, planes: Any) -> Any:
    """Return a copy of the result for some planes."""
    # What an extractor holds is the net's memory, so all of it goes before the net does.
    extractor = net.create_extractor()
    check_status(extractor.input("data", ncnn.Mat(planes)))
    status, result = extractor.extract("result")
    check_status(status)
    return np.array(result)


def check_status(status: int) -> None:
    """Raise ValueError for a status other than 0."""
    if status:
        raise ValueError(f"ncnn: status {status}")
