"""The diagnosis of a finding: its sentences, and its JSON data in a run log."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.diagnosis.code_path import CodePath
from conformance.diagnosis.conditions import OMITTED, Separation
from conformance.diagnosis.error_regions import SharedRegion
from conformance.diagnosis.explanation import Explanation, Mutants
from conformance.replacement import unused
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec

MAX_NAMES = 3
"""Names that are told of one finding; where more fit equally well none is."""

WINDOW = {True: "one window is the whole plane", False: "no window is the whole plane"}
"""What a place says of its windows."""

MAX_ALTERNATIVES = 20
"""Other faults that are listed with one that the vectors do not tell from them."""


UNKNOWN: Mapping[str, Any] = {
    "faults": [],
    "alternatives": [],
    "agree": None,
    "scope": {},
    "conditions": [],
    "separates": None,
}
"""What is said of failures of which nothing is known."""


def candidates(found: Explanation) -> tuple[Mutants, ...]:
    """All that explains the same failures as well."""
    return (found.faults, *found.alternatives)


def is_named(found: Explanation) -> bool:
    """Whether so few candidates fit that they are told by name, and more than one vector shows it
    or could have spoken against it.
    """
    return len(candidates(found)) <= MAX_NAMES and not found.lone


def describe_mutants(
    found: Explanation, decides: str | None = None, backend: str = ""
) -> dict[str, Any]:
    """The diagnosis of a finding that is what some faults do; see docs/run-log.md.

    ``decides`` is the id of a vector that tells the candidates apart, if there are several;
    ``backend`` is the backend as it was named, where it declares less than all of the operator.
    """
    return {
        "sentence": _sentence(found),
        "advice": _deciding(found, decides, backend) if found.alternatives else "",
        "faults": [_fault(fault, _look(found, fault)) for fault in found.faults],
        "alternatives": _alternatives(found.alternatives),
        "decides": decides,
        "agree": {
            "equal": len(found.agrees),
            "failing": found.failing,
            "bitwise": found.equal,
            "passing": found.passing,
            "consistent": found.passing - found.strained,
        },
        "scope": _scope(found),
        "conditions": [],
        "separates": None,
    }


def describe_ambiguous(
    found: Explanation,
    told: Mapping[str, Any] | None,
    decides: str | None = None,
    backend: str = "",
) -> dict[str, Any]:
    """The diagnosis of a finding that more candidates explain than are named, or one vector alone.

    ``told`` is what else can be said of it (:func:`describe_conditions`); ``decides`` and
    ``backend`` as above.
    """
    some = candidates(found)
    give = "mutant of the catalogue gives" if len(some) == 1 else "mutants of the catalogue give"
    sentence = f"{len(some)} {give} these outputs, so none is named."
    if len(some) <= MAX_NAMES:
        sentence = (
            f"{len(some)} {give} these outputs of one vector. No other vector was tested that "
            "could show that it is another bug, so none is named."
        )
    return {
        **(UNKNOWN if told is None else told),
        "sentence": sentence if told is None else f"{told['sentence']} {sentence}",
        "advice": _deciding(found, decides, backend),
        "faults": [],
        "alternatives": _alternatives(some),
        "decides": decides,
    }


def describe_region(
    found: SharedRegion, passing: tuple[int, int], told: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The diagnosis of a finding whose wrong elements all lie in one place.

    Of the passed vectors that were looked at, of the same element types and ranks, ``passing`` says
    how many have elements there, and how many there are. ``told`` is what else can be said
    (:func:`describe_conditions`).
    """
    there, looked_at = passing
    sentence = f"Elements are wrong {found.region}."
    return {
        **(UNKNOWN if told is None else told),
        "sentence": sentence if told is None else f"{sentence} {told['sentence']}".rstrip(),
        "place": {
            "where": str(found.region),
            "vectors": found.vectors,
            "elements": found.elements,
            "passing": there,
            "of_passing": looked_at,
        },
    }


def describe_conditions(
    found: Separation, spec: OpSpec | None, rejected: bool, by_chance: bool
) -> dict[str, Any]:
    """The diagnosis of a finding of which only the cases where it fails are known.

    ``by_chance`` where as much might be said of vectors that fail at random.
    """
    about = {} if spec is None else {edge.name: edge.why for edge in spec.edges}
    return {
        "sentence": _in_common(found) if by_chance else _where(found, rejected),
        "faults": [],
        "alternatives": [],
        "agree": None,
        "scope": {},
        "conditions": [
            {"name": one.feature, "holds": one.holds, "about": about.get(one.feature, "")}
            for one in found.conditions
        ],
        "separates": {
            "failing": found.failing,
            "of_failing": found.failing,
            "passing": found.meet,
            "of_passing": found.passing,
        },
        **({"by_chance": True} if by_chance else {}),
    }


def _sentence(found: Explanation) -> str:
    """What the implementation does, and where it does so alone."""
    several = [" ".join(fault.says for fault in faults) for faults in candidates(found)]
    said = several[0] if len(several) == 1 else f"One of: {' Or: '.join(several)}"
    where = _words(_scope(found))
    said = f"{said} Only {where}." if where else said
    if not found.beside:
        return said
    there = found.beside.removeprefix("only ")
    return f"{said} {found.with_more:,} of these vectors are wrong {there}, too."


def _deciding(found: Explanation, decides: str | None, backend: str) -> str:
    """What would tell the candidates apart, or show that it is none of them."""
    if not found.alternatives:
        return "" if decides is None else f"Vector {decides} of the suite may show that it is not."
    if decides is not None:
        return f"Vector {decides} of the suite can distinguish them."
    # Without it vectors would come that the backend declares not to support.
    declared = f"--for {shlex.quote(backend)} " if backend else ""
    command = (
        f"conformance generate {declared}--op {found.faults[0].op} --seed 1 --out {unused('fresh')}"
    )
    return f"This suite can't distinguish them. Try more vectors: `{command}`."


def _alternatives(several: Sequence[Mutants]) -> list[dict[str, Any]]:
    return [
        {"ids": [fault.id for fault in faults], "says": [fault.says for fault in faults]}
        for faults in several[:MAX_ALTERNATIVES]
    ]


def _where(found: Separation, rejected: bool) -> str:
    noun = "must-reject vectors" if rejected else "vectors"
    conditions = " and ".join(map(str, found.conditions))
    if found.exact and [one.omits for one in found.conditions] == [True]:
        return f"Fails whenever {found.conditions[0].feature.replace(OMITTED, ' is omitted')}."
    if found.exact:
        return f"Fails on exactly the {noun} with {conditions}."
    return f"Fails on {noun} with {conditions}, though not on all of them."


def _in_common(found: Separation) -> str:
    conditions = " and ".join(map(str, found.conditions))
    return f"All have {conditions}; may be coincidence."


def _look(found: Explanation, fault: Mutant) -> str:
    """Where to look for a fault; empty where an alternative is elsewhere."""
    kinds = {one.kind for faults in found.alternatives for one in faults}
    return fault.look if kinds <= {one.kind for one in found.faults} else ""


def _fault(fault: Mutant, look: str) -> dict[str, Any]:
    return {
        "id": fault.id,
        "kind": fault.kind,
        "says": fault.says,
        "threads": list(fault.threads),
        "look": look,
        **({"cause": fault.cause} if fault.cause else {}),
        **({"fixed": dict(fault.fixed)} if fault.fixed else {}),
    }


def _scope(found: Explanation) -> Mapping[str, Sequence[Any]]:
    """Where the faults are, by type, rank and windows if that says it, else place by place; and in
    which outputs, if not in all."""
    outputs = {"output": found.outputs} if found.outputs else {}
    every = found.places | found.elsewhere
    within = {of: {getattr(p, of) for p in found.places} for of in ("dtype", "rank", "plane")}
    if any(all(getattr(p, of) in some for of, some in within.items()) for p in found.elsewhere):
        return outputs | {"place": sorted({_place(place, found) for place in found.places})}
    told: dict[str, Sequence[Any]] = {
        of: sorted(some) for of, some in within.items() if some != {getattr(p, of) for p in every}
    }
    planes = told.pop("plane", None)
    windows = {} if planes is None else {"window": [WINDOW[plane] for plane in planes]}
    return outputs | told | windows


def _place(place: CodePath, found: Explanation) -> str:
    """``f16 of rank 5``, and which windows of these have it if not all."""
    words = f"{place.dtype} of rank {place.rank}"
    elsewhere = any(other.of_data == place.of_data for other in found.elsewhere)
    return f"{words} where {WINDOW[place.plane]}" if elsewhere else words


def _words(scope: Mapping[str, Sequence[Any]]) -> str:
    """``in f16 at rank 5 where one window is the whole plane``; empty where it is everywhere."""
    said = {"output": "in the", "place": "in", "dtype": "in", "rank": "at rank", "window": "where"}
    joint = {"place": ", "}
    return " ".join(
        f"{said[name]} {joint.get(name, ' and ').join(map(str, of))}" for name, of in scope.items()
    )


def mutants_key(faults: Mutants) -> str:
    """What findings of the same faults share."""
    return "+".join(fault.id for fault in faults)
