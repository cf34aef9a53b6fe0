"""The outputs that a device computed, as an executor: a run takes them from a folder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import SuiteError, UsageError
from conformance.exchange.layout import (
    DEVICE,
    ENDING,
    FOLDER,
    OUTPUTS,
    Device,
    ExportedCase,
    Index,
    key_of,
    read_device,
    read_index,
)
from conformance.grade.outcome import MESSAGE_LIMIT, Described, Ending, Outcome, describe, shortened
from conformance.model import Vector
from conformance.run import messages
from conformance.run.environment import of_system
from conformance.run.executor import Executor, Identity, Request
from conformance.run.messages import MAX_RANK
from conformance.safe_text import printable
from conformance.suite.npy import read_npy

ENDINGS = {
    one.value: one for one in (Ending.RAISED, Ending.UNSUPPORTED, Ending.CRASHED, Ending.HUNG)
}
SHOWN = 5
"""Problems of a folder that are listed."""

MAX_TEXT = 64 << 10


class Outputs(Executor):
    """Takes the outputs of each vector from a folder that a device filled.

    Everything in the folder is looked at before the run begins. Raises :class:`UsageError` for
    what is missing, surplus or damaged, and for outputs of another export.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __enter__(self) -> Self:
        self._index: Index = read_index(self._folder)
        device: Device = read_device(self._folder)
        if device.nonce != self._index.nonce:
            raise UsageError(
                f"{self._folder / DEVICE} has the nonce {printable(device.nonce)[:40]!r}, and the "
                f"index {self._index.nonce!r}: the outputs are of another export",
                hint="copy the nonce from index.json when the outputs are computed",
            )
        self._places = {one.key: one for one in self._index.cases}
        problems = list(itertools.islice(self._problems(), SHOWN + 1))
        if problems:
            more = "\n  and more" if len(problems) > SHOWN else ""
            listed = "".join(f"\n  {one}" for one in problems[:SHOWN])
            raise UsageError(
                f"{self._folder} is not what was exported:{listed}{more}",
                hint=f"a case without outputs has a file {ENDING}, which begins with one of "
                f"{', '.join(ENDINGS)}; see docs/exchange.md",
            )
        self.identity = Identity(
            device.name, device.version, self._index.declared, device.facts, of_system()
        )
        return self

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "executor": "outputs"}

    def wait_for(self, request: Request) -> Outcome:
        vector = request.vector
        place = self._places.get(key_of(vector))
        if place is None:
            raise SuiteError(
                f"{vector.case.op} {vector.id} is not in the export of {self._folder}, which was "
                f"made of suite {self._index.suite} ({self._index.digest[:8]}) at level "
                f"{self._index.level}",
                hint="grade with the suite, the operators and the level that were exported",
            )
        folder = self._folder / place.folder
        ending = _ending(folder)
        if ending is not None:
            return ending
        return Outcome(Ending.RETURNED, list(_outputs(folder, vector)))

    def _problems(self) -> Iterator[str]:
        """What is missing, surplus or short."""
        known = {one.folder for one in self._index.cases}
        for place in self._index.cases:
            yield from _case_problems(self._folder, place)
        for one in sorted(self._folder.iterdir()):
            if one.is_dir() and FOLDER.fullmatch(one.name) and one.name not in known:
                yield f"{one.name}: no case of this number was exported"


def _case_problems(root: Path, place: ExportedCase) -> Iterator[str]:
    folder = root / place.folder
    if not folder.is_dir():
        yield f"{place.folder} ({place.op} {place.id}): the folder is missing"
        return
    try:
        if _ending(folder) is None:
            _checked(folder)
    except UsageError as error:
        yield f"{place.folder} ({place.op} {place.id}): {error.message}"


def _ending(folder: Path) -> Outcome | None:
    """How a case ended that has no outputs; None for one that has."""
    path = folder / ENDING
    if not path.exists():
        return None
    word, _, message = _text(path).strip().partition(" ")
    if word not in ENDINGS:
        raise UsageError(f"{ENDING} begins with {printable(word)[:40]!r}")
    text = shortened(printable(" ".join(message.split())[: 2 * MESSAGE_LIMIT]))
    return Outcome(ENDINGS[word], message=text)


def _checked(folder: Path) -> None:
    """Raises :class:`UsageError` where outputs cannot be read, without reading them all."""
    raw = (folder / OUTPUTS).exists()
    stated = _stated(folder) if raw else []
    suffix = ".bin" if raw else ".npy"
    there = sorted(one.name for one in folder.glob(f"out*{suffix}"))
    if not there and not stated:
        raise UsageError(f"there is no out0.bin with {OUTPUTS}, no out0.npy and no {ENDING}")
    count = len(stated) if raw else len(there)
    expected = sorted(f"out{i}{suffix}" for i in range(count))
    if there != expected:
        found = f"there are {', '.join(there)}" if there else "there are no outputs"
        raise UsageError(f"{found}; expected: {', '.join(expected) or 'none'}")
    for i, (dtype, shape) in enumerate(stated):
        needed = math.prod(shape) * DTYPES[dtype].storage.itemsize
        size = (folder / f"out{i}.bin").stat().st_size
        if size != needed:
            raise UsageError(f"out{i}.bin has {size} bytes; {dtype}{list(shape)} takes {needed}")


def _stated(folder: Path) -> list[tuple[str, tuple[int, ...]]]:
    """The types and shapes in ``out.txt``, a line for each output."""
    found = []
    for number, line in enumerate(_text(folder / OUTPUTS).splitlines()):
        words = line.split()
        try:
            dtype, rank, *sizes = words
            shape = tuple(int(size) for size in sizes)
            if dtype not in DTYPES or int(rank) != len(shape) or len(shape) > MAX_RANK:
                raise ValueError
            if any(not 0 <= size < 1 << 40 for size in shape):
                raise ValueError
        except ValueError:
            raise UsageError(
                f"line {number + 1} of {OUTPUTS} is {printable(line)[:60]!r}; it looks like "
                "'f32 4 1 3 2 2': type, rank, sizes"
            ) from None
        found.append((dtype, shape))
    return found


def _outputs(folder: Path, vector: Vector) -> Iterator[Array | Described]:
    """The outputs; those larger than may be right are described."""
    limit = messages.max_output_bytes(vector)
    raw = (folder / OUTPUTS).exists()
    if raw:
        for i, (dtype, shape) in enumerate(_stated(folder)):
            row = DTYPES[dtype]
            if math.prod(shape) * row.storage.itemsize > limit:
                yield Described("array", dtype, "", shape)
                continue
            data = (folder / f"out{i}.bin").read_bytes()
            yield row.from_storage(np.frombuffer(data, row.storage).reshape(shape))
        return
    wanted = [answer.dtype for answer in vector.answers]
    for i in range(len(list(folder.glob("out*.npy")))):
        path = folder / f"out{i}.npy"
        if path.stat().st_size > limit + MAX_TEXT:
            yield _large(path)
            continue
        yield _typed(_npy(path), wanted, i)


def _large(path: Path) -> Described:
    """An output that is larger than may be right: its elements are not read."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, SyntaxError) as error:
        raise UsageError(
            f"{path}: {describe(error)}", hint="numpy.save(path, array) writes one"
        ) from error
    return Described("array", name_of(array.dtype), "", array.shape)


def _npy(path: Path) -> Array:
    try:
        return read_npy(path.read_bytes(), str(path))
    except SuiteError as error:
        raise UsageError(error.message, hint="numpy.save(path, array) writes one") from error


def _typed(array: Array, wanted: Sequence[str], i: int) -> Array:
    """The array in its logical type: a .npy file has bf16 as codes of 16 bits."""
    if i < len(wanted) and wanted[i] == "bf16" and array.dtype == DTYPES["bf16"].storage:
        return DTYPES["bf16"].from_storage(array)
    return array


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_TEXT).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror or error}") from error
