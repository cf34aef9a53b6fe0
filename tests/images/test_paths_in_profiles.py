"""Bugs in special paths, put to backends of f32 images that have a restriction besides.

A backend that takes, say, no padding as large as the kernel is asked fewer vectors, and so refused
for fewer of the bugs that can show in what it takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import bank
import bank_paths_one
import bank_paths_three
import bank_paths_two
import numpy as np
import pytest
from test_images import Array, Run, failing, images

from conformance.audit.membership import within
from conformance.generate.looking import sound
from conformance.generate.pool import draw_at_edges
from conformance.generate.values import data_of, operands_of
from conformance.model import Case
from conformance.spec.loader import find
from conformance.spec.model import Draw
from conformance.suite.parts import Part

pytestmark = pytest.mark.exhaustive  # two minutes

ROOT = Path(__file__).parents[2]

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


class Drawn(NamedTuple):
    """A fresh image of finite numbers, and the right outputs."""

    case: Case
    inputs: list[Array]
    right: list[Array]


@cache
def drawn(op: str, name: str) -> tuple[Drawn, ...]:
    """Fresh images within a profile, the same for all bugs of the operator."""
    spec = find(op)
    profile = next(one for one in spec.profiles if one.name == name)
    image = {spec.data.type: Draw(values=("f32",))}
    aims = [{**aim, **image} for aim in profile.aims or ({},)]
    cases = sound(spec, 2, draw_at_edges(spec, 4, 300, 6, root=23, within=aims))
    inside = within(spec, Part("f32", 4, name), cases)
    found = []
    for case in compress(cases, inside):
        inputs = [*data_of(spec, case), *operands_of(spec, case)]
        if np.isfinite(inputs[0]).all():
            right = RIGHT[op](op, [np.array(one) for one in inputs], case.attributes)
            found.append(Drawn(case, inputs, right))
    return tuple(found)


def shows(name: str, profile: str) -> bool:
    """Whether a bug shows on some image that is drawn within a profile."""
    op, run = BUGS[name]
    return any(not same(op, run, one) for one in drawn(op, profile))


def same(op: str, run: Run, one: Drawn) -> bool:
    try:
        found = run(op, [np.array(given) for given in one.inputs], one.case.attributes)
    except Exception:
        return False
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-5, equal_nan=True)
        for a, b in zip(found, one.right, strict=True)
    )


def of_each_profile(name: str) -> Iterator[tuple[str, bool]]:
    """Each profile in which a bug can show, and whether it is refused there."""
    op, run = BUGS[name]
    spec = find(op)
    failed = {*failing(op, run)}
    cases = [vector.case for vector in images(op) if vector.id in failed]
    for profile in spec.profiles:
        refused = bool(within(spec, Part("f32", 4, profile.name), cases).any())
        if refused or shows(name, profile.name):
            yield profile.name, refused


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            BUGS.keys() - UNSEEN.keys(),
            "of {of} pairs of a bug and a profile in which it can show {refused} are",
        ),
        (UNSEEN.keys(), "of {of} pairs with a profile {refused} are"),
    ],
    ids=["seen", "unseen"],
)
def test_as_many_are_refused_as_the_document_says(names: Collection[str], sentence: str) -> None:
    told = {(name, profile): seen for name in names for profile, seen in of_each_profile(name)}
    missed = [at for at, seen in told.items() if not seen]
    document = " ".join((ROOT / "docs" / "strength.md").read_text("utf-8").split())
    said = sentence.format(of=len(told), refused=len(told) - len(missed))
    assert said in document, sorted(missed)
    assert len(missed) * 20 <= len(told), sorted(missed)
