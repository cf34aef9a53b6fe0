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
