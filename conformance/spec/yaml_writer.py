"""Writes YAML that :mod:`conformance.spec.yaml_reader` reads back unchanged."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from conformance.spec.yaml_reader import parse_yaml

WIDTH = 100
INDENTED = 30
"""Columns that what stands before a list or a table may take."""


def write(data: Mapping[str, Any], about: str) -> str:
    """Write ``data`` as YAML text, under a comment that says what it is ``about``.

    The same data in the same order give the same text. Raises
    :class:`~conformance.errors.SpecError` where they are more than one file may hold.
    """
    comment = textwrap.fill(about, WIDTH, initial_indent="# ", subsequent_indent="# ")
    # libyaml would be faster, but breaks lines in other places.
    body = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=WIDTH,
    )
    text = f"{comment}\n{body}"
    if parse_yaml(text, "<written>").data != data:
        raise ValueError("this cannot be written as YAML that is read as the same")
    return text


class _Dumper(yaml.SafeDumper):
    """Writes short lists and tables on one line, and what occurs twice out twice, since the reader
    refuses anchors.
    """

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_mapping(self, *args: Any, **kwargs: Any) -> yaml.MappingNode:
        node = super().represent_mapping(*args, **kwargs)
        node.flow_style = _short([part for pair in node.value for part in pair])
        return node

    def represent_sequence(self, *args: Any, **kwargs: Any) -> yaml.SequenceNode:
        node = super().represent_sequence(*args, **kwargs)
        node.flow_style = _short(node.value)
        return node


def _short(parts: Sequence[yaml.Node]) -> bool:
    """Whether parts are values without parts of their own, and fit on a line together."""
    plain = all(isinstance(part, yaml.ScalarNode) for part in parts)
    return plain and sum(len(part.value) + 4 for part in parts) < WIDTH - INDENTED
