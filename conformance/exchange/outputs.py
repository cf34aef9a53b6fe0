"""An executor that takes the outputs that a device computed from a folder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import SuiteError, UsageError
from conformance.exchange.export_index import (
    DEVICE,
    ENDING,
    FOLDER,
    OUTPUTS,
    Device,
    ExportedCase,
    ExportIndex,
    read_device,
    read_index,
    request_digest,
)
from conformance.grade.outcome import (
    MAX_MESSAGE,
    DescribedValue,
    Ending,
    Outcome,
    describe_exception,
    shorten,
)
from conformance.model import Vector
from conformance.run import messages
from conformance.run.environment import of_system
from conformance.run.executor import Executor, Identity, Request
from conformance.run.responses import MAX_RANK
from conformance.safe_text import printable
from conformance.suite.npy import read_npy

ENDINGS = {
    ending.value: ending
    for ending in (Ending.RAISED, Ending.UNSUPPORTED, Ending.CRASHED, Ending.HUNG)
}
MAX_PROBLEMS = 5
"""Problems of a folder that are listed."""

MAX_TEXT = 64 << 10


class DeviceExecutor(Executor):
    """An executor that takes the outputs of each vector from a folder of a device.

    Everything in the folder is checked before the run begins.

    Raises:
        UsageError: something is missing, surplus or damaged, or the outputs are of another export.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __enter__(self) -> Self:
        self._index: ExportIndex = read_index(self._folder)
        device: Device = read_device(self._folder)
        if device.nonce != self._index.nonce:
            raise UsageError(
                f"{self._folder / DEVICE} has the nonce {printable(device.nonce)[:40]!r}, and the "
                f"index {self._index.nonce!r}: the outputs are of another export",
                hint="copy the nonce from index.json when the outputs are computed",
            )
        self._case_by_digest = {case.key: case for case in self._index.cases}
        problems = list(itertools.islice(self._problems(), MAX_PROBLEMS + 1))
        if problems:
            more = "\n  and more" if len(problems) > MAX_PROBLEMS else ""
            listed = "".join(f"\n  {problem}" for problem in problems[:MAX_PROBLEMS])
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
        case = self._case_by_digest.get(request_digest(vector))
        if case is None:
            raise SuiteError(
                f"{vector.case.op} {vector.id} is not in the export of {self._folder}, which was "
                f"made of suite {self._index.suite} ({self._index.digest[:8]}) at level "
                f"{self._index.level}",
                hint="grade with the suite, the operators and the level that were exported",
            )
        folder = self._folder / case.folder
        ending = _read_ending(folder)
        if ending is not None:
            return ending
        return Outcome(Ending.RETURNED, list(_read_outputs(folder, vector)))

    def _problems(self) -> Iterator[str]:
        """Yield what is missing, surplus or short."""
        folders = {path.folder for path in self._index.cases}
        for case in self._index.cases:
            yield from _case_problems(self._folder, case)
        for path in sorted(self._folder.iterdir()):
            if path.is_dir() and FOLDER.fullmatch(path.name) and path.name not in folders:
                yield f"{path.name}: no case of this number was exported"


def _case_problems(root: Path, case: ExportedCase) -> Iterator[str]:
    folder = root / case.folder
    if not folder.is_dir():
        yield f"{case.folder} ({case.op} {case.id}): the folder is missing"
        return
    try:
        if _read_ending(folder) is None:
            _check_outputs(folder)
    except UsageError as error:
        yield f"{case.folder} ({case.op} {case.id}): {error.message}"


def _read_ending(folder: Path) -> Outcome | None:
    """Read how a case without outputs ended; None if it has outputs."""
    path = folder / ENDING
    if not path.exists():
        return None
    word, _, message = _read_text(path).strip().partition(" ")
    if word not in ENDINGS:
        raise UsageError(f"{ENDING} begins with {printable(word)[:40]!r}")
    text = shorten(printable(" ".join(message.split())[: 2 * MAX_MESSAGE]))
    return Outcome(ENDINGS[word], message=text)


def _check_outputs(folder: Path) -> None:
    """Check that outputs can be read, without reading them all.

    Raises:
        UsageError: they cannot.
    """
    raw = (folder / OUTPUTS).exists()
    declared = _declared_arrays(folder) if raw else []
    suffix = ".bin" if raw else ".npy"
    existing = sorted(path.name for path in folder.glob(f"out*{suffix}"))
    if not existing and not declared:
        raise UsageError(f"there is no out0.bin with {OUTPUTS}, no out0.npy and no {ENDING}")
    count = len(declared) if raw else len(existing)
    expected = sorted(f"out{i}{suffix}" for i in range(count))
    if existing != expected:
        text = f"there are {', '.join(existing)}" if existing else "there are no outputs"
        raise UsageError(f"{text}; expected: {', '.join(expected) or 'none'}")
    for i, (dtype, shape) in enumerate(declared):
        needed = math.prod(shape) * DTYPES[dtype].storage.itemsize
        size = (folder / f"out{i}.bin").stat().st_size
        if size != needed:
            raise UsageError(f"out{i}.bin has {size} bytes; {dtype}{list(shape)} takes {needed}")


def _declared_arrays(folder: Path) -> list[tuple[str, tuple[int, ...]]]:
    """Read the types and shapes in ``out.txt``, a line for each output."""
    arrays = []
    for number, line in enumerate(_read_text(folder / OUTPUTS).splitlines()):
        fields = line.split()
        try:
            dtype, rank, *sizes = fields
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
        arrays.append((dtype, shape))
    return arrays


def _read_outputs(folder: Path, vector: Vector) -> Iterator[Array | DescribedValue]:
    """Yield the outputs; those larger than a right one may be are described."""
    limit = messages.max_output_bytes(vector)
    raw = (folder / OUTPUTS).exists()
    if raw:
        for i, (dtype, shape) in enumerate(_declared_arrays(folder)):
            row = DTYPES[dtype]
            if math.prod(shape) * row.storage.itemsize > limit:
                yield DescribedValue("array", dtype, "", shape)
                continue
            data = (folder / f"out{i}.bin").read_bytes()
            yield row.from_storage(np.frombuffer(data, row.storage).reshape(shape))
        return
    dtypes = [answer.dtype for answer in vector.answers]
    for i in range(len(list(folder.glob("out*.npy")))):
        path = folder / f"out{i}.npy"
        if path.stat().st_size > limit + MAX_TEXT:
            yield _describe_large(path)
            continue
        yield _to_logical_type(_read_npy(path), dtypes, i)


def _describe_large(path: Path) -> DescribedValue:
    """Describe an output larger than a right one may be, without reading its elements."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, SyntaxError) as error:
        raise UsageError(
            f"{path}: {describe_exception(error)}", hint="numpy.save(path, array) writes one"
        ) from error
    return DescribedValue("array", name_of(array.dtype), "", array.shape)


def _read_npy(path: Path) -> Array:
    try:
        return read_npy(path.read_bytes(), str(path))
    except SuiteError as error:
        raise UsageError(error.message, hint="numpy.save(path, array) writes one") from error


def _to_logical_type(array: Array, dtypes: Sequence[str], i: int) -> Array:
    """Convert an array to its logical type: a .npy file has bf16 as 16-bit codes."""
    if i < len(dtypes) and dtypes[i] == "bf16" and array.dtype == DTYPES["bf16"].storage:
        return DTYPES["bf16"].from_storage(array)
    return array


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_TEXT).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror or error}") from error
