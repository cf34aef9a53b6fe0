"""Attributes, dimensions and integer inputs, and how each is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from keyword import iskeyword
from typing import Any

from conformance.errors import closest
from conformance.spec.expressions import Expression
from conformance.spec.family import Family
from conformance.spec.functions import FUNCTIONS
from conformance.spec.kinds import Kind
from conformance.spec.model import Bound, DrawBounds, Quantity
from conformance.spec.scope import compile_at
from conformance.spec.yaml_source import Path, Source

RESERVED = ("original", "true", "false", *FUNCTIONS)
GIVEN = ("rank", "axes", "axis")
"""What is known of a case before anything is drawn."""


class Quantities:
    """The quantities of one file, in drawing order, with the problems noted in ``source``.

    So many inputs are ``tensors``, and no quantities.

    ``scope`` holds the kinds of the names that bounds can speak of; ``found`` the quantities by
    key, without their bounds until :meth:`bound` has been called.
    """

    def __init__(
        self, source: Source, types: Mapping[str, tuple[str, ...]], tensors: int = 1
    ) -> None:
        self.source = source
        self.tensors = tensors
        self.types = types
        self.paths: dict[str, Path] = {}
        self.found: dict[str, Quantity] = {}
        for path, quantity in self._declared():
            if quantity.key in self.found:
                self.source.problem(path, f"'{quantity.key}' is given twice", key=True)
                continue
            self.paths[quantity.key] = path
            self.found[quantity.key] = quantity

    def _declared(self) -> Iterator[tuple[Path, Quantity]]:
        data = self.source.data
        for name, raw in data.get("attributes", {}).items():
            yield ("attributes", name), self._attribute(("attributes", name), name, raw)
        for name, raw in data["dims"].items():
            yield ("dims", name), _whole(name, raw)
        for number, raw in enumerate(data["inputs"][self.tensors :], start=self.tensors):
            yield ("inputs", number), _whole(raw["name"], raw)

    def _attribute(self, path: Path, name: str, raw: Mapping[str, Any]) -> Quantity:
        default = raw.get("default")
        like = default if raw["type"] == "int" and isinstance(default, str) else ""
        quantity = replace(
            _whole(name, raw),
            type=raw["type"],
            required=raw.get("required", False),
            default=None if like else default,
            values=tuple(raw.get("values", ())),
            twin=raw.get("twin"),
            alias=raw.get("as", ""),
            like=like,
        )
        quantity = self._half(path, quantity, raw.get("written_as"))
        quantity = replace(quantity, written=self._written(path, quantity, raw.get("written", {})))
        is_enum = quantity.type == "enum"
        if is_enum != ("values" in raw):
            message = "an enum needs 'values'" if is_enum else "only an enum has 'values'"
            self.source.problem(path, message, key=True)
        for key in ("min", "max"):
            if key in raw and quantity.type != "int":
                self.source.problem((*path, key), f"only an int has '{key}'", key=True)
        if is_enum and quantity.per_axis:
            self.source.problem((*path, "per"), "an enum is one value", key=True)
        if quantity.twin is not None:
            self._member((*path, "twin"), quantity, quantity.twin)
        if like:
            self._like(path, quantity)
        if quantity.required and default is not None:
            message = "a required attribute can't have a default"
            self.source.problem((*path, "default"), message, key=True)
        elif not quantity.required and default is None:
            hint = "write 'required: true' if it must be given"
            self.source.problem(path, f"'{name}' has no default", hint=hint, key=True)
        elif quantity.default is not None:
            self._member((*path, "default"), quantity, quantity.default)
        return quantity

    def _half(self, path: Path, quantity: Quantity, raw: Mapping[str, str] | None) -> Quantity:
        """The quantity, as one half of a list of the document if it is written so."""
        if raw is None:
            return quantity
        path = (*path, "written_as")
        if len(raw) != 1:
            expected = "either first_half_of or second_half_of"
            self.source.problem(path, "this is one half of a list", expected=expected, key=True)
        if quantity.type != "int" or not quantity.per_axis:
            expected = "an int with 'per: axis'"
            self.source.problem(path, "this is no half of a list", expected=expected, key=True)
        word, name = next(iter(raw.items()))
        half = 0 if word == "first_half_of" else 1
        return replace(quantity, name=name, alias=quantity.key, half=half)

    def _like(self, path: Path, quantity: Quantity) -> None:
        """Where an attribute is as another if it is not given, that one is given before it."""
        before = [
            other.name for other in self.found.values() if other.per_axis == quantity.per_axis
        ]
        if quantity.like not in before or quantity.half is not None:
            self.source.problem(
                (*path, "default"),
                f"'{quantity.like}' is not a value of '{quantity.name}'",
                expected="a whole number, or the name of such an attribute before this one",
                hint=closest(quantity.like, before),
            )

    def _written(
        self, path: Path, quantity: Quantity, raw: Mapping[str, Any]
    ) -> dict[str | bool, str | int | bool]:
        """How each value is written: all of them, and no two alike."""
        members: dict[str, str | bool] = {value: value for value in quantity.values}
        if quantity.type == "bool":
            members = {"false": False, "true": True}
        path = (*path, "written")
        if raw and raw.keys() != members.keys():
            expected = ", ".join(members) or "no number"
            self.source.problem(path, "not what the values are", expected=expected, key=True)
        elif len({(type(code), code) for code in raw.values()}) != len(raw):
            self.source.problem(path, "two values are written alike", key=True)
        else:
            return {members[name]: code for name, code in raw.items()}
        return {}

    def _check_halves(self) -> None:
        """A list of the document has two halves, one after the other, and no other meaning."""
        listed = [(entry.name, entry.half, key) for key, entry in self.found.items()]
        for name, half, key in listed:
            if half is None:
                continue
            of_list = [(half, key) for other, half, key in listed if other == name]
            if [half for half, _ in of_list] != [0, 1]:
                self.source.problem(
                    (*self.paths[key], "written_as"),
                    f"'{name}' is no list of two halves",
                    expected="one attribute that is the first half, and then the second",
                    key=True,
                )
            elif self.found[of_list[0][1]].required != self.found[of_list[1][1]].required:
                message = f"one half of '{name}' is required and the other is not"
                self.source.problem((*self.paths[key], "written_as"), message, key=True)

    def check_names(self, family: Family) -> None:
        """Check that every name means one thing, and none is a word of the language."""
        self._check_halves()
        taken = dict.fromkeys(RESERVED, "a word of the language")
        taken |= dict.fromkeys(family.names, "a name of the family")
        taken |= dict.fromkeys(family.rules, "a rule of the family")
        members = set(family.names["pattern"].kind.values or ())
        members |= {value for quantity in self.found.values() for value in quantity.values}
        members |= {dtype for dtypes in self.types.values() for dtype in dtypes}
        names: list[tuple[str, Path, str]] = [(n, ("types", n), "a type") for n in self.types]
        names += [(key, self.paths[key], "a quantity") for key in self.found]
        names += [(n, ("let", n), "a definition") for n in self.source.data.get("let", {})]
        for name, path, noun in names:
            where = (*path, "name") if path[0] == "inputs" else path
            if name in taken or iskeyword(name):
                meaning = taken.get(name, "a word of the language")
                self.source.problem(where, f"'{name}' is already {meaning}", key=True)
            elif name in members:
                message = f"'{name}' is also a value of an enum"
                self.source.problem(where, message, hint="expressions could mean either", key=True)
            taken[name] = noun

    def bound(self, scope: Mapping[str, Kind]) -> None:
        """Read the bounds of every quantity; each sees what is drawn before it."""
        self.scope = scope
        for key, quantity in self.found.items():
            path = self.paths[key]
            raw = self._raw(path)
            self.found[key] = replace(
                quantity,
                min=self._bound((*path, "min"), raw, quantity),
                max=self._bound((*path, "max"), raw, quantity),
                draw=self._draw((*path, "draw"), raw.get("draw", {}), quantity),
                given_if=self._given_if((*path, "given_if"), raw),
            )

    def _given_if(self, path: Path, raw: Mapping[str, Any]) -> Expression | None:
        if "given_if" not in raw:
            return None
        attribute_keys = {key for key, at in self.paths.items() if at[0] == "attributes"}
        scope = {name: kind for name, kind in self.scope.items() if name in attribute_keys}
        return compile_at(self.source, path, raw["given_if"], scope, Kind("bool"))

    def _raw(self, path: Path) -> Mapping[str, Any]:
        data: Any = self.source.data
        for key in path:
            data = data[key]
        assert isinstance(data, dict)
        return data

    def aim(self, path: Path, raw: Mapping[str, Any]) -> Mapping[str, DrawBounds]:
        """Read the bounds that a target or a negative test narrows, by key."""
        patterns = self.scope["pattern"].values or frozenset()
        aimed = {"pattern": Quantity("pattern", "enum", values=tuple(sorted(patterns)))}
        aimed |= {n: Quantity(n, "enum", values=dtypes) for n, dtypes in self.types.items()}
        aimed |= self.found
        bounds = {}
        for name, value in raw.items():
            key = name.replace("-", "_")
            if key in aimed:
                bounds[key] = self._draw((*path, name), value, aimed[key])
            elif key not in self.source.broken:
                self.source.unknown((*path, name), f"'{name}' is not drawn", key, aimed, key=True)
        return bounds

    def _draw(self, path: Path, raw: Any, quantity: Quantity) -> DrawBounds:
        """One value, a list of values, ``{values: [...]}`` or ``{min, max}``."""
        values: Any = raw.get("values", ()) if isinstance(raw, dict) else raw
        if quantity.type == "int" and not isinstance(values, list | tuple):
            bound = self._number(path, raw, quantity)
            return DrawBounds(bound, bound)
        if quantity.type != "int" and isinstance(raw, dict) and raw.keys() & {"min", "max"}:
            self.source.problem(path, f"'{quantity.name}' has no order", expected=_values(quantity))
        where = (*path, "values") if isinstance(raw, dict) else path
        if isinstance(values, list | tuple):
            for number, value in enumerate(values):
                self._member((*where, number), quantity, value)
        else:
            self._member(where, quantity, values)
            values = (values,)
        bounds = raw if isinstance(raw, dict) and quantity.type == "int" else {}
        return DrawBounds(
            self._bound((*path, "min"), bounds, quantity),
            self._bound((*path, "max"), bounds, quantity),
            tuple(values),
        )

    def _bound(self, path: Path, raw: Mapping[str, Any], quantity: Quantity) -> Bound:
        side = str(path[-1])
        return self._number(path, raw[side], quantity) if side in raw else None

    def _number(self, path: Path, raw: Any, quantity: Quantity) -> Bound:
        keys = list(self.found)
        drawn = {*GIVEN, "pattern", *self.types, *keys[: keys.index(quantity.key)]}
        scope = {name: kind for name, kind in self.scope.items() if name in drawn}
        return compile_at(self.source, path, raw, scope, Kind("int", quantity.per_axis))

    def _member(self, path: Path, quantity: Quantity, value: object) -> None:
        """A value written out must be one that the quantity can have."""
        if quantity.type == "enum":
            fits = value in quantity.values
        else:
            fits = type(value) is {"int": int, "bool": bool}[quantity.type]
        if not fits:
            self.source.problem(
                path,
                f"'{value}' is not a value of '{quantity.name}'",
                expected=_values(quantity),
                hint=closest(str(value), quantity.values),
            )


def _values(quantity: Quantity) -> str:
    if quantity.type == "enum":
        return f"one of {', '.join(quantity.values)}"
    return {"int": "a whole number", "bool": "true or false"}[quantity.type]


def _whole(name: str, raw: Mapping[str, Any]) -> Quantity:
    return Quantity(
        name=name,
        type="int",
        per_axis="per" in raw,
        required=True,
        level=raw.get("level", "must"),
        why=raw.get("why", ""),
    )


def quantity_conditions(quantities: Iterable[Quantity]) -> dict[str, Quantity]:
    """Return the conditions on single quantities by name, each with its quantity.

    ``NAME.min`` and ``NAME.max`` where there is such a bound, ``NAME.length`` for one value per
    axis, ``NAME.values`` for an enum. The length is that of a list as the document has it.
    """
    conditions = {}
    for quantity in quantities:
        parts = {
            "min": quantity.min is not None,
            "max": quantity.max is not None,
            "values": quantity.type == "enum",
        }
        conditions.update(
            {f"{quantity.key}.{part}": quantity for part, has in parts.items() if has}
        )
        if quantity.per_axis:
            conditions[f"{quantity.whole}.length"] = quantity
    return conditions
