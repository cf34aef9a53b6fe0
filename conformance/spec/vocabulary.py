"""Common words of the catalogue, mapped to the names of a specification.

A word stands for what a specification gives that role (``roles``), for what its rules show (the
attribute that windows move by), for its own name of the same spelling, or for what follows from
its rules (the padding before the first window).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from conformance.errors import UsageError, closest
from conformance.spec.folding import FALSE, folded
from conformance.spec.model import OpSpec
from conformance.spec.reader import KEPT
from conformance.spec.scope import scope_of
from conformance.spec.windows import Windows, windows_of

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


@dataclass(frozen=True)
class Vocabulary:
    """The words of one specification: for each its own name, or an expression in its names."""

    spec: OpSpec
    windows: Windows
    words: Mapping[str, str]

    def spoken(self, text: str) -> str:
        """An expression of the catalogue in the specification's own names, as far as it is open.

        Raises :class:`~conformance.errors.ExpressionError` for what is no expression.
        """
        return folded(self._in_own_names(text), self.spec.ranks)

    def _in_own_names(self, text: str) -> str:
        return _WORD.sub(lambda found: self.words.get(found[0], found[0]), text)

    def replaced(self, replace: Mapping[str, str]) -> dict[str, str]:
        """What takes which place in the specification, for the replacements of the catalogue.

        Raises :class:`~conformance.errors.UsageError` where it has nothing to replace.
        """
        found: dict[str, str] = {}
        added: dict[str, list[str]] = {}
        for word, text in replace.items():
            own = self.words.get(word, word)
            if _WORD.fullmatch(own) and (own in self._replaceable or word not in _THROUGH):
                found[own] = self.spoken(text)
            elif word in _THROUGH:
                rule, template = _THROUGH[word]
                new = self.spoken(re.sub(r"\boriginal\b", word, text))
                change = self._in_own_names(template).format(old=own, new=f"({new})")
                added.setdefault(rule, []).append(change)
            else:
                raise UsageError(
                    f"{self.spec.op} has no rule '{word}' to replace",
                    hint=closest(word, self._replaceable),
                )
        for rule, changes in added.items():
            if rule in found:
                raise UsageError(f"'{rule}' of {self.spec.op} is replaced twice")
            found[rule] = " + ".join(["original", *changes])
        return found

    @cached_property
    def _replaceable(self) -> set[str]:
        return {*self.spec.definitions, *self.spec.quantities} - self.spec.dims.keys()


@lru_cache(maxsize=KEPT)
def vocabulary(spec: OpSpec) -> Vocabulary:
    """The words of a specification."""
    windows = windows_of(spec.definitions)
    own = scope_of(spec)
    words = {**dict(_shown(spec, windows)), **spec.roles}
    known = {word: name for word, name in words.items() if word != name}
    known = {word: name if _WORD.fullmatch(name) else f"({name})" for word, name in known.items()}
    numbers = {name for name, kind in own.items() if kind.type == "int"}
    for word, text in _derived(spec, windows, numbers | words.keys()):
        if word not in own and word not in words:
            own_text = Vocabulary(spec, windows, known)._in_own_names(text)
            known[word] = own_text if own_text == FALSE else f"({own_text})"
    return Vocabulary(spec, windows, known)


def _shown(spec: OpSpec, windows: Windows) -> Iterator[tuple[str, str]]:
    """Words for what the rules, the inputs and the outputs show to have a role."""
    yield "T", spec.data.type
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
