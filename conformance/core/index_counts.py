"""What indices a definition gives the elements of the tensor that it searches."""

from __future__ import annotations

import numpy as np

from conformance.core.evaluate import Evaluation
from conformance.core.operator import Definition, Operator
from conformance.core.operator_reader import operator_of
from conformance.dtypes import DTYPES, Array
from conformance.errors import EvaluationError
from conformance.model import Case
from conformance.spec.yaml_source import Source


def indices_of_elements(operator: Operator, case: Case) -> dict[int, Array]:
    """Return the index of each element of a searched tensor, by number of the output.

    Extents of 0 are taken for 1. Raises EvaluationError where it depends on more than the element.
    """
    indices = {}
    for number, output in enumerate(operator.outputs):
        definition = operator.define[output.name]
        if "_" in definition.combine and definition.finish.kind.type == "int":
            indices[number] = _of_each(operator, definition, case)
    return indices


def _of_each(operator: Operator, definition: Definition, case: Case) -> Array:
    """The index of each element: that of a search among itself alone."""
    term = definition.term
    if term is None or term.op != "read" or any(arg.op != "name" for arg in term.args):
        raise EvaluationError(f"{definition.name} does not search a tensor element by element")
    tensor = operator.tensors[str(term.value)]
    section = operator.data["define"][definition.name]
    places = [str(arg.value) for arg in term.args]
    alone = {key: section[key] for key in ("term", "combine", "finish") if key in section}
    stated = next(entry for entry in operator.data["inputs"] if entry["name"] == tensor.name)
    alone |= {"at": dict(zip(places, stated["shape"], strict=True)), "over": {"alone": 1}}
    data = {**operator.data, "define": {definition.name: alone}}
    data["outputs"] = [entry for entry in data["outputs"] if entry["name"] == definition.name]
    for key in ("interpretations", "roles", "reject", "profiles"):
        data.pop(key, None)
    searching = operator_of(Source(operator.op, data))
    inputs = {
        name: np.zeros(
            [max(1, size) for size in shape], DTYPES[case.types[operator.tensors[name].type]].numpy
        )
        for name, shape in case.shapes.items()
    }
    for name, values in case.operands.items():
        kind = operator.tensors[name].type
        inputs[name] = np.asarray(values, DTYPES[case.types.get(kind, "i64")].numpy)
    result = Evaluation(searching, case.attributes, inputs).result(definition.name)
    return np.asarray(result.value)
