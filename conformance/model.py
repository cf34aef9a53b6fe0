"""Values shared by all packages: cases, vectors, results, findings. All frozen."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import Array

Attributes = Mapping[str, Any]

OPEN_BIT = {"exact": 1, "standard": 2, "native": 4, "tiled": 2}
"""The bit of each precision in a mask of elements that are not checked; tiled has standard's."""
ALL_OPEN = 7

ADOPTED, FOLLOWED, NEITHER = "adopted", "followed", "neither"
"""Answers that outputs give to an interpretation: the expected, the allowed, or neither."""

INTERVAL_BINS = {
    "exactly rounded": "exact",
    "up to 1/4": "1/4",
    "up to 1/2": "1/2",
    "up to 3/4": "3/4",
    "up to all": "all",
    "beyond": "beyond",
}
"""Bins of the share of its accepted interval that an element uses, with the tick of a chart.

Up to a quarter of the way to the end that it lies towards, and so on.
"""


@dataclass(frozen=True)
class Case:
    """A case: an operator, its attributes, shapes and types, and how its data is made.

    ``shapes`` gives the shape of each input tensor that is filled from ``pattern`` and ``seed``;
    ``operands`` the value of each input that decides shapes (``output_size``).
    ``attributes`` are spelled as the document spells them; an absent one takes its default.
    ``reject`` names the condition that a negative test breaks.
    """

    op: str
    types: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]
    attributes: Attributes
    operands: Mapping[str, tuple[int | float, ...]] = field(default_factory=dict)
    pattern: str = "ramp"
    seed: int = 0
    reject: str | None = None

    def canonical(self) -> dict[str, Any]:
        """Return the case as JSON data.

        Its form never changes, since ids are digests of it.
        """
        return {
            "op": self.op,
            "types": dict(self.types),
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "attributes": dict(self.attributes),
            "operands": {name: list(value) for name, value in self.operands.items()},
            "pattern": self.pattern,
            "seed": self.seed,
            "reject": self.reject,
        }

    @property
    def rank(self) -> int:
        """The largest rank of its tensors, by which its partition goes."""
        return max(map(len, self.shapes.values()), default=0)

    @property
    def dtype(self) -> str:
        """The element type of its first type variable."""
        return next(iter(self.types.values()))

    @property
    def request(self) -> dict[str, Any]:
        """The case as JSON data, without its operator and empty values."""
        data = self.canonical()
        names = ("types", "shapes", "attributes", "operands", "pattern", "seed")
        return {name: data[name] for name in names if data[name]}

    @cached_property
    def id(self) -> str:
        """``<slug>-<8 hex of the digest of the canonical case>``."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        shape = "x".join(str(n) for s in self.shapes.values() for n in s)
        patterns = "-".join(dict.fromkeys(self.pattern.split("+")))
        slug = f"reject-{self.reject}" if self.reject else patterns
        return f"{self.dtype}-{shape}-{slug}-{digest}"


@dataclass(frozen=True)
class Answer:
    """The expected values of an output.

    ``dtype`` is the logical type. ``expected`` is float64 (or the integer type itself), for
    people; ``rounded`` is the value in the type, correctly rounded once from the exact one.
    Precision standard accepts ``lo <= got <= hi``, and NaN where ``lo`` is NaN; native the same
    with ``lo_native`` and ``hi_native`` where present; tiled what is further off by ``slack``, and
    anything where that is infinite. ``open`` is a mask of elements that are
    not checked, a sum of ``OPEN_BIT`` by precision. ``choices`` has one axis more than the
    output: the allowed values of an integer output, or of one with ``bits``, filled up with -1 or
    with the first again; -1 is a value in the first place alone. For an integer output
    ``rounded``, ``lo`` and ``hi`` are None and ``expected`` (or ``choices``) decides. An output
    with ``bits`` is moved and not computed: it has to be ``rounded`` to the last bit.
    """

    name: str
    dtype: str
    expected: Array
    rounded: Array | None = None
    lo: Array | None = None
    hi: Array | None = None
    lo_native: Array | None = None
    hi_native: Array | None = None
    open: NDArray[np.uint8] | None = None
    choices: Array | None = None
    slack: Array | None = None
    bits: bool = False

    def interval(self, precision: str) -> tuple[Array, Array]:
        """Return the accepted interval of each element of a floating-point output.

        Its ends are accepted.
        """
        assert self.rounded is not None
        if precision == "exact" or self.lo is None or self.hi is None:
            return self.rounded, self.rounded
        if precision == "native" and self.lo_native is not None and self.hi_native is not None:
            return self.lo_native, self.hi_native
        if precision == "tiled" and self.slack is not None:
            return self._beyond(self.lo, -1), self._beyond(self.hi, 1)
        return self.lo, self.hi

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Where ``choices`` are values that are allowed, and do not just fill up."""
        assert self.choices is not None
        return np.asarray((self.choices != -1) | (self.choices == self.choices[..., :1]))

    def _beyond(self, end: Array, sign: int) -> Array:
        """Ends with the slack added; rounding the sum to the type is monotone, so it is safe."""
        assert self.slack is not None
        with np.errstate(over="ignore", invalid="ignore"):
            wide = end.astype(np.float64) + sign * self.slack.astype(np.float64)
            return wide.astype(end.dtype)

    def unchecked(self, precision: str) -> NDArray[np.bool_] | None:
        """Return where a precision accepts any value; None if nowhere."""
        mask = None if self.open is None else (self.open & OPEN_BIT[precision]) != 0
        if precision != "tiled" or self.slack is None:
            return mask
        endless = np.isinf(self.slack.astype(np.float64))
        return endless if mask is None else mask | endless


@dataclass(frozen=True)
class Vector:
    """A case with its inputs and expected outputs, which a negative test lacks.

    ``inputs`` are those that the case gives, ``absent`` the places of optional ones that it does
    not give. ``order`` names the inputs where operands do not come last; empty otherwise.
    ``readings`` maps the name of an allowed interpretation (several joined by ``+``) to
    the expected outputs under it, present only where they differ from ``answers``.
    """

    id: str
    case: Case
    level: str
    edges: tuple[str, ...]
    description: str
    source: str
    inputs: tuple[Array, ...]
    answers: tuple[Answer, ...]
    readings: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    absent: tuple[int, ...] = ()
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.order == self._usual_order:  # so that equal vectors are equal
            object.__setattr__(self, "order", ())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs, in the order of the specification."""
        return self.order or self._usual_order

    @property
    def _usual_order(self) -> tuple[str, ...]:
        return (*self.case.shapes, *self.case.operands)

    @property
    def argument_names(self) -> list[str]:
        """The names of :attr:`arguments`; empty for one that is absent."""
        names = list(self.names)
        for index in self.absent:
            names.insert(index, "")
        return names

    @property
    def arguments(self) -> list[Array | None]:
        """The inputs in the order of the specification, None for one that is absent."""
        arguments: list[Array | None] = list(self.inputs)
        for index in self.absent:
            arguments.insert(index, None)
        return arguments


class Status(enum.StrEnum):
    """The status of a vector.

    ``counter`` is the name under which vectors are counted, ``verb`` that of a sentence.
    """

    counter: str
    verb: str

    def __new__(cls, text: str, counter: str = "", verb: str = "") -> Status:
        """Make a member whose value is the text."""
        member = str.__new__(cls, text)
        member._value_, member.counter, member.verb = text, counter, verb
        return member

    PASS = "pass", "passed", "passes"
    FAIL = "fail", "failed", "fails"
    ERROR = "error", "errors", "ends in an error"
    UNSUPPORTED = "unsupported", "unsupported", "does not support this vector"
    SKIPPED = "skipped", "skipped", "is not tested"


GRADED = (Status.PASS, Status.FAIL, Status.ERROR)
FAILED = (Status.FAIL, Status.ERROR)


@dataclass(frozen=True)
class Witness:
    """The worst element of an output, as text and plain numbers, ready for a log.

    ``got``, ``exact``, ``rounded``, ``lo`` and ``hi`` are strings, since JSON has no NaN and
    no infinities. ``ulp`` is the distance from ``rounded`` (None where it has no meaning).
    """

    output: str
    index: tuple[int, ...]
    exact: str
    rounded: str
    lo: str
    hi: str
    got: str
    ulp: float | None
    wrong: int
    total: int


@dataclass(frozen=True, slots=True)
class Returned:
    """An array, as an output that a backend returned, kept with a failure.

    ``packed`` holds the elements in row-major order and their storage type, compressed.
    """

    dtype: str
    shape: tuple[int, ...]
    packed: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a vector.

    ``kind`` names the failure, see :class:`~conformance.failure_kind.FailureKind`; empty for a
    pass. ``reading`` is the interpretation that the outputs follow, if not the expected one.
    ``precision`` is the best one that they reach. ``size`` is the number of elements of the inputs
    and outputs. ``shows`` has the answers that the outputs give to open questions, by name: of an
    interpretation ``ADOPTED``, ``FOLLOWED`` or ``NEITHER``, of an observation the kinds of values
    ("NaN", "+0", ...). ``known`` is the entry of the vendor's known failures that names this
    failure, as file and line; None for a new failure, and if it did not fail. ``within`` counts
    graded floating-point elements by the share of their accepted interval that they use, see
    :data:`INTERVAL_BINS`. ``rank`` is the largest of its tensors. ``left_out`` are the attributes
    with a default that the vector does not give. ``returned`` are the outputs of a failure, if they
    are arrays of the right types and small. ``wrong`` is a digest of the positions of wrong
    elements, or of a wrong structure; empty if no outputs were compared. ``asked`` is the
    :attr:`Case.request`. ``inputs`` and ``expected`` are kept of a failure if they are small.
    """

    id: str
    op: str
    status: Status
    edges: tuple[str, ...] = ()
    message: str = ""
    kind: str = ""
    reading: str | None = None
    precision: str | None = None
    level: str = "must"
    dtype: str = ""
    size: int = 0
    reject: str | None = None
    seconds: float = 0.0
    witness: Witness | None = None
    shows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: str | None = None
    rank: int = 0
    within: tuple[int, ...] | None = None
    left_out: tuple[str, ...] = ()
    returned: tuple[Returned, ...] | None = None
    wrong: str = ""
    asked: Mapping[str, Any] | None = None
    inputs: tuple[Returned, ...] | None = None
    expected: tuple[Returned, ...] | None = None

    @property
    def new(self) -> bool:
        """Whether it failed or ended in an error, and is no known failure."""
        return self.status in FAILED and self.known is None


@dataclass(frozen=True)
class Finding:
    """A group of alike failures: their ids, what they share, and the smallest vector.

    ``diagnosis`` is the cause, see docs/run-log.md; None if it was not searched for.
    """

    op: str
    kind: str
    title: str
    ids: tuple[str, ...]
    edges: tuple[str, ...]
    smallest: str
    message: str
    witness: Witness | None
    reproduce: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    diagnosis: Mapping[str, Any] | None = None
