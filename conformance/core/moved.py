"""Outputs that are elements of the inputs, moved and not computed: they keep every bit.

Which element comes where is found by the definition itself: it is evaluated on the numbers of the
elements in place of the elements. So signs of zeros and payloads of NaN, which exact numbers have
none of, are those of the input.
"""

from __future__ import annotations

import numpy as np

from conformance.core.binding import Binding
from conformance.core.evaluate import Evaluation
from conformance.core.operator import Definition, Operator, Output
from conformance.core.real import source
from conformance.core.tree import Node
from conformance.dtypes import DTYPES, Array

FIRST = 1 << 40
"""The number of the first element; constants, as what a border is filled with, are below."""


def is_moved(operator: Operator, output: Output, case: Binding | None = None) -> bool:
    """Return whether an output is elements of inputs of its type, and constants.

    Of a case what its conditions rule out does not count.
    """
    return _is_moved(operator, case, output.name, output.type)


def _is_moved(operator: Operator, case: Binding | None, name: str, variable: str) -> bool:
    """Whether a definition only chooses among elements of a type, and constants."""
    definition = operator.define[name]
    outside = definition.outside
    if definition.term is not None or isinstance(outside, str):
        return False
    if definition.finish.kind.type != "real":
        return False  # indices, of which nothing is an element
    trees = [definition.finish] if outside is None else [definition.finish, outside]
    return all(_moves(operator, case, tree, definition, variable) for tree in trees)


def _moves(
    operator: Operator, case: Binding | None, node: Node, definition: Definition, variable: str
) -> bool:
    names = definition.abbreviations
    if node.kind.type != "real":
        return not _has_reals(node)
    if node.op == "read":
        name = str(node.value)
        if name in operator.define:
            return _is_moved(operator, case, name, variable)
        return operator.tensors[name].type == variable
    if node.op == "name":
        return _moves(operator, case, names[str(node.value)], definition, variable)
    if node.op != "where" or _has_reals(node.args[0]):
        return False
    condition, *branches = node.args
    # What is computed of tensors is so, too, where some of them are absent.
    asks_for_tensors = any(part.op == "has" for part in condition.walk())
    if case is not None and not (
        asks_for_tensors or condition.kind.indices or condition.names & names.keys()
    ):
        branches = [branches[0 if case.evaluate(condition) else 1]]
    return all(_moves(operator, case, branch, definition, variable) for branch in branches)


def _has_reals(node: Node) -> bool:
    return any(part.kind.type == "real" for part in node.walk())


def moved_bits(evaluation: Evaluation, output: Output) -> Array | None:
    """Return an output with the bits of the elements that it is made of.

    None if anything of it is computed, or if it is of whole numbers, which have no such bits.
    """
    dtype = DTYPES[evaluation.dtype_of(output)]
    if not dtype.is_float or not is_moved(evaluation.operator, output, evaluation.binding):
        return None
    numbered, elements = evaluation.by(None), [np.zeros(0, dtype.numpy)]
    first = FIRST
    for name, array in evaluation.inputs.items():
        if evaluation.operator.tensors[name].type == output.type:
            numbers = np.arange(first, first + array.size).reshape(array.shape)
            numbered.put(name, source(numbers, DTYPES["i64"], None))
            elements.append(np.ravel(array))
            first += array.size
    for name, definition in evaluation.operator.define.items():
        if definition.finish.kind.type == "int":  # elements may have decided it, no numbers of them
            numbered.know(name, evaluation.result(name))
    places = numbered.rounded(output, DTYPES["i64"]).ravel() - FIRST
    kept = evaluation.output(output)
    bits = kept.copy().ravel()
    bits[places >= 0] = np.concatenate(elements)[places[places >= 0]]
    return bits.reshape(kept.shape)
