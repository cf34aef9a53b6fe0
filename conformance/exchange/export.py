"""Writes what a device needs to compute the outputs of each case."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.backends.capabilities import Capabilities
from conformance.check_options import CheckOptions
from conformance.errors import UsageError
from conformance.exchange.export_index import (
    ENDING,
    FORMAT,
    INDEX,
    LINES,
    ExportedCase,
    ExportIndex,
    request_digest,
)
from conformance.exchange.formats import MODELS, case_files, case_line
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status, Vector
from conformance.replacement import replacing
from conformance.run.engine import run
from conformance.run.executor import Executor, Identity, Request
from conformance.suite.store import Suite


class _Recorder(Executor):
    """An executor that records all vectors that a run would send to a backend.

    It computes nothing and refuses everything, so a run sends negative tests together with the
    valid case that they were made from.
    """

    def __init__(self, declared: Capabilities | None) -> None:
        super().__init__()
        self.identity = Identity("export", "1", declared)
        self.vectors: list[Vector] = []

    def wait_for(self, request: Request) -> Outcome:
        self.vectors.append(request.vector)
        return Outcome(Ending.RAISED, message="not computed")


@dataclass(frozen=True)
class Export:
    """A written export; ``ended`` counts cases that were refused while their model was made."""

    index: ExportIndex
    ended: int


def prepare(out: Path, layout: str, declared: Capabilities | None) -> None:
    """Make the folder of an export, which has to be new or empty.

    Raises:
        UsageError: the folder is not empty or cannot be made, or models are to be written in a
            layout of the backend's own.
    """
    if declared is not None and declared.layout is not None and layout in MODELS:
        raise UsageError(
            f"--format {layout} writes models, whose layout is that of the specification, and "
            f"{declared.layout_text} is declared",
            hint="use --format raw or npy, or leave 'layout' out of the declaration",
        )
    try:
        if out.exists() and any(out.iterdir()):
            raise UsageError(f"{out} is not empty", hint="name another folder, or remove it")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{out}: the export cannot be written: {error.strerror or error}",
            hint="choose a folder that you may write to, with room on its disk",
        ) from error


def export(
    suite: Suite,
    out: Path,
    *,
    layout: str,
    declared: Capabilities | None,
    options: CheckOptions,
    progress: Callable[[int], None] = lambda _: None,
) -> Export:
    """Write the cases for a backend with this declaration into the folder ``out``.

    The index is written last: a folder without one is incomplete.

    Raises:
        UsageError: as :func:`prepare`, or nothing is left to export.
        SuiteError: the suite is damaged.
    """
    prepare(out, layout, declared)
    left_out: Counter[tuple[str, str]] = Counter()
    exported: dict[str, ExportedCase] = {}
    lines, ended = [], 0
    for vector in _requests(suite, declared, options, left_out):
        digest = request_digest(vector)
        if digest in exported:
            continue
        number = len(exported) + 1
        spec = suite.specs.get(vector.case.op)
        outputs = len(vector.answers) if spec is None else len(spec.outputs)
        case = ExportedCase(number, vector.case.op, vector.id, digest, outputs)
        folder = out / case.folder
        folder.mkdir()
        for name, content in case_files(vector, layout):
            (folder / name).write_bytes(content)
            ended += name == ENDING
        exported[digest] = case
        if layout == "raw":
            lines.append(case_line(number, case.outputs, vector))
        progress(number)
    if not exported:
        raise UsageError("nothing is left to export", hint="leave --op, --only or --backend out")
    if layout == "raw":
        (out / LINES).write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")
    index = ExportIndex(
        suite=suite.name,
        digest=suite.digest,
        nonce=secrets.token_hex(16),
        layout=layout,
        level=options.level,
        capabilities=None if declared is None else declared.to_json(),
        cases=tuple(exported.values()),
        left_out=tuple((op, why, count) for (op, why), count in left_out.items()),
        export=FORMAT,
    )
    with replacing(out / INDEX) as path:
        path.write_text(index.to_json(), encoding="utf-8")
    return Export(index, ended)


def _requests(
    suite: Suite,
    declared: Capabilities | None,
    options: CheckOptions,
    left_out: Counter[tuple[str, str]],
) -> Iterator[Vector]:
    """Yield the vectors that a run sends, in its order; count those not declared."""
    recorder = _Recorder(declared)
    for event in run(suite, recorder, options):
        if isinstance(event, Result):
            if event.status is Status.UNSUPPORTED and not recorder.vectors:
                left_out[event.op, event.message] += 1
            yield from recorder.vectors
            recorder.vectors.clear()
        elif not isinstance(event, dict) or event.get("event") != "header":
            return  # no causes are looked for
