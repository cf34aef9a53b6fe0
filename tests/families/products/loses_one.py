"""A backend that is wrong."""

from __future__ import annotations

from typing import Any


class LosesOne:
    """The last product of each sum is not added."""

    name, version = "loses-one", "1"

    def run(self, op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
        block, vector = inputs
        if 0 in block.shape or block.shape[-1] != len(vector) or attributes.get("scale", 1) < 1:
            raise ValueError("it cannot be asked this")
        sums = block[..., :-1].astype(object) @ vector[:-1] * attributes.get("scale", 1)
        return [(sums % (1 << 31)).astype(block.dtype).reshape(block.shape[:2])]
