"""In which profiles bugs in special paths can show, and where core does not refuse them.

    python tests/images/in_profiles.py    # writes missed.jsonl, in minutes

A backend that takes, say, no padding as large as the kernel is asked fewer vectors, and so refused
for fewer of the bugs that can show in what it takes. That a bug can show is found with drawn
cases; for each that is not refused, the file holds one case that shows it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from conformance.core import data
from conformance.generate.cases import draw_cases
from conformance.model import Case
from conformance.specification import condition_of, find_spec, profiles_of
from conformance.suite import strict_json
from conformance.suite.recorded_cases import CASE_KEYS, case_from_json, case_to_json

sys.path.insert(0, str(Path(__file__).parents[1]))

import bank
import bank_paths_one
import bank_paths_three
import bank_paths_two
from test_images import Array, Run, fails, images

MISSED = Path(__file__).with_name("missed.jsonl")

UNSEEN = {name: (bug.operator, bug.run) for name, bug in bank_paths_three.BUGS.items()}
BUGS: dict[str, tuple[str, Run]] = {
    **bank_paths_one.BUGS,
    **{name: (bug.operator, bug.run) for name, bug in bank_paths_two.BUGS.items()},
    **UNSEEN,
}
RIGHT: dict[str, Run] = {
    **dict(bank_paths_one.RIGHT.values()),
    **bank_paths_two.RIGHT,
    **bank.RIGHT,
}


DRAWN = 1000
"""Images that are drawn of an operator."""


class Asked(NamedTuple):
    """An image of finite numbers, and the right outputs."""

    case: Case
    inputs: list[Array]
    right: list[Array]


def inputs_of(case: Case) -> list[Array]:
    return [array for array in data.inputs_of(find_spec(case.op), case) if array is not None]


def asked(case: Case) -> Asked:
    inputs = inputs_of(case)
    given = [np.array(one) for one in inputs]
    return Asked(case, inputs, RIGHT[case.op](case.op, given, case.attributes))


@cache
def drawn(op: str, name: str) -> tuple[Asked, ...]:
    """Fresh images within a profile, the same for all bugs of the operator."""
    spec = find_spec(op)
    within = condition_of(spec, next(one.when for one in profiles_of(spec) if one.name == name))
    cases = filter(within.holds, draw_cases(spec, DRAWN, seed=23, dtypes=("f32",), ranks=(4,)))
    return tuple(asked(case) for case in cases if np.isfinite(inputs_of(case)[0]).all())


def wrong(name: str, one: Asked) -> bool:
    """Whether a bug shows on an image."""
    op, run = BUGS[name]
    try:
        found = run(op, [np.array(given) for given in one.inputs], one.case.attributes)
    except Exception:
        return True
    return not all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-5, equal_nan=True)
        for a, b in zip(found, one.right, strict=True)
    )


@cache
def members(op: str) -> dict[str, Sequence[bool]]:
    """Which of the vectors are within each profile."""
    spec, cases = find_spec(op), [vector.case for vector in images(op)]
    conditions = {one.name: condition_of(spec, one.when) for one in profiles_of(spec)}
    return {name: [*map(condition.holds, cases)] for name, condition in conditions.items()}


def refused(name: str) -> Iterator[tuple[str, bool]]:
    """Each profile of the operator, and whether the shipped core refuses a bug within it."""
    op, run = BUGS[name]
    inside = members(op)
    left = set(inside)
    for number, vector in enumerate(images(op)):
        here = {profile for profile in left if inside[profile][number]}
        if here and fails(op, run, vector):
            left -= here
    return ((profile, profile not in left) for profile in inside)


def missed() -> dict[tuple[str, str], Asked]:
    """Of each bug and profile in which core was seen not to refuse it, a case that shows it."""
    found = {}
    for number, line in enumerate(MISSED.read_bytes().splitlines(), 1):
        where = f"{MISSED.name}:{number}"
        keys = ("bug", "profile", "op", *CASE_KEYS)
        told = strict_json.JsonObject(strict_json.loads(line, where), where, keys)
        case = case_from_json(strict_json.loads(line, where), told.text("op"), where)
        found[told.text("bug"), told.text("profile")] = asked(case)
    return found


def main() -> int:
    lines = []
    for name, (op, _) in BUGS.items():
        for profile, seen in refused(name):
            showing = [] if seen else [one for one in drawn(op, profile) if wrong(name, one)]
            if showing:
                smallest = min(showing, key=lambda one: one.inputs[0].size).case
                told = {"bug": name, "profile": profile, "op": op, **case_to_json(smallest)}
                lines.append(json.dumps(told) + "\n")
                print(name, profile, flush=True)
    MISSED.write_text("".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
