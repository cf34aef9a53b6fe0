"""What a family of operators gives; :mod:`conformance.spec.family_index` finds one by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from conformance.resources import directory
from conformance.spec.kinds import Kind

if TYPE_CHECKING:
    from conformance.dtypes import Array
    from conformance.model import Answer, Case, Vector
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
    """A value that the oracle adds to a case's own: its kind and meaning."""

    kind: Kind
    about: str


@dataclass(frozen=True)
class Layout:
    """The dimensions of a family's input tensors, by name, in the order of the tensors.

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
        """Number of dimensions that the first tensor has beside those of the axes."""
        return len(self.tensors[0]) - (self.spread in self.tensors[0])

    @property
    def least_rank(self) -> int:
        """Smallest rank of the first tensor."""
        return len(self.tensors[0])

    def axes(self, rank: int) -> int:
        """Return the number of axes if the first tensor has this rank."""
        return rank - self.fixed if self.spread else 0

    def rank(self, axes: int) -> int:
        """Return the rank of the first tensor with this number of axes."""
        return self.fixed + axes

    def bound(self, shapes: Iterable[tuple[int, ...]]) -> list[tuple[str, Any]] | None:
        """Match tensor shapes with dimensions, by name: a number, or a tuple per axis.

        A dimension that several tensors have is listed several times. Returns: None if a shape has
        too few dimensions or too many.
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
    """Words that mutants and strata may use, in the names of one specification.

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
    """The interface to evaluate a family's cases.

    :class:`conformance.reference.plain.Plain` has most of it.

    An environment holds a case with its inputs, and definitions that may be those of a variant.
    ``depends`` says what the values of an environment depend on that no expression defines.
    """

    @property
    def depends(self) -> Mapping[str, tuple[str, ...]]: ...

    def environment(
        self, spec: OpSpec, case: Case, inputs: Sequence[Array], definitions: Mapping[str, Any]
    ) -> Any:
        """Return the values of a valid case with its inputs."""

    def answers(self, env: Any, spec: OpSpec) -> tuple[Answer, ...]:
        """Compute the expected outputs."""

    def outputs(self, env: Any, spec: OpSpec, *, dtype: str | None = None) -> list[Array]:
        """Compute each output's values, in its own type, or floating ones in ``dtype``."""

    def remembered(self, env: Any, spec: OpSpec, kept: dict[Any, list[Array]]) -> list[Array]:
        """Compute the outputs in their own types, with a cache.

        ``kept`` belongs to one case: values that other definitions can reuse may be put there.
        """

    def ends(self, env: Any, spec: OpSpec, precision: str) -> list[Array]:
        """Compute each output's accepted interval at ``precision``: lower end, upper end."""

    def unspecified(self, env: Any, spec: OpSpec, precision: str | None = None) -> list[Array]:
        """Mark each output's elements without a value to check.

        With a ``precision`` also those whose partial sums may overflow there.
        """

    def too_large(
        self, env: Any, right: Any, shapes: Collection[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        """Return the shape of outputs too large to compute; None if they are not.

        Outputs in the shape of the ``right`` ones, in one of ``shapes``, or small ones are
        computed.
        """

    def shape(self, env: Any) -> tuple[int, ...]:
        """Return the shape of the first output."""

    def batch(self, table: Any) -> Any:
        """Evaluate many cases at once, as a :class:`conformance.reference.batches.CaseBatch`."""

    def case_environment(self, spec: OpSpec, case: Case) -> Environment:
        """Return the values of a valid case, without its inputs."""

    def is_whole(self, spec: OpSpec, case: Case) -> bool:
        """Return whether the case takes all its data at once, as a code path might."""


Trivial = Callable[["Vector"], "list[Array] | None"]
"""The outputs of a trivial implementation; None if it is the function itself, or has none."""


class Family(ABC):
    """A family of operators: what its specifications may say, and how they are evaluated."""

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
        """The oracle of the family; imported on first use."""

    @abstractmethod
    def data(self, spec: OpSpec, case: Case) -> tuple[Array, ...]:
        """Make a case's input tensors from its pattern and seed, in their logical types."""

    def fills(self, pattern: str, dtype: str) -> bool:  # noqa: ARG002 - for others
        """Return whether a pattern can fill data of an element type: integers hold no NaN."""
        return True

    def used(self, spec: OpSpec) -> frozenset[str]:  # noqa: ARG002
        """Return the rules that an output of an operator needs."""
        return frozenset(self.rules)

    def kinds(self, spec: OpSpec) -> Mapping[str, frozenset[str]]:  # noqa: ARG002
        """Return the values that an operator has for the key ``only`` of a mutant."""
        return {}

    def words(self, spec: OpSpec) -> FamilyVocabulary:  # noqa: ARG002
        """Return the words of mutants and strata, in the names of a specification."""
        return FamilyVocabulary()

    @property
    def picture(self) -> Picture | None:
        """The picture of how an element came about; None if there is none."""
        return None

    @property
    def solver(self) -> Callable[[Any], Any] | None:
        """Facts on data and outputs for the solver; None if it knows only their shapes.

        See :class:`conformance.feasible.knowledge.Knowledge`.
        """
        return None

    @property
    def mutants(self) -> Path:
        """Folder of its mutants, files of YAML."""
        return directory("specs") / "faults" / self.name

    @property
    def strata(self) -> Path:
        """File of its strata, which need not exist."""
        return directory("specs") / "strata" / f"{self.name}.yaml"


class Picture(Protocol):
    """A picture of the data that an output element is made of."""

    def window(
        self,
        spec: OpSpec,
        case: Case,
        inputs: Any,
        index: tuple[int, ...],
        variants: tuple[Any, ...] = (),
    ) -> Any:
        """Collect what output element ``index`` of a valid case reads, under ``variants``.

        Raises :class:`~conformance.errors.InvalidCase` for an element that the output has not.
        """

    def described(self, seen: Any, inputs: Any) -> dict[str, Any] | None:
        """Convert a window to JSON data for pictures; None for what has no place."""

    def telling(self, spec: OpSpec, edge: Any, vectors: Iterable[Vector]) -> Any:
        """Choose the element that shows a coverage target best, if any does."""
