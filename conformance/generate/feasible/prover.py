"""Whether some edges of an operator can hold together in one valid case of a rank.

A question is a conjunction over the unknown case: what is legal, what the edges say, and axioms
about data. The solver is given products as unknowns with linear facts about them: what is
impossible then is impossible. What is possible is a case, which is tried; if it does not show the
edges, the solver learns where it got a product wrong, and is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.generate.feasible.answers import Feasible, Infeasible, Limits, Unknown
from conformance.generate.feasible.assembly import Assembly, Edge
from conformance.generate.feasible.axioms import Axioms
from conformance.generate.feasible.conditions import Conditions, Labelled
from conformance.generate.feasible.question import Question
from conformance.generate.feasible.solving import Solving, without
from conformance.generate.feasible.witnesses import Witnesses
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.spec.model import Draw, OpSpec

SMALL = ((7, 256), (64, 1024), (1024, 8192))
"""Quantities and elements up to which cases are looked for first."""

ROUNDS = 40
"""How often the solver learns about products before a question is left to z3's own arithmetic."""

RESOURCES_PER_MS = 2000
"""About how much of its own unit z3 spends in a millisecond. It gives up when that is spent rather
than by the clock, so that it does so everywhere alike."""

LIMITS = Limits()

DRAWN = 24
"""How many cases are drawn for a question before it is asked without aims."""

WISHED = 10
"""Which part of the resources a wish may take that need not come true."""

WISH = "wish"
USUAL, LIKELY, AIM = f"{WISH} usual", f"{WISH} likely", f"{WISH} aim"


class Prover:
    """Answers questions about one operator and rank, within limits.

    ``timeout_ms`` is about how long one check of the solver may take, of which most answers take a
    few. Where the solver alone finds no case soon, ``drawn`` cases are tried. The same questions in
    the same order have the same answers. Raises UsageError if z3 is not installed.
    """

    def __init__(
        self,
        spec: OpSpec,
        rank: int,
        limits: Limits = LIMITS,
        timeout_ms: int = 5000,
        drawn: int = DRAWN,
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.timeout_ms = timeout_ms
        self.drawn = drawn
        self._question = Question(spec, rank)
        self._conditions = Conditions(self._question)
        self._axioms = Axioms(self._question)
        self._assembly = Assembly(self._question, self._axioms)
        self._witnesses = Witnesses(spec, limits)
        self._edges = {edge.name: edge for edge in spec.edges}
        self._aims: dict[str, list[Labelled]] = {}
        question = self._question
        self._solving = Solving(question.logic, question.algebra, timeout_ms * RESOURCES_PER_MS)
        legal = self._conditions.legal()
        within = self._conditions.within(limits.elements, limits.elements)
        base = [*legal, *within, *self._axioms.of_patterns(), *self._axioms.of_integers()]
        self._base = list(dict.fromkeys(label for label, _ in base))
        self._solving.add(base)
        self._solving.add((USUAL, truth) for truth in self._conditions.usual())
        for quantity, elements in SMALL:
            within = self._conditions.within(quantity, elements)
            self._solving.add((f"wish {quantity}", truth) for _, truth in within)
        self._solving.define()

    def ask(self, edges: Sequence[str]) -> Infeasible | Feasible | Unknown:
        """Whether some valid case can show all the edges.

        Raises UsageError for an edge that the operator has not.
        """
        found = [self._assembly.edge(name) for name in edges]
        known = self._witnesses.of(edges)
        if known is not None:
            return Feasible(known)
        with self._solving.meanwhile():
            labelled, windows = self._assembly.of(found)
            self._solving.add(labelled)
            own = list(dict.fromkeys(label for label, _ in labelled))
            labels = list(dict.fromkeys((*self._base, *own)))
            # Most of what is impossible follows from the edges alone, and much of the rest
            # whatever the products are.
            for asked in (own, labels):
                if self._solving.check(asked) is False:
                    return Infeasible(self._needed(self._solving.core()))
            for window in windows:
                self._solving.add((LIKELY, truth) for truth in self._axioms.likely(window))
            for name in edges:
                self._solving.add(self._aim(name))
            self._solving.define()
            return self._answer(found, labels)

    def excludes(self, edge: str, dtype: str) -> tuple[str, ...] | None:
        """What contradicts that a case shows an edge in an element type; None if nothing does.

        Raises UsageError for an edge that the operator has not.
        """
        with self._solving.meanwhile():
            labels = self._say([edge], dtype)
            if self._solving.check([*self._base, *labels]) is not False:
                return None
            return self._needed(self._solving.core())

    def confirms(self, pair: tuple[str, str], uses: Sequence[str]) -> bool:
        """Whether two edges, or an element type and an edge, contradict what ``uses`` names.

        This asks much less than whether anything contradicts them. Raises UsageError for an edge
        that the operator has not.
        """
        dtype = pair[0] if pair[0] not in self._edges else None
        with self._solving.meanwhile():
            labels = self._say([edge for edge in dict.fromkeys(pair) if edge != dtype], dtype)
            asked = [*labels, *(use for use in uses if use in self._base)]
            if self._solving.check(asked) is False:
                return True
            self._solving.define()
            return self._solving.check(asked) is False

    def _say(self, edges: Sequence[str], dtype: str | None) -> list[str]:
        """Tell the solver of edges, and of the data's type; the labels of what was said."""
        labelled, _ = self._assembly.of([self._assembly.edge(edge) for edge in edges])
        if dtype is not None:
            choice = self._question.types[self.spec.data.type]
            labelled = [*labelled, (f"type {dtype}", choice.when[dtype])]
        self._solving.add(labelled)
        return list(dict.fromkeys(label for label, _ in labelled))

    def _answer(self, edges: Sequence[Edge], labels: list[str]) -> Infeasible | Feasible | Unknown:
        for number, wishes in enumerate(self._wishes(edges)):
            answer = self._under(edges, labels, wishes)
            if answer is not None:
                return answer
            drawn = self._drawn(edges) if number == 1 and self.drawn else None
            if drawn is not None:
                return Feasible(drawn)
        return Unknown(f"z3 finds no answer within about {self.timeout_ms} ms a check")

    def _under(
        self, edges: Sequence[Edge], labels: list[str], wishes: list[str]
    ) -> Infeasible | Feasible | None:
        solving = self._solving
        for round_ in range(ROUNDS + 1):
            if round_ == ROUNDS:
                if wishes:
                    return None
                solving.exactly()
            possible = solving.check([*labels, *wishes], WISHED if wishes else 1)
            if possible is None:
                return None
            if not possible:
                core = solving.core()
                if any(label.startswith(AIM) for label in core):
                    wishes = [
                        wish for wish in wishes if wish not in core or not wish.startswith(AIM)
                    ]
                    continue
                if any(label.startswith(WISH) for label in core):
                    return None
                return Infeasible(self._needed(core))
            model = solving.model()
            case = self._question.case(model)
            wanted = {edge.name for edge in edges}
            if wanted <= self._witnesses.shown(case) or solving.correct(model):
                return Feasible(case)
        return None

    def _drawn(self, edges: Sequence[Edge]) -> Case | None:
        """A case that shows the edges, drawn as vectors are: chance is quick where it is likely."""
        aim: dict[str, Draw] = {}
        for edge in edges:
            for first in self._edges[edge.name].aims[:1]:
                aim |= first
        for case in draw(self.spec, self._question.axes + 2, self.drawn, root=0, aim=aim):
            self._witnesses.shown(case)
        return self._witnesses.of(edge.name for edge in edges)

    def _wishes(self, edges: Sequence[Edge]) -> Iterator[list[str]]:
        """What is asked for beyond the question, less each time."""
        usual = [USUAL, LIKELY]
        small = [f"wish {quantity}" for quantity, most in SMALL if most < self.limits.elements]
        aims = dict.fromkeys(label for edge in edges for label, _ in self._aim(edge.name))
        yield from ([*usual, wish] for wish in small[:1])
        if aims:
            yield [*usual, *aims]
        yield from ([*usual, wish] for wish in small[1:])
        yield usual
        yield []

    def _aim(self, name: str) -> list[Labelled]:
        """What the edge's own first aim narrows cases to, each as a wish."""
        if name not in self._aims:
            aims = self._edges[name].aims[:1]
            aimed = [one for aim in aims for one in self._conditions.aimed(aim)]
            self._aims[name] = [(f"{AIM} {name} {what}", truth) for what, truth in aimed]
        return self._aims[name]

    def _needed(self, core: Sequence[str]) -> tuple[str, ...]:
        """Labels of a core of which none can be left out, as far as the solver can tell."""
        kept = list(core)
        for label in sorted(core, key=lambda label: (label.startswith("edge "), label)):
            if label in kept and self._solving.check(without(kept, label)) is False:
                kept = list(self._solving.core())
        return tuple(sorted(kept))
