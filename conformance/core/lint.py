"""What an operator's file says to no purpose: names that nothing speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.core.operator import Definition, Operator
from conformance.core.tree import NO_NAMES, Node
from conformance.spec.yaml_source import Path, Source

HINT = "remove it, or use it"


def note_unused(operator: Operator, source: Source) -> None:
    """Note in ``source`` each name of an operator that has no effect."""
    shapes = (item for tensor in operator.inputs for shape in tensor.shapes for item in shape)
    outputs = (item for output in operator.outputs for item in (*output.shape, *output.omit))
    trees = (*operator.let.values(), *operator.require.values(), *operator.groups.values())
    used = _names(*trees, *shapes, *outputs).union(*(d.names for d in operator.define.values()))
    changes = re.findall(r"\w+", str(operator.data.get("interpretations", "")))
    used |= frozenset(changes).union(*({out.name, out.type} for out in operator.outputs))
    for attribute in operator.attributes.values():
        if attribute.name not in used:
            path = ("attributes", attribute.spelling)
            _note(source, path, f"nothing speaks of '{attribute.name}'")
    sections: dict[str, Mapping[str, object]] = {
        "dims": operator.dims,
        "let": operator.let,
        "define": operator.define,
    }
    for section, entries in sections.items():
        for name in entries.keys() - used:
            _note(source, (section, name), f"nothing speaks of '{name}'")
    for number, tensor in enumerate(operator.inputs):
        if tensor.name not in used:
            _note(source, ("inputs", number), f"nothing reads '{tensor.name}'")
    variables = {tensor.type for tensor in operator.inputs}
    variables |= {output.type for output in operator.outputs}
    for variable in operator.types.keys() - variables:
        _note(source, ("types", variable), f"no tensor is of type '{variable}'")
    for definition in operator.define.values():
        _note_unused_indices(definition, source)


def _note_unused_indices(definition: Definition, source: Source) -> None:
    for section, names in (("with", definition.abbreviations), ("over", definition.over)):
        for name in names:
            others = (tree for key, tree in definition.abbreviations.items() if key != name)
            parts = (definition.keep, definition.term, definition.finish, definition.unspecified)
            trees = (*others, *(tree for tree in parts if tree is not None))
            outside = (definition.outside,) if isinstance(definition.outside, Node) else ()
            if name not in _names(*trees, *outside):
                path = ("define", definition.name, section, name)
                _note(source, path, f"nothing in '{definition.name}' speaks of '{name}'")


def _names(*trees: Node) -> frozenset[str]:
    return NO_NAMES.union(*(tree.names for tree in trees))


def _note(source: Source, path: Path, message: str) -> None:
    source.problem(path, message, hint=HINT, key=True)
