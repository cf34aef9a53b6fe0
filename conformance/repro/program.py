"""Sends a request to a program. It is part of scripts that reproduce a program's failure.

It uses nothing of this package; docs/protocol.md describes the messages.
"""

import json
import math
import struct
import subprocess
import sys
from typing import Any

import numpy as np

STORED = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "bool": "<b1"} | {
    f"{kind}{8 * size}": f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)
}


def message(process: Any) -> tuple[dict[str, Any], bytes]:
    """Read the next message of a program.

    Raises:
        EOFError: the program ends before that.
    """

    def read(size: int) -> bytes:
        data: bytes = process.stdout.read(size)
        if len(data) < size:
            raise EOFError(f"it ended without an answer, with exit code {process.wait()}")
        return data

    header, payload = struct.unpack("<IQ", read(12))
    return json.loads(read(header)), read(payload)


def started(command: list[str]) -> Any:
    """Start a program that introduces itself; exit with 2 if it does not."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        message(process)
    except Exception as error:
        print(f"nothing was tested, the program {command[0]} does not start: {error!r}")
        sys.exit(2)
    return process


def ask(process: Any, op: str, inputs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    """Return the outputs of a program; exit if it crashes.

    Raises:
        ValueError: the program refuses.
    """
    names = {np.dtype(stored).name: name for name, stored in STORED.items() if name != "bf16"}
    facts = [{"dtype": names.get(a.dtype.name, "bf16"), "shape": list(a.shape)} for a in inputs]
    request = {"number": 1, "op": op, "attributes": attributes, "inputs": facts}
    header = json.dumps(request | {"limit": 1 << 40}).encode("ascii")
    arrays = b"".join(array.tobytes() for array in inputs)
    try:
        process.stdin.write(struct.pack("<IQ", len(header), len(arrays)) + header + arrays)
        process.stdin.close()
        response, payload = message(process)
    except (EOFError, BrokenPipeError) as error:
        sys.exit(f"the program crashed: {error}")  # no exception: that would be a refusal
    if response.get("ending", "returned") != "returned":
        raise ValueError(f"{response['ending']}: {response.get('message', '')}")
    outputs, offset = [], 0
    for output in response.get("outputs", []):
        count = math.prod(output["shape"])
        array = np.frombuffer(payload, STORED[output["dtype"]], count, offset)
        array = array.reshape(output["shape"])
        offset += array.nbytes
        if output["dtype"] == "bf16":
            import ml_dtypes

            array = array.view(ml_dtypes.bfloat16)
        outputs.append(array)
    return outputs
