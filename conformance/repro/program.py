"""Asks a program one question. It is part of the scripts that reproduce a failure of a program.

It uses nothing of this package; docs/protocol.md describes what goes to and fro.
"""

import json
import math
import struct
import subprocess
import sys
from typing import Any

import numpy as np

STORED = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8"} | {
    f"{kind}{8 * size}": f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)
}


def message(process: Any) -> tuple[dict[str, Any], bytes]:
    """The next message of a program. Raises EOFError where it ends before that."""

    def read(size: int) -> bytes:
        data: bytes = process.stdout.read(size)
        if len(data) < size:
            raise EOFError(f"it ended without an answer, with exit code {process.wait()}")
        return data

    header, payload = struct.unpack("<IQ", read(12))
    return json.loads(read(header)), read(payload)


def started(command: list[str]) -> Any:
    """The process of a program that has said who it is; ends with 2 where none does."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        message(process)
    except Exception as error:
        print(f"nothing was tested, the program {command[0]} does not start: {error!r}")
        sys.exit(2)
    return process


def ask(process: Any, op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    """The outputs of a program. Raises ValueError where it refuses, ends where it crashes."""
    names = {np.dtype(stored).name: name for name, stored in STORED.items() if name != "bf16"}
    described = [
        {"dtype": names.get(one.dtype.name, "bf16"), "shape": list(one.shape)} for one in inputs
    ]
    question = {"number": 1, "op": op, "attributes": attributes, "inputs": described}
    header = json.dumps(question | {"limit": 1 << 40}).encode("ascii")
    arrays = b"".join(one.tobytes() for one in inputs)
    try:
        process.stdin.write(struct.pack("<IQ", len(header), len(arrays)) + header + arrays)
        process.stdin.close()
        answer, payload = message(process)
    except (EOFError, BrokenPipeError) as error:
        sys.exit(f"the program crashed: {error}")  # no exception: that would be a refusal
    if answer.get("ending", "returned") != "returned":
        raise ValueError(f"{answer['ending']}: {answer.get('message', '')}")
    outputs, at = [], 0
    for one in answer.get("outputs", []):
        count = math.prod(one["shape"])
        array = np.frombuffer(payload, STORED[one["dtype"]], count, at).reshape(one["shape"])
        at += array.nbytes
        if one["dtype"] == "bf16":
            import ml_dtypes

            array = array.view(ml_dtypes.bfloat16)
        outputs.append(array)
    return outputs
