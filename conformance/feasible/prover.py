"""Proves whether coverage targets can hold together in a valid case of a rank.

A question is a conjunction over the unknown case: what is legal, what the edges say, and axioms
about data. The solver is given products as unknowns with linear facts about them: what is
impossible then is impossible. Where it gets a product wrong it learns about that, and is asked
again; what it then finds possible is a case, whose data may still not show the edges.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.feasible.answers import CaseLimits, Feasible, Infeasible, Unknown
from conformance.feasible.assembly import Assembly
from conformance.feasible.legality import Conditions
from conformance.feasible.question import Question
from conformance.feasible.solving import Solving, without
from conformance.spec.model import OpSpec

ROUNDS = 40
"""How often the solver learns about products before a question is left to z3's own arithmetic."""

FEW_ROUNDS = 8
"""How often it learns where most questions have a proof, and cases soon settle the others."""

RESOURCES_PER_MS = 2000
"""About how much of its own unit z3 spends in a millisecond. It gives up when that is spent rather
than by the clock, so that it does so everywhere alike."""

LIMITS = CaseLimits()

SMALL = ((7, 256), (64, 1024), (1024, 8192))
"""Quantities and elements up to which cases are looked for first, with one pattern in all planes:
few seeds fill small windows in all ways."""


class Prover:
    """Answers questions about one operator and rank, within limits.

    ``timeout_ms`` is about how long one check of the solver may take, of which most answers take a
    few. The same questions in the same order have the same answers. Raises UsageError if z3 is not
    installed.
    """

    def __init__(
        self, spec: OpSpec, rank: int, limits: CaseLimits = LIMITS, timeout_ms: int = 5000
    ) -> None:
        self.spec = spec
        self.timeout_ms = timeout_ms
        self._question = question = Question(spec, rank)
        self._assembly = Assembly(question)
        self._solving = Solving(question.logic, question.algebra, timeout_ms * RESOURCES_PER_MS)
        conditions = Conditions(question)
        base = [*conditions.legal(), *conditions.within(limits.elements, limits.elements)]
        base += question.knowledge.of_data()
        self._base = list(dict.fromkeys(label for label, _ in base))
        self._solving.add(base)
        mixed = question.pattern.when.get(question.knowledge.mixed, False)
        for size in SMALL:
            wishes = [truth for _, truth in conditions.within(*size)]
            wishes.append(question.logic.negate(mixed))
            self._solving.add((_wish(size), truth) for truth in wishes)
        self._solving.define()

    def ask(
        self, edges: Sequence[str], dtype: str | None = None
    ) -> Infeasible | Feasible | Unknown:
        """Whether some valid case, of an element type or any, can show all the edges.

        Raises UsageError for an edge that the operator has not.
        """
        with self._solving.meanwhile():
            labels = [*self._base, *self._say(edges, dtype)]
            # Much is impossible whatever the numbers are, and soon seen to be.
            if self._solving.check(labels) is False:
                return Infeasible(self._needed())
            self._solving.define()
            for wish in (*([_wish(size)] for size in SMALL), []):
                possible = self._settled([*labels, *wish], ROUNDS if wish else ROUNDS + 1)
                if possible:
                    return Feasible(self._question.case(self._solving.model()))
            if possible is False:
                return Infeasible(self._needed())
            return Unknown(f"z3 finds no answer within about {self.timeout_ms} ms a check")

    def excludes(self, edge: str, dtype: str) -> tuple[str, ...] | None:
        """What contradicts that a case shows an edge in an element type; None if nothing does.

        Raises UsageError for an edge that the operator has not.
        """
        with self._solving.meanwhile():
            labels = [*self._base, *self._say([edge], dtype)]
            return self._needed() if self._solving.check(labels) is False else None

    def excluded(self, edges: Sequence[str], dtype: str) -> bool:
        """Whether it is soon proven that no valid case of a type covers all the targets."""
        with self._solving.meanwhile():
            labels = [*self._base, *self._say(edges, dtype)]
            if self._solving.check(labels) is False:
                return True
            self._solving.define()
            return self._settled(labels, FEW_ROUNDS) is False

    def confirms(self, pair: tuple[str, str], uses: Sequence[str], base: str) -> bool:
        """Whether two edges in data of the type ``base``, one edge alone, or an element type and an
        edge contradict what ``uses`` names.

        This asks much less than whether anything contradicts them. Raises UsageError for an edge
        that the operator has not.
        """
        types = self._question.types[self.spec.data.type].when
        of_two = base if pair[0] != pair[1] else None
        dtype = pair[0] if pair[0] in types else of_two
        with self._solving.meanwhile():
            labels = self._say([edge for edge in dict.fromkeys(pair) if edge != dtype], dtype)
            asked = [*labels, *(use for use in uses if use in self._base)]
            if self._solving.check(asked) is False:
                return True
            self._solving.define()
            return self._settled(asked, ROUNDS + 1) is False

    def _say(self, edges: Sequence[str], dtype: str | None = None) -> list[str]:
        """Add some targets, and the data's type, to the solver; the labels of what was added."""
        labelled = self._assembly.of([self._assembly.edge(name) for name in edges])
        if dtype is not None:
            choice = self._question.types[self.spec.data.type]
            labelled = [*labelled, (f"type {dtype}", choice.when[dtype])]
        self._solving.add(labelled)
        return list(dict.fromkeys(label for label, _ in labelled))

    def _settled(self, labels: Sequence[str], rounds: int) -> bool | None:
        """What a check says once the solver has all products right, of which it learns in each
        round; None if it cannot tell. The round after ``ROUNDS`` is left to its own arithmetic."""
        for round_ in range(rounds):
            if round_ == ROUNDS:
                self._solving.exactly()
            possible = self._solving.check(labels)
            if not possible or self._solving.correct():
                return possible
        return None

    def _needed(self) -> tuple[str, ...]:
        """Labels of the last check's core, none of which can be left out as far as z3 can tell."""
        kept = list(self._solving.core())
        for label in sorted(kept, key=lambda label: (label.startswith("edge "), label)):
            if label in kept and self._solving.check(without(kept, label)) is False:
                kept = list(self._solving.core())
        return tuple(sorted(kept))


def _wish(size: tuple[int, int]) -> str:
    """The label of what makes a case small."""
    return f"wish {size[0]}"
