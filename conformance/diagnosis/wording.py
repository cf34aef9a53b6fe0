"""The diagnosis of a finding: its sentences, and its JSON data in a run log."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.core.operator import Operator
from conformance.diagnosis.conditions import OMITTED, Separation
from conformance.diagnosis.error_regions import SharedRegion
from conformance.diagnosis.explanation import Explanation, Mutants
from conformance.replacement import unused
from conformance.spec.catalogue import Mutant
from conformance.specification import profiles_of

MAX_NAMES = 3
"""Names that are told of one finding; where more fit equally well none is."""

MAX_ALTERNATIVES = 20
"""Other mutants that are listed with one that the vectors do not tell from them."""

MOSTLY = 0.7
"""Share of the vectors with some conditions that fail, at least, for these to be where it fails."""


UNKNOWN: Mapping[str, Any] = {
    "faults": [],
    "alternatives": [],
    "agree": None,
    "scope": {},
    "conditions": [],
    "separates": None,
}
"""What is said of failures of which nothing is known."""


def candidates(explanation: Explanation) -> tuple[Mutants, ...]:
    """Return all combinations of mutants that explain the same failures."""
    return (explanation.mutants, *explanation.alternatives)


def is_named(explanation: Explanation) -> bool:
    """Return whether mutants are named: few candidates, and more than one vector as evidence.

    One vector is enough if another could have contradicted it.
    """
    return len(candidates(explanation)) <= MAX_NAMES and not explanation.lone


def describe_mutants(
    explanation: Explanation, decides: str | None = None, backend: str = ""
) -> dict[str, Any]:
    """Describe a finding that mutants explain; see docs/run-log.md.

    ``decides`` is the id of a vector that tells the candidates apart, if there are several;
    ``backend`` is the backend as it was named, where it declares less than all of the operator.
    """
    return {
        "sentence": _sentence(explanation),
        "advice": _deciding(explanation, decides, backend) if explanation.alternatives else "",
        "faults": [_fault(mutant, _look(explanation, mutant)) for mutant in explanation.mutants],
        "alternatives": _alternatives(explanation.alternatives),
        "decides": decides,
        "agree": {
            "equal": len(explanation.agreements),
            "failing": explanation.failing,
            "bitwise": explanation.equal_count,
            "passing": explanation.passing,
            "consistent": explanation.passing - explanation.strained,
        },
        "scope": _scope(explanation),
        "conditions": [],
        "separates": None,
    }


def describe_ambiguous(
    explanation: Explanation,
    description: Mapping[str, Any] | None,
    decides: str | None = None,
    backend: str = "",
) -> dict[str, Any]:
    """Describe a finding with too many candidates to name, or a single vector.

    ``description`` is what else can be said of it (:func:`describe_conditions`); ``decides`` and
    ``backend`` as above.
    """
    several = candidates(explanation)
    give = "mutant of the catalogue gives" if len(several) == 1 else "mutants of the catalogue give"
    sentence = f"{len(several)} {give} these outputs, so none is named."
    if len(several) <= MAX_NAMES:
        sentence = (
            f"{len(several)} {give} these outputs of one vector. No other vector was tested that "
            "could show that it is another bug, so none is named."
        )
    return {
        **(UNKNOWN if description is None else description),
        "sentence": sentence if description is None else f"{description['sentence']} {sentence}",
        "advice": _deciding(explanation, decides, backend),
        "faults": [],
        "alternatives": _alternatives(several),
        "decides": decides,
    }


def describe_region(
    shared: SharedRegion, passing: tuple[int, int], description: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Describe a finding whose wrong elements all lie in one region.

    Of the passed vectors that were compared, of the same element types and ranks, ``passing`` says
    how many have elements there, and how many there are. ``description`` is what else can be said
    (:func:`describe_conditions`).
    """
    passing_count, looked_at = passing
    sentence = f"Elements are wrong {shared.region}."
    return {
        **(UNKNOWN if description is None else description),
        "sentence": sentence
        if description is None
        else f"{sentence} {description['sentence']}".rstrip(),
        "place": {
            "where": str(shared.region),
            "vectors": shared.vectors,
            "elements": shared.elements,
            "passing": passing_count,
            "of_passing": looked_at,
        },
    }


def describe_conditions(
    separation: Separation, spec: Operator | None, rejected: bool, by_chance: bool
) -> dict[str, Any]:
    """Describe a finding by the conditions under which it fails.

    ``by_chance`` if as much might be said of vectors that fail at random.
    """
    about: dict[str, str] = {}
    for profile in () if spec is None else profiles_of(spec):
        about[f"a case within the profile {profile.name}"] = profile.why
        about[f"a case outside of the profile {profile.name}"] = profile.why
    return {
        "sentence": _in_common(separation) if by_chance else _where(separation, rejected),
        "faults": [],
        "alternatives": [],
        "agree": None,
        "scope": {},
        "conditions": [
            {
                "name": condition.feature,
                "holds": condition.holds,
                "about": about.get(condition.feature, ""),
            }
            for condition in separation.conditions
        ],
        "separates": {
            "failing": separation.failing,
            "of_failing": separation.failing,
            "passing": separation.meet,
            "of_passing": separation.passing,
        },
        **({"by_chance": True} if by_chance else {}),
    }


def _sentence(explanation: Explanation) -> str:
    """What the implementation does, and where it does so alone."""
    several = [
        " ".join(mutant.description for mutant in mutants) for mutants in candidates(explanation)
    ]
    sentence = several[0] if len(several) == 1 else f"One of: {' Or: '.join(several)}"
    where = _words(_scope(explanation))
    sentence = f"{sentence} Only {where}." if where else sentence
    if not explanation.beside_region:
        return sentence
    region = explanation.beside_region.removeprefix("only ")
    return f"{sentence} {explanation.with_more:,} of these vectors are wrong {region}, too."


def _deciding(explanation: Explanation, decides: str | None, backend: str) -> str:
    """What would tell the candidates apart, or show that it is none of them."""
    if not explanation.alternatives:
        return "" if decides is None else f"Vector {decides} of the suite may show that it is not."
    if decides is not None:
        return f"Vector {decides} of the suite can distinguish them."
    # Without it vectors would come that the backend declares not to support.
    declared = f"--for {shlex.quote(backend)} " if backend else ""
    op, folder = explanation.mutants[0].op, unused("fresh")
    command = f"conformance generate {declared}--op {op} --seed 1 --out {folder}"
    return f"This suite can't distinguish them. Try more vectors: `{command}`."


def _alternatives(several: Sequence[Mutants]) -> list[dict[str, Any]]:
    return [
        {
            "ids": [mutant.id for mutant in mutants],
            "says": [mutant.description for mutant in mutants],
        }
        for mutants in several[:MAX_ALTERNATIVES]
    ]


def _where(separation: Separation, rejected: bool) -> str:
    noun = "negative tests" if rejected else "vectors"
    conditions = " and ".join(map(str, separation.conditions))
    if separation.exact and [condition.omits for condition in separation.conditions] == [True]:
        return f"Fails whenever {separation.conditions[0].feature.replace(OMITTED, ' is omitted')}."
    if separation.exact:
        return f"Fails on exactly the {noun} with {conditions}."
    if separation.failing < MOSTLY * (separation.failing + separation.meet):
        return f"All have {conditions}, but so do {separation.meet} passing {noun}."
    return f"Fails on {noun} with {conditions}, though not on all of them."


def _in_common(separation: Separation) -> str:
    conditions = " and ".join(map(str, separation.conditions))
    return f"All have {conditions}; may be coincidence."


def _look(explanation: Explanation, mutant: Mutant) -> str:
    """Where to look for a mutant; empty where an alternative is elsewhere."""
    kinds = {alternative.kind for mutants in explanation.alternatives for alternative in mutants}
    return mutant.where_to_look if kinds <= {mutant.kind for mutant in explanation.mutants} else ""


def _fault(mutant: Mutant, look: str) -> dict[str, Any]:
    return {
        "id": mutant.id,
        "kind": mutant.kind,
        "says": mutant.description,
        "threads": list(mutant.threads),
        "look": look,
        **({"cause": mutant.cause} if mutant.cause else {}),
        **({"fixed": dict(mutant.fixed)} if mutant.fixed else {}),
    }


def _scope(explanation: Explanation) -> Mapping[str, Sequence[Any]]:
    """Where the mutants are, by type and rank if that says it, else place by place; and in which
    outputs, if not in all."""
    outputs = {"output": explanation.outputs} if explanation.outputs else {}
    every = explanation.code_paths | explanation.elsewhere
    within = {
        field: {getattr(p, field) for p in explanation.code_paths} for field in ("dtype", "rank")
    }
    if any(
        all(getattr(p, field) in values for field, values in within.items())
        for p in explanation.elsewhere
    ):
        return outputs | {
            "place": sorted(f"{path.dtype} of rank {path.rank}" for path in explanation.code_paths)
        }
    limits = {
        field: sorted(values)
        for field, values in within.items()
        if values != {getattr(p, field) for p in every}
    }
    return outputs | limits


def _words(scope: Mapping[str, Sequence[Any]]) -> str:
    """``in f16 at rank 5``; empty where it is everywhere."""
    prepositions = {"output": "in the", "place": "in", "dtype": "in", "rank": "at rank"}
    joint = {"place": ", "}
    return " ".join(
        f"{prepositions[name]} {joint.get(name, ' and ').join(map(str, values))}"
        for name, values in scope.items()
    )


def mutants_key(mutants: Mutants) -> str:
    """Return the key that findings of the same mutants share."""
    return "+".join(mutant.id for mutant in mutants)
