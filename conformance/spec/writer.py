"""YAML written so that :mod:`conformance.spec.reader` reads back the same."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from conformance.spec.reader import parse

WIDTH = 100


def write(data: Mapping[str, Any], about: str) -> str:
    """YAML text that holds ``data``, under a comment that says what it is ``about``.

    The same data in the same order give the same text. Raises
    :class:`~conformance.errors.SpecError` where they are more than one file may hold.
    """
    comment = textwrap.fill(about, WIDTH, initial_indent="# ", subsequent_indent="# ")
    # libyaml would be faster, but breaks lines in other places.
    body = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=WIDTH,
    )
    text = f"{comment}\n{body}"
    if parse(text, "<written>").data != data:
        raise ValueError("this cannot be written as YAML that is read as the same")
    return text


class _Dumper(yaml.SafeDumper):
    """Writes what occurs twice out twice, since the reader refuses anchors."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True
