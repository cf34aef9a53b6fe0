"""A second opinion on coverage, from the files of a suite and the text of specifications alone.

It shares nothing with ``conformance``: vector files are read with ``zipfile`` and ``numpy``,
specifications with ``yaml``, and what a window holds is found by cutting it out of the data. NaN
stands where minus infinity does when the largest element is looked for.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from edge_expressions import evaluate, parsed

SMALLEST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}

Pair = tuple[str, str]


# --- Files ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """What a vector file asks: its case, its data as float64 (N, C, *size), the edges it lists."""

    case: dict[str, Any]
    data: np.ndarray[Any, Any]

    @property
    def edges(self) -> list[str]:
        return self.case["edges"]

    @property
    def dtype(self) -> str:
        return self.case["inputs"][0]["dtype"]


def read(file: Path) -> Question:
    with zipfile.ZipFile(file) as archive:
        case = json.loads(archive.read("case.json"))
        with archive.open(case["inputs"][0]["array"]) as member:
            stored = np.lib.format.read_array(member)  # type: ignore[no-untyped-call]
    if case["inputs"][0]["dtype"] == "bf16":  # the upper half of a binary32
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return Question(case, stored.astype(np.float64))


def value_questions(suite: Path, op: str) -> Iterator[Question]:
    """The vectors of one operator that have an answer, in the manifest's order."""
    for entry in json.loads((suite / "manifest.json").read_text())["vectors"]:
        if entry["op"] == op and entry["reject"] is None:
            yield read(suite / op / f"{entry['id']}.npz")


class Specification:
    """The conditions of a specification file: its edges, and the definitions they speak in."""

    def __init__(self, file: Path) -> None:
        self.raw = yaml.safe_load(file.read_text(encoding="utf-8"))
        rules = self.raw["rules"]
        assert not {"tap", "step"} & rules.keys(), "windows have neighbouring taps here"
        self.edges = {name: parsed(edge["when"]) for name, edge in self.raw["edges"].items()}
        texts = {"open": "false", **self.raw.get("let", {}), **rules}
        self.definitions = {name: parsed(str(text)) for name, text in texts.items()}
        attributes = self.raw["attributes"].items()
        self.defaults = {key(name): one.get("default") for name, one in attributes}
        low, high = self.raw["inputs"][0]["rank"]
        self.ranks = range(low, high + 1)
        self.dtypes: list[str] = self.raw["types"][self.raw["inputs"][0]["type"]]


def key(name: str) -> str:
    return name.replace("-", "_")


# --- One vector ----------------------------------------------------------------------------------


class Facts:
    """The named values of one vector, each worked out when it is asked for."""

    def __init__(self, specification: Specification, question: Question) -> None:
        case, data = question.case, question.data
        self.specification, self.question = specification, question
        self.size = list(data.shape[2:])
        self.known: dict[str, Any] = {
            **specification.defaults,
            **{key(name): given for name, given in case["attributes"].items()},
            **case["operands"],
            **case["types"],
            "true": True,
            "false": False,
            "pattern": case["pattern"],
            "N": data.shape[0],
            "C": data.shape[1],
            "size": self.size,
            "rank": data.ndim,
            "axes": data.ndim - 2,
            "axis": list(range(data.ndim - 2)),
        }

    def __call__(self, name: str) -> Any:
        """A value by its name; a name of nothing is a word, such as a member of an enum."""
        if name not in self.known:
            if name in self.specification.definitions:
                self.known[name] = evaluate(self.specification.definitions[name], self)
            elif name in DATA_FACTS:
                self.known[name] = DATA_FACTS[name](self)
            else:
                return name
        return self.known[name]

    def edges(self) -> list[str]:
        found = self.specification.edges.items()
        return [name for name, when in found if np.all(evaluate(when, self))]

    @cached_property
    def out(self) -> list[int]:
        return [int(n) for n in self("out")]

    def numbers(self) -> list[Any]:
        """``i``: the numbers of the windows on each axis."""
        return [self.along(axis, range(n)) for axis, n in enumerate(self.out)]

    def along(self, axis: int, values: Any) -> Any:
        """One value for each window of an axis, along that axis of (N, C, *out)."""
        return np.reshape(values, [-1 if k == axis + 2 else 1 for k in range(len(self.out) + 2)])

    @cached_property
    def borders(self) -> list[tuple[list[int], list[int]]]:
        """On each axis the first tap of each window that is on the data, and the end of them."""
        found = []
        for start, taps, size, out in zip(
            self("start"), self("taps"), self.size, self.out, strict=True
        ):
            clipped = [np.clip(np.ravel(one), 0, size) for one in (start, start + taps)]
            first, end = (np.broadcast_to(one, out).tolist() for one in clipped)
            found.append((first, end))
        return found

    def on_data(self) -> list[Any]:
        return [
            self.along(k, np.subtract(end, first)) for k, (first, end) in enumerate(self.borders)
        ]

    def of_windows(
        self, array: np.ndarray[Any, Any], function: Callable[[Any], Any]
    ) -> np.ndarray[Any, Any]:
        """What a function gives of each window's part (N, C, taps) of an array: (N, C, *out)."""
        found = np.empty((*array.shape[:2], *self.out), np.int64)
        for window in product(*map(range, self.out)):
            cut = [
                slice(first[k], end[k])
                for k, (first, end) in zip(window, self.borders, strict=True)
            ]
            part = array[:, :, *cut]
            found[:, :, *window] = function(part.reshape(*part.shape[:2], -1))
        return found

    def count(self, mask: np.ndarray[Any, Any]) -> Any:
        return self.of_windows(mask, lambda part: part.sum(axis=-1)) if mask.any() else 0

    @cached_property
    def ranked(self) -> np.ndarray[Any, Any]:
        return np.where(np.isnan(self.question.data), -np.inf, self.question.data)

    def maxima(self) -> Any:
        def equal(part: Any) -> Any:
            return (part == part.max(axis=-1, keepdims=True)).sum(axis=-1)

        return self.of_windows(self.ranked, equal)

    def place(self, *, last: bool) -> list[Any]:
        """Where the first or last largest element of each window is, on each axis."""

        def largest(part: Any) -> Any:
            backwards = part.shape[-1] - 1 - part[..., ::-1].argmax(axis=-1)
            return backwards if last else part.argmax(axis=-1)

        tap = self.of_windows(self.ranked, largest)
        found = []
        for axis, length in reversed(list(enumerate(self.on_data()))):
            found.append(self.along(axis, self.borders[axis][0]) + tap % length)
            tap = tap // length
        return found[::-1]

    @property
    def minus_zero(self) -> Any:
        return (self.question.data == 0) & np.signbit(self.question.data)

    @property
    def subnormal(self) -> Any:
        magnitude = np.abs(self.question.data)
        return (magnitude > 0) & (magnitude < SMALLEST_NORMAL[self.question.dtype])


DATA_FACTS: dict[str, Callable[[Facts], Any]] = {
    "i": Facts.numbers,
    "on_data": Facts.on_data,
    "nan_taps": lambda facts: facts.count(np.isnan(facts.question.data)),
    "posinf_taps": lambda facts: facts.count(np.isposinf(facts.question.data)),
    "neginf_taps": lambda facts: facts.count(np.isneginf(facts.question.data)),
    "subnormal_taps": lambda facts: facts.count(facts.subnormal),
    "minus_zero_taps": lambda facts: facts.count(facts.minus_zero),
    "maxima": Facts.maxima,
    "first_max": lambda facts: facts.place(last=False),
    "last_max": lambda facts: facts.place(last=True),
}


# --- A suite -------------------------------------------------------------------------------------


@dataclass
class Shown:
    """What the vectors of one rank show: pairs of edges in one element type, edges in all (as pairs
    with themselves), and in which."""

    base: str
    vectors: int = 0
    pairs: set[Pair] = field(default_factory=set)
    typed: set[tuple[str, str]] = field(default_factory=set)

    def add(self, dtype: str, edges: list[str]) -> None:
        self.vectors += 1
        self.pairs.update((edge, edge) for edge in edges)
        if dtype == self.base:
            self.pairs.update(combinations(sorted(edges), 2))
        self.typed.update((dtype, edge) for edge in edges)


def check(suite: Path, specification: Path) -> tuple[dict[int, Shown], list[str]]:
    """What a suite shows of one operator, by rank, and the vectors that list other edges."""
    known = Specification(specification)
    base = "f32" if "f32" in known.dtypes else known.dtypes[0]
    ranks = {rank: Shown(base) for rank in known.ranks}
    wrong = []
    for question in value_questions(suite, known.raw["op"]):
        edges = Facts(known, question).edges()
        if edges != question.edges:
            wrong.append(question.case["id"])
        ranks[question.data.ndim].add(question.dtype, edges)
    return ranks, wrong
