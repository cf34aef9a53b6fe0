"""How many of three bugs at once are named, one of which loses a tail.

    python tests/diagnosis/triples.py

draws triples of mutants of the catalogue, as the experiment does pairs, and prints how many of
their mutants are named, and which names are untrue. ``--op``, ``--runs`` and ``--seed`` ask for
others.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from stored import Operator

from conformance.implementations import may_be_together
from conformance.suite.store import open_suite

OPS = ("onnx.AveragePool-22", "MaxPool-14", "AvgPool-1", "torch.max_pool-2")
TRIES = 200
"""Draws of a triple that fits, at most."""


@dataclass
class Named:
    """Mutants that were named, of all that some backends have, and names that are untrue."""

    found: int = 0
    of: int = 0
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        share = 100 * self.found / max(1, self.of)
        return f"{self.found} of {self.of} named ({share:.0f} %), {len(self.false)} untrue"


def triples(operator: Operator, chance: random.Random, count: int) -> Iterator[tuple[str, ...]]:
    """Triples of mutants of different parts that give different outputs; one has a tail in its
    name."""
    shown = operator.shown
    tails = [one for one in shown if "tail" in one]
    for _ in range(count):
        for _ in range(TRIES):
            some = (chance.choice(tails), *chance.sample(shown, 2))
            if _fit(operator, some):
                yield some
                break


def _fit(operator: Operator, some: Sequence[str]) -> bool:
    apart = all(other not in operator.alike(one) for one, other in combinations(some, 2))
    return apart and may_be_together(operator.spec, *(operator.bank[one].change for one in some))


def measured(operator: Operator, chance: random.Random, count: int) -> Named:
    """What is named of some backends with three bugs each."""
    total = Named()
    for some in triples(operator, chance, count):
        allowed = set().union(*(operator.alike(one) for one in some))
        told: set[str] = set()
        for names in operator.run(some).named:
            right = [one for one in names if set(one) <= allowed]
            told |= {name for one in right for name in one}
            if not right:
                total.false.append(f"{operator.op}: {'+'.join(some)} named {names}")
        missed = [one for one in some if told.isdisjoint(operator.alike(one))]
        total.found += len(some) - len(missed)
        total.of += len(some)
        if missed:
            total.missed.append(f"{operator.op}: {'+'.join(some)}: not {', '.join(missed)}")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--op", action="append", help="only this operator; may be repeated")
    parser.add_argument("--runs", type=int, default=20, help="triples of all operators together")
    parser.add_argument("--seed", type=int, default=43)
    args = parser.parse_args()
    ops, total = args.op or OPS, Named()
    for number, op in enumerate(ops):
        count = args.runs // len(ops) + (number < args.runs % len(ops))
        chance = random.Random(f"{args.seed}/{op}")
        one = measured(Operator(op, open_suite(None)), chance, count)
        print(f"{op}: {one}", *one.false, *one.missed, sep="\n  ", flush=True)
        total.found, total.of = total.found + one.found, total.of + one.of
        total.false += one.false
    print(f"all: {total}")


if __name__ == "__main__":
    main()
