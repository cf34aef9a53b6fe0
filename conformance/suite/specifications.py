"""The specifications and mutants that the vectors of a suite were made from.

They win for that suite: whatever judges, measures or describes its vectors asks here, and never
for what is shipped under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from conformance.errors import SpecError, SuiteError
from conformance.spec import catalogue, mutants
from conformance.spec.catalogue import Fault
from conformance.spec.digest import digest
from conformance.spec.loader import load_whole, shipped
from conformance.spec.model import OpSpec
from conformance.spec.reader import MAX_BYTES, parse
from conformance.suite.archive import DAMAGED
from conformance.suite.origin import Origin, faults_file, specification_file

Read = TypeVar("Read")


class Specifications(Mapping[str, OpSpec]):
    """The specifications of a suite's operators, each read when it is asked for.

    ``origins`` is empty for a suite that does not say what it was made from: it has those that are
    shipped under the names of its operators, and none of others. Asking raises SuiteError for a
    file that is damaged, and for a shipped specification that has changed since.
    """

    def __init__(self, folder: Path, origins: Mapping[str, Origin], ops: Iterable[str]) -> None:
        self._folder = folder
        self._origins = origins
        self._ops = tuple(op for op in ops if op in (origins or shipped()))
        self._read: dict[str, OpSpec] = {}

    def __getitem__(self, op: str) -> OpSpec:
        if op not in self._read:
            if op not in self._ops:
                raise KeyError(op)
            self._read[op] = self._find(op)
        return self._read[op]

    def __contains__(self, op: object) -> bool:
        return op in self._ops

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)

    def faults(self, op: str) -> tuple[Fault, ...]:
        """The mutants of an operator; none of one whose specification is not known."""
        spec = self.get(op)
        if spec is None:
            return ()
        if not self._carries(op):
            return catalogue.faults(spec)
        path = faults_file(op)
        return self._parsed(op, path, lambda text: mutants.load_text(text, spec, path))

    def made_from(self, spec: OpSpec) -> bool:
        """Whether the vectors of an operator were made from this specification, prose aside.

        Raises SuiteError for a carried one that is damaged.
        """
        if spec.op not in self._ops:
            return False
        origin = self._origins.get(spec.op, Origin())
        return digest(spec) == (origin.digest or digest(self[spec.op]))

    def check(self) -> None:
        """Raises SuiteError unless each carried file is there and is the one that is listed."""
        for op, origin in self._origins.items():
            for path in origin.files(op):
                self._content(op, path)

    def _carries(self, op: str) -> bool:
        return op in self._origins and self._origins[op].carried

    def _find(self, op: str) -> OpSpec:
        if self._carries(op):
            path = specification_file(op)
            spec = self._parsed(op, path, lambda text: load_whole(text, path))
            if spec.op != op:
                raise SuiteError(f"{self._folder / path}: specifies {spec.op}", hint=DAMAGED)
            return spec
        own = shipped().get(op)
        expected = self._origins[op].digest if self._origins else ""
        if own is None or expected not in ("", digest(own)):
            raise SuiteError(
                f"{self._folder}: the vectors of {op} were made from another specification than "
                "comes with this version",
                hint="generate the suite again, or use it with the version that made it",
            )
        return own

    def _parsed(self, op: str, path: str, load: Callable[[str], Read]) -> Read:
        """What a carried file holds: text of strangers, so nothing in it may reach a terminal as a
        control character."""
        where = self._folder / path
        try:
            text = self._content(op, path).decode()
            if not text.replace("\n", "").isprintable() or not _printable(parse(text, path).data):
                raise SuiteError(f"{where}: holds characters that cannot be shown", hint=DAMAGED)
            return load(text)
        except UnicodeDecodeError:
            raise SuiteError(f"{where}: not UTF-8 text", hint=DAMAGED) from None
        except SpecError as error:
            raise SuiteError(
                f"{where}: cannot be used by this version: {error.problems[0]}", hint=DAMAGED
            ) from error

    def _content(self, op: str, path: str) -> bytes:
        """The bytes of a carried file, which must be those that the manifest lists."""
        file = self._folder / path
        try:
            if not file.resolve().is_relative_to(self._folder) or not file.is_file():
                raise SuiteError(f"{file}: no such file in the suite's folder", hint=DAMAGED)
            with file.open("rb") as opened:
                content = opened.read(MAX_BYTES + 1)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
            raise SuiteError(f"{file}: cannot be read: {error}", hint=DAMAGED) from error
        expected, found = self._origins[op].files(op)[path], sha256(content).hexdigest()
        if found != expected:
            raise SuiteError(
                f"{file}: the file is not the one that the manifest lists "
                f"(sha256 {expected[:12]}… expected, {found[:12]}… found)",
                hint=DAMAGED,
            )
        return content


def _printable(value: Any) -> bool:
    """Whether all text in plain data can be shown."""
    if isinstance(value, dict):
        return all(_printable(key) and _printable(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(map(_printable, value))
    return not isinstance(value, str) or value.replace("\n", "").isprintable()
