"""Arrays as exact Python source."""

from __future__ import annotations

import base64
import textwrap
import zlib

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of

LISTED = 256
"""Larger arrays are packed."""

WIDTH = 96

_SPELLED = {"bf16": "ml_dtypes.bfloat16", "bool": "bool"}


def source(array: Array, indent: str) -> str:
    """An expression for the array; all lines but the first begin with ``indent``.

    It uses ``np``, for bf16 ``ml_dtypes``, and for a large array ``unpacked``, see
    :mod:`conformance.repro.unpacking`.
    """
    name = name_of(array.dtype)
    kind = _SPELLED.get(name, f"np.{array.dtype.name}")
    shape = repr(array.shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    codes = flat.view(f"u{flat.dtype.itemsize}")
    if flat.size > 1 and (codes == codes[0]).all():
        (value,) = _values(flat[:1]) or ("",)
        if value:
            return f"np.full({shape}, {value}, {kind})"
    values = None if flat.size > LISTED else _values(flat)
    if values is None:
        return _packed(array, kind, indent)
    reshaped = "" if array.ndim == 1 and array.size else f".reshape{shape}"
    return _listed(values, f", {kind}){reshaped}", indent)


def _values(flat: Array) -> list[str] | None:
    """Each element as a number, or None where numbers would not give the bits back."""
    if flat.dtype.kind in "biu":
        return [str(value) for value in flat.tolist()]
    texts = [repr(float(value)) for value in flat]
    # A NaN that is not the usual one has other bits than its text.
    if np.array([float(text) for text in texts]).astype(flat.dtype).tobytes() != flat.tobytes():
        return None
    return [{"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}.get(text, text) for text in texts]


def _listed(values: list[str], end: str, indent: str) -> str:
    line = f"np.array([{', '.join(values)}]{end}"
    if len(indent) + len(line) <= WIDTH:
        return line
    inside = indent + "    "
    rows = textwrap.fill(", ".join(values), WIDTH, initial_indent=inside, subsequent_indent=inside)
    return f"np.array([\n{rows}\n{indent}]{end}"


def _packed(array: Array, kind: str, indent: str) -> str:
    name = name_of(array.dtype)
    stored = DTYPES[name].storage if name in DTYPES else array.dtype
    content = np.ascontiguousarray(array).view(stored).astype(stored.newbyteorder("<"))
    text = base64.b64encode(zlib.compress(content.tobytes(), 9)).decode("ascii")
    inside = indent + "    "
    step = WIDTH - len(inside) - 2
    rows = "\n".join(f'{inside}"{text[i : i + step]}"' for i in range(0, len(text), step))
    view = f".view({kind})" if stored != array.dtype else ""
    return f"unpacked(\n{rows},\n{inside}{content.dtype.str!r}, {array.shape!r},\n{indent}){view}"
