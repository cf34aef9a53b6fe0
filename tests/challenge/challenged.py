"""One small challenge, from the secret to the record, for tests of what is done with it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from conformance.challenge.record import ChallengeRecord, read_record
from conformance.cli import main
from conformance.generate import paired_cases

sys.path.insert(0, str(Path(__file__).parents[1] / "scenarios"))

import tiny

BACKEND = """
import numpy as np

from conformance.backends import Capabilities

OFFSET = 0


class Mean:
    name, version = "mean", "1"
    capabilities = Capabilities(operators=("Tiny-1",), dtypes=("f32",))

    def run(self, op, inputs, attributes):
        data, step = inputs[0].astype(np.float64), attributes["step"]
        if step < 1 or data.ndim != 2 or data.shape[0] < 1 or data.shape[1] < 2:
            raise ValueError("no pairs")
        first = np.arange((data.shape[1] - 2) // step + 1) * step
        with np.errstate(all="ignore"):
            means = (data[:, first] + data[:, first + 1]) / 2 + OFFSET
            return [means.astype(inputs[0].dtype)]
"""


PROGRAM = """
#include "conformance.h"

static int answer(cf_call *call, void *user)
{
    const cf_array *data = cf_input(call, 0);
    const float *in = (const float *)data->data;
    int64_t step = cf_int(call, "step", 0), shape[2], row, i;
    float *out;
    (void)user;

    if (step < 1)
        return cf_reject(call, "step");
    if (data->rank != 2 || data->shape[0] < 1 || data->shape[1] < 2)
        return cf_reject(call, "data");
    shape[0] = data->shape[0];
    shape[1] = (data->shape[1] - 2) / step + 1;
    out = (float *)cf_output(call, CF_F32, 2, shape);
    for (row = 0; row < shape[0]; row++)
        for (i = 0; i < shape[1]; i++) {
            const float *first = in + row * data->shape[1] + i * step;
            *out++ = (float)(((double)first[0] + first[1]) / 2);
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
    tiny.draw_few(patch)
    patch.setitem(paired_cases.RARITY, "core", 1)


def challenged(folder: Path, *more: object, backend: str = "") -> Challenged:
    """A challenge of the backend in Python, or of another one."""
    tiny.write(folder)
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
