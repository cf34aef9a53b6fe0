"""The specifications from which the vectors of a suite were made.

They win for that suite: whatever judges, measures or describes its vectors asks here, and never
for what is shipped under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from conformance import remote
from conformance.core.operator import Operator
from conformance.errors import SpecError, SuiteError
from conformance.model import Vector
from conformance.replacement import resolved
from conformance.spec.catalogue import Mutant
from conformance.spec.yaml_reader import MAX_BYTES, parse_yaml
from conformance.specification import (
    definition_problem,
    load_whole,
    mutants_of,
    order_problem,
    shipped_specs,
    spec_digest,
)
from conformance.suite.archive import DAMAGED
from conformance.suite.origin import Origin, OriginFiles, specification_file


class Specifications(Mapping[str, Operator]):
    """The specifications of a suite's operators, each read when it is needed.

    Reading one raises SuiteError for a file that is damaged, and for a shipped specification that
    has changed since.
    """

    def __init__(self, folder: Path, origins: Mapping[str, Origin], ops: Iterable[str]) -> None:
        self._folder = folder
        self._origins = origins
        self._ops = tuple(ops)
        self._read: dict[str, Operator] = {}

    def __getitem__(self, op: str) -> Operator:
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

    def faults(self, op: str) -> tuple[Mutant, ...]:
        """Return the mutants of an operator; none if the suite does not have it."""
        spec = self.get(op)
        return () if spec is None else mutants_of(spec)

    def made_from(self, spec: Operator) -> bool:
        """Return whether an operator's vectors were made from this specification, prose aside.

        Raises SuiteError for a carried one that is damaged.
        """
        if spec.op not in self._ops:
            return False
        return spec_digest(spec) == (self._origins[spec.op].digest or spec_digest(self[spec.op]))

    def problem(self, vector: Vector) -> str:
        """Return how a vector does not fit the specification that the suite carries.

        Empty if it fits, valid or not. Where the suite carries none, inputs in the usual order fit.
        """
        case = vector.case
        if not self.carries(case.op) and not vector.order:
            return ""
        spec = self[case.op]
        return definition_problem(spec, case) or order_problem(spec, vector)

    def check(self) -> None:
        """Check that each carried file is there and is the listed one.

        Raises SuiteError otherwise.
        """
        for op, origin in self._origins.items():
            for path in origin.files(op):
                self._content(op, path)

    def carries(self, op: str) -> bool:
        """Return whether the specification of an operator is a file of the suite."""
        return op in self._origins and self._origins[op].carried

    def bases(self) -> list[OriginFiles]:
        """Return the origins, ready to be written into another suite."""
        return [
            OriginFiles(op, origin, {path: self._content(op, path) for path in origin.files(op)})
            for op, origin in self._origins.items()
        ]

    def _find(self, op: str) -> Operator:
        if self.carries(op):
            carried = self._carried(op)
            if carried.op != op:
                raise SuiteError(f"{carried.file}: specifies {carried.op}, not {op}", hint=DAMAGED)
            return carried
        spec = shipped_specs().get(op)
        if spec is None or spec_digest(spec) != self._origins[op].digest:
            raise SuiteError(
                f"{self._folder}: the vectors of {op} were made from another specification than "
                "comes with this version",
                hint="generate the suite again, or use it with the version that made it",
            )
        return spec

    def _carried(self, op: str) -> Operator:
        """Load the file that the suite carries of an operator.

        It was written by strangers, so no control character in it may reach a terminal.
        """
        path = specification_file(op)
        file = str(self._folder / path)
        try:
            text = self._content(op, path).decode()
            if not _printable(text) or not _printable(parse_yaml(text, file).data):
                raise SuiteError(f"{file}: holds characters that cannot be shown", hint=DAMAGED)
            return load_whole(text, file)
        except UnicodeDecodeError:
            raise SuiteError(f"{file}: not UTF-8 text", hint=DAMAGED) from None
        except SpecError as error:
            more = f"\nand {len(error.problems) - 1} more" if len(error.problems) > 1 else ""
            raise SuiteError(
                f"this version cannot use what the suite was made from\n{error.problems[0]}{more}",
                hint="use the version that made the suite, or generate it again",
            ) from error

    def _content(self, op: str, path: str) -> bytes:
        """Read a carried file, which must be the one that the manifest lists."""
        file = self._folder / path
        try:
            leaves = not remote.is_remote(file) and not resolved(file).is_relative_to(self._folder)
            if leaves or not file.is_file():
                raise SuiteError(f"{file}: no such file in the suite's folder", hint=DAMAGED)
            content = remote.read_head(file, MAX_BYTES + 1)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
            raise SuiteError(f"{file}: cannot be read: {error}", hint=DAMAGED) from error
        expected, actual = self._origins[op].files(op)[path], sha256(content).hexdigest()
        if actual != expected:
            raise SuiteError(
                f"{file}: the file is not the one that the manifest lists "
                f"(sha256 {expected[:12]}… expected, {actual[:12]}… found)",
                hint=DAMAGED,
            )
        return content


def _printable(value: Any) -> bool:
    """Return whether all text in plain data can be shown."""
    if isinstance(value, dict):
        return all(_printable(key) and _printable(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(map(_printable, value))
    return not isinstance(value, str) or value.replace("\n", "").isprintable()
