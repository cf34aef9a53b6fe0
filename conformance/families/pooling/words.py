"""The words of mutants and strata for operators that pool, read off their rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from conformance.families.pooling.window_kinds import Windows, windows_of
from conformance.spec.family import FamilyVocabulary
from conformance.spec.folding import FALSE
from conformance.spec.model import OpSpec

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_THROUGH = {
    "strides": ("start", "i * ({new} - {old})"),
    "pad_begin": ("start", "{old} - {new}"),
    "same_total": (
        "start",
        "where(same, pad_begin - where(2 * pad_begin > {old}, {new} - {new} // 2, {new} // 2), 0)",
    ),
    "kernel": ("taps", "{new} - {old}"),
    "dilations": ("step", "{new} - {old}"),
}
"""How the rules follow where another value takes the place of what is read off them: which rule,
and what is added to it. The number of windows stays."""

_SEVERAL = "any(length > 2)"
"""Several windows: a path in a profile is told by more than one of them."""

_WHOLE = {"sliding": "(out == 1 and last_end >= size and dilation == 1)"}
"""The word ``whole``, by the kind of windows: whether one window is the whole of an axis."""

_LENGTH = "where(whole, size, out)"
"""The word ``length``: results on an axis, or elements where one window is the whole of it."""


def words_of(spec: OpSpec) -> FamilyVocabulary:
    """The words of a specification."""
    windows = windows_of(spec.definitions)
    return FamilyVocabulary(
        kind=windows.kind,
        shown=dict(_shown(spec, windows)),
        derived=lambda given: _derived(spec, windows, given),
        through=_THROUGH,
        strata={
            "length": _LENGTH,
            "whole": _WHOLE.get(windows.kind, "(out == 1)"),
            "dilation": f"({spec.definitions['step'].text})",
        },
        several=_SEVERAL,
    )


def _shown(spec: OpSpec, windows: Windows) -> Iterator[tuple[str, str]]:
    """Words for what the rules, the inputs and the outputs show to have a role."""
    keys = {one.name: one.key for one in spec.attributes}
    for output in spec.outputs:
        if output.holds == "index" and output.type in keys:
            yield "index_element_type", keys[output.type]
    roles = {"sliding": {"kernel": "taps", "dilations": "step"}, "adaptive": {"output_size": "out"}}
    for word, rule in roles.get(windows.kind, {}).items():
        name = _followed(spec, spec.definitions[rule].text)
        if _WORD.fullmatch(name) and name not in spec.dims:
            yield word, name
    if windows.stride is not None and _WORD.fullmatch(windows.stride):
        yield "strides", _followed(spec, windows.stride)


def _followed(spec: OpSpec, text: str) -> str:
    """The name that a definition only passes on, if it does."""
    while text in spec.definitions and _WORD.fullmatch(spec.definitions[text].text):
        text = spec.definitions[text].text
    return text


def _derived(spec: OpSpec, windows: Windows, given: Collection[str]) -> Iterator[tuple[str, str]]:
    """Words for what follows from the rules, each in those before it."""
    yield "empty", "any(on_data == 0)"
    if windows.kind != "sliding":
        return
    step, divisor = spec.definitions["step"].text, spec.definitions["divisor"].text
    before = windows.before
    yield "strides", str(windows.stride)
    yield "kernel", spec.definitions["taps"].text
    yield "extent", "kernel" if step == "1" else f"(kernel - 1) * ({step}) + 1"
    if step != "1":
        yield "dilations", step
    yield "last_start", "(out - 1) * strides" + (f" - ({before})" if before else "")
    yield "last_end", "last_start + extent"
    if before is not None:
        yield "pad_begin", before
    elif not {"pads_begin", "padding", "pads_end", "pad_end"}.intersection(given):
        yield "padded_end", "size"  # no padding anywhere
        yield "overruns", "any(start + extent > padded_end)"
        return
    if "padding" in given or "pads_end" in given:
        yield "pad_end", "pads_end" if "pads_end" in given else "padding"
    else:
        # What the last window overruns the data by is padding.
        yield "pad_end", "max(0, last_end - size)"
        evenly = "out == ceil_div(size, strides) and abs(pad_end - pad_begin) <= 1"
        yield "same", f"all({evenly}) and any(pad_begin + pad_end > 0)"
        yield "same_total", "pad_begin + pad_end"
    yield "has_pads", "any(pad_begin + pad_end > 0)"
    yield "padded_end", "size + pad_end"
    if "padding" in given or "pads_end" in given:
        yield "span", "size + pad_begin + pad_end - extent"
        yield "overruns", "any(start + extent > padded_end)"
        yield "padded_taps", f"max(0, min(taps, ceil_div(padded_end - start, {step})))"
    if "mean" in (spec.definitions["reduce"].kind.values or ()):
        counted = FALSE if divisor == "prod(on_data)" else "divisor != prod(on_data)"
        yield "counts_pads", counted
        yield "exclude_pad", "not counts_pads"
