"""What a family of operators gives; :mod:`conformance.spec.family_index` finds one by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from conformance.data import directory
from conformance.spec.kinds import Kind

if TYPE_CHECKING:
    from conformance.model import Answer, Array, Case, Vector
    from conformance.spec.case_environment import Environment
    from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Rule:
    """A rule: the kind of its value, ``kind.domain`` being the most it may depend on.

    ``default`` is the text of its expression where a specification does not give one; a rule
    without is required, and one with ``needed_for`` is where the family's ``selector`` can be that.
    ``before`` lists names that come after it, so it cannot speak of them. ``reduces`` are the
    values of the ``selector`` with which it matters, all if empty. One that is ``floating`` makes
    no difference to integers. ``decides`` is a condition on a case under which a result depends on
    it, for a rule that specifications should give where such cases exist; empty for others.
    """

    kind: Kind
    about: str
    default: str | None = None
    before: frozenset[str] = frozenset()
    needed_for: str | None = None
    reduces: frozenset[str] = frozenset()
    floating: bool = False
    decides: str = ""


@dataclass(frozen=True)
class Name:
    """A value that the reference adds to a case's own: its kind, and what it is."""

    kind: Kind
    about: str


@dataclass(frozen=True)
class Layout:
    """The dimensions of the input tensors of a family, by name, in the order of the tensors.

    ``spread`` is the one that stands for several, one for each axis, if there is one: it is in the
    first tensor, whose rank tells how many axes there are. Without it there are no axes. ``planes``
    is how many dimensions of an output, from the first, are there only to tell planes apart.
    """

    tensors: tuple[tuple[str, ...], ...]
    spread: str = ""
    planes: int = 0

    @property
    def dims(self) -> tuple[str, ...]:
        """All dimensions, each once."""
        return tuple(dict.fromkeys(name for tensor in self.tensors for name in tensor))

    @property
    def fixed(self) -> int:
        """How many dimensions the first tensor has beside those of the axes."""
        return len(self.tensors[0]) - (self.spread in self.tensors[0])

    @property
    def least_rank(self) -> int:
        """The smallest rank of the first tensor."""
        return len(self.tensors[0])

    def axes(self, rank: int) -> int:
        """How many axes there are where the first tensor has this rank."""
        return rank - self.fixed if self.spread else 0

    def rank(self, axes: int) -> int:
        """The rank of the first tensor with so many axes."""
        return self.fixed + axes

    def bound(self, shapes: Iterable[tuple[int, ...]]) -> list[tuple[str, Any]] | None:
        """The dimensions of tensors of these shapes by name: a number, or a tuple with one an axis;
        one that several tensors have, several times. None where a shape has too few or too many.
        """
        bound: list[tuple[str, Any]] = []
        axes: int | None = None
        for names, shape in zip(self.tensors, shapes, strict=True):
            if axes is None:
                axes = self.axes(len(shape))
            if axes < 0 or len(shape) != len(names) - (self.spread in names) * (1 - axes):
                return None
            at = 0
            for name in names:
                if name == self.spread:
                    bound.append((name, tuple(shape[at : at + axes])))
                    at += axes
                else:
                    bound.append((name, shape[at]))
                    at += 1
        return bound


DerivedWords = Callable[[Collection[str]], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class FamilyVocabulary:
    """What mutants and strata may speak of, in the names of one specification.

    ``shown`` are words for what its rules show to have a role, ``derived`` gives, for the names
    that there are, words for what follows from the rules, each in those before it. ``through`` says
    how the rules follow where another value takes the place of what is read off them: which rule,
    and what is added to it. ``kind`` is what strata call such an operator (their key ``windows``),
    ``strata`` are words of theirs alone, and ``several`` is a condition on a case that more than
    one part of its outputs tells of a path.
    """

    kind: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    derived: DerivedWords = lambda _names: ()
    through: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    strata: Mapping[str, str] = field(default_factory=dict)
    several: str = "true"


class Oracle(Protocol):
    """How a family evaluates cases. Most of it is in :class:`conformance.reference.plain.Plain`.

    An environment holds a case with its inputs, and definitions that may be those of a variant.
    ``depends`` says what the values of an environment depend on that no expression defines.
    """

    @property
    def depends(self) -> Mapping[str, tuple[str, ...]]: ...

    def environment(
        self, spec: OpSpec, case: Case, inputs: Sequence[Array], definitions: Mapping[str, Any]
    ) -> Any:
        """The values of a valid case with its inputs."""

    def answers(self, env: Any, spec: OpSpec) -> tuple[Answer, ...]:
        """What each output must be."""

    def outputs(self, env: Any, spec: OpSpec, *, dtype: str | None = None) -> list[Array]:
        """The values of each output alone, in its own type, or all floating ones in ``dtype``."""

    def remembered(self, env: Any, spec: OpSpec, kept: dict[Any, list[Array]]) -> list[Array]:
        """The outputs in their own types. ``kept`` belongs to one case: what is made of the same
        may be put there, to be found again under other definitions."""

    def ends(self, env: Any, spec: OpSpec, precision: str) -> list[Array]:
        """For each output the lower and then the upper end of what ``precision`` accepts."""

    def unspecified(self, env: Any, spec: OpSpec, precision: str | None = None) -> list[Array]:
        """For each output which elements have no value to check; with a ``precision`` also those
        whose partial sums may overflow there."""

    def too_large(
        self, env: Any, right: Any, shapes: Collection[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """The shape of outputs that are not worth working out; None for those that are: in the
        shape of the ``right`` ones, in one of ``shapes``, or small."""

    def shape(self, env: Any) -> tuple[int, ...]:
        """The shape of the first output."""

    def batch(self, table: Any) -> Any:
        """Many cases at once, a :class:`conformance.reference.batches.CaseBatch`."""

    def case_environment(self, spec: OpSpec, case: Case) -> Environment:
        """The values of a valid case, without its inputs."""

    def is_whole(self, spec: OpSpec, case: Case) -> bool:
        """Whether kernels may have a path of their own for the case: all of its data at once."""


Trivial = Callable[["Vector"], "list[Array] | None"]
"""The outputs of a trivial implementation; None if it is the function itself, or has none."""


class Family(ABC):
    """A family of operators: what its specifications may say, and what is to be known of them."""

    name: str
    layout: Layout
    rules: Mapping[str, Rule]
    """What a specification defines."""
    names: Mapping[str, Name]
    """What the reference adds to a case's own values."""
    outputs: Mapping[str, str | None]
    """What an output can hold, and what the selector must be for it, if it matters."""
    patterns: tuple[str, ...]
    """The ways to fill the data, a plain one first."""
    selector: str = ""
    """A rule whose value decides which others matter, if there is one."""
    roles: Mapping[str, str] = {}
    """Words of the catalogue that a specification may have other names for, and what they mean."""
    trivial: Mapping[str, Trivial] = {}
    """Trivial implementations that no vector may pass, beside those of every family
    (:mod:`conformance.audit.trivial_implementations`)."""
    telling: str = "true"
    """A condition on a case without which outputs of zeros prove nothing."""
    part: str = "element"
    """What an output has one value for."""
    about_rules: str = ""
    """What the rules say together, for people; names are between backticks."""

    @property
    @abstractmethod
    def oracle(self) -> Oracle:
        """How it evaluates cases; imported when it is asked for."""

    @abstractmethod
    def data(self, spec: OpSpec, case: Case) -> tuple[Array, ...]:
        """The input tensors of a case, filled by its pattern and seed, in their logical types."""

    def fills(self, pattern: str, dtype: str) -> bool:  # noqa: ARG002 - for others
        """Whether data of an element type can be filled so: integers hold no NaN, for example."""
        return True

    def used(self, spec: OpSpec) -> frozenset[str]:  # noqa: ARG002
        """The rules that an output of an operator needs."""
        return frozenset(self.rules)

    def kinds(self, spec: OpSpec) -> Mapping[str, frozenset[str]]:  # noqa: ARG002
        """What the key ``only`` of a mutant may ask of an operator, and what this one is."""
        return {}

    def words(self, spec: OpSpec) -> FamilyVocabulary:  # noqa: ARG002
        """The words of mutants and strata, in the names of a specification."""
        return FamilyVocabulary()

    @property
    def picture(self) -> Picture | None:
        """What shows how an element came about; None where nothing does."""
        return None

    @property
    def solver(self) -> Callable[[Any], Any] | None:
        """What tells the solver of data and outputs of a question
        (:class:`conformance.feasible.knowledge.Knowledge`); None for nothing but their shapes."""
        return None

    @property
    def mutants(self) -> Path:
        """The folder of its mutants, files of YAML."""
        return directory("specs") / "faults" / self.name

    @property
    def strata(self) -> Path:
        """The file of its strata, which need not be there."""
        return directory("specs") / "strata" / f"{self.name}.yaml"


class Picture(Protocol):
    """Shows what an output element is made of."""

    def window(
        self,
        spec: OpSpec,
        case: Case,
        inputs: Any,
        index: tuple[int, ...],
        changes: tuple[Any, ...] = (),
    ) -> Any:
        """What the output element ``index`` of a valid case reads, under ``variants``.

        Raises :class:`~conformance.errors.InvalidCase` for an element that the output has not.
        """

    def described(self, seen: Any, inputs: Any) -> dict[str, Any] | None:
        """The same as JSON data for pictures; None for what has no place."""

    def telling(self, spec: OpSpec, target: Any, vectors: Iterable[Vector]) -> Any:
        """The element that shows a coverage target best in one of some vectors, if one does."""
