"""One small challenge, from the secret to the record, for tests of what is done with it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from conformance.challenge.record import ChallengeRecord, read_record
from conformance.cli import main
from conformance.generate import paired_cases, plan
from conformance.generate.pairs import Effort
from conformance.spec.loader import load_spec_text
from conformance.specification import mutants_of

sys.path.insert(0, str(Path(__file__).parents[1] / "scenarios"))

import tiny

EDGES = """
  short: {when: any(size == 2), why: One window takes all.}
  long: {when: any(size > 4), why: Several windows.}
  dense: {when: all(strides == 1), why: Windows overlap.}
  one-channel: {when: C == 1, why: The least.}
"""
"""More targets, so that a selection has more vectors; on one axis alone, so that it is quick."""

EFFORT = Effort(base=40, aimed=1, children=600, rounds=4, condensing=1, strata=False)

BACKEND = """
import itertools

import numpy as np

from conformance.backends import Capabilities

OFFSET = 0


class Mean:
    name, version = "mean", "1"
    capabilities = Capabilities(operators=("Tiny-1",), dtypes=("f32",))

    def run(self, op, inputs, attributes):
        data = inputs[0].astype(np.float64)
        if min(attributes["strides"]) < 1:
            raise ValueError("strides")
        for axis, stride in enumerate(attributes["strides"], start=2):
            count = (data.shape[axis] - 2) // stride + 1
            first = np.arange(count) * stride
            data = (data.take(first, axis) + data.take(first + 1, axis)) / 2
        return [(data + OFFSET).astype(inputs[0].dtype)]
"""


PROGRAM = """
#include "conformance.h"

static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0);
    const float *in = (const float *)data->data;
    int64_t stride, shape[3], plane, i;
    float *out;
    (void)user;

    if (data->rank != 3 || cf_ints(call, "strides", &stride, 1) != 1 || stride < 1)
        return cf_reject(call, "strides");
    shape[0] = data->shape[0];
    shape[1] = data->shape[1];
    shape[2] = (data->shape[2] - 2) / stride + 1;
    out = (float *)cf_output(call, CF_F32, 3, shape);
    for (plane = 0; plane < shape[0] * shape[1]; plane++)
        for (i = 0; i < shape[2]; i++) {
            const float *first = in + plane * data->shape[2] + i * stride;
            *out++ = (first[0] + first[1]) / 2;
        }
    return CF_OK;
}

int main(void)
{
    return cf_serve("mean.c", "1", "{\\"operators\\": [\\"Tiny-1\\"], \\"dtypes\\": [\\"f32\\"]}",
                    answer, NULL);
}
"""
"""The same backend as a program."""


@dataclass(frozen=True)
class Challenged:
    """A challenge that was run in a folder; ``published`` is its commitment."""

    folder: Path
    published: str
    output: str

    @property
    def file(self) -> Path:
        return self.folder / "out" / "record.json"

    @property
    def record(self) -> ChallengeRecord:
        return read_record(self.file)

    @property
    def backend(self) -> str:
        return f"{self.folder / 'mean.py'}:Mean"

    @property
    def spec(self) -> str:
        return str(self.folder / "Tiny-1.yaml")


def invoked(*words: object) -> Result:
    return CliRunner().invoke(main, ["challenge", *map(str, words)], catch_exceptions=False)


def smaller(patch: Any) -> None:
    """Fewer cases are drawn than a command draws otherwise, and other data follow all of them."""
    patch.setattr(plan, "make", partial(plan.make, effort=EFFORT))
    patch.setitem(paired_cases.RARITY, "core", 1)


def specification() -> str:
    """A specification that a suite is selected for in a second, since no mutant of it counts."""
    lines = tiny.TEXT.replace("rank: [3, 4]", "rank: [3, 3]").splitlines(keepends=True)
    text = "".join(one for one in lines if not one.startswith("  differs:"))
    text = text.replace("\nreject:", f"{EDGES}\nreject:")
    stated = (f"  {fault.id}: It does not count.\n" for fault in mutants_of(load_spec_text(text)))
    return f"{text}equivalent:\n{''.join(stated)}"


def challenged(folder: Path, *more: object, backend: str = "") -> Challenged:
    """A challenge of the backend in Python, or of another one."""
    tiny.write(folder, specification())
    (folder / "mean.py").write_text(BACKEND, encoding="utf-8")
    new = invoked("new", "--out", folder / "secret.json")
    assert new.exit_code == 0
    published = new.stdout.strip()
    run = invoked(
        *("run", "--secret", folder / "secret.json", "--commitment", published),
        *("--backend", backend or f"{folder / 'mean.py'}:Mean"),
        *("--op", folder / "Tiny-1.yaml"),
        *("--out", folder / "out", *more),
    )
    assert (folder / "out" / "record.json").is_file(), run.output
    return Challenged(folder, published, run.output)
