"""Results made up for gates, and gates from YAML text."""

from __future__ import annotations

from datetime import date

from conformance.grade.gate import load_gate
from conformance.model import Case, Result, Status, Witness
from conformance.specification import shipped_specs

TODAY = date(2026, 6, 15)
WRONG = Witness("result", (0,), "1.0", "1.0", "1.0", "1.0", "2.0", 1.0, 1, 4)


def result(name, *edges, kind="", dtype="f32", op="AvgPool-1", status=None, reject=None):
    """A result; a kind that is not empty makes it a failure."""
    errors = ("raised", "aborted", "shape", "undeclared-unsupported")
    found = Status.ERROR if kind in errors else Status.FAIL if kind else Status.PASS
    return Result(
        id=name,
        op=op,
        status=status or found,
        edges=edges,
        kind=kind,
        dtype=dtype,
        reject=reject,
        witness=WRONG if kind in ("value", "index") else None,
    )


def written(folder, text, name="file.yaml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def unasked(vector):
    raise AssertionError(f"the case of {vector} was read though the manifest decides")


def never(result, mutants):
    """No outputs are those of any mutant."""
    return False


def case(rank, dtype="f32", **attributes):
    ones, zeros = [1] * (rank - 2), [0] * (rank - 2)
    given = {"kernel": ones, "strides": ones, "pads_begin": zeros, "pads_end": zeros}
    given |= {"exclude-pad": True, **attributes}
    return Case("AvgPool-1", {"T": dtype}, {"data": (20,) * rank}, given)


class Watched:
    """Results taken by a gate: ``results`` as they were marked, ``entries`` of its summary."""

    def __init__(
        self, results, *, known=None, require=None, suite=None, case_of=unasked, gives=never, **more
    ):
        gate = load_gate(known, require, specs=shipped_specs(), today=TODAY, **more)
        watch = gate.start_run(suite or results, results, case_of, gives)
        self.results = [watch.take(one) for one in results]
        said = watch.summary(is_complete=True)
        self.known = said.get("known_failures", [])
        self.required = said.get("required", [])
        self.marks = {one.id: one.known for one in self.results if one.known}

    @property
    def problems(self):
        return [text for entry in [*self.known, *self.required] for text in entry["problems"]]
