"""Strata: shapes for which implementations have special code paths, and their remainders.

A file of ``specs/strata/`` holds those of one family. A stratum is a condition on cases for which
kernels have a path of their own, a remainder one on what such a path has to treat apart. Both are
said in the words of the catalogue (:mod:`conformance.spec.vocabulary`), so that they hold for any
specification of the family. The format: docs/strata-format.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path as FilePath
from typing import Any

from conformance.errors import ExpressionError, closest
from conformance.spec import schema_check
from conformance.spec.each_entries import each_choices, fill_template
from conformance.spec.expressions import compile_expression
from conformance.spec.family_index import family_of, is_family
from conformance.spec.family_index import names as families
from conformance.spec.folding import FALSE
from conformance.spec.kinds import Kind
from conformance.spec.loader import read_text, shipped_specs
from conformance.spec.model import CoverageTarget, DrawBounds, OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.vocabulary import vocabulary
from conformance.spec.yaml_reader import KEPT, parse_yaml
from conformance.spec.yaml_source import Path, Source

INSIDE = "in_some_stratum"
"""The name of the definition that holds in every stratum, and nowhere else; with a number, of that
of one of them."""

STRATUM, REMAINDER, PROFILE = "stratum", "remainder", "profile"


Aim = Mapping[str, DrawBounds]


@dataclass(frozen=True)
class Strata:
    """The strata and remainders that an operator can have, as predicates over its cases.

    Their names begin with :data:`STRATUM` or :data:`REMAINDER` and a space, which no edge has.
    ``remainders`` hold within some stratum only. ``profiles`` are those of the specification, named
    in the same way, as far as a case has several windows. ``whole`` is the specification with all
    of them among its edges. ``meaning`` is a digest of what they are, empty where there are none.
    """

    strata: tuple[CoverageTarget, ...]
    remainders: tuple[CoverageTarget, ...]
    whole: OpSpec = field(repr=False)
    meaning: str = ""
    profiles: tuple[CoverageTarget, ...] = ()

    @property
    def all(self) -> tuple[CoverageTarget, ...]:
        """All strata, remainders and profiles."""
        return (*self.strata, *self.remainders, *self.profiles)

    @property
    def all_aims(self) -> tuple[Aim, ...]:
        """Generation constraints for each stratum and each remainder."""
        return tuple(aim for target in (*self.strata, *self.remainders) for aim in target.aims)

    def aims(self, turn: int) -> list[Aim]:
        """Return constraints that meet each stratum with a remainder; another turn gives others."""
        constraints = [aim for target in self.remainders for aim in target.aims] or [{}]
        inside = [aim for target in self.strata for aim in target.aims]
        return [
            {**constraints[(turn + n) % len(constraints)], **aim} for n, aim in enumerate(inside)
        ]


def load_strata_text(text: str, file: str = "<text>") -> None:
    """Check a file of strata against the shipped operators of its family.

    Raises :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = parse_yaml(text, file)
    if schema_check.check(source, schema_check.STRATA):
        family = source.data["family"]
        if not is_family(family):
            source.unknown(("family",), f"there is no family '{family}'", family, families())
        else:
            _check_used(
                source, [spec for spec in shipped_specs().values() if spec.family == family]
            )
    source.check()


def load_strata(path: FilePath) -> None:
    """Check a file as :func:`load_strata_text` does."""
    load_strata_text(read_text(path), str(path))


def is_stratum(name: str) -> bool:
    """Return whether a name is that of a stratum, remainder or profile."""
    return name.startswith((f"{STRATUM} ", f"{REMAINDER} ", f"{PROFILE} "))


@lru_cache(maxsize=KEPT)
def strata_of(spec: OpSpec) -> Strata:
    """Return the strata of an operator, shipped or not; none without a file."""
    source = _of_family(spec.family)
    none = Strata((), (), spec)
    if source is None:
        return none
    inside = tuple(target for _, target in _edges(source, spec, "strata", _telling(source, spec)))
    if not inside:
        return none
    predicates = {f"{INSIDE}_{number}": target.when for number, target in enumerate(inside)}
    scope = {**scope_of(spec), **{name: when.kind for name, when in predicates.items()}}
    predicates[INSIDE] = compile_expression(" or ".join(predicates), scope, want=Kind("bool"))
    marked = replace(spec, definitions={**spec.definitions, **predicates})
    remainders = tuple(target for _, target in _edges(source, marked, "remainders", INSIDE))
    within = tuple(_profiles(spec))
    texts = [[target.name, target.when.text] for target in (*inside, *remainders, *within)]
    return Strata(
        strata=inside,
        remainders=remainders,
        whole=replace(marked, edges=(*spec.edges, *inside, *remainders, *within)),
        profiles=within,
        meaning=hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
    )


@cache
def _of_family(family: str) -> Source | None:
    """The file of strata of a family, if there is one."""
    path = family_of(family).strata
    if not path.is_file():
        return None
    source = parse_yaml(read_text(path), str(path))
    schema_check.check(source, schema_check.STRATA)
    source.check()
    return source


def _edges(
    source: Source, spec: OpSpec, section: str, before: str = "true"
) -> Iterator[tuple[str, CoverageTarget]]:
    """The entries of a section that an operator can have, each with the key of its entry."""
    kind = STRATUM if section == "strata" else REMAINDER
    for key, raw in source.data[section].items():
        for keys, values in each_choices(raw.get("each", {})):
            try:
                target = _edge(source, spec, raw, values, before)
            except ExpressionError:
                continue
            if target is not None:
                name = f"{kind} {fill_template(key, keys)}"
                yield key, replace(target, name=name, why=fill_template(raw["why"], keys))


def _edge(
    source: Source, spec: OpSpec, raw: Mapping[str, Any], values: Mapping[str, str], before: str
) -> CoverageTarget | None:
    """An entry of an operator; None where its windows are of another kind, or nothing can meet it.

    Raises ExpressionError where the operator lacks what the entry speaks of.
    """
    vocabulary_of_spec = vocabulary(spec)
    if vocabulary_of_spec.given.kind not in raw.get("windows", [vocabulary_of_spec.given.kind]):
        return None
    text = vocabulary_of_spec.spoken(
        _in_own_words(spec, f"{before} and ({fill_template(raw['when'], values)})")
    )
    if text == FALSE:
        return None
    when = compile_expression(text, scope_of(spec), want=Kind("bool"))
    aim = {
        vocabulary_of_spec.words.get(word, word): DrawBounds(
            values=tuple(_value(value, values) for value in drawn)
        )
        for word, drawn in raw.get("aim", {}).items()
    }
    bounds = {name: draw for name, draw in aim.items() if name in spec.quantities}
    return CoverageTarget(
        "", when, "", ({**bounds, "pattern": DrawBounds(values=_patterns(source, spec))},)
    )


def _in_own_words(spec: OpSpec, text: str) -> str:
    """A condition without the words that strata add to those of the catalogue."""
    for word, meaning in vocabulary(spec).given.strata.items():
        text = re.sub(rf"\b{word}\b", meaning, text)
    return text


def _profiles(spec: OpSpec) -> Iterator[CoverageTarget]:
    """The profiles of an operator, as far as a case has several windows."""
    vocabulary_of_spec = vocabulary(spec)
    several = vocabulary_of_spec.spoken(_in_own_words(spec, vocabulary_of_spec.given.several))
    for profile in spec.profiles:
        text = f"({profile.when.text}) and {several}"
        when = compile_expression(text, scope_of(spec), want=Kind("bool"))
        yield replace(profile, name=f"{PROFILE} {profile.name}", when=when)


def _value(raw: int | str, values: Mapping[str, str]) -> int | str:
    """What is drawn: a whole number, or a word."""
    text = fill_template(str(raw), values)
    return int(text) if text.removeprefix("-").isdecimal() else text


def _patterns(source: Source, spec: OpSpec) -> tuple[str, ...]:
    """The patterns of data that tell each position apart, whatever becomes of a window; the first
    that an operator has where it has none of them."""
    patterns = list(spec.patterns)
    for selected in sorted(spec.selected):
        patterns = [
            pattern
            for pattern in patterns
            if pattern in source.data["data"].get(selected, patterns)
        ]
    return tuple(patterns or spec.patterns[:1])


def _telling(source: Source, spec: OpSpec) -> str:
    """The condition that data tell each position apart."""
    return f"pattern in [{', '.join(_patterns(source, spec))}]"


def _check_used(source: Source, specs: list[OpSpec]) -> None:
    """Note entries that no shipped operator can have, with what one of them says against it."""
    for section in ("strata", "remainders"):
        used = {key for spec in specs for key, _ in _edges(source, spec, section)}
        for key in source.data[section].keys() - used:
            path: Path = (section, key)
            message, hint = _refusal(source, specs, source.data[section][key])
            source.problem((*path, "when"), message, hint=hint)
    quantities = {word for spec in specs for word in (*spec.quantities, *vocabulary(spec).words)}
    for section in ("strata", "remainders"):
        for key, raw in source.data[section].items():
            for word in raw.get("aim", {}):
                if word not in quantities:
                    hint = closest(word, quantities)
                    message = f"no operator of the family has '{word}'"
                    source.problem((section, key, "aim", word), message, hint=hint, key=True)


def _refusal(source: Source, specs: list[OpSpec], raw: Mapping[str, Any]) -> tuple[str, str | None]:
    """Why no operator can have an entry."""
    for spec in specs:
        for _, values in each_choices(raw.get("each", {})):
            try:
                _edge(source, spec, raw, values, "true")
            except ExpressionError as error:
                return f"no operator can have this: for {spec.op}, {error.message}", error.hint
    return "no operator can have this", None
