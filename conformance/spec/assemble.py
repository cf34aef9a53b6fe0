"""Builds an :class:`OpSpec` from the data of a specification file, collecting all problems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from conformance.dtypes import DTYPES
from conformance.spec.clauses import Clauses
from conformance.spec.family import Family
from conformance.spec.family_index import family_of, is_family
from conformance.spec.family_index import names as families
from conformance.spec.model import Document, Erratum, OperandInput, OpSpec, OutputSpec, TensorInput
from conformance.spec.quantities import Quantities
from conformance.spec.scope import Definition, Definitions, base_scope, compile_at
from conformance.spec.yaml_source import Path, Source


def assemble(source: Source) -> OpSpec | None:
    """Assemble the specification that ``source`` holds.

    Returns: None without a family to read it by.

    ``source.data`` has the structure that the schema asks for. Problems are noted in ``source``;
    with any of them the result is not to be used.
    """
    data = source.data
    if not is_family(data["family"]):
        message = f"there is no family '{data['family']}'"
        source.unknown(("family",), message, data["family"], families())
        return None
    family = family_of(data["family"])
    types = {name: tuple(dtypes) for name, dtypes in data["types"].items()}
    tensors = len(family.layout.tensors)
    quantities = Quantities(source, types, tensors)
    quantities.check_names(family)
    base = base_scope(family, types, quantities.found)
    quantities.bound(base)
    definitions = Definitions(source, base, _texts(source, family))
    clauses = Clauses(source, family, quantities, definitions)
    parts = _Parts(source, family, types, quantities)
    _check_rules(source, family, definitions, clauses)
    return OpSpec(
        op=data["op"],
        family=family.name,
        summary=data["summary"],
        document=Document(**data["document"]),
        types=types,
        dims={n: quantities.found[n] for n in data["dims"] if n in quantities.found},
        data=parts.tensor(),
        others=tuple(map(parts.other, range(1, tensors))),
        operands=tuple(parts.operands()),
        attributes=tuple(
            quantity
            for key, quantity in quantities.found.items()
            if quantities.paths[key][0] == "attributes"
        ),
        definitions=definitions.compiled,
        require=tuple(clauses.requirements()),
        outputs=tuple(parts.outputs(definitions)),
        interpretations=tuple(clauses.interpretations()),
        observe=tuple(clauses.observations()),
        edges=tuple(clauses.edges()),
        profiles=tuple(clauses.edges("profiles")),
        reject=tuple(clauses.rejects()),
        errata=tuple(Erratum(id=name, **raw) for name, raw in data.get("errata", {}).items()),
        file=source.file,
        positions={path: (source.file_of(path), *at) for path, at in source.keys.items()},
        lineage=(data["op"], *source.extends),
        roles=dict(_roles(source, family, definitions)),
        equivalent=data.get("equivalent", {}),
        source=data,
    )


def _roles(source: Source, family: Family, definitions: Definitions) -> Iterator[tuple[str, str]]:
    """What is called otherwise here than in the catalogue."""
    members = {word for kind in definitions.scope.values() for word in kind.values or ()}
    for word, raw in source.data.get("roles", {}).items():
        path: Path = ("roles", word)
        if word not in family.roles:
            message = f"'{word}' is no role that a name can have"
            source.unknown(path, message, word, family.roles, key=True)
        elif raw in members or compile_at(source, path, raw, definitions.scope) is not None:
            yield word, str(raw)


def _texts(source: Source, family: Family) -> Mapping[str, Definition]:
    """Every definition: abbreviations, the rules that are given, the defaults of the others."""
    data = source.data
    texts = {n: Definition(("let", n), raw) for n, raw in data.get("let", {}).items()}
    for name in data["rules"]:
        if name not in family.rules:
            message = f"the family {family.name} has no rule '{name}'"
            source.unknown(("rules", name), message, name, family.rules, key=True)
    for name, rule in family.rules.items():
        raw = data["rules"].get(name, rule.default)
        if raw is not None:
            texts[name] = Definition(("rules", name), raw, rule.kind)
        elif name not in source.broken:
            source.problem(("rules",), f"the rule '{name}' is missing", hint=rule.about, key=True)
            source.broken.add(name)
    return texts


def _check_rules(
    source: Source, family: Family, definitions: Definitions, clauses: Clauses
) -> None:
    """What depends on several rules at once."""
    reduces = _reduces(family, definitions)
    for name, rule in family.rules.items():
        is_defined = name in source.data["rules"] or name in source.broken
        if rule.needed_for in reduces and not is_defined:
            message = f"the rule '{name}' is missing for a {rule.needed_for}"
            source.problem(("rules",), message, hint=rule.about, key=True)
        if name in definitions.compiled:
            early = definitions.reach(definitions.compiled[name]) & rule.before
            if early:
                clauses.too_early(("rules", name), min(early))


def _reduces(family: Family, definitions: Definitions) -> frozenset[str]:
    selector = definitions.compiled.get(family.selector)
    return (selector.kind.values if selector else None) or frozenset()


class _Parts:
    """The inputs and outputs of one file."""

    def __init__(
        self,
        source: Source,
        family: Family,
        types: Mapping[str, tuple[str, ...]],
        quantities: Quantities,
    ) -> None:
        self.source = source
        self.family = family
        self.types = types
        self.quantities = quantities

    def tensor(self) -> TensorInput:
        path: Path = ("inputs", 0)
        raw = self.source.data["inputs"][0]
        for key in ("shape", "rank", "patterns"):
            if key not in raw:
                self.source.problem(path, f"'{key}' is missing: the first input is the data")
        for key in ("per", "min", "max", "draw"):
            if key in raw:
                self.source.problem((*path, key), f"the data has no '{key}'", key=True)
        self._one_of((*path, "type"), raw["type"], self.types, "type of this file")
        for number, name in enumerate(raw.get("patterns", ())):
            at = (*path, "patterns", number)
            self._one_of(at, name, self.family.patterns, "pattern")
        layout = self.family.layout
        self._dimensions((*path, "shape"), raw.get("shape", list(layout.tensors[0])))
        least = layout.least_rank
        low, high = raw.get("rank", (least, least))
        if not least <= low <= high or (high > least and not layout.spread):
            expected = f"the smallest and the largest rank, from {least} up"
            if not layout.spread:
                expected = f"[{least}, {least}]"
            self.source.problem((*path, "rank"), "there is no such rank", expected=expected)
        return TensorInput(
            raw["name"],
            raw["type"],
            tuple(raw.get("shape", ())),
            (low, high),
            tuple(raw.get("patterns", ())),
            raw.get("level", "must"),
        )

    def other(self, number: int) -> TensorInput:
        """A tensor beside the data, whose rank and patterns follow from those."""
        path: Path = ("inputs", number)
        dimension_names = self.family.layout.tensors[number]
        listed = f"[{', '.join(dimension_names)}]"
        if number >= len(self.source.data["inputs"]):
            message = f"an input of shape {listed} is missing"
            self.source.problem(("inputs",), message, key=True)
            return TensorInput(
                "", self.source.data["inputs"][0]["type"], dimension_names, (1, 1), ()
            )
        raw = self.source.data["inputs"][number]
        for key in sorted(raw.keys() - {"name", "type", "shape", "level"}):
            message = f"'{raw['name']}' has no '{key}': the first input says it for all"
            self.source.problem((*path, key), message, key=True)
        self._one_of((*path, "type"), raw["type"], self.types, "type of this file")
        if tuple(raw.get("shape", ())) != dimension_names:
            message = f"input {number + 1} of the family {self.family.name} has another shape"
            at = (*path, "shape") if "shape" in raw else path
            self.source.problem(at, message, expected=listed)
        return TensorInput(
            raw["name"],
            raw["type"],
            dimension_names,
            (len(dimension_names),) * 2,
            (),
            raw.get("level", "must"),
        )

    def _dimensions(self, path: Path, shape: list[str]) -> None:
        layout = self.family.layout
        data_dimensions, all_dimensions = ", ".join(layout.tensors[0]), ", ".join(layout.dims)
        if tuple(shape) != layout.tensors[0]:
            message = f"the data of the family {self.family.name} has another shape"
            self.source.problem(path, message, expected=f"[{data_dimensions}]")
        for name in layout.dims:
            if name in self.source.broken:
                continue
            if name not in self.source.data["dims"]:
                message = f"the dimension '{name}' is missing"
                self.source.problem(("dims",), message, expected=all_dimensions, key=True)
                self.source.broken.add(name)
            elif self.quantities.found[name].per_axis != (name == layout.spread):
                message = f"only '{layout.spread}' has, and needs, 'per: axis'"
                if not layout.spread:
                    message = f"the family {self.family.name} has no axes for 'per: axis'"
                self.source.problem(("dims", name), message, key=True)
        for name in self.source.data["dims"]:
            if name not in layout.dims:
                message = f"the data has no dimension '{name}'"
                self.source.problem(("dims", name), message, expected=all_dimensions, key=True)

    def operands(self) -> Iterable[OperandInput]:
        tensors = len(self.family.layout.tensors)
        first = (
            "the first input is a tensor" if tensors == 1 else f"the first {tensors} are tensors"
        )
        for number, raw in enumerate(self.source.data["inputs"][tensors:], start=tensors):
            path: Path = ("inputs", number)
            for key in ("shape", "rank", "patterns"):
                if key in raw:
                    message = f"only {first} with '{key}'"
                    self.source.problem((*path, key), message, key=True)
            if "per" not in raw:
                expected = "'per: axis': one whole number for each spatial axis"
                self.source.problem(path, f"'{raw['name']}' has no 'per'", expected=expected)
            self._one_of((*path, "type"), raw["type"], self.types, "type of this file")
            if any(DTYPES[dtype].is_float for dtype in self.types.get(raw["type"], ())):
                expected = "a type of whole numbers"
                message = f"'{raw['type']}' may be a floating-point type"
                self.source.problem((*path, "type"), message, expected=expected)
            key = raw["name"].replace("-", "_")
            yield OperandInput(raw["name"], raw["type"], self.quantities.found[key])

    def outputs(self, definitions: Definitions) -> Iterable[OutputSpec]:
        enums = {
            quantity.name: quantity.values
            for quantity in self.quantities.found.values()
            if quantity.type == "enum" and all(value in DTYPES for value in quantity.values)
        }
        dims = (*self.source.data["dims"], *(["out"] if "out" in self.family.rules else []))
        for number, raw in enumerate(self.source.data["outputs"]):
            path: Path = ("outputs", number)
            self._one_of((*path, "type"), raw["type"], {**self.types, **enums}, "type")
            for index, name in enumerate(raw["shape"]):
                self._one_of((*path, "shape", index), name, dims, "dimension")
            if raw["holds"] not in self.family.outputs:
                message = f"an output of the family {self.family.name} holds no {raw['holds']}"
                listed = ", ".join(self.family.outputs)
                self.source.problem((*path, "holds"), message, expected=f"one of {listed}")
                continue
            output_type = self.family.outputs[raw["holds"]]
            selected = _reduces(self.family, definitions)
            if output_type is not None and selected and selected != {output_type}:
                rule = self.family.selector
                message = f"there is no {raw['holds']} unless the rule '{rule}' is {output_type}"
                self.source.problem((*path, "holds"), message, expected="value")
            yield OutputSpec(raw["name"], raw["type"], raw["holds"], tuple(raw["shape"]))

    def _one_of(self, path: Path, name: str, names: Collection[str], noun: str) -> None:
        if name not in names and name.replace("-", "_") not in self.source.broken:
            self.source.unknown(path, f"'{name}' is not a {noun}", name, names)
