"""Runs one kernel of unknown origin: a program of the protocol in docs/protocol.md.

This file stands alone. It is copied beside the kernel and started there, so the kernel's process
holds no oracle, no specification and no expected value; it needs numpy, and torch for tensors.
What it checks by itself (inputs that were changed in a call or later, memory filled before the
call) finds honest mistakes: a kernel shares its process and could undo it. What it cannot undo is
that it never sees an expected value.

    python runner.py KERNEL OP CONVENTION CLAIMS
"""

import ctypes
import errno
import importlib.util
import inspect
import json
import os
import struct
import sys
import time
import traceback
from collections import deque
from types import ModuleType
from typing import Any

import numpy as np

Header = dict[str, Any]

PREFIX = struct.Struct("<IQ")
CODES = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "bool": "<b1"} | {
    f"{letter}{8 * size}": f"<{letter}{size}" for letter in "iu" for size in (1, 2, 4, 8)
}
MAX_MESSAGE = 1000
ALLOWED = (
    " (at isolation level 1 a kernel may read Python and its packages, write into its temporary "
    "folder, and start processes; it has no sockets; docs/grade-kernel.md)"
)
MARGIN = 4096
"""Bytes before and after each input."""

KEPT_INPUTS = 16
"""Inputs of earlier calls that are checked again."""

MAX_KEPT_BYTES = 1 << 20
"""Bytes of such an input, at most."""

LATE_SECONDS = 0.1
"""Seconds after the last call in which a thread of the kernel may change an input."""

LATE_CODE = 97
"""The exit code if it did, as :mod:`conformance.kernels.jail` knows it."""

M_PERTURB = -6
"""glibc's mallopt: fill memory when it is allocated and freed."""

CONVENTIONS = ("arrays", "tensors", "module")
CLASSES = ("ModelNew", "Model")
"""Classes of KernelBench: the kernel, else the class that it is to replace."""


class Unusable(Exception):
    """A kernel file without a kernel; the text says what to do."""


class Unsupported(Exception):
    """A case with an attribute for which the kernel has no parameter."""


def parameter_name(name: str) -> str:
    """Return a documented name as a parameter: ``exclude-pad`` is ``exclude_pad``."""
    return "".join(c if c.isalnum() else "_" for c in name)


def function_names(op: str) -> list[str]:
    """List the names that the kernel of an operator may have, best first."""
    base = op.partition("-")[0].rpartition(".")[2]
    return ["kernel", parameter_name(op), base, base.lower(), f"{base.lower()}_kernel_impl"]


def find_kernel(module: ModuleType, op: str, convention: str) -> tuple[Any, str]:
    """Find the kernel in a module, and its convention.

    Raises:
        Unusable: the module has none.
    """
    names = vars(module)
    if convention in ("auto", "module"):
        for name in CLASSES:
            if inspect.isclass(names.get(name)):
                return names[name], "module"
        if convention == "module":
            raise Unusable(f"it defines no class {' or '.join(CLASSES)} with a method forward")
    for name in function_names(op):
        if callable(names.get(name)) and not inspect.isclass(names[name]):
            return names[name], _convention(names[name], name, convention)
    ending = [n for n, v in names.items() if n.endswith("_kernel_impl") and callable(v)]
    if len(ending) == 1:
        return names[ending[0]], _convention(names[ending[0]], ending[0], convention)
    raise Unusable(
        f"it defines no kernel: a class {CLASSES[0]} with a method forward, or a function called "
        f"{', '.join(function_names(op))} or NAME_kernel_impl"
    )


def _convention(function: Any, name: str, convention: str) -> str:
    """Return whether a function takes numpy arrays or tensors of torch."""
    if convention != "auto":
        return convention
    parameters = list(inspect.signature(function).parameters.values())
    annotated = str(parameters[0].annotation) if parameters else ""
    return "tensors" if name.endswith("_kernel_impl") or "Tensor" in annotated else "arrays"


class CallerDataChanged(BaseException):
    """A change of the caller's data; no exception that a kernel may raise."""


class BoundKernel:
    """A kernel under a convention: ``run(inputs, attributes)`` takes and gives numpy arrays."""

    def __init__(self, kernel: Any, convention: str) -> None:
        self.kernel, self.convention = kernel, convention
        self._instance: tuple[str, Any, dict[str, Any]] | None = None
        if convention != "arrays":
            import torch

            self._torch = torch

    def run(self, inputs: Any, attributes: dict[str, Any]) -> Any:
        """Call the kernel.

        Raises:
            Unsupported: it has no parameter for an attribute.
            CallerDataChanged: it changed attributes.
            Exception: whatever it raises.
        """
        key = repr(sorted(attributes.items()))
        if self._instance is not None and self._instance[0] == key:
            copies = self._instance[2]  # lists that it was made with
        else:
            copies = {k: list(v) if isinstance(v, list) else v for k, v in attributes.items()}
        try:
            return self._run(list(inputs), copies, key)
        finally:
            changed = [name for name, value in attributes.items() if copies[name] != value]
            if changed:
                self._instance = None
                raise CallerDataChanged(
                    f"the call changed {', '.join(changed)}, which is its caller's"
                )

    def _run(self, inputs: list[Any], attributes: dict[str, Any], key: str) -> Any:
        if self.convention == "arrays":
            return self.kernel(*inputs, **_keywords(self.kernel, attributes, len(inputs)))
        tensors = [self._tensor(array) for array in inputs]
        if self.convention == "tensors":
            returned = self.kernel(*tensors, **_keywords(self.kernel, attributes, len(inputs)))
        else:
            if self._instance is None or self._instance[0] != key:
                instance = self.kernel(**_keywords(self.kernel, attributes, 0))
                self._instance = key, instance, attributes
            with self._torch.no_grad():
                returned = self._instance[1](*tensors)
        plural = isinstance(returned, (list, tuple))
        return [self._array(array) for array in (returned if plural else [returned])]

    def _tensor(self, array: Any) -> Any:
        if array is None:  # an optional input that is absent
            return None
        if array.dtype.name == "bfloat16":
            return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(array)

    def _array(self, value: Any) -> Any:
        if not isinstance(value, self._torch.Tensor):
            return value
        value = value.detach().cpu().contiguous()
        if value.dtype == self._torch.bfloat16:
            return value.view(self._torch.int16).numpy().view(_bf16())
        return value.numpy()


def _keywords(kernel: Any, attributes: dict[str, Any], input_count: int) -> dict[str, Any]:
    """Return attributes as keyword arguments; inputs fill the first parameters."""
    parameters = inspect.signature(kernel).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return {parameter_name(name): value for name, value in attributes.items()}
    free = dict(list(parameters.items())[input_count:])
    keywords = {}
    for name, value in attributes.items():
        parameter = free.get(parameter_name(name))
        if parameter is None:
            raise Unsupported(f"the kernel has no parameter {parameter_name(name)}")
        if parameter.annotation in (int, "int") and isinstance(value, list):
            if len(set(value)) != 1:
                raise Unsupported(f"{parameter_name(name)} is one number for all axes, not {value}")
            value = value[0]
        keywords[parameter_name(name)] = value
    return keywords


def _bf16() -> Any:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


class Storage:
    """Memory for the inputs, reused in the next call where sizes are equal.

    Before and after each input lie bytes that no kernel may write. Inputs of earlier calls are kept
    a while, and checked again.
    """

    def __init__(self) -> None:
        self._memory: dict[int, Any] = {}
        self._earlier: deque[Any] = deque(maxlen=KEPT_INPUTS)
        self._margin = np.frombuffer(os.urandom(MARGIN), np.uint8)
        self._returned: dict[int, bytes] = {}

    def array(self, number: int, data: bytes, dtype: Any, shape: list[int]) -> Any:
        """Return a writable array with these elements."""
        memory = self._memory.get(number)
        if memory is None or memory.nbytes != len(data) + 2 * MARGIN:
            if memory is not None:
                memory[MARGIN:-MARGIN] = 0xFF  # who kept a reference sees no old data
                if memory.nbytes <= MAX_KEPT_BYTES:
                    self._earlier.append(memory)
            memory = self._memory[number] = np.empty(len(data) + 2 * MARGIN, np.uint8)
            memory[:MARGIN] = memory[-MARGIN:] = self._margin
        data_bytes = memory[MARGIN:-MARGIN]
        data_bytes[:] = np.frombuffer(data, np.uint8)
        return data_bytes.view(dtype).reshape(shape)

    def returned(self) -> None:
        """Note that a call returned: its inputs must not change any more."""
        self._returned = {n: memory[MARGIN:-MARGIN].tobytes() for n, memory in self._memory.items()}

    def late(self) -> str:
        """Return what was changed since, before the next call; empty if nothing was."""
        memories = self._memory.items()
        if any(memory[MARGIN:-MARGIN].tobytes() != self._returned.get(n) for n, memory in memories):
            return "an input was changed after its call had returned"
        return self.broken_rule()

    def broken_rule(self) -> str:
        """Return what a call changed that it must not; empty if nothing."""
        memories = [*self._memory.values(), *self._earlier]
        if not all(
            (margin == self._margin).all()
            for memory in memories
            for margin in (memory[:MARGIN], memory[-MARGIN:])
        ):
            return "memory before or after an input was written"
        if any((memory[MARGIN:-MARGIN] != 0xFF).any() for memory in self._earlier):
            return "an input of an earlier call was changed"
        return ""


class MemoryFill:
    """Fills memory that a call will get, with another byte each time.

    So elements that a kernel does not write are wrong, and a kernel that writes all of them only
    where it finds filled memory, or zeros, is wrong in the other calls.
    """

    def __init__(self) -> None:
        self._fill = getattr(ctypes.CDLL(None), "mallopt", None)

    def before_call(self, sizes: set[int]) -> None:
        """Fill memory before a call; ``sizes`` are those of arrays that it may allocate."""
        choice, byte = os.urandom(2)
        if choice % 3 == 0:
            byte = 0
        if self._fill is not None:
            # It fills with the complement; 0 turns it off.
            self._fill(M_PERTURB, byte ^ 0xFF if choice % 3 < 2 else 0)
        if choice % 3 == 2:
            return
        arrays: list[Any] = [np.empty(size, np.uint8) for size in sizes for _ in range(8)]
        for array in arrays:
            array[:] = byte

    def after_call(self, returned: list[Any]) -> None:
        """Overwrite outputs that were sent: they are the caller's now."""
        for array in returned:
            if type(array) is np.ndarray and array.flags.writeable and not array.dtype.hasobject:
                array.view(np.ndarray)[...] = np.array(-1).astype(array.dtype)


def decode_inputs(header: Header, payload: bytes, storage: Storage) -> list[Any]:
    """Return the inputs of a request, None for one that is absent."""
    inputs: list[Any] = []
    offset = 0
    for number, item in enumerate(header["inputs"]):
        if item is None:
            inputs.append(None)
            continue
        dtype = _bf16() if item["dtype"] == "bf16" else np.dtype(CODES[item["dtype"]])
        size = dtype.itemsize * int(np.prod(item["shape"], dtype=np.int64))
        data = payload[offset : offset + size]
        inputs.append(storage.array(number, data, dtype, item["shape"]))
        offset += size
    return inputs


def encode_outputs(returned: list[Any], limit: int) -> tuple[list[Header], bytes]:
    """Return a description of the outputs, and their bytes."""
    facts: list[Header] = []
    contents: list[bytes] = []
    for output in returned[:64]:
        if type(output) is not np.ndarray:
            facts.append({"type": type(output).__name__[:100], "dtype": "", "shape": None})
            continue
        name = {"bfloat16": "bf16", "bool": "bool"}.get(
            output.dtype.name
        ) or f"{output.dtype.kind}{8 * output.itemsize}"
        swapped = ""
        if output.dtype.byteorder == ">":  # nothing is converted for a kernel
            name, swapped = output.dtype.str, name[:100]
        sent = (name in CODES or name == "bf16") and output.nbytes <= limit
        if sent:
            contents.append(output.tobytes())
        item = {"dtype": name[:100], "swapped": swapped, "shape": list(output.shape), "sent": sent}
        facts.append({"type": "array", **item})
    return facts, b"".join(contents)


def array_layouts(inputs: list[Any]) -> list[tuple[Any, ...]]:
    """Return what a call could change of arrays besides their elements."""
    return [(array.shape, array.strides, array.dtype) for array in inputs]


def arithmetic() -> tuple[Any, ...]:
    """Return results that depend on the rounding mode and on flushing of subnormal numbers."""
    unit, three, ten, least = (np.float64(number) for number in (1, 3, 10, 5e-324))
    # To the nearest, a third is rounded down and a tenth up.
    return unit / three, -unit / three, unit / ten, -unit / ten, least * unit


def respond(
    kernel: BoundKernel,
    header: Header,
    payload: bytes,
    storage: Storage,
    fill: MemoryFill,
    sizes: set[int],
) -> tuple[Header, bytes]:
    """Run the kernel; return the header and payload of the response.

    ``sizes`` are those of earlier outputs.
    """
    problem = storage.late()
    inputs = decode_inputs(header, payload, storage)
    given = {number: array for number, array in enumerate(inputs) if array is not None}
    before = [array.tobytes() for array in given.values()]
    layouts, expected_arithmetic = array_layouts([*given.values()]), arithmetic()
    fill.before_call({*map(len, before), *sizes})
    response: Header = {"number": header["number"], "ending": "returned"}
    returned: Any = []
    payload_out = b""
    began = time.perf_counter()
    try:
        returned = kernel.run(inputs, header["attributes"])
        response["seconds"] = time.perf_counter() - began
        returned = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        response["outputs"], payload_out = encode_outputs(returned, header["limit"])
    except (Unsupported, NotImplementedError) as error:
        response["ending"], response["message"] = "unsupported", describe(error)
    except ImportError as error:
        response["ending"], response["message"] = "aborted", describe(error)
    except Exception as error:
        response["ending"], response["message"] = "raised", describe(error)
    except BaseException as error:
        response["ending"], response["message"] = "aborted", describe(error)
    after = [array.tobytes() for array in given.values()]
    layouts_after = array_layouts([*given.values()])
    response["changed"] = [
        number
        for k, number in enumerate(given)
        if after[k] != before[k] or layouts_after[k] != layouts[k]
    ]
    if arithmetic() != expected_arithmetic:
        problem = "the call left another rounding mode, or flushes subnormals from now on"
    problem = problem or storage.broken_rule()
    storage.returned()
    if problem:
        response["ending"], response["message"] = "aborted", problem
        response.pop("outputs", None)
        payload_out = b""
    sizes.clear()
    sizes.update(
        array.nbytes for array in returned if type(array) is np.ndarray and array.nbytes < 1 << 24
    )
    fill.after_call(returned)
    return response, payload_out


def describe(error: BaseException) -> str:
    """Return an exception on one line; name isolation if it may be the cause."""
    text = f"{type(error).__name__}: {error}".strip()[: MAX_MESSAGE - len(ALLOWED)]
    isolation_errors = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EAGAIN)
    return text + ALLOWED * (isinstance(error, OSError) and error.errno in isolation_errors)


class ImportBlocker:
    """Keeps the package that grades out of the kernel's process, where it is importable."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        """Refuse to import the package."""
        if name.partition(".")[0] == "conformance":
            raise ImportError("a kernel runs without the package that grades it")


def load_kernel(path: str, op: str, convention: str) -> tuple[ModuleType, BoundKernel]:
    """Load the kernel in a file.

    Raises:
        Unusable: it has none.
        Exception: whatever its code raises.
    """
    name = os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
    spec = importlib.util.spec_from_file_location(parameter_name(name), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module, BoundKernel(*find_kernel(module, op, convention))


def main() -> None:
    """Serve requests until there are no more."""
    path, op, convention, claims = sys.argv[1:5]
    del sys.argv[1:]
    requests, responses = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a kernel prints is not an answer
    sys.meta_path.insert(0, ImportBlocker)
    pid = os.getpid()

    def send(header: Header, payload: bytes = b"") -> None:
        if os.getpid() != pid:  # a copy of this process that the kernel made and let return
            os._exit(0)
        text = json.dumps(header).encode("ascii")
        view = memoryview(PREFIX.pack(len(text), len(payload)) + text + payload)
        while view:
            view = view[os.write(responses, view) :]

    try:
        module, kernel = load_kernel(path, op, convention)
        declared = dict(getattr(module, "CAPABILITIES", {})) | json.loads(claims)
        capabilities = {**declared, "operators": [op]} if declared else None
        hello = {"protocol": 1, "byte_order": "little", "capabilities": capabilities}
        facts = {"convention": kernel.convention}
        # Who grades knows the file's name and digest, and takes neither from its process.
        send({"hello": {**hello, "name": "kernel", "version": "unknown", "facts": facts}})
    except BaseException as error:
        hint = "see docs/grade-kernel.md for what a kernel file defines"
        if not isinstance(error, Unusable):
            hint = traceback.format_exc(limit=-1)[-MAX_MESSAGE:]
        send({"error": {"message": f"{os.path.basename(path)}: {describe(error)}", "hint": hint}})  # noqa: PTH119
        return
    storage, fill = Storage(), MemoryFill()
    sizes: set[int] = set()
    served = False
    with os.fdopen(requests, "rb") as stream:
        while prefix := stream.read(PREFIX.size):
            lengths = PREFIX.unpack(prefix)
            header = json.loads(stream.read(lengths[0]))
            send(*respond(kernel, header, stream.read(lengths[1]), storage, fill, sizes))
            served = True
    if served:
        time.sleep(LATE_SECONDS)
        if storage.late():  # nobody waits for an answer any more
            os._exit(LATE_CODE)


if __name__ == "__main__":
    main()
