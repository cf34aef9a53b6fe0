"""Products of a block of rank 3 with a vector: a family of another distribution, as small as it
can be. There is no batch, no channel and no axis; the inputs have three dimensions and one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from conformance.reference.plain import Evaluation, Plain
from conformance.spec.family import Family, Layout, Name, Rule
from conformance.spec.kinds import Domain, Kind

CASE, ELEMENT = Kind("int"), Kind("int", domain=Domain.ELEMENT)
PATTERNS = ("ramp", "signs", "ones")


class Oracle(Plain):
    """Element i, j is the sum of ``block[i, j, k] * vector[k]`` over all k, times ``factor``."""

    sources = {  # noqa: RUF012
        "i": lambda env: np.arange(env["I"])[:, None],
        "j": lambda env: np.arange(env["J"])[None, :],
    }

    def extents(self, env: Evaluation) -> tuple[int, ...]:
        return env["I"], env["J"]

    def computed(self, env: Evaluation) -> list[Any]:
        block, vector = (one.astype(object) for one in env.inputs)
        row, column = np.broadcast_arrays(env["row"], env["column"])
        taken = slice(max(0, env["first"]), max(0, env["end"]))
        sums = block[row % env["I"], column % env["J"], taken] @ vector[taken]
        return [sums * env["factor"] % (1 << 31)]


class Products(Family):
    """Sums of products."""

    name = "products"
    layout = Layout(tensors=(("I", "J", "K"), ("K",)))
    rules = {  # noqa: RUF012
        "factor": Rule(CASE, "what a sum is multiplied by", "1"),
        "first": Rule(CASE, "the first place that is added", "0"),
        "end": Rule(CASE, "the place behind the last that is added", "K"),
        "row": Rule(ELEMENT, "the row of the block that an element is of", "i"),
        "column": Rule(ELEMENT, "the column that it is of", "j"),
    }
    names = {  # noqa: RUF012
        "pattern": Name(Kind("enum", values=frozenset(PATTERNS)), "how the data is filled"),
        "i": Name(ELEMENT, "the row of an element"),
        "j": Name(ELEMENT, "the column of an element"),
    }
    outputs = {"value": None}  # noqa: RUF012
    patterns = PATTERNS
    oracle = Oracle()
    mutants = Path(__file__).parent / "mutants"

    def data(self, spec: Any, case: Any) -> tuple[Any, ...]:
        """Every tensor has numbers of its own: the seed and its place decide."""
        found = []
        for place, tensor in enumerate(spec.tensors):
            shape, dtype = case.shapes[tensor.name], case.types[tensor.type]
            words = np.random.Philox(key=case.seed + (place << 64)).random_raw(np.prod(shape))
            small = (words % np.uint64(97)).astype(np.int64) + 1
            told = {"ramp": small, "signs": small * (-1) ** np.arange(small.size), "ones": small**0}
            found.append(told[case.pattern].reshape(shape).astype(dtype.replace("i", "int")))
        return tuple(found)
