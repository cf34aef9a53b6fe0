"""From the data of a specification file to an :class:`OpSpec`, noting every problem on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.spec.expressions import Expression, closest
from conformance.spec.families import FAMILIES, PATTERN_NAMES, Family, Rule
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import (
    Document,
    Draw,
    Edge,
    Erratum,
    OperandInput,
    OpSpec,
    OutputSpec,
    Quantity,
    Reject,
    Requirement,
    TensorInput,
    Variant,
)
from conformance.spec.scope import (
    Definitions,
    base_scope,
    case_scope,
    compile_at,
    text_of,
)
from conformance.spec.source import Path, Source

ALWAYS_DRAWN = ("rank", "axes", "axis")


class Assembly:
    """One file being put together; :meth:`spec` gives the result, :attr:`source` the problems."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data: dict[str, Any] = source.data
        self.types = {name: tuple(values) for name, values in self.data["types"].items()}
        # Quantities are made twice: without bounds to know their kinds, then with them.
        self.scope: dict[str, Kind] = {}
        self.drawn: list[str] = [*ALWAYS_DRAWN, *self.types, "pattern"]

    def spec(self) -> OpSpec | None:
        """The specification, or None where a problem was noted."""
        data = self.data
        family = FAMILIES.get(data["family"])
        if family is None:
            hint = closest(data["family"], FAMILIES)
            expected = f"one of {', '.join(FAMILIES)}"
            message = f"there is no family '{data['family']}'"
            self.source.problem(("family",), message, expected=expected, hint=hint)
            return None
        listed = list(self.listed())
        self.unique(family, listed)
        self.scope = base_scope(family, self.types, {q.key: q for _, q, _ in listed})
        quantities = {q.key: self.bounded(path, q, raw) for path, q, raw in listed}
        definitions = self.definitions(family)
        scope = {**self.scope, **definitions}
        variants = tuple(self.interpretations(definitions, family))
        require = tuple(self.requirements(case_scope(scope)))
        spec = OpSpec(
            op=data["op"],
            family=family.name,
            summary=data["summary"],
            document=Document(**data["document"]),
            types=self.types,
            dims={name: quantities[name] for name in data["dims"]},
            data=self.tensor(),
            operands=tuple(
                OperandInput(raw["name"], raw["type"], quantities[raw["name"].replace("-", "_")])
                for raw in data["inputs"][1:]
                if raw["name"].replace("-", "_") in quantities
            ),
            attributes=tuple(quantities[name.replace("-", "_")] for name in data["attributes"]),
            definitions=dict(definitions.compiled),
            require=require,
            outputs=tuple(self.outputs()),
            interpretations=variants,
            edges=tuple(self.edges(scope)),
            reject=tuple(self.rejects(quantities, {r.name for r in require})),
            errata=tuple(Erratum(id=name, **raw) for name, raw in data.get("errata", {}).items()),
            file=self.source.file,
            positions=dict(self.source.keys),
        )
        return None if self.source.problems else spec

    # Quantities.

    def listed(self) -> Iterable[tuple[Path, Quantity, dict[str, Any]]]:
        """Every quantity in drawing order, without its bounds."""
        for name, raw in self.data["attributes"].items():
            path: Path = ("attributes", name)
            if raw["type"] == "enum" and "values" not in raw:
                self.source.problem(path, "an enum needs 'values'")
            default = raw.get("default")
            if raw["type"] == "enum" and default is not None and default not in raw["values"]:
                self.source.problem(
                    (*path, "default"),
                    f"the default '{default}' is not one of the values",
                    expected=f"one of {', '.join(raw['values'])}",
                    hint=closest(str(default), raw["values"]),
                )
            if raw.get("required") and default is not None:
                self.source.problem((*path, "default"), "a required attribute has no default")
            yield (
                path,
                Quantity(
                    name=name,
                    type=raw["type"],
                    per_axis="per" in raw,
                    required=raw.get("required", False),
                    default=default,
                    values=tuple(raw.get("values", ())),
                    level=raw.get("level", "must"),
                    twins=raw.get("twins", False),
                    why=raw.get("why", ""),
                ),
                raw,
            )
        for name, raw in self.data["dims"].items():
            yield ("dims", name), self.whole(name, raw, required=True), raw
        for number, raw in enumerate(self.data["inputs"][1:], start=1):
            path = ("inputs", number)
            if "per" not in raw:
                message = f"the input '{raw['name']}' has no 'per: axis'"
                expected = "integers, one an axis; only the first input is a tensor"
                self.source.problem(path, message, expected=expected)
            self.known_type(path, raw["type"])
            yield path, self.whole(raw["name"], raw, required=True), raw

    def whole(self, name: str, raw: Mapping[str, Any], *, required: bool) -> Quantity:
        return Quantity(
            name=name,
            type="int",
            per_axis="per" in raw,
            required=required,
            level=raw.get("level", "must"),
            why=raw.get("why", ""),
        )

    def unique(self, family: Family, listed: list[tuple[Path, Quantity, Any]]) -> None:
        """Names mean one thing: a quantity is no family name, no type, no enum member."""
        taken = {**dict.fromkeys(family.names, "a name of the family")}
        taken.update(dict.fromkeys(family.rules, "a rule of the family"))
        taken.update(dict.fromkeys(self.types, "a type"))
        for path, quantity, _ in listed:
            for value in quantity.values:
                if value in {q.key for _, q, _ in listed}:
                    message = f"'{value}' is also the name of a quantity"
                    self.source.problem((*path, "values"), message)
            if quantity.key in taken:
                message = f"'{quantity.key}' is already {taken[quantity.key]}"
                self.source.problem(path, message, key=True)
            taken[quantity.key] = "a quantity"
        for name in self.data.get("let", {}):
            if name in taken:
                self.source.problem(("let", name), f"'{name}' is already {taken[name]}", key=True)

    def bounded(self, path: Path, quantity: Quantity, raw: Mapping[str, Any]) -> Quantity:
        """The quantity with its legal bounds, and those within which it is drawn."""
        legal = case_scope(self.scope)
        bounds = {
            side: self.number((*path, side), raw[side], legal, per_axis=quantity.per_axis)
            for side in ("min", "max")
            if side in raw
        }
        draw = self.draw((*path, "draw"), raw.get("draw", {}), quantity)
        self.drawn.append(quantity.key)
        fields = {name: getattr(quantity, name) for name in Quantity.__dataclass_fields__}
        return Quantity(**{**fields, **bounds, "draw": draw})

    def number(
        self, path: Path, text: Any, scope: Mapping[str, Kind], *, per_axis: bool
    ) -> Expression | None:
        return self.expression(path, text, scope, Kind("int", per_axis=per_axis))

    def expression(
        self, path: Path, text: Any, scope: Mapping[str, Kind], wanted: Kind
    ) -> Expression | None:
        """An expression of a certain kind; a single value does where one an axis is asked for."""
        found = compile_at(self.source, path, text, scope)
        if found is None or self.fits(path, found, wanted):
            return found
        return None

    def fits(self, path: Path, found: Expression, wanted: Kind) -> bool:
        kind = found.kind
        if kind.type != wanted.type or (kind.per_axis and not wanted.per_axis):
            hint = ""
            if kind.per_axis and kind.type == wanted.type == "bool":
                hint = "any(...) or all(...) settles it over the axes"
            self.source.problem(path, f"this is {kind}", expected=str(wanted), hint=hint)
            return False
        if kind.domain > wanted.domain:
            hint = ""
            if wanted == Kind("bool"):
                hint = "somewhere(...) or everywhere(...) asks about all windows"
            self.source.problem(path, f"this is {kind}", expected=str(wanted), hint=hint)
            return False
        if kind.values is not None and not kind.values <= (wanted.values or frozenset()):
            self.source.problem(path, f"this is {kind}", expected=str(wanted))
            return False
        return True

    # What is drawn.

    def draw(self, path: Path, raw: Any, quantity: Quantity) -> Draw:
        """Draw bounds: a mapping, a list of values, or one value."""
        before = set(self.drawn)
        scope = {name: kind for name, kind in case_scope(self.scope).items() if name in before}
        if quantity.type in ("enum", "bool"):
            listed = raw.get("values", ()) if isinstance(raw, dict) else raw
            values = tuple(listed) if isinstance(listed, list | tuple) else (listed,)
            allowed: tuple[Any, ...] = quantity.values
            if quantity.type == "bool":
                allowed = (True, False)
            for value in values:
                if value not in allowed:
                    self.source.problem(
                        path,
                        f"'{value}' is not a value of {quantity.name}",
                        expected=f"one of {', '.join(map(str, allowed))}",
                        hint=closest(str(value), map(str, allowed)),
                    )
            return Draw(values=values)
        if isinstance(raw, list):
            return Draw(values=tuple(raw))
        if not isinstance(raw, dict):
            value = self.number(path, raw, scope, per_axis=quantity.per_axis)
            return Draw(value, value)
        bounds = {
            side: self.number((*path, side), raw[side], scope, per_axis=quantity.per_axis)
            for side in ("min", "max")
            if side in raw
        }
        return Draw(bounds.get("min"), bounds.get("max"), tuple(raw.get("values", ())))

    def aim(self, path: Path, raw: Mapping[str, Any]) -> Mapping[str, Draw]:
        """What an edge or reject entry narrows; each bound sees what is drawn before it."""
        found = {}
        all_drawn = self.drawn
        for name, value in raw.items():
            key = name.replace("-", "_")
            here = (*path, name)
            if key not in all_drawn or key in ALWAYS_DRAWN:
                known = [n for n in all_drawn if n not in ALWAYS_DRAWN]
                self.source.problem(
                    here,
                    f"'{name}' is not drawn",
                    expected=f"one of {', '.join(known)}",
                    hint=closest(key, known),
                    key=True,
                )
                continue
            kind = self.scope[key]
            quantity = Quantity(name, kind.type, kind.per_axis, values=tuple(kind.values or ()))
            self.drawn = all_drawn[: all_drawn.index(key)]
            found[key] = self.draw(here, value, quantity)
        self.drawn = all_drawn
        return found

    # Definitions and what speaks of them.

    def definitions(self, family: Family) -> Definitions:
        texts: dict[str, tuple[Path, Any]] = {}
        for name, text in self.data.get("let", {}).items():
            texts[name] = (("let", name), text)
        for name in self.data["rules"]:
            if name not in family.rules:
                self.source.problem(
                    ("rules", name),
                    f"the family {family.name} has no rule '{name}'",
                    expected=f"one of {', '.join(family.rules)}",
                    hint=closest(name, family.rules),
                    key=True,
                )
        for name, rule in family.rules.items():
            text = self.data["rules"].get(name, rule.default)
            if text is None:
                self.source.problem(("rules",), f"the rule '{name}' is missing", hint=rule.about)
            else:
                texts[name] = (("rules", name), text)
        scope = {name: kind for name, kind in self.scope.items() if name not in family.rules}
        found = Definitions(self.source, _with_members(scope, family), texts)
        for name in texts:
            found.define(name)
        for name, rule in family.rules.items():
            if name in found.compiled:
                self.rule(("rules", name), rule, found.compiled[name], found)
        return found

    def rule(self, path: Path, rule: Rule, found: Expression, definitions: Definitions) -> None:
        if not self.fits(path, found, rule.kind):
            return
        early = sorted(definitions.reach(found) & rule.before)
        if early:
            message = f"'{early[0]}' is not known yet where this rule is needed"
            self.source.problem(path, message)
        elif found.kind.joined and rule.kind.per_axis:
            self.source.problem(path, "a window of one axis cannot depend on another's windows")

    def interpretations(self, definitions: Definitions, family: Family) -> Iterable[Variant]:
        for name, raw in self.data.get("interpretations", {}).items():
            path: Path = ("interpretations", name)
            variant = variant_of(self, definitions, family, name, raw, path)
            if variant is not None:
                yield variant

    def requirements(self, scope: Mapping[str, Kind]) -> Iterable[Requirement]:
        for name, raw in self.data.get("require", {}).items():
            path: Path = ("require", name, "that")
            that = self.expression(path, raw["that"], scope, Kind("bool", per_axis=True))
            if that is not None:
                yield Requirement(name, that, raw.get("level", "must"), raw["why"])

    def edges(self, scope: Mapping[str, Kind]) -> Iterable[Edge]:
        for name, raw in self.data["edges"].items():
            when = self.expression(("edges", name, "when"), raw["when"], scope, Kind("bool"))
            aim = self.aim(("edges", name, "aim"), raw.get("aim", {}))
            if when is not None:
                yield Edge(name, when, raw["why"], aim)

    # Inputs and outputs.

    def tensor(self) -> TensorInput:
        raw = self.data["inputs"][0]
        path: Path = ("inputs", 0)
        for key in ("shape", "rank", "patterns"):
            if key not in raw:
                self.source.problem(path, f"'{key}' is missing: the first input is the data")
        self.known_type(path, raw["type"])
        self.shape((*path, "shape"), raw.get("shape", ()), tuple(self.data["dims"]))
        for number, name in enumerate(raw.get("patterns", ())):
            if name not in PATTERN_NAMES:
                self.source.problem(
                    (*path, "patterns", number),
                    f"there is no pattern '{name}'",
                    expected=f"one of {', '.join(PATTERN_NAMES)}",
                    hint=closest(name, PATTERN_NAMES),
                )
        low, high = raw.get("rank", (3, 3))
        return TensorInput(
            raw["name"],
            raw["type"],
            tuple(raw.get("shape", ())),
            (low, high),
            tuple(raw.get("patterns", ())),
        )

    def known_type(self, path: Path, name: str) -> None:
        if name not in self.types:
            self.source.problem(
                (*path, "type"),
                f"'{name}' is not a type of this file",
                expected=f"one of {', '.join(self.types)}",
                hint=closest(name, self.types),
            )

    def shape(self, path: Path, names: Iterable[str], known: tuple[str, ...]) -> None:
        for number, name in enumerate(names):
            if name not in known:
                self.source.problem(
                    (*path, number),
                    f"'{name}' is not a dimension",
                    expected=f"one of {', '.join(known)}",
                    hint=closest(name, known),
                )

    def outputs(self) -> Iterable[OutputSpec]:
        enums = [name for name, raw in self.data["attributes"].items() if raw["type"] == "enum"]
        for number, raw in enumerate(self.data["outputs"]):
            path: Path = ("outputs", number)
            if raw["type"] not in enums:
                self.known_type(path, raw["type"])
            self.shape((*path, "shape"), raw["shape"], (*self.data["dims"], "out"))
            yield OutputSpec(raw["name"], raw["type"], raw["holds"], tuple(raw["shape"]))

    # Must-reject entries.

    def rejects(
        self, quantities: Mapping[str, Quantity], requirements: set[str]
    ) -> Iterable[Reject]:
        conditions = {"rank", *requirements}
        for key, quantity in quantities.items():
            named = {"min": quantity.min, "max": quantity.max}
            conditions |= {f"{key}.{side}" for side, bound in named.items() if bound is not None}
            if quantity.per_axis:
                conditions.add(f"{key}.length")
            if quantity.type == "enum":
                conditions.add(f"{key}.values")
        for name, raw in self.data.get("reject", {}).items():
            path: Path = ("reject", name)
            if raw["breaks"] not in conditions:
                self.source.problem(
                    (*path, "breaks"),
                    f"there is no condition '{raw['breaks']}'",
                    expected=f"one of {', '.join(sorted(conditions))}",
                    hint=closest(raw["breaks"], conditions),
                )
            if sum(kind in raw for kind in ("set", "length", "rank")) != 1:
                message = "say in one way what is wrong with the case"
                self.source.problem(path, message, expected="one of 'set', 'length', 'rank'")
            scope = case_scope(self.scope)
            yield Reject(
                name=name,
                breaks=raw["breaks"],
                level=raw.get("level", "must"),
                why=raw["why"],
                set=self.changes((*path, "set"), raw.get("set", {}), scope, text=True),
                length={
                    key: value
                    for key, value in self.changes(
                        (*path, "length"), raw.get("length", {}), scope, text=False
                    ).items()
                    if isinstance(value, Expression)
                },
                rank=raw.get("rank"),
                ranks=tuple(raw.get("ranks", ())),
                aim=self.aim((*path, "aim"), raw.get("aim", {})),
            )

    def changes(
        self, path: Path, raw: Mapping[str, Any], scope: Mapping[str, Kind], *, text: bool
    ) -> dict[str, Expression | str]:
        found: dict[str, Expression | str] = {}
        for name, value in raw.items():
            key = name.replace("-", "_")
            here = (*path, name)
            kind = self.scope.get(key)
            if key not in self.drawn or kind is None:
                known = [n for n in self.drawn if n not in ALWAYS_DRAWN]
                hint = closest(key, known)
                self.source.problem(here, f"'{name}' is not a quantity", hint=hint, key=True)
            elif text and kind.type == "enum":
                found[key] = text_of(value)
            else:
                wanted = Kind(kind.type if text else "int", per_axis=kind.per_axis and text)
                expression = self.expression(here, value, scope, wanted)
                if expression is not None:
                    found[key] = expression
        return found


def variant_of(
    assembly: Assembly,
    definitions: Definitions,
    family: Family,
    name: str,
    raw: Mapping[str, Any],
    path: Path,
) -> Variant | None:
    """A variant: rules replaced, where a guard holds; ``original`` names what is replaced."""
    replace = {}
    where = None
    if "where" in raw:
        wanted = Kind("bool", domain=Domain.ELEMENT)
        where = assembly.expression((*path, "where"), raw["where"], definitions, wanted)
    for rule, text in raw["replace"].items():
        here = (*path, "replace", rule)
        if rule not in definitions.compiled:
            hint = closest(rule, definitions.texts)
            message = f"there is no rule '{rule}' to replace"
            assembly.source.problem(here, message, hint=hint, key=True)
            continue
        kind = definitions.compiled[rule].kind
        wanted = family.rules[rule].kind if rule in family.rules else kind
        scope = Definitions(assembly.source, {**definitions, "original": kind}, {})
        expression = assembly.expression(here, text, scope, wanted)
        if expression is not None:
            replace[rule] = expression
    if len(replace) != len(raw["replace"]) or ("where" in raw and where is None):
        return None
    return Variant(name, replace, where, raw.get("level", "should"), raw["why"])


def _with_members(scope: Mapping[str, Kind], family: Family) -> dict[str, Kind]:
    """A scope in which the members of enum rules are known before the rules are compiled."""
    members = {
        name: rule.kind for name, rule in family.rules.items() if rule.kind.values is not None
    }
    return {**scope, **members}
