"""Mutants of paths: an index in blocks, of which the rest, or all but a block, is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.core.mutant_changes import PathChange
from conformance.core.operator import Definition, Operator

OF_RESULTS: Mapping[str, tuple[int, ...]] = {
    "zero": (4, 8, 16, 32, 64, 128),
    "neighbour": (4, 16),
    "unwritten": (8,),
    "first_block": (8,),
    "last_block": (4,),
}
"""The blocks of each template, along an index of the result."""

OF_TERMS: Mapping[str, tuple[int, ...]] = {
    "left_out": (4, 8, 16, 32, 64, 128),
    "twice": (4, 16),
    "first_block": (8,),
    "last_block": (4,),
}
"""The blocks of each template, along an index that is combined away."""

SAYS = {
    "zero": "The rest of {index} after blocks of {block} is 0.",
    "neighbour": "The rest of {index} after blocks of {block} has the value before it.",
    "unwritten": "The rest of {index} after blocks of {block} is not written.",
    "left_out": "The rest of {index} after blocks of {block} is left out.",
    "twice": "The rest of {index} after blocks of {block} counts twice.",
    "first_block": "Only the first block of {block} along {index} is computed.",
    "last_block": "Only the last block of {block} along {index} is computed.",
}

ALONG = {
    "": "{index} of {name}",
    "first": "{index} of {name} on the first axis",
    "last": "{index} of {name} on the last axis",
    "flat": "{index} of {name}, all axes in a row",
}


def path_mutants(operator: Operator, where: str = "") -> Iterator[tuple[PathChange, str]]:
    """Yield paths along each index of each definition, and a sentence on each.

    They are taken in the cases in which ``where`` holds, a condition over the names of the case.
    """
    for definition in operator.define.values():
        for indices, blocks, axes in (
            (definition.at, OF_RESULTS, ("last", "flat")),
            (definition.over, OF_TERMS, ("last", "first")),
        ):
            for index, tree in indices.items():
                for axis in axes if tree.kind.per else ("",):
                    yield from _along(definition, index, axis, blocks, where)


def _along(
    definition: Definition,
    index: str,
    axis: str,
    blocks: Mapping[str, tuple[int, ...]],
    where: str,
) -> Iterator[tuple[PathChange, str]]:
    for template, sizes in blocks.items():
        for block in sizes:
            yield path_mutant(definition.name, index, block, template, axis, where)


def path_mutant(
    definition: str, index: str, block: int, template: str, axis: str = "", where: str = ""
) -> tuple[PathChange, str]:
    """Return a path and a sentence on it."""
    along = f" on {axis} axis" if axis in ("first", "last") else f" {axis}" if axis else ""
    name = f"path.{definition}.{index}{along}: {template.replace('_', ' ')} {block}"
    name += f" where {where}" if where else ""
    words = ALONG[axis].format(index=index, name=definition)
    says = SAYS[template].format(index=words, block=block)
    return PathChange(name, definition, index, block, template, axis, where), says
