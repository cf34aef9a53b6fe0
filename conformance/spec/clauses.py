"""Parses requirements, interpretations, coverage targets and negative tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from conformance.errors import closest
from conformance.spec.expressions import Expression
from conformance.spec.family import Family
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import (
    CoverageTarget,
    DrawBounds,
    NegativeTest,
    Observation,
    Requirement,
    RuleChange,
)
from conformance.spec.quantities import Quantities, quantity_conditions
from conformance.spec.scope import Definitions, case_scope, compile_at
from conformance.spec.yaml_source import Path, Source

_ON_EVERY_AXIS = Kind("bool", per_axis=True, domain=Domain.ELEMENT)
_ON_THE_CASE = Kind("bool")
_ANYWHERE = Kind("bool", domain=Domain.ELEMENT)


class Clauses:
    """A reader of the clauses of one file; it notes problems in ``source``."""

    def __init__(
        self, source: Source, family: Family, quantities: Quantities, definitions: Definitions
    ) -> None:
        self.source = source
        self.family = family
        self.quantities = quantities
        self.definitions = definitions
        self.scope = definitions.scope

    @cached_property
    def _shared(self) -> tuple[str, ...]:
        """Dimensions of tensors that another tensor has before them, as ``tensor.dimension``: a
        negative test may give one another size there alone."""
        layout = self.family.layout
        dimensions, names = [], set(layout.tensors[0])
        for raw, dims in zip(self.source.data["inputs"][1:], layout.tensors[1:], strict=False):
            dimensions += [
                f"{raw['name']}.{name}" for name in dims if name in names - {layout.spread}
            ]
            names |= {*dims}
        return tuple(dimensions)

    def _section(self, name: str) -> Iterable[tuple[Path, str, Mapping[str, Any]]]:
        for key, raw in self.source.data.get(name, {}).items():
            yield (name, key), key, raw

    def requirements(self) -> Iterable[Requirement]:
        windows = {n for n, name in self.family.names.items() if name.kind.domain > Domain.CASE}
        for path, name, raw in self._section("require"):
            at = (*path, "that")
            that = compile_at(self.source, at, raw["that"], self.scope, _ON_EVERY_AXIS)
            if that is None:
                continue
            # A case is judged before its windows are worked out.
            beyond = sorted(self.definitions.reach(that) & windows)
            if beyond or that.kind.domain > Domain.CASE:
                finding = f"this depends on '{beyond[0]}'" if beyond else f"this is {that.kind}"
                self.source.problem(at, finding, expected="a condition on the case alone")
            yield Requirement(name, that, raw.get("level", "must"), raw["why"])

    def interpretations(self) -> Iterable[RuleChange]:
        for path, name, raw in self._section("interpretations"):
            where = None
            if "where" in raw:
                at = (*path, "where")
                where = compile_at(self.source, at, raw["where"], self.scope, _ANYWHERE)
            replaced = self._replaced((*path, "replace"), raw["replace"])
            if where is not None:
                self._guard((*path, "where"), where, replaced)
            yield RuleChange(
                name=name,
                replace=replaced,
                where=where,
                level=raw.get("level", "should"),
                why=raw["why"],
                question=raw["question"],
                adopted=raw["adopted"],
                answer=raw["answer"],
            )

    def observations(self) -> Iterable[Observation]:
        for path, name, raw in self._section("observe"):
            if name in self.source.data.get("interpretations", {}):
                message = f"'{name}' is also an interpretation"
                self.source.problem(path, message, hint="reports name both alike", key=True)
            at = (*path, "where")
            where = compile_at(self.source, at, raw["where"], self.scope, _ANYWHERE)
            if where is not None:
                yield Observation(name, where, raw["question"], raw.get("expected", ""))

    def _replaced(self, path: Path, raw: Mapping[str, Any]) -> Mapping[str, Expression]:
        replacements: dict[str, Expression] = {}
        for name, text in raw.items():
            here = (*path, name)
            if name not in self.definitions.texts:
                if name not in self.source.broken:
                    hint = closest(name, self.definitions.texts)
                    message = f"there is no rule or definition '{name}' to replace"
                    self.source.problem(here, message, hint=hint, key=True)
                continue
            if name in self.source.broken:
                continue
            rule = self.family.rules.get(name)
            kind = rule.kind if rule else self.scope[name]
            scope = {**self.scope, "original": kind}
            expression = compile_at(self.source, here, text, scope, kind, repeat=True)
            if expression is not None:
                replacements[name] = expression
        for name, expression in replacements.items():
            reach = self.definitions.reach(expression, replacements)
            rule = self.family.rules.get(name)
            if name in reach:
                message = f"'{name}' is replaced by what depends on '{name}'"
                hint = "'original' is the value that is replaced"
                self.source.problem((*path, name), message, hint=hint)
            elif rule is not None and reach & rule.before:
                self.too_early((*path, name), min(reach & rule.before))
        return replacements

    def _guard(self, path: Path, where: Expression, replaced: Mapping[str, Expression]) -> None:
        """A guard must not tell apart what the replaced value cannot."""
        for name in replaced:
            kind = self.scope[name]
            # The windows of an axis are the same for all windows of another.
            most = Domain.CASE if kind.per_axis else kind.domain
            if where.kind.domain > most:
                message = f"'{name}' cannot be replaced by a condition on windows"
                self.source.problem(path, message, expected="a condition on the case")

    def too_early(self, path: Path, name: str) -> None:
        """Note that ``name`` is not defined yet where a rule is needed."""
        self.source.problem(path, f"'{name}' is not known before this rule")

    def edges(self, section: str = "edges") -> Iterable[CoverageTarget]:
        """Read the named predicates of a section: coverage targets, or profiles."""
        for path, name, raw in self._section(section):
            when = compile_at(self.source, (*path, "when"), raw["when"], self.scope, _ON_THE_CASE)
            aims = tuple(self._aims((*path, "aim"), raw.get("aim", [])))
            if when is not None:
                usual = self._optional((*path, "usual"), raw)
                yield CoverageTarget(
                    name,
                    when,
                    raw["why"],
                    aims,
                    raw.get("vacuous", {}),
                    usual,
                    raw.get("common", ""),
                )

    def _optional(self, path: Path, raw: Mapping[str, Any]) -> Expression | None:
        """A condition on the case that may be left out."""
        if path[-1] not in raw:
            return None
        return compile_at(self.source, path, raw[str(path[-1])], self.scope, _ON_THE_CASE)

    def _aims(self, path: Path, raw: Any) -> Iterator[Mapping[str, DrawBounds]]:
        """One aim, or a list of them."""
        if isinstance(raw, dict):
            yield self.quantities.aim(path, raw)
        else:
            for number, entry in enumerate(raw):
                yield self.quantities.aim((*path, number), entry)

    def rejects(self) -> Iterable[NegativeTest]:
        names = ["rank", *quantity_conditions(self.quantities.found.values())]
        names += self.source.data.get("require", {})
        names += dict.fromkeys(f"{name.partition('.')[0]}.shape" for name in self._shared)
        for path, name, raw in self._section("reject"):
            breaks = raw["breaks"]
            if breaks not in names and breaks.split(".")[0] not in self.source.broken:
                message = f"there is no condition '{breaks}'"
                self.source.unknown((*path, "breaks"), message, breaks, names)
            if sum(way in raw for way in ("set", "length", "rank")) != 1:
                message = f"'{name}' says in one way what is wrong"
                expected = "one of 'set', 'length' and 'rank'"
                self.source.problem(path, message, expected=expected, key=True)
            yield NegativeTest(
                name=name,
                breaks=breaks,
                level=raw.get("level", "must"),
                why=raw["why"],
                set=self._set((*path, "set"), raw.get("set", {})),
                length=self._length((*path, "length"), raw.get("length", {})),
                rank=raw.get("rank"),
                ranks=tuple(raw.get("ranks", ())),
                aim=self.quantities.aim((*path, "aim"), raw.get("aim", {})),
                within=self._optional((*path, "within"), raw),
            )
        yield from self._odd_lists()

    def _odd_lists(self) -> Iterator[NegativeTest]:
        """A list of two halves with an entry too few, and with one too many."""
        scope = case_scope(self.scope)
        for key, quantity in self.quantities.found.items():
            if quantity.half != 0:
                continue
            for how, length in (("short", "2 * axes - 1"), ("long", "2 * axes + 1")):
                count = compile_at(self.source, self.quantities.paths[key], length, scope)
                name = f"{quantity.name}-{how}"
                if count is None or name in self.source.data.get("reject", {}):
                    continue
                yield NegativeTest(
                    name=name,
                    breaks=f"{quantity.whole}.length",
                    level=quantity.level,
                    why="A beginning and an end for each axis.",
                    length={quantity.whole: count},
                )

    def _set(self, path: Path, raw: Mapping[str, Any]) -> Mapping[str, Expression | str]:
        values: dict[str, Expression | str] = {}
        for name, value in raw.items():
            if name in self._shared:
                where = (*path, name)
                size = compile_at(self.source, where, value, case_scope(self.scope), Kind("int"))
                values |= {} if size is None else {name: size}
                continue
            key = self._quantity((*path, name), name)
            if key is None:
                continue
            quantity = self.quantities.found[key]
            if quantity.type == "enum":
                values[key] = str(value)
                continue
            want = Kind(quantity.type, quantity.per_axis)
            expression = compile_at(self.source, (*path, name), value, case_scope(self.scope), want)
            if expression is not None:
                values[key] = expression
        return values

    def _length(self, path: Path, raw: Mapping[str, Any]) -> Mapping[str, Expression]:
        lengths = {}
        for name, value in raw.items():
            key = self._quantity((*path, name), name)
            if key is None:
                continue
            if self.quantities.found[key].half is not None:
                message = f"'{name}' is half of a list, and has no length of its own"
                hint = "remove it: lists of an odd length are made for each such list"
                self.source.problem((*path, name), message, hint=hint, key=True)
            elif not self.quantities.found[key].per_axis:
                message = f"'{name}' has no length"
                self.source.problem((*path, name), message, expected="one value per axis", key=True)
            expression = compile_at(
                self.source, (*path, name), value, case_scope(self.scope), Kind("int")
            )
            if expression is not None:
                lengths[key] = expression
        return lengths

    def _quantity(self, path: Path, name: str) -> str | None:
        key = name.replace("-", "_")
        if key in self.quantities.found:
            return key
        if key not in self.source.broken:
            message = f"there is no quantity '{name}'"
            self.source.unknown(path, message, key, self.quantities.found, key=True)
        return None
