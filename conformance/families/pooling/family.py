"""The family ``pooling``, as :class:`conformance.spec.family.Family` asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.families.pooling.rules import (
    INDEX_RULES,
    NAMES,
    OUTPUTS,
    PATTERN_NAMES,
    ROLES,
    RULES,
    fills,
)
from conformance.families.pooling.trivial import TRIVIAL
from conformance.families.pooling.words import words_of
from conformance.spec.family import Family, FamilyVocabulary, Layout, Oracle, Picture
from conformance.spec.model import OpSpec

if TYPE_CHECKING:
    from conformance.dtypes import Array
    from conformance.model import Case


class Pooling(Family):
    """Operators whose elements are each made of one window of the data."""

    name = "pooling"
    layout = Layout(tensors=(("N", "C", "size"),), spread="size", planes=2)
    rules = RULES
    names = NAMES
    outputs = OUTPUTS
    roles = ROLES
    patterns = PATTERN_NAMES
    selector = "reduce"
    trivial = TRIVIAL
    telling = "somewhere(all(on_data > 0))"
    part = "window"
    about_rules = (
        "On each spatial axis the output has `out` windows. Window number `i` reads `taps` "
        "positions from `start` on, counted from the first element of the data."
    )

    @property
    def oracle(self) -> Oracle:
        from conformance.families.pooling import oracle

        return oracle

    def data(self, spec: OpSpec, case: Case) -> tuple[Array, ...]:
        from conformance.families.pooling.patterns import fill

        shape, dtype = case.shapes[spec.data.name], case.types[spec.data.type]
        return (fill(case.pattern, case.seed, shape, dtype),)

    def fills(self, pattern: str, dtype: str) -> bool:
        return fills(pattern, dtype)

    def used(self, spec: OpSpec) -> frozenset[str]:
        rules = {
            n for n, one in self.rules.items() if not one.reduces or one.reduces & spec.selected
        }
        if all(output.holds != "index" for output in spec.outputs):
            rules -= set(INDEX_RULES)
        return frozenset(rules)

    def kinds(self, spec: OpSpec) -> Mapping[str, frozenset[str]]:
        from conformance.spec.vocabulary import vocabulary

        return {"reduce": spec.selected, "windows": frozenset({vocabulary(spec).given.kind})}

    def words(self, spec: OpSpec) -> FamilyVocabulary:
        return words_of(spec)

    @property
    def solver(self) -> Callable[[Any], Any]:
        from conformance.families.pooling.axioms import Axioms

        return Axioms

    @property
    def picture(self) -> Picture:
        from conformance.families.pooling import illustrative_window

        return illustrative_window
