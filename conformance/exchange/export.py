"""Writes what a device needs to compute the outputs of each case."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.backends.capabilities import Capabilities
from conformance.errors import UsageError
from conformance.exchange.formats import MODELS, files, line
from conformance.exchange.layout import ENDING, INDEX, LINES, ExportedCase, Index, key_of
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Status, Vector
from conformance.replacement import replacing
from conformance.run.engine import Options, run
from conformance.run.executor import Executor, Identity, Request
from conformance.suite.store import Suite


class _Recorder(Executor):
    """Computes nothing, and refuses everything: so a run asks it all that it may ask a backend.

    Negative tests are asked together with the valid case that they were made from.
    """

    def __init__(self, declared: Capabilities | None) -> None:
        super().__init__()
        self.identity = Identity("export", "1", declared)
        self.asked: list[Vector] = []

    def wait_for(self, request: Request) -> Outcome:
        self.asked.append(request.vector)
        return Outcome(Ending.RAISED, message="not computed")


@dataclass
class Export:
    """What was written. ``ended`` counts cases that were refused while their model was made."""

    index: Index
    ended: int = 0


def export(
    suite: Suite,
    out: Path,
    *,
    layout: str,
    declared: Capabilities | None,
    options: Options,
    progress: Callable[[int], None] = lambda _: None,
) -> Export:
    """Write the cases that a backend with such a declaration is asked into the folder ``out``.

    The index is written last: a folder without one is not complete.

    Raises:
        UsageError: the folder is not empty, nothing is left to export, or models are asked for in
            a layout of the backend's own.
        SuiteError: the suite is damaged.
    """
    if declared is not None and declared.layout is not None and layout in MODELS:
        raise UsageError(
            f"--format {layout} writes models, whose layout is that of the specification, and "
            f"{', '.join(declared.layout)} is declared",
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
    left_out: Counter[tuple[str, str]] = Counter()
    places: dict[str, ExportedCase] = {}
    found = Export(_index(suite, layout, declared, options, (), left_out))
    lines = []
    for vector in _asked(suite, declared, options, left_out):
        key = key_of(vector)
        if key in places:
            continue
        number = len(places) + 1
        spec = suite.specs.get(vector.case.op)
        outputs = len(vector.answers) if spec is None else len(spec.outputs)
        place = ExportedCase(number, vector.case.op, vector.id, key, outputs)
        folder = out / place.folder
        folder.mkdir()
        for name, content in files(vector, layout):
            (folder / name).write_bytes(content)
            found.ended += name == ENDING
        places[key] = place
        if layout == "raw":
            lines.append(line(number, place.outputs, vector))
        progress(number)
    if not places:
        raise UsageError("nothing is left to export", hint="leave --op, --only or --backend out")
    if layout == "raw":
        (out / LINES).write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    found.index = _index(suite, layout, declared, options, tuple(places.values()), left_out)
    with replacing(out / INDEX) as path:
        path.write_text(found.index.to_json(), encoding="utf-8")
    return found


def _index(
    suite: Suite,
    layout: str,
    declared: Capabilities | None,
    options: Options,
    cases: tuple[ExportedCase, ...],
    left_out: Counter[tuple[str, str]],
) -> Index:
    return Index(
        suite=suite.name,
        digest=suite.digest,
        nonce=secrets.token_hex(16),
        layout=layout,
        level=options.level,
        capabilities=None if declared is None else declared.to_json(),
        cases=cases,
        left_out=tuple((op, why, count) for (op, why), count in left_out.items()),
    )


def _asked(
    suite: Suite,
    declared: Capabilities | None,
    options: Options,
    left_out: Counter[tuple[str, str]],
) -> Iterator[Vector]:
    """The vectors that a run asks, in its order; those that are not declared are counted."""
    recorder = _Recorder(declared)
    for event in run(suite, recorder, options):
        if isinstance(event, Result):
            if event.status is Status.UNSUPPORTED and not recorder.asked:
                left_out[event.op, event.message] += 1
            yield from recorder.asked
            recorder.asked.clear()
        elif not isinstance(event, dict) or event.get("event") != "header":
            return  # no causes are looked for
